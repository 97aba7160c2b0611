"""The main screen: header, map, side panel, time and answers. Paints snapshots, decides nothing."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from app.tui import lines
from app.tui.courier import Room, Snapshot
from app.tui.glyphs import Glyphs
from app.tui.inspector import inspector
from app.tui.keys import hints, key_name
from app.tui.map_widget import MapWidget
from app.tui.style import relit
from app.tui.turn_lines import turn_lines

COMPACT_WIDTH = 120
"""cells below which the side panel starts hidden"""
TALL = 40
"""lines from which traffic, SRAM and the kernels' lanes are drawn below the map"""
_MOST_LANES = 6


class MainScreen(Screen[None]):
    """What a session looks like."""

    @dataclass
    class Pressed(Message):
        """A key in the words of the table of commands."""

        key: str

    @dataclass
    class RoomChanged(Message):
        """There is another amount of room for the map and the timeline."""

        room: Room

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__()
        self._glyphs = glyphs
        self._snapshot: Snapshot | None = None
        self._side: bool | None = None
        self._shown: dict[str, Text] = {}
        self.note = ""

    @property
    def snapshot(self) -> Snapshot | None:
        """what is painted"""
        return self._snapshot

    def compose(self) -> ComposeResult:
        """Header; map and side panel; lines below."""
        yield Static(" opening ...", id="head", markup=False)
        with Horizontal(id="middle"):
            yield MapWidget(self._glyphs)
            side = VerticalScroll(Static(id="panel", markup=False), id="side")
            side.can_focus = False
            yield side
        yield Static(id="foot", markup=False)

    def on_resize(self, event: events.Resize) -> None:
        """Choose between compact and wide."""
        self.set_class(event.size.width < COMPACT_WIDTH, "-compact")
        self._place_side()
        self._paint_text()

    def toggle_side(self) -> None:
        """Show or hide the side panel."""
        self._side = not self.query_one("#side").display
        self._place_side()

    def scroll_side(self, pages: int) -> None:
        """Scroll the side panel by half its height."""
        side = self.query_one("#side")
        side.scroll_relative(y=pages * (side.size.height // 2), animate=False)

    def _place_side(self) -> None:
        shown = self._side if self._side is not None else self.size.width >= COMPACT_WIDTH
        self.query_one("#side").display = shown
        self._paint_text()

    def paint(self, snapshot: Snapshot) -> None:
        """Paint a snapshot; what did not change stays."""
        self._snapshot = snapshot
        self.query_one(MapWidget).show(snapshot.map)
        self._paint_text()

    def _paint_text(self) -> None:
        shot = self._snapshot
        if shot is None or not self.is_mounted:
            return
        width = self.size.width
        self._put("#head", lines.header(shot.status, width))
        self._put("#foot", Text("\n").join(self._below(shot, width)))
        if self.query_one("#side").display:
            room = (40 if width < COMPACT_WIDTH else 46) - 3
            self._put("#panel", inspector(shot.pe, shot.kernel, shot.map, self._glyphs, room))

    def relight(self, glyphs: Glyphs) -> None:
        """Paint everything anew with other colours."""
        self._glyphs = glyphs
        self._shown.clear()
        self.query_one(MapWidget).relight(glyphs)
        if self._snapshot is not None:
            self.paint(self._snapshot)

    def _put(self, place: str, text: Text) -> None:
        """Show a text; places are laid out anew only where its shape changed."""
        text = relit(text, self._glyphs.theme)
        before = self._shown.get(place)
        if before == text and before.spans == text.spans:
            return
        self._shown[place] = text
        is_same_shape = before is not None and _shape(before) == _shape(text)
        self.query_one(place, Static).update(text, layout=not is_same_shape)

    def _below(self, shot: Snapshot, width: int) -> list[Text]:
        glyphs = self._glyphs
        below = [lines.legend(shot.map, glyphs, width)]
        is_tall = self.size.height >= TALL
        below += [lines.spark(series, shot.timeline, glyphs, width)
                  for series in shot.timeline.series[: 3 if is_tall else 1]]  # fmt: skip
        if is_tall:
            below += lines.lanes(shot.timeline, glyphs, width, _MOST_LANES)
        if shot.streaming is not None:
            below += turn_lines(shot.streaming, glyphs, width, is_tall=is_tall)
        below.append(lines.moment(shot.status, width))
        below.append(lines.answer(shot.status, shot.map, shot.error, self.note, glyphs, width))
        keys = Text(no_wrap=True)
        for key, label in hints(width):
            keys.append(f" {key}", "bold").append(f" {label} ", "dim")
        return [*below, keys]

    def show_answer(self, text: Text) -> None:
        """Replace the line of answers until the next snapshot."""
        if self._snapshot is None:
            return
        below = self._below(self._snapshot, self.size.width)
        below[-2] = text
        self._put("#foot", Text("\n").join(below))

    def on_map_widget_sized(self, event: MapWidget.Sized) -> None:
        """Tell how many pixels are needed now."""
        event.stop()
        high, wide = self.query_one(MapWidget).pixels
        bins = lines.spark_bins(self.size.width)
        self.post_message(self.RoomChanged(Room(high, wide, bins)))

    def on_key(self, event: events.Key) -> None:
        """Hand keys on in the words of the table."""
        self.post_message(self.Pressed(key_name(event.key, event.character)))


def _shape(text: Text) -> list[int]:
    """Return the length of each line, by which the height of a wrapped text is known."""
    return [len(line) for line in text.plain.split("\n")]
