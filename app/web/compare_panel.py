"""The panel that measures the run on screen against another. A view in, components out."""

from __future__ import annotations

from typing import Any

from dash import html

from app.views.compare import CompareRow, CompareView, KernelChange
from app.web.debug_panels import act, link

_EMPTY = (
    "Nothing is compared. Change a knob and compare with the run before it, or name a recording "
    "below."
)


def compare_panel(view: CompareView | None) -> Any:
    """Return the figures of both runs and what differs."""
    if view is None:
        return [html.P(_EMPTY, className="empty"), _start()]
    knobs = [html.Li(f"{name}: {old} to {new}") for name, old, new in view.knobs]
    changed = [kernel for kernel in view.kernels if kernel.state != "same"]
    return [
        html.P(view.sentence),
        html.Div(
            [act("Map of the run", "difference", "run", "Colour each PE by B less A"),
             act("Map of the step", "difference", "step",
                 "The same between this step and A's step at the same progress"),
             act("Side by side", "beside", "",
                 "A's map beside this one: same place, same progress, same colours"),
             act("Plain map", "difference", "off", "Show this run alone"),
             act("End", "compare", "off", "Compare no longer", "difference-off")],
            className="buttons",
        ),
        html.P(f"A: {view.label_a}, step {view.step_a:,}. B: {view.label_b}, step "
               f"{view.step_b:,}.", className="muted"),
        html.H3("Knobs") if knobs else None,
        html.Ul(knobs) if knobs else None,
        html.H3("Figures"),
        _table(view.rows),
        html.H3("Share of PEs x makespan by cause"),
        _table(view.causes),
        html.H3("Kernels"),
        html.Ul([_kernel(kernel) for kernel in changed]) if changed
        else html.P("none moved or changed", className="muted"),
        *[html.P(note, className="warn") for note in view.notes],
        html.P(f"standing: {view.standing}", className="muted"),
    ]  # fmt: skip


def _start() -> Any:
    button = act("Compare with the run before", "compare", "", "The run before the last knob (d)")
    return html.Div(button, className="buttons")


def _table(rows: tuple[CompareRow, ...]) -> Any:
    head = html.Tr([html.Th(name, scope="col") for name in ("", "A", "B", "B less A")])
    return html.Table(
        [html.Thead(head), html.Tbody([_row(row) for row in rows])], className="numbers"
    )


def _row(row: CompareRow) -> Any:
    a, b, difference = row.texts
    classes = {"better": "number ok", "worse": "number warn"}
    return html.Tr(
        [html.Th(row.name, scope="row"), html.Td(a, className="number"),
         html.Td(b, className="number"),
         html.Td(difference, className=classes.get(row.verdict, "number"), title=row.verdict)]
    )  # fmt: skip


def _kernel(kernel: KernelChange) -> Any:
    name: Any = html.B(kernel.name)
    if kernel.region_b is not None:
        name = link(kernel.name, "kernel", kernel.name, "Select it and zoom to it", "focus")
    return html.Li([name, f" {kernel.state}: {kernel.sentence}"])
