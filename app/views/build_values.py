"""From a run to its tensors, errors and tiles. Pure functions; no screen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from app.commands import COMMANDS
from app.runs.computed import Computed, TileValues
from app.runs.run import Run
from app.runs.values import nonfinite_sentence, values_sentence, values_standing, why_no_values
from app.views.values import NonFiniteRow, OutputRow, TensorRow, TileView, ValuesView
from engine.values import NonFinite, TensorError

FIRST_VALUES = 64
"""kept values of a tile that are shown"""
FIRST_OUTPUTS = 8
"""values of an output that are shown"""
ROUNDING = {"fp32": 1e-4, "fp16": 3e-2, "bf16": 2e-1}
"""largest error that rounding explains, by storage dtype. Our assumption: some hundred roundings
of 6e-8 (float32) or some ten of 5e-4 (float16) or 4e-3 (bfloat16) in a row"""


def view_values(run: Run) -> ValuesView:
    """Return the values of a run, or why there are none."""
    if run.computed is not None:
        return _ready(run, run.computed)
    if run.values:
        return _recorded(run)
    state, sentence = values_note(run)
    return ValuesView(state, 0, (), None, None, (), "", "ok", sentence)


def values_note(run: Run) -> tuple[str, str]:
    """Return the state 'none' or 'unavailable' and a sentence on what to do about it."""
    if why := why_no_values(run):
        return "unavailable", f"no values: {why}"
    command = COMMANDS["values"]
    return "none", f"no values yet; {command.keys[0]} ({command.id}) computes those of sample 0"


def _ready(run: Run, computed: Computed) -> ValuesView:
    values = computed.values
    arrays = {name: array for (name, sample), array in values.tensors.items() if sample == 0}
    rows = tuple(_rows(run, arrays, values.errors))
    bad = values.first_nonfinite
    return ValuesView(
        state="ready", samples=values.samples, rows=rows, max_error=computed.max_error,
        nonfinite=_nonfinite(bad) if bad else None, outputs=_outputs(run, arrays),
        standing=run.standing_of(values_standing(run, computed)),
        severity=_worst([row.severity for row in rows], "alert" if bad else "ok"),
        sentence=values_sentence(computed),
    )  # fmt: skip


def _recorded(run: Run) -> ValuesView:
    rows = tuple(_rows(run, run.values, {}))
    return ValuesView(
        state="ready", samples=1, rows=rows, max_error=None, nonfinite=None,
        outputs=_outputs(run, run.values), standing=run.standing_of("as recorded"),
        severity=_worst([row.severity for row in rows], "ok"),
        sentence=f"{len(rows)} recorded tensors of sample 0; a recording carries no reference",
    )  # fmt: skip


def _rows(
    run: Run, arrays: Mapping[str, np.ndarray], errors: Mapping[str, TensorError]
) -> Iterable[TensorRow]:
    for tensor in run.program.tensors:
        if tensor.role == "input" and tensor.id in arrays:
            yield _row(run, tensor.id, None, arrays[tensor.id], None)
    for kernel in run.program.kernels:
        for name in kernel.writes:
            if name in arrays:
                yield _row(run, name, kernel.id, arrays[name], errors.get(name))
    for work in run.program.outside:
        for name in work.writes:
            if name in arrays and run.program.tensor(name).role != "input":
                yield _row(run, name, None, arrays[name], errors.get(name))


def _row(
    run: Run, name: str, kernel: str | None, array: np.ndarray, error: TensorError | None
) -> TensorRow:
    severity = "ok" if _is_finite(array) else "alert"
    if error is None:
        return TensorRow(name, kernel, array.shape, None, None, (), severity)
    if severity == "ok":
        severity = error_severity(error.ratio, run.program.storage)
    return TensorRow(name, kernel, array.shape, error.ratio, error.mean, error.where, severity)


def error_severity(ratio: float, storage: str) -> str:
    """Return how serious an error is: alert when it is no number, warn beyond rounding."""
    if not math.isfinite(ratio):
        return "alert"
    return "warn" if ratio > ROUNDING[storage] else "ok"


def _is_finite(array: np.ndarray) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


def _worst(found: Iterable[str], least: str) -> str:
    order = ("ok", "warn", "alert")
    return max([least, *found], key=order.index)


def _nonfinite(bad: NonFinite) -> NonFiniteRow:
    return NonFiniteRow(
        bad.kernel, bad.sample, bad.tensor, bad.index, bad.value, bad.pe, nonfinite_sentence(bad)
    )


def _outputs(run: Run, arrays: Mapping[str, np.ndarray]) -> tuple[OutputRow, ...]:
    names = [t.id for t in run.program.tensors if t.role == "output" and t.id in arrays]
    return tuple(_output(name, arrays[name]) for name in names if arrays[name].size)


def _output(name: str, array: np.ndarray) -> OutputRow:
    low, high, mean = _spread(array)
    first = tuple(float(value) for value in array.ravel()[:FIRST_OUTPUTS])
    return OutputRow(name, array.shape, low, high, mean, first)


def _spread(array: np.ndarray) -> tuple[float, float, float]:
    with np.errstate(all="ignore"):
        return float(array.min()), float(array.max()), float(array.mean(dtype=np.float64))


def view_tile(run: Run, kernel: str | None, row: int, col: int) -> tuple[TileView | None, str]:
    """Return what a PE keeps, or None and a sentence why nothing is shown."""
    if kernel is None:
        return None, ""
    if run.computed is None:
        state, sentence = values_note(run)
        return None, "no tile: " + sentence if state == "unavailable" else sentence
    tile = _tile(run.computed.tiles.read(kernel, row, col), run.program.storage)
    return tile, tile.sentence


def _tile(read: TileValues, storage: str) -> TileView:
    tile, values = read.tile, read.tile.values
    if not values.size:
        text = f"keeps no result of '{tile.tensor}': others of its group do"
        return TileView(
            tile.tensor, tile.rows, tile.cols, 0, (), None, None, None, None, "ok", text
        )
    low, high, mean = _spread(values)
    severity = "ok" if _is_finite(values) else "alert"
    if severity == "ok" and read.error is not None:
        severity = error_severity(read.error, storage)
    text = (
        f"keeps {values.size:,} results of '{tile.tensor}', {_span('row', tile.rows)} of M, "
        f"{_span('column', tile.cols)} of N: {low:.4g} to {high:.4g}, "
        f"mean {mean:.4g}"
    )
    if read.error is not None:
        text += f"; error {read.error:.2g} of the tensor's maximum"
    return TileView(
        tensor=tile.tensor, rows=tile.rows, cols=tile.cols, kept=int(values.size),
        first=tuple(float(value) for value in values.ravel()[:FIRST_VALUES]),
        minimum=low, maximum=high, mean=mean, error=read.error, severity=severity, sentence=text,
    )  # fmt: skip


def _span(what: str, ends: tuple[int, int]) -> str:
    first, last = ends
    return f"{what} {first}" if first == last else f"{what}s {first}..{last}"
