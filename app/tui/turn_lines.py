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
"""arrivals, then what leaves, drawn where there is room"""


def turn_lines(view: StreamingView, glyphs: Glyphs, *, is_tall: bool) -> list[Text]:
    """Return the sentence, the phases of the turn in one line, and in a tall window arrivals."""
    found = [Text(view.sentence, no_wrap=True, overflow="ellipsis"), _phases(view, glyphs)]
    if is_tall:
        rows: tuple[ArrivalRow | LeavingRow, ...] = (*view.arriving, *view.leaving)
        found += [_moving(row, glyphs) for row in rows[:_MOST_ROWS]]
    return found


def _phases(view: StreamingView, glyphs: Glyphs) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis")
    for index, phase in enumerate(view.phases):
        text.append("  " if index else "")
        if phase.state == "now":
            text.append(f"{phase.name} ", "bold")
            text.append(bar(phase.share, _CELLS, glyphs), "#7cc8f5")
            text.append(f" {percent(phase.share)}", "bold")
        else:
            text.append(f"{phase.name} {phase.state}", "dim" if phase.state == "later" else "")
    return text


def _moving(row: ArrivalRow | LeavingRow, glyphs: Glyphs) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(bar(row.share, 2 * _CELLS, glyphs), "#7cc8f5")
    return text.append(f" {row.sentence}")
