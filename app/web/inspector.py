"""What is known of the selected PE and kernel, as components. Views in, components out."""

from __future__ import annotations

from typing import Any

from dash import html

from app.palette import cause_colour
from app.units import count, percent, rate, size
from app.views.kernel import EdgeRow, KernelView
from app.views.pe import CauseRow, LinkRow, PEView, SramRow

_EMPTY = (
    "Nothing is selected. Click a PE on the map, or press h j k l to walk over the mesh; "
    "the list of kernels selects a kernel."
)


def inspector(pe: PEView | None, kernel: KernelView | None, theme: str) -> Any:
    """Return everything about the selection."""
    if pe is None and kernel is None:
        return html.P(_EMPTY, className="empty")
    parts = [*_pe(pe, theme)] if pe else []
    return [*parts, *(_kernel(kernel) if kernel else [])]


def _pe(view: PEView, theme: str) -> list[Any]:
    owner: Any = "no kernel"
    if view.kernel:
        owner = html.Button(view.kernel, className="link",
                            **{"data-do": "kernel", "data-arg": view.kernel})  # fmt: skip
    return [
        html.H2(f"PE ({view.row}, {view.col})", id="inspect-title"),
        html.P(view.sentence, className=view.severity),
        _facts([("kernel", [owner, f" {view.kernel_kind}"]), ("tile", view.tile)]),
        *_values(view),
        html.H3(f"Cycles by cause ({count(view.step_cycles)} in this step)"),
        _stack([(row.cause, row.step_share) for row in view.causes], theme),
        _causes(view.causes, theme),
        html.H3(f"SRAM: {size(view.sram_allocated)} of {size(view.sram_capacity)} allocated, "
                f"{size(view.sram_live)} live"),
        *_sram(view),
        html.H3("Links in this step, wavelets and wavelets a cycle"),
        html.Table(html.Tbody([_link(row) for row in view.links]), className="numbers"),
        _nodes(view.source_nodes),
        html.P(f"standing: {view.standing}", className="muted"),
    ]  # fmt: skip


def _values(view: PEView) -> list[Any]:
    tile = view.values
    if tile is None:
        return [html.P(view.values_note, className="muted")] if view.values_note else []
    numbers = " ".join(f"{value:.5g}" for value in tile.first)
    more = tile.kept - len(tile.first)
    return [
        html.H3("Values it keeps, sample 0"),
        html.P(tile.sentence, className=tile.severity),
        html.Pre(f"{numbers}{f' and {more:,} more' if more else ''}", className="values")
        if tile.kept
        else None,
    ]


def _facts(rows: list[tuple[str, Any]]) -> Any:
    return html.Table(
        html.Tbody([html.Tr([html.Th(name, scope="row"), html.Td(v)]) for name, v in rows if v]),
        className="facts",
    )


def _stack(shares: list[tuple[str, float]], theme: str) -> Any:
    parts = [
        html.Div(title=f"{cause} {percent(share)}",
                 style={"width": f"{100 * share:.3f}%",
                        "backgroundColor": cause_colour(cause, theme)})
        for cause, share in shares if share > 0
    ]  # fmt: skip
    return html.Div(parts, className="stack")


def _causes(rows: tuple[CauseRow, ...], theme: str) -> Any:
    head = html.Tr([html.Th("cause", scope="col"), html.Th("step", scope="col"),
                    html.Th("run", scope="col"), html.Th("of run", scope="col")])  # fmt: skip
    body = [
        html.Tr(
            [
                html.Td([html.Span(className="swatch",
                                   style={"backgroundColor": cause_colour(row.cause, theme)}),
                         row.cause]),
                html.Td(count(row.step_cycles), className="number"),
                html.Td(count(row.run_cycles), className="number"),
                html.Td(percent(row.run_share), className="number"),
            ]
        )
        for row in rows
    ]  # fmt: skip
    return html.Table([html.Thead(head), html.Tbody(body)], className="numbers")


