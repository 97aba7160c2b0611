"""Panels that judge a run: what holds the makespan, what would help. Views in, components out."""

from __future__ import annotations

from typing import Any

from dash import html

from app.units import count, percent
from app.views.advice import AdviceRow, AdviceView, OptimumView, TriedRow
from app.views.bottleneck import BottleneckView
from app.views.status import JobView
from app.web.debug_panels import act, link


def overview_panel(view: BottleneckView, advice: AdviceView) -> Any:
    """Return what the critical path is made of, its bound, and the first pieces of advice."""
    bars = [_share(row.kind, row.cycles, row.share) for row in view.rows if row.cycles]
    bars.append(_share("lower bound", view.bound_cycles, view.bound_share))
    holder = None
    if view.kernel:
        holder = link(view.kernel, "kernel", view.kernel, "Select this kernel and zoom to it",
                      "focus")  # fmt: skip
    return [
        html.P(view.sentence),
        html.P(["most of it in ", holder, f": {count(view.kernel_cycles)} cycles"])
        if holder
        else None,
        html.H3(f"What {count(view.makespan)} cycles are made of"),
        html.Table(html.Tbody(bars), className="numbers"),
        html.H3("What would help"),
        html.P(advice.sentence),
        html.Ul([html.Li([html.B(f"{row.title}: "), _gain(row)]) for row in advice.rows[:3]]),
        html.P([act("All advice", "advice", "", "Show what the rules say"), " ",
                act("Report", "report", "", "Show the compile report and the ledger")]),
        html.P(f"standing: {view.standing}", className="muted"),
    ]  # fmt: skip


def _share(name: str, cycles: int, share: float) -> Any:
    width = f"{100 * min(1.0, max(0.0, share)):.1f}%"
    return html.Tr(
        [
            html.Th(name, scope="row"),
            html.Td(html.Div(html.Div(style={"width": width}), className="meter")),
            html.Td(percent(share), className="number"),
            html.Td(count(cycles), className="number"),
        ]
    )


def advice_panel(view: AdviceView, job: JobView | None) -> Any:
    """Return what the rules say, with buttons that try it, and what trying gave."""
    busy = job is not None and job.state == "running"
    return [
        html.P(view.sentence),
        html.Div(_tries(job) if busy else _starts(), className="buttons"),
        _optimum(view.optimum) if view.optimum is not None else None,
        *[_advice(row) for row in view.rows],
        html.P(f"standing: {view.standing}", className="muted"),
    ]


def _starts() -> list[Any]:
    return [
        act("Try advice", "advise", "", "Compile and execute what the rules propose, up to 10 s"),
        act("Search knobs", "optimize", "", "Try single knobs and pairs, up to 20 s"),
    ]


def _tries(job: JobView | None) -> list[Any]:
    if job is None:
        return []
    return [
        html.Progress(value=str(job.done), max=str(max(1, job.total)),
                      **{"aria-label": f"progress of {job.what}"}),
        html.Span(f"{job.what}: {job.stage}", className="muted"),
        act("Cancel", "cancel", "", "Stop the work in the background"),
    ]  # fmt: skip


def _optimum(view: OptimumView) -> Any:
    found = [_tried(row) for row in view.rows[:5]]
    return html.Div([html.H3("Search"), html.P(view.sentence), html.Ul(found)], className="card")


def _advice(row: AdviceRow) -> Any:
    place = None
    if row.place is not None:
        box = " ".join(str(side) for side in row.place)
        place = act("Show", "region", box, "Select the place and zoom to it", "focus")
    kernels = [link(name, "kernel", name, f"Select {name}") for name in row.kernels[:4]]
    evidence = [html.Li(f"{name}: {value}") for name, value in row.evidence]
    untried = f"not tried yet: {'; '.join(row.untried)}" if row.untried else ""
    return html.Div(
        [
            html.Div([html.B(row.title), " ", html.Span(_gain(row), className="badge")]),
            html.P(row.sentence, className=row.severity),
            html.Ul(evidence) if evidence else None,
            html.P(["in ", *_spaced(kernels)]) if kernels else None,
            html.Ul([_tried(item) for item in row.tried]) if row.tried else None,
            html.P(untried, className="muted") if untried else None,
            html.Div(place, className="buttons") if place else None,
        ],
        className="card",
    )


def _spaced(parts: list[Any]) -> list[Any]:
    return [word for part in parts for word in (part, " ")][:-1]


def _gain(row: AdviceRow) -> str:
    if row.best is not None:
        gain = "fits" if row.goal == "fit" else f"gains {percent(row.best.gain)}"
        return f"{row.best.text}: {gain}, tried"
    if row.tried:
        return "tried, no gain found"
    return "not tried yet" if row.untried else "nothing to try"


def _tried(row: TriedRow) -> Any:
    """Return what was tried; one knob for the whole program can be set by a click."""
    use = None
    if len(row.changes) == 1 and row.gain > 0:
        knob, value, kernel = row.changes[0]
        name = f"{knob}@{kernel}" if kernel else knob
        use = act("Use it", "set", f"{name} {value}", f"Set {row.text} and compile again")
    return html.Li([row.sentence, " ", use])
