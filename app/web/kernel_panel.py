"""The table of kernels, sorted and filtered by the page's script. View in, components out."""

from __future__ import annotations

from typing import Any

from dash import html

from app.units import count, percent, size
from app.views.report import ReportRow, ReportView
from app.web.debug_panels import link

_COLUMNS = (
    # name, what it is, shown only in a wide panel
    ("kernel", "name, kind, and its rows x columns at row, column", False),
    ("PEs", "PEs of its region", True),
    ("cycles", "of one instance", False),
    ("utilization", "compute / cycles of its PEs", False),
    ("samples/Mcycle", "samples a million cycles that the kernel alone allows", True),
    ("SRAM", "allocated on its fullest PE", False),
    ("operations", "floating-point operations a sample", True),
)  # fmt: skip


def kernel_table(view: ReportView) -> Any:
    """Return the kernels as a table; a click on a name selects one, on a heading sorts."""
    if not view.rows:
        return html.P("The program has no kernels.", className="empty")
    return [
        html.Table(
            [html.Thead(_head()), html.Tbody([_row(row) for row in view.rows])],
            className="kernels sortable", id="kernel-table",
        ),
        html.P(f"standing: {view.standing}", className="muted"),
    ]  # fmt: skip


def _head() -> Any:
    return html.Tr(
        [
            html.Th(
                html.Button(name, className="sort", title=f"{about}; click to sort",
                            **{"data-sort": str(place)}),
                scope="col", className=_look(is_more, "number" if place else ""),
                **{"aria-sort": "none"},
            )
            for place, (name, about, is_more) in enumerate(_COLUMNS)
        ]
    )  # fmt: skip


def _row(row: ReportRow) -> Any:
    top, left, rows, cols = row.region
    name = link(row.name, "kernel", row.name, f"Select {row.name} and zoom to it", "focus")
    mark = html.Span("slowest", className="badge warn") if row.is_bottleneck else None
    meter = html.Div(html.Div(style={"width": f"{100 * row.utilization:.1f}%"}), className="meter")
    where = f"{row.kind}, {rows}x{cols} at {top},{left}"
    cells: list[tuple[str | float, Any]] = [
        (row.name, [name, mark, html.Div(where, className="muted")]),
        (row.active_pes, count(row.active_pes)),
        (row.cycles, count(row.cycles)),
        (row.utilization, [percent(row.utilization), meter]),
        (row.samples_per_mcycle, count(round(row.samples_per_mcycle, 2))),
        (row.sram_bytes, size(row.sram_bytes)),
        (row.ops, count(row.ops)),
    ]
    return html.Tr(
        [
            html.Td(shown, className=_look(is_more, "" if place == 0 else "number"),
                    **{"data-value": str(value)})
            for place, ((value, shown), (_, _, is_more)) in enumerate(
                zip(cells, _COLUMNS, strict=True))
        ],
        title=", ".join(row.source_nodes[:6]),
        **{"data-kernel": row.name, "data-kind": row.kind,
           "data-nodes": " ".join(row.source_nodes)},
    )  # fmt: skip


def _look(is_more: bool, look: str) -> str:
    return f"{look} more".strip() if is_more else look
