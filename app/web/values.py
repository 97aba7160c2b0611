"""The panel of a run's values: tensors, errors, outputs. A view in, components out."""

from __future__ import annotations

from typing import Any

from dash import html

from app.views.values import OutputRow, TensorRow, ValuesView

_MARKS = {"ok": "", "warn": "large", "alert": "NaN or infinity"}


def values_panel(view: ValuesView) -> Any:
    """Return the values of a run, or how to get them."""
    parts = [html.P(view.sentence, className=view.severity)]
    if view.state == "none":
        parts.append(
            html.Button("Compute values", className="small",
                        title="Compute the tensors of sample 0 and their errors (V)",
                        **{"data-do": "values"})
        )  # fmt: skip
    if view.rows:
        parts += [html.H3("Tensors"), _tensors(view.rows)]
    if view.outputs:
        parts += [html.H3("Outputs"), *[_output(row) for row in view.outputs]]
    if view.standing:
        parts.append(html.P(f"standing: {view.standing}", className="muted"))
    return parts


def _tensors(rows: tuple[TensorRow, ...]) -> Any:
    names = (("tensor", "with its shape and the kernel that writes it"),
             ("max error", "max |ours - reference| / max |reference|"),
             ("at", "index of the largest error"))  # fmt: skip
    head = html.Tr([html.Th(name, title=title, scope="col") for name, title in names])
    return html.Table(
        [html.Thead(head), html.Tbody([_tensor(row) for row in rows])], className="kernels"
    )


def _tensor(row: TensorRow) -> Any:
    maker: Any = html.Span("input", className="muted")
    if row.kernel:
        maker = html.Button(row.kernel, className="link",
                            **{"data-do": "kernel", "data-arg": row.kernel})  # fmt: skip
    badge = None
    if row.severity != "ok":
        badge = html.Span(_MARKS[row.severity], className=f"badge {row.severity}")
    error = "not compared" if row.max_error is None else f"{row.max_error:.2g}"
    mean = "" if row.mean_error is None else f"mean error {row.mean_error:.2g}"
    return html.Tr(
        [
            html.Td([row.tensor, badge, html.Div([_shape(row.shape), " of ", maker])]),
            html.Td(error, className="number", title=mean),
            html.Td(", ".join(map(str, row.where)), className="number"),
        ]
    )


def _output(row: OutputRow) -> Any:
    first = ", ".join(f"{value:.5g}" for value in row.first)
    return html.Div(
        [
            html.B(row.tensor),
            html.Span(f" {_shape(row.shape)}: {row.minimum:.4g} to "
                      f"{row.maximum:.4g}, mean {row.mean:.4g}; begins with"),
            html.Pre(first, className="values"),
        ]
    )  # fmt: skip


def _shape(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"