def _sram(view: PEView) -> list[Any]:
    if not view.sram:
        return [html.P("Nothing is laid out in this PE's SRAM.", className="muted")]
    span = max([view.sram_capacity, *(row.offset + row.size for row in view.sram)])
    blocks = [_block(row, span) for row in view.sram]
    limit = html.Div(className="limit", style={"left": f"{100 * view.sram_capacity / span:.2f}%"})
    body = [
        html.Tr(
            [html.Td([html.Span(className=f"swatch {_role(row)}"), row.name]), html.Td(row.role),
             html.Td(f"{row.offset:,}", className="number"),
             html.Td(f"{row.size:,} B", className="number"),
             html.Td("" if row.fits else "too far", className="alert")],
            className="" if row.live else "muted",
            title="holds data in this step" if row.live else "empty in this step",
        )
        for row in view.sram
    ]  # fmt: skip
    head = html.Tr(
        [html.Th(name, scope="col") for name in ("buffer", "role", "from byte", "size", "")]
    )
    return [
        html.Div([*blocks, limit], className="strip"),
        html.Table([html.Thead(head), html.Tbody(body)], className="numbers"),
    ]


def _block(row: SramRow, span: int) -> Any:
    state = "live" if row.live else "idle"
    return html.Div(
        className=f"block {_role(row)} {state}{'' if row.fits else ' over'}",
        title=f"{row.name} ({row.role}): {row.size:,} B from {row.offset:,}, {state}",
        style={"left": f"{100 * row.offset / span:.3f}%", "width": f"{100 * row.size / span:.3f}%"},
    )


def _role(row: SramRow) -> str:
    return "role-" + row.role.replace(" ", "-")


def _link(row: LinkRow) -> Any:
    width = f"{min(100.0, 100 * row.load):.1f}%"
    return html.Tr(
        [
            html.Td(row.plane),
            html.Td(count(row.words), className="number"),
            html.Td(f"{rate(row.load)} a cycle", className=f"number {row.severity}"),
            html.Td(html.Div(html.Div(style={"width": width}), className="meter")),
        ]
    )


def _nodes(names: tuple[str, ...]) -> Any:
    if not names:
        return None
    return html.Div([html.H3("Source nodes"), html.Ul([html.Li(name) for name in names])])


def _kernel(view: KernelView) -> list[Any]:
    row, col, rows, cols = view.region
    m, k, n = view.tiling
    return [
        html.H2(f"Kernel {view.name}", id="kernel-title"),
        html.P(view.sentence, className=view.severity),
        _facts(
            [
                ("kind", view.kind),
                ("region", f"{rows}x{cols} PEs at row {row}, column {col}"),
                ("tiling", f"{m} parts of M, {k} of K, {n} of N"),
                ("instance", f"{count(view.cycles)} cycles"),
                ("utilization", percent(view.utilization)),
                ("attainable", f"{count(round(view.samples_per_mcycle, 2))} samples/Mcycle"),
                ("SRAM", f"{size(view.sram_bytes)} of {size(view.sram_capacity)}"),
                ("operations", ", ".join(view.ops)),
            ]
        ),
        html.H3("Transfers"),
        _edges(view.edges),
        _nodes(view.source_nodes),
        html.P(f"standing: {view.standing}", className="muted"),
    ]


def _edges(rows: tuple[EdgeRow, ...]) -> Any:
    if not rows:
        return html.P("It has none.", className="muted")
    names = ("", "tensor", "with", "chunks", "slots", "wavelets")
    body = [
        html.Tr(
            [html.Td(row.direction, className="tight"), html.Td(row.tensor), html.Td(row.other),
             html.Td(row.chunks, className="number"),
             html.Td(f"{row.out_slots}/{row.in_slots}", className="number"),
             html.Td(count(row.words), className="number")]
        )
        for row in rows
    ]  # fmt: skip
    head = html.Tr([html.Th(name, scope="col") for name in names])
    return html.Table([html.Thead(head), html.Tbody(body)], className="numbers")
