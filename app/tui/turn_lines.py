"""The lines below the map of a streaming run: whose turn, its phases, what arrives. Pure."""

from __future__ import annotations

from rich.text import Text

from app.tui.glyphs import Glyphs
from app.tui.lines import bar
from app.units import percent
from app.views.streaming import ArrivalRow, LeavingRow, StreamingView

_CELLS = 8
"""of a bar"""
_MOST_ROWS = 4
"""arrivals, then what leaves, drawn in a tall window; else the first alone"""
_WIDE = 110
"""cells from which phases that are done are named too"""


def turn_lines(view: StreamingView, glyphs: Glyphs, width: int, *, is_tall: bool) -> list[Text]:
    """Return whose turn it is with its phases in one line, then what is on its way."""
    rows: tuple[ArrivalRow | LeavingRow, ...] = (*view.arriving, *view.leaving)
    below = [Text(view.quiet, "dim", no_wrap=True, overflow="ellipsis")] if view.quiet else []
    below += [_moving(row, glyphs) for row in rows]
    return [_turn(view, glyphs, width), *below[: _MOST_ROWS if is_tall else 1]]


def _turn(view: StreamingView, glyphs: Glyphs, width: int) -> Text:
    text = Text(view.headline, no_wrap=True, overflow="ellipsis")
    for phase in view.phases:
        if phase.state == "now":
            text.append(f"  {phase.name} ", "bold")
            text.append(bar(phase.share, _CELLS, glyphs), "#7cc8f5")
            text.append(f" {percent(phase.share)}", "bold")
        elif phase.state == "later" or width >= _WIDE:
            style = "dim" if phase.state == "later" else ""
            text.append(f"  {phase.name} {phase.state}", style)
    return text


def _moving(row: ArrivalRow | LeavingRow, glyphs: Glyphs) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(bar(row.share, 2 * _CELLS, glyphs), "#7cc8f5")
    return text.append(f" {row.sentence}")
