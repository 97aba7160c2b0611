"""Where the verbs of time lead: pure functions from (run, cursor) to a Move.

Nothing here changes anything; the Debugger keeps the cursor.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from app.commands import CommandError
from app.model_graph.layers import layers_of_kernels
from app.runs.map_metrics import MAP_METRICS
from app.runs.run import Run
from app.session import places
from app.session.cursor import STRIDES, Cursor, Move, Selection, Viewport

_STRIDE_TEXT = {
    "kernel": "a step is a kernel of the selected sample",
    "event": "a step is one event",
    "sample": "a step is a sample",
    "layer": "a step is a layer that the selected sample enters",
}


def start(run: Run) -> Cursor:
    """Return the cursor of a session that begins: first step that computes, utilization."""
    rows, cols = run.grid
    return Cursor(first_busy_step(run), 0, "kernel", "utilization", fit_viewport(run, rows, cols))


def first_busy_step(run: Run) -> int:
    """Return the first step in which a PE computes, 0 if none ever does.

    The steps before it only bring the first input to the mesh.
    """
    return int(np.argmax(run.execution.fields.sums("utilization") > 0))


def greeting(run: Run, cursor: Cursor) -> str:
    """Return why a session begins where it does, empty at the first step."""
    if not cursor.step:
        return ""
    return f"opened at step {cursor.step}, the first in which a PE computes; Home shows step 0"


def restore(run: Run, cursor: Cursor, begin: Cursor) -> Cursor:
    """Return a recorded cursor where it fits the run, else `begin`."""
    fits = (
        0 <= cursor.step < run.timeline.steps
        and 0 <= cursor.sample < run.program.samples
        and cursor.stride in STRIDES
        and cursor.metric in MAP_METRICS
    )
    return carry(run, run, cursor) if fits else begin


def fit_viewport(run: Run, rows: int, cols: int) -> Viewport:
    """Return the viewport that shows all kernels of a small program, else the whole grid."""
    used_rows = max((k.region.end_row for k in run.program.kernels), default=rows)
    used_cols = max((k.region.end_col for k in run.program.kernels), default=cols)
    if used_rows * 4 <= rows and used_cols * 4 <= cols:
        return Viewport(0, 0, min(rows, used_rows + 2), min(cols, used_cols + 2))
    return Viewport(0, 0, rows, cols)


def carry(before: Run, run: Run, cursor: Cursor) -> Cursor:
    """Return the cursor moved to another run: same share of the makespan, same names.

    A PE or kernel that the other run does not have is no longer selected.
    """
    sample = min(cursor.sample, run.program.samples - 1)
    share = before.step_bounds(cursor.step)[0] / max(1, before.timeline.makespan)
    cycle = min(int(share * run.timeline.makespan), run.timeline.makespan - 1)
    step = int(run.timeline.step_at(cycle)) if before is not run else cursor.step
    rows, cols = run.grid
    viewport = cursor.viewport.clamped(rows, cols)
    moved = replace(cursor, sample=sample, step=step, viewport=viewport, selection=Selection())
    selection = cursor.selection
    if selection.pe and selection.pe[0] < rows and selection.pe[1] < cols:
        return places.select_pe(run, moved, *selection.pe).cursor
    if selection.kind == "kernel" and selection.kernel in places.kernel_ids(run):
        return places.select_kernel(run, moved, str(selection.kernel)).cursor
    return moved


def step(run: Run, cursor: Cursor, n: int) -> Move:
    """Move `n` stops of the stride."""
    if cursor.stride == "event":
        return step_events(run, cursor, n)
    stops = stops_of(run, cursor)
    if n > 0:
        index = int(np.searchsorted(stops, cursor.step, side="right")) + n - 1
    else:
        index = int(np.searchsorted(stops, cursor.step, side="left")) + n
    wanted = int(stops[min(max(index, 0), len(stops) - 1)])
    if n > 0 and wanted <= cursor.step:
        return Move(cursor, _end_of(run, cursor))
    if n < 0 and wanted >= cursor.step:
        return Move(cursor, "this is the first stop; the stride 'event' moves finer")
    return Move(_follow_sample(run, cursor, wanted), _entered(run, cursor, wanted))


def stops_of(run: Run, cursor: Cursor) -> np.ndarray:
    """Return the steps where the cursor's stride stops, ascending int64."""
    timeline = run.timeline
    if cursor.stride == "event" or timeline.start.size == 0:
        return np.arange(timeline.steps)
    if cursor.stride == "sample":
        cycles = timeline.start.min(axis=0)
    else:
        starts = _kernel_starts(run, cursor.sample)
        if cursor.stride == "layer":
            starts = starts[[kernel for kernel, _ in _entries(run, cursor.sample)]]
        cycles = np.append(starts, timeline.end[:, cursor.sample].max())
    steps = np.searchsorted(timeline.times, np.unique(cycles), side="right") - 1
    return np.unique(np.minimum(steps, timeline.steps - 1))


