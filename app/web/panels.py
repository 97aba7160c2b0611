"""Panels about a whole run: header, overflow notice, report, idle regions.

Frozen views in, Dash components out. Whatever is judged here was judged by the view.
"""

from __future__ import annotations

from typing import Any

from dash import html

from app.units import count, percent
from app.views.idle import IdleRegion, IdleView
from app.views.report import OverflowRow, ReportView


def header(view: ReportView) -> Any:
    """Return model, machine, ledger badge and the bottleneck in one line."""
    books = {True: ("ledger ok", "ok"), False: ("ledger broken", "alert")}
    text, severity = books.get(view.ledger_ok, ("not executed", "warn"))
    failed = "; ".join(check.name for check in view.checks if not check.ok)
    badges = [html.Span(text, className=f"badge {severity}", title=failed or "every law holds")]
    if not view.fits:
        badges.append(html.Span("would not run", className="badge alert"))
    return [
        html.B(view.model, title="model"),
        html.Span(view.machine, className="muted", title="machine"),
        *badges,
        html.Span(view.bottleneck, className="bottleneck", title=view.bottleneck),
    ]


def overflow_notice(view: ReportView) -> Any:
    """Return what does not fit, who holds it and what helps; nothing when all fits."""
    if not view.overflows:
        return None
    shown = view.overflows[:3]
    more = len(view.overflows) - len(shown)
    return html.Details(
        [
            html.Summary(f"Does not fit: {view.overflows[0].sentence}",
                         title="Show who holds what, and what would help"),
            html.P(f"It would fit on {view.smallest_machine}.") if view.smallest_machine else None,
            html.P(f"{view.wafers[:1].upper()}{view.wafers[1:]}.") if view.wafers else None,
            *[_overflow(row) for row in shown],
            html.P(f"and {more:,} more") if more else None,
        ],
        className="notice",
    )  # fmt: skip


def _overflow(row: OverflowRow) -> Any:
    holders = [
        html.Tr([html.Td(name), html.Td(f"{count(held)} {row.unit}", className="number")])
        for name, held in row.holders[:6]
    ]
    return html.Div(
        [
            html.H3(f"{row.resource}: {row.where}"),
            html.P(f"needs {count(row.demand)} {row.unit}, there are {count(row.bound)}; short by "
                   f"{count(row.gap)} {row.unit}, held by:"),
            html.Table(html.Tbody(holders), className="numbers") if holders else None,
            html.Ul([html.Li(lever) for lever in row.levers]) if row.levers else None,
        ]
    )  # fmt: skip


def report(view: ReportView) -> Any:
    """Return headline figures, the ledger, notes and the compiler's report."""
    figures = [html.Tr([html.Th(label, scope="row"), html.Td(value)])
               for label, value in view.headline]  # fmt: skip
    checks = [
        html.Tr(
            [html.Td(html.Span("holds" if check.ok else "broken",
                               className=f"badge {'ok' if check.ok else 'alert'}")),
             html.Td([html.B(check.name), html.Div(check.detail, className="muted")])]
        )
        for check in view.checks
    ]  # fmt: skip
    return [
        html.P(view.bottleneck),
        html.Table(html.Tbody(figures), className="facts"),
        html.P(f"standing: {view.standing}", className="muted"),
        html.H3("Ledger"),
        html.Table(html.Tbody(checks), className="facts"),
        *[html.P(note, className="muted") for note in view.notes],
        html.H3("Compile report"),
        html.Pre(view.text, tabIndex=0),
    ]


def idle_list(view: IdleView) -> Any:
    """Return the largest idle regions; a click shows one on the map."""
    causes = ", ".join(f"{name} {percent(share)}" for name, share in view.causes)
    return [
        html.P(view.sentence),
        html.P(f"lost to: {causes}", className="muted") if causes else None,
        html.Ol([_idle_region(region) for region in view.regions], className="idle"),
        html.P(f"standing: {view.standing}", className="muted"),
    ]


def _idle_region(region: IdleRegion) -> Any:
    box = " ".join(str(side) for side in region.rect)
    button = html.Button(
        f"{region.cause}, {region.pes:,} PEs, {percent(region.share)}",
        className="link", title="Select this region and zoom to it",
        **{"data-do": "region", "data-args": box, "data-then": "focus"},
    )  # fmt: skip
    levers = html.P("knobs: " + ", ".join(region.levers), className="muted")
    return html.Li([button, html.P(region.sentence), levers if region.levers else None])
