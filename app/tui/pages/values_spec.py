"""From the view of a run's values to the rows of a table page. Pure functions."""

from __future__ import annotations

from app.tui.pages.table import TableSpec
from app.views.values import OutputRow, TensorRow, ValuesView

_MARKS = {"ok": "", "warn": "large", "alert": "NaN/inf"}


def values_spec(view: ValuesView) -> TableSpec:
    """Return the table of tensors, the model's outputs told below their rows."""
    outputs = {output.tensor: output for output in view.outputs}
    rows = tuple(
        (row.tensor, row.kernel or "input", "x".join(map(str, row.shape)) or "scalar",
         _error(row.max_error), _index(row.where), _MARKS[row.severity])
        for row in view.rows
    )  # fmt: skip
    title = f"Values: {view.sentence}"
    if view.standing:
        title += f"  [{view.standing}]"
    columns = ("tensor", "kernel", "shape", "max error", "at", "")
    details = tuple(_detail(row, outputs.get(row.tensor)) for row in view.rows)
    return TableSpec(title, columns, rows, details, "Enter selects its kernel, Escape closes")


def _error(ratio: float | None) -> str:
    return "not compared" if ratio is None else f"{ratio:.2g}"


def _index(index: tuple[int, ...]) -> str:
    return ", ".join(map(str, index))


def _detail(row: TensorRow, output: OutputRow | None) -> str:
    text = f"{row.tensor} of {row.kernel or 'the inputs'}"
    if row.max_error is not None and row.mean_error is not None:
        text += (
            f": errors max {row.max_error:.2g}, mean {row.mean_error:.2g} of the float64 "
            "reference's maximum"
        )
    if output is not None:
        first = ", ".join(f"{value:.4g}" for value in output.first)
        text += (
            f"\noutput: {output.minimum:.4g} to {output.maximum:.4g}, mean {output.mean:.4g}; "
            f"begins {first}"
        )
    return text
