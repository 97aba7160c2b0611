"""What an export shows: one metric of one step, of the run, or of a few steps. Knows no format."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from app.runs.figures import used_mask
from app.runs.frames import metric_scale
from app.runs.map_metrics import BARE, MAP_METRICS, categories_of, map_field
from app.runs.run import Run
from app.session.cursor import Viewport
from app.views.build_map import ticks_of
from app.views.build_streaming import view_streaming
from app.views.map import HitMark, Scale, Tick
from engine.geometry import Rect
from engine.metrics import Metric
from engine.program import Kernel

_TOPS = (0.1, 0.25, 0.5, 1.0)
"""tops of the scale of a share of the whole run"""


class ExportError(ValueError):
    """Something that cannot be exported like this; one sentence says what would work."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to export."""

    metric: str
    """metric id"""
    what: str = "step"
    """step | peak (step with the highest value) | max (each PE's own) | total | steps"""
    step: int = 0
    """for step"""
    steps: tuple[int, int] = (0, 1)
    """first and last + 1, for steps"""
    viewport: Viewport | None = None
    """PEs to show, None = all"""
    log: bool = False
    theme: str = "light"
    """light | dark"""
    hit: HitMark | None = None
    """where a breakpoint stopped the run in the step shown, None where nothing did"""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One map ready to write, with all that a reader needs beside it."""

    metric: Metric
    title: str
    subtitle: str
    field: np.ndarray
    """values of the viewport in the metric's unit, (rows, cols)"""
    step: int | None
    """None for max and total"""
    viewport: Viewport
    scale: Scale
    unit: str
    ticks: tuple[Tick, ...]
    outlines: tuple[tuple[str, Rect], ...]
    """(kernel, region) of kernels in the viewport"""
    standing: str
    theme: str
    blank: np.ndarray | None = None
    """bool (rows, cols): PEs without a kernel, hatched where they are zero; None: none is"""
    hit: HitMark | None = None
    """PE of the viewport that stopped the run in this step"""

    @property
    def bare(self) -> tuple[int, ...]:
        """codes of a category that are hatched instead of coloured: no kernel, no PE"""
        names = categories_of(self.metric.id)
        return tuple(names.index(name) for name in BARE if name in names)

    @property
    def remark(self) -> str:
        """what the ring on the map says, empty without one"""
        return f"ring: {self.hit.text}" if self.hit else ""

    def hatched(self) -> np.ndarray:
        """Return which PEs carry no value of a kernel, bool (rows, cols)."""
        if self.metric.kind == "category":
            return np.isin(self.field, self.bare)
        if self.blank is None:
            return np.zeros(self.field.shape, bool)
        return np.asarray(self.blank & (self.field == 0))


def make_picture(run: Run, request: Request) -> Picture:
    """Return the picture of a request (for `steps` its first step).

    Raises:
        ExportError: no such metric or step, or a total that means nothing.
    """
    if request.metric not in MAP_METRICS:
        raise ExportError(
            f"there is no metric '{request.metric}'; metrics: {', '.join(MAP_METRICS)}"
        )
    metric = MAP_METRICS[request.metric]
    if request.what in ("max", "total"):
        return _run_picture(run, request, metric)
    step = _step_of(run, request, metric)
    start, end = run.step_bounds(step)
    scale = metric_scale(run, metric.id, request.log)
    field = map_field(run, metric.id, step)
    label = "peak step" if request.what == "peak" else "step"
    title = f"{_named(metric)}, {label} {step}: {run.label(step)}"
    return _picture(
        run, request, metric, field, title=title, step=step, scale=scale,
        subtitle=f"cycles {start:,}..{end - 1:,} of {run.timeline.makespan:,}",
        ticks=ticks_of(run, metric, scale),
    )  # fmt: skip


def _named(metric: Metric) -> str:
    """Return the metric's label with its unit, such as 'traffic (wavelets a cycle)'."""
    return f"{metric.label} ({metric.unit})" if metric.unit else metric.label


def _step_of(run: Run, request: Request, metric: Metric) -> int:
    if request.what == "peak":
        if metric.kind == "category":
            raise ExportError(f"the {metric.label} has no peak; name a step")
        return int(run.execution.fields.peak_step(metric.id))
    step = request.steps[0] if request.what == "steps" else request.step
    index = step + run.timeline.steps if step < 0 else step
    if not 0 <= index < run.timeline.steps:
        raise ExportError(
            f"step {step} does not exist; the run has steps 0..{run.timeline.steps - 1}"
        )
    return index


def _run_picture(run: Run, request: Request, metric: Metric) -> Picture:
    if metric.kind == "category":
        raise ExportError(f"the {metric.label} has no maximum or total; name a step")
    fields, makespan = run.execution.fields, run.timeline.makespan
    if request.what == "max":
        field = fields.maximum(metric.id)
        title = f"{_named(metric)}, each PE's highest step"
    elif metric.kind == "bytes":
        raise ExportError(f"a sum of {metric.label} over steps means nothing; use --max")
    else:
        field = fields.total(metric.id)
        if metric.kind == "fraction":
            field = field / max(1, makespan)
            metric = replace(metric, unit="% of run")
        if metric.kind == "load":
            metric = replace(metric, kind="words", unit="wavelets")
        title = f"{_named(metric)}, whole run"
    scale = _run_scale(run, request, metric, float(field.max(initial=0)))
    return _picture(
        run, request, metric, field, title=title, step=None, scale=scale,
        subtitle=f"{makespan:,} cycles, {run.program.samples} samples",
        ticks=ticks_of(run, metric, scale),
    )  # fmt: skip


def _run_scale(run: Run, request: Request, metric: Metric, high: float) -> Scale:
    """Return the scale of a picture of the whole run whose highest value is `high`."""
    if metric.kind == "load":
        return metric_scale(run, metric.id, request.log)
    if metric.kind == "fraction":
        top = next(top for top in _TOPS if top >= min(high, 1.0))
        return Scale(0.0, top, 1 / 255, request.log)
    return Scale(0.0, high, max(1.0, high / 65_535), request.log)


def _outlined(run: Run, step: int | None) -> tuple[Kernel, ...]:
    """Return the kernels to outline: where they take turns, those of the step's turn only."""
    if len(run.program.areas()) == len(run.program.kernels):
        return run.program.kernels
    turn = view_streaming(run, step) if step is not None else None
    return tuple(run.program.kernel(name) for name in turn.turn) if turn else ()


def _picture(
    run: Run,
    request: Request,
    metric: Metric,
    field: np.ndarray,
    *,
    title: str,
    subtitle: str,
    step: int | None,
    scale: Scale,
    ticks: tuple[Tick, ...],
) -> Picture:
    viewport = (request.viewport or Viewport(0, 0, *run.grid)).clamped(*run.grid)
    hit = request.hit if step is not None and request.what == "step" else None
    is_seen = hit is not None and viewport.rect.contains(hit.row, hit.col)
    outlines = tuple(
        (kernel.id, kernel.region)
        for kernel in _outlined(run, step)
        if kernel.region.overlaps(viewport.rect)
    )
    return Picture(
        metric=metric,
        title=f"{run.compiled.graph.name} on {run.machine.name}: {title}",
        subtitle=subtitle, field=field[viewport.rect.slices()], step=step, viewport=viewport,
        scale=scale, unit=metric.unit, ticks=ticks, outlines=outlines,
        standing=run.standing_of(metric.standing), theme=request.theme,
        blank=None if metric.kind == "category" else ~used_mask(run)[viewport.rect.slices()],
        hit=hit if is_seen else None,
    )  # fmt: skip