def _kernel_starts(run: Run, sample: int) -> np.ndarray:
    """Return the cycle at which every kernel starts on a sample; weight streams are no kernels."""
    return run.timeline.start[: len(run.program.kernels), sample]


def _entries(run: Run, sample: int) -> list[tuple[int, str]]:
    """Return the kernels, as they start, with which a sample enters another layer, and that."""
    layers = layers_of_kernels(run)
    entries: list[tuple[int, str]] = []
    for kernel in np.argsort(_kernel_starts(run, sample), kind="stable"):
        layer = layers[kernel]
        if layer is not None and (not entries or entries[-1][1] != layer):
            entries.append((int(kernel), layer))
    return entries


def _entered(run: Run, cursor: Cursor, step: int) -> str:
    """Return which layer the sample enters in a step, empty when the stride asks for none."""
    if cursor.stride != "layer":
        return ""
    starts = _kernel_starts(run, cursor.sample)
    low, high = run.step_bounds(step)
    names = [
        layer or f"{run.program.kernels[kernel].id}, outside of all layers"
        for kernel, layer in _entries(run, cursor.sample)
        if low <= starts[kernel] < high
    ]
    does = f"enters {' and '.join(names)}" if names else "is done"
    return f"sample {cursor.sample} {does}"


def _end_of(run: Run, cursor: Cursor) -> str:
    if cursor.stride in ("kernel", "layer") and cursor.sample + 1 < run.program.samples:
        return f"sample {cursor.sample} is done; 'sample {cursor.sample + 1}' follows the next one"
    return "this is the last stop of the run"


def _follow_sample(run: Run, cursor: Cursor, wanted: int) -> Cursor:
    if cursor.stride != "sample":
        return cursor.at(wanted)
    cycle = run.timeline.times[wanted]
    sample = int(np.argmin(np.abs(run.timeline.start.min(axis=0) - cycle)))
    return replace(cursor, step=wanted, sample=sample)


def step_events(run: Run, cursor: Cursor, n: int) -> Move:
    """Move `n` steps."""
    wanted = min(max(cursor.step + n, 0), run.timeline.steps - 1)
    if wanted == cursor.step and n:
        return Move(cursor, f"this is the {'last' if n > 0 else 'first'} step of the run")
    return Move(cursor.at(wanted))


def seek(run: Run, cursor: Cursor, wanted: int) -> Move:
    """Show a step; negative counts from the end."""
    steps = run.timeline.steps
    index = wanted + steps if wanted < 0 else wanted
    if not 0 <= index < steps:
        raise CommandError(f"step {wanted} does not exist; the run has steps 0..{steps - 1}")
    return Move(cursor.at(index))


def seek_cycle(run: Run, cursor: Cursor, cycle: int) -> Move:
    """Show the step that holds a cycle."""
    if not 0 <= cycle < run.timeline.makespan:
        raise CommandError(
            f"cycle {cycle} does not exist; the run has cycles 0..{run.timeline.makespan - 1}"
        )
    return Move(cursor.at(int(run.timeline.step_at(cycle))))


def seek_peak(run: Run, cursor: Cursor) -> Move:
    """Show the step where the metric is highest."""
    metric = MAP_METRICS[cursor.metric]
    if metric.kind == "category":
        raise CommandError(f"the {metric.label} has no peak; choose a metric with numbers")
    return Move(cursor.at(int(run.execution.fields.peak_step(cursor.metric))))


def set_stride(run: Run, cursor: Cursor, stride: str) -> Move:
    """Set the stride; empty: the next one."""
    chosen = stride or STRIDES[(STRIDES.index(cursor.stride) + 1) % len(STRIDES)]
    if chosen not in STRIDES:
        raise CommandError(f"stride is '{stride}', must be one of {', '.join(STRIDES)}")
    text = _STRIDE_TEXT[chosen]
    if chosen == "layer" and not any(layers_of_kernels(run)):
        text += "; nothing repeats in this model, so it has no layers"
    return Move(replace(cursor, stride=chosen), text)


def select_sample(run: Run, cursor: Cursor, sample: int) -> Move:
    """Choose the sample that the strides by kernel and by layer follow."""
    if not 0 <= sample < run.program.samples:
        raise CommandError(
            f"sample {sample} does not exist; the run has samples 0..{run.program.samples - 1}"
        )
    return Move(replace(cursor, sample=sample), f"following sample {sample}")


def goto(run: Run, cursor: Cursor, place: str) -> Move:
    """Go to a step ('12'), a PE ('3,4') or a kernel ('ffn1')."""
    parts = [part.strip() for part in place.split(",")]
    if all(part.lstrip("-").isdecimal() for part in parts) and len(parts) <= 2:
        if len(parts) == 1:
            return seek(run, cursor, int(parts[0]))
        return places.reveal(run, places.select_pe(run, cursor, int(parts[0]), int(parts[1])))
    return places.reveal(run, places.select_kernel(run, cursor, place.strip()))
