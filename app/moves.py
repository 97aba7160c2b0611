"""Where a verb leads: pure functions from (run, cursor) to the next cursor and what to say.

Nothing here changes anything; the Debugger keeps the cursor.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace

import numpy as np

from app.commands import CommandError
from app.cursor import STRIDES, Cursor, Selection, Viewport
from app.hot import hot_places
from app.run import Run
from engine.geometry import Rect
from engine.metrics import METRICS

_STRIDE_TEXT = {
    "kernel": "a step is a kernel of the selected sample",
    "event": "a step is one event",
    "sample": "a step is a sample",
}


@dataclass(frozen=True, slots=True)
class Move:
    """A new cursor and the sentence that goes with it."""

    cursor: Cursor
    message: str = ""
    """empty when there is nothing to say"""


def start(run: Run) -> Cursor:
    """Return the cursor of a session that begins: first step, whole mesh, utilization."""
    rows, cols = run.grid
    return Cursor(0, 0, "kernel", "utilization", fit_viewport(run, rows, cols))


def restore(run: Run, cursor: Cursor, begin: Cursor) -> Cursor:
    """Return a recorded cursor where it fits the run, else `begin`."""
    fits = (
        0 <= cursor.step < run.timeline.steps
        and 0 <= cursor.sample < run.program.samples
        and cursor.stride in STRIDES
        and cursor.metric in METRICS
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
        return select_pe(run, moved, *selection.pe).cursor
    if selection.kind == "kernel" and selection.kernel in _kernel_ids(run):
        return select_kernel(run, moved, str(selection.kernel)).cursor
    return moved


# -- time --------------------------------------------------------------------------------------


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
    return Move(_follow_sample(run, cursor, wanted))


def stops_of(run: Run, cursor: Cursor) -> np.ndarray:
    """Return the steps where the cursor's stride stops, ascending int64."""
    timeline = run.timeline
    if cursor.stride == "event" or timeline.start.size == 0:
        return np.arange(timeline.steps)
    if cursor.stride == "sample":
        cycles = timeline.start.min(axis=0)
    else:
        last = timeline.end[:, cursor.sample].max()
        cycles = np.append(timeline.start[:, cursor.sample], last)
    steps = np.searchsorted(timeline.times, np.unique(cycles), side="right") - 1
    return np.unique(np.minimum(steps, timeline.steps - 1))


def _end_of(run: Run, cursor: Cursor) -> str:
    if cursor.stride == "kernel" and cursor.sample + 1 < run.program.samples:
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
    if METRICS[cursor.metric].kind == "category":
        raise CommandError("the dominant cause has no peak; choose a metric with numbers")
    return Move(cursor.at(int(run.execution.fields.peak_step(cursor.metric))))


def set_stride(run: Run, cursor: Cursor, stride: str) -> Move:
    """Set the stride; empty: the next one."""
    chosen = stride or STRIDES[(STRIDES.index(cursor.stride) + 1) % len(STRIDES)]
    if chosen not in STRIDES:
        raise CommandError(f"stride is '{stride}', must be one of {', '.join(STRIDES)}")
    return Move(replace(cursor, stride=chosen), _STRIDE_TEXT[chosen])


def select_sample(run: Run, cursor: Cursor, sample: int) -> Move:
    """Choose the sample that the kernel stride follows."""
    if not 0 <= sample < run.program.samples:
        raise CommandError(
            f"sample {sample} does not exist; the run has samples 0..{run.program.samples - 1}"
        )
    return Move(replace(cursor, sample=sample), f"following sample {sample}")


# -- selection ---------------------------------------------------------------------------------


def select_pe(run: Run, cursor: Cursor, row: int, col: int) -> Move:
    """Select a PE."""
    _need_pe(run, row, col)
    kernel = run.execution.fields.kernel_at(row, col)
    return Move(replace(cursor, selection=Selection("pe", (row, col), kernel)))


def _need_pe(run: Run, row: int, col: int) -> None:
    rows, cols = run.grid
    if not (0 <= row < rows and 0 <= col < cols):
        raise CommandError(
            f"PE ({row}, {col}) lies outside the mesh; rows are 0..{rows - 1}, cols 0..{cols - 1}"
        )


def select_kernel(run: Run, cursor: Cursor, name: str) -> Move:
    """Select a kernel by its id or the beginning of one."""
    names = _kernel_ids(run)
    found = [n for n in names if n == name] or [
        n for n in names if n.lower().startswith(name.lower())
    ]
    if not found:
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.3)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise CommandError(f"there is no kernel '{name}' among {len(names)}{hint}")
    region = run.region(found[0])
    return Move(replace(cursor, selection=Selection("kernel", None, found[0], region)))


def _kernel_ids(run: Run) -> list[str]:
    return [kernel.id for kernel in run.program.kernels]


def select_region(run: Run, cursor: Cursor, row: int, col: int, rows: int, cols: int) -> Move:
    """Select a rectangle of PEs."""
    _need_pe(run, row, col)
    if rows < 1 or cols < 1:
        raise CommandError(f"a region of {rows}x{cols} PEs is empty")
    _need_pe(run, row + rows - 1, col + cols - 1)
    return Move(replace(cursor, selection=Selection("region", region=Rect(row, col, rows, cols))))


def clear(cursor: Cursor) -> Move:
    """Select nothing."""
    return Move(replace(cursor, selection=Selection()))


