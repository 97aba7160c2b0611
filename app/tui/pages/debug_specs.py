"""From breakpoints, hot links, explanations, advice and bottleneck to pages. Pure functions."""

from __future__ import annotations

from rich.text import Text

from app.tui.lines import SEVERITY
from app.tui.pages.table import TableSpec
from app.units import count, percent
from app.views.advice import AdviceRow, AdviceView
from app.views.bottleneck import BottleneckView
from app.views.breaks import BreakRow, BreaksView, ChainRow, StopView
from app.views.explain import ExplainView
from app.views.hot import HotRow, HotView

_BAR = 30


def breaks_spec(view: BreaksView) -> TableSpec:
    """Return the table of breakpoints; the newest stop stands in the title."""
    rows = tuple(
        (str(row.id), row.kind, row.condition, _state(row), str(row.hits), str(row.stops),
         _step(row.last_step), _step(row.next_step))
        for row in view.rows
    )  # fmt: skip
    columns = ("id", "kind", "condition", "state", "hits", "in run", "last", "next")
    return TableSpec(
        f"Breakpoints: {view.sentence}  [{view.standing}]", columns, rows,
        tuple(_break_detail(row, view) for row in view.rows),
        "Enter goes to the next, p to the last, d deletes, e switches on or off, o once, "
        "w why it stopped, Escape closes", keys=("p", "d", "e", "o", "w"),
    )  # fmt: skip


def _state(row: BreakRow) -> str:
    if not row.enabled:
        return "off"
    words = ["once"] if row.once else []
    words += [f"passes {row.ignore}"] if row.ignore else []
    return " ".join(words) or "on"


def _step(step: int | None) -> str:
    return "" if step is None else str(step)


def _break_detail(row: BreakRow, view: BreaksView) -> str:
    parts = [row.note] if row.note else []
    if view.stop is not None and view.stop.id == row.id:
        parts += [view.stop.sentence, *(_chain_line(item) for item in view.stop.chain)]
    return "\n".join(parts) or f"turns true {row.stops} time(s) in this run"


def _chain_line(row: ChainRow) -> str:
    return f"{row.level}: {row.sentence}"


def stop_text(view: StopView) -> Text:
    """Return why the run stopped as a text page."""
    text = Text(f"{view.sentence}\n\n")
    if view.also:
        text.append(f"at the same time in {', '.join(view.also)}\n")
    for line in view.evidence:
        text.append(f"{line}\n")
    text.append("\n")
    return _append_chain(text, view.chain, view.standing)


def _append_chain(text: Text, chain: tuple[ChainRow, ...], standing: str) -> Text:
    for row in chain:
        text.append(f"{row.level:<12} ", "bold")
        text.append(f"{row.sentence}\n")
    return text.append(f"\nstanding     {standing}", "dim")


def hot_spec(view: HotView) -> TableSpec:
    """Return the table of hot links and ramps."""
    rows = tuple(
        (f"({row.row}, {row.col})", row.plane, percent(row.load), count(row.words),
         _senders(row))
        for row in view.rows
    )  # fmt: skip
    details = tuple(
        "\n".join(f"{percent(s.share):>8} {s.ends}" for s in row.senders[:6]) for row in view.rows
    )
    return TableSpec(
        f"Hot links: {view.sentence}  [{view.standing}]",
        ("PE", "way", "load", "wavelets", "senders"), rows, details,
        "Enter goes there, Escape closes",
    )  # fmt: skip


def _senders(row: HotRow) -> str:
    text = ", ".join(sender.ends for sender in row.senders[:2])
    return text + (f" +{len(row.senders) - 2}" if len(row.senders) > 2 else "")


def advice_spec(view: AdviceView) -> TableSpec:
    """Return the table of advice; what was tried stands below each row."""
    rows = tuple((row.title, row.best.text if row.best else "-", _gain(row), row.sentence)
                 for row in view.rows)  # fmt: skip
    title = f"Advice: {view.sentence}"
    if view.optimum is not None:
        title += f". Search: {view.optimum.sentence}"
    return TableSpec(
        f"{title}  [{view.standing}]", ("what", "change", "gain", "why"), rows,
        tuple(_advice_detail(row) for row in view.rows),
        "Enter goes there, t tries what is proposed, o searches all knobs, Escape closes",
        keys=("t", "o"),
    )  # fmt: skip


def _gain(row: AdviceRow) -> str:
    if row.best is not None:
        return f"{percent(row.best.gain)} (tried)" if row.goal != "fit" else "fits (tried)"
    if row.tried:
        return "none found"
    return "not tried" if row.untried else "nothing to try"


def _advice_detail(row: AdviceRow) -> str:
    lines = [row.sentence, *(f"{name}: {value}" for name, value in row.evidence)]
    lines += [item.sentence for item in row.tried]
    if row.untried:
        lines.append("not tried yet: " + "; ".join(row.untried))
    if not row.tried and not row.untried:
        lines.append("acts on it: " + (", ".join(row.knobs) or "no knob"))
    return "\n".join(lines)


def why_text(view: ExplainView) -> Text:
    """Return an explanation as a text page."""
    text = Text(f"{view.sentence}\n\n")
    for tie in view.ties:
        text.append(f"{tie.cause:<12} ", SEVERITY["warn"])
        text.append(f"{tie.sentence}  ({tie.lever.replace('_', ' ')})\n")
    if view.ties_note:
        text.append(f"{view.ties_note}\n", "bold")
    if view.ties:
        text.append("\n")
    return _append_chain(text, view.chain, view.standing)


def bottleneck_text(view: BottleneckView) -> Text:
    """Return what the makespan is made of as a text page."""
    text = Text(f"{view.sentence}\n\n")
    for row in view.rows:
        text.append(f"{row.kind:<12} ", "bold")
        text.append(f"{'#' * round(row.share * _BAR):<{_BAR}} {percent(row.share):>8} "
                    f"{count(row.cycles):>14} cycles\n")  # fmt: skip
    text.append(f"{'lower bound':<12} ", "bold")
    text.append(f"{'#' * round(view.bound_share * _BAR):<{_BAR}} {percent(view.bound_share):>8} "
                f"{count(view.bound_cycles):>14} cycles\n")  # fmt: skip
    return text.append(f"\nstanding     {view.standing}", "dim")
