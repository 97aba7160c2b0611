"""From a run to its idle regions, by the rule of `app.finding.idle`. Pure; knows no screen."""

from __future__ import annotations

from collections.abc import Mapping

from app.finding.idle import NOT_IDLE, IdleArea, idle_areas, idle_map, levers
from app.runs.run import Run
from app.units import count, percent
from app.views.idle import IdleRegion, IdleView
from engine.geometry import Rect

_MOST_KERNELS = 8


def view_idle(run: Run, step: int | None, tried: Mapping[str, str] | None = None) -> IdleView:
    """Return the ten largest idle regions of a step, or of the run when `step` is None.

    `tried` has a sentence for each knob that was tried.
    """
    found = idle_map(run, step)
    everything = max(1, run.machine.working_pes * found.cycles)
    causes = tuple((cause, n / everything) for cause, n in found.totals if cause not in NOT_IDLE)
    idle = sum(share for _, share in causes)
    regions = tuple(_region(run, area, everything, tried or {}) for area in idle_areas(found))
    scope = "the run" if step is None else f"step {step}"
    sentence = f"{percent(idle)} of all PE-cycles of {scope} are idle"
    if regions:
        sentence += f"; the largest loss: {regions[0].sentence}"
    return IdleView(
        scope="run" if step is None else "step", step=step, cycles=found.cycles,
        idle_share=idle, causes=causes, regions=regions,
        standing=run.standing, sentence=sentence,
    )  # fmt: skip


def _region(run: Run, area: IdleArea, everything: int, tried: Mapping[str, str]) -> IdleRegion:
    row, col, rows, cols = area.box
    box = Rect(row, col, rows, cols)
    inside = tuple(k.id for k in run.program.kernels if k.region.overlaps(box))
    kernels = inside[:_MOST_KERNELS] if area.cause != "unassigned" else ()
    lost = round(area.lost)
    name = ", ".join(kernels[:3]) + (", ..." if len(kernels) > 3 else "")
    knobs = levers(area.cause)
    sentence = (
        f"{count(area.pes)} PEs in rows {row}..{row + rows - 1}, cols {col}..{col + cols - 1}"
        + (f" ({name})" if name else "")
        + f" lose {count(lost)} PE-cycles ({percent(lost / everything)}) to {area.cause}"
    )
    return IdleRegion(
        area.cause,
        area.pes,
        lost,
        lost / everything,
        area.box,
        kernels,
        sentence,
        knobs,
        tuple(tried[knob] for knob in knobs if knob in tried),
    )