def goto(run: Run, cursor: Cursor, place: str) -> Move:
    """Go to a step ('12'), a PE ('3,4') or a kernel ('ffn1')."""
    parts = [part.strip() for part in place.split(",")]
    if all(part.lstrip("-").isdecimal() for part in parts) and len(parts) <= 2:
        if len(parts) == 1:
            return seek(run, cursor, int(parts[0]))
        return reveal(run, select_pe(run, cursor, int(parts[0]), int(parts[1])))
    return reveal(run, select_kernel(run, cursor, place.strip()))


def search(run: Run, cursor: Cursor, text: str) -> Move:
    """Select the next kernel whose name or source node holds `text`."""
    wanted = text.lower()
    hits = [
        kernel.id
        for kernel in run.program.kernels
        if wanted in kernel.id.lower() or any(wanted in node.lower() for node in kernel.origin)
    ]
    if not hits:
        raise CommandError(f"no kernel or source node holds '{text}'")
    now = cursor.selection.kernel
    index = (hits.index(now) + 1) % len(hits) if now in hits else 0
    move = reveal(run, select_kernel(run, cursor, hits[index]))
    return Move(move.cursor, f"{hits[index]} ({index + 1} of {len(hits)})")


def move(run: Run, cursor: Cursor, rows: int, cols: int) -> Move:
    """Move the selected PE, kept inside the mesh; the view follows."""
    if cursor.selection.pe is None:
        view = cursor.viewport
        return select_pe(run, cursor, view.row + view.rows // 2, view.col + view.cols // 2)
    row, col = cursor.selection.pe
    height, width = run.grid
    place = min(max(row + rows, 0), height - 1), min(max(col + cols, 0), width - 1)
    return reveal(run, select_pe(run, cursor, *place))


def next_hot(run: Run, cursor: Cursor, direction: int) -> Move:
    """Select the next of the hottest places of the metric in this step."""
    places = hot_places(run, cursor.metric, cursor.step)
    if not places:
        return Move(cursor, f"nothing stands out in {METRICS[cursor.metric].label} here")
    spots = [(place.row, place.col) for place in places]
    now = cursor.selection.pe
    first = 0 if direction > 0 else len(spots) - 1
    index = (spots.index(now) + direction) % len(spots) if now in spots else first
    found = reveal(run, select_pe(run, cursor, *spots[index]))
    return Move(found.cursor, f"{places[index].text} ({index + 1} of {len(spots)})")


# -- map ---------------------------------------------------------------------------------------


def set_metric(cursor: Cursor, metric: str) -> Move:
    """Choose what the map shows."""
    if metric not in METRICS:
        near = difflib.get_close_matches(metric, METRICS, n=1, cutoff=0.3)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise CommandError(f"there is no metric '{metric}'{hint}")
    return Move(replace(cursor, metric=metric), METRICS[metric].help)


def toggle_log(cursor: Cursor) -> Move:
    """Colour by log(1 + value), or no longer."""
    return Move(replace(cursor, log=not cursor.log), "linear scale" if cursor.log else "log scale")


def set_viewport(run: Run, cursor: Cursor, row: int, col: int, rows: int, cols: int) -> Move:
    """Show a rectangle of PEs."""
    viewport = Viewport(row, col, rows, cols).clamped(*run.grid)
    return Move(replace(cursor, viewport=viewport))


def zoom(run: Run, cursor: Cursor, factor: float) -> Move:
    """Zoom around the selected PE when it is in view, else around the middle."""
    if not 0.001 <= factor <= 1000:
        raise CommandError(f"zoom factor is {factor}, must be 0.001..1000")
    viewport = cursor.viewport.zoomed(factor)
    place = cursor.selection.pe
    if place and cursor.viewport.rect.contains(*place) and factor > 1:
        row, col = place[0] - viewport.rows // 2, place[1] - viewport.cols // 2
        viewport = Viewport(row, col, viewport.rows, viewport.cols)
    return Move(replace(cursor, viewport=viewport.clamped(*run.grid)))


def pan(run: Run, cursor: Cursor, rows: int, cols: int) -> Move:
    """Move the view."""
    view = cursor.viewport
    return set_viewport(run, cursor, view.row + rows, view.col + cols, view.rows, view.cols)


def fit(run: Run, cursor: Cursor) -> Move:
    """Show all PEs."""
    return set_viewport(run, cursor, 0, 0, *run.grid)


def focus(run: Run, cursor: Cursor) -> Move:
    """Zoom to the selection; when that is shown already, show all PEs."""
    selection = cursor.selection
    if selection.pe:
        wanted = Viewport(selection.pe[0] - 8, selection.pe[1] - 8, 17, 17)
    elif selection.region:
        box = selection.region
        wanted = Viewport(box.row - 1, box.col - 1, box.rows + 2, box.cols + 2)
    else:
        return Move(fit(run, cursor).cursor, "nothing is selected: whole mesh")
    wanted = wanted.clamped(*run.grid)
    if wanted == cursor.viewport:
        return fit(run, cursor)
    return Move(replace(cursor, viewport=wanted))


def reveal(run: Run, moved: Move) -> Move:
    """Return the move with the view shifted so that the selection is in it."""
    cursor = moved.cursor
    view, selection = cursor.viewport, cursor.selection
    row, col = selection.pe or (
        (selection.region.row, selection.region.col) if selection.region else (view.row, view.col)
    )
    if view.rect.contains(row, col):
        return moved
    shifted = Viewport(row - view.rows // 2, col - view.cols // 2, view.rows, view.cols)
    return Move(replace(cursor, viewport=shifted.clamped(*run.grid)), moved.message)
