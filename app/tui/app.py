"""The terminal application: keys and lines become commands, answers become paintings.

What idle, hot or overflow means is decided below; every action goes through the session's `do`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual.app import App
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.timer import Timer

from app.session.protocol import Session
from app.tui import lines
from app.tui.courier import Answer, Ask, Courier, Do, Fault, Look, Page, Snapshot
from app.tui.debug_desk import FACES as DEBUG_FACES
from app.tui.desk import Desk
from app.tui.glyphs import Glyphs, detect
from app.tui.keys import TABLE, key_commands
from app.tui.main_screen import MainScreen
from app.tui.map_widget import MapWidget
from app.tui.style import CSS as STYLE
from app.tui.survey_desk import FACES as SURVEY_FACES
from app.views.build_status import job_view

SPEEDS = (0.5, 1.0, 2.0, 4.0, 7.0, 10.0)
"""steps a second; above 10 a terminal cannot follow"""
_WATCH_SECONDS = 0.15
_FAR_PES = 8
"""PEs of a far move where each PE has its own pixel"""


class WaferscopeApp(App[int]):
    """One session on a terminal."""

    CSS = STYLE
    TITLE = "Waferscope"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+l", "repaint", "repaint", show=False)]

    @dataclass
    class Answered(Message):
        """The courier brought an answer."""

        answer: Answer

    def __init__(self, session: Session, glyphs: Glyphs | None = None) -> None:
        """`glyphs` None: chosen by the terminal."""
        super().__init__()
        self.glyphs = glyphs or detect(os.environ, self.console.color_system)
        self.session = session
        self.courier = Courier(session, self.glyphs, self._deliver)
        self._keys = key_commands()
        self._main = MainScreen(self.glyphs)
        self._player: Timer | None = None
        self._speed = 2
        self._played_step = -1
        self._seen_job = 0, ""
        self._busy_ticks = 0
        self._asked_for: Hashable = None
        self._was_lost = False
        self._desk = Desk(self)
        self._faces: dict[str, Callable[[], None]] = {
            "idle": lambda: self.ask("idle"), "report": lambda: self.ask("report"),
            "knobs": lambda: self.ask("knobs"), "kernels": lambda: self.ask("kernels"),
            "tensors": lambda: self.ask("values"),
            "metrics": self._desk.metrics, "inspector": self._main.toggle_side,
            "side-down": lambda: self._main.scroll_side(1),
            "side-up": lambda: self._main.scroll_side(-1),
            "far-west": lambda: self._move_far(0, -1), "far-east": lambda: self._move_far(0, 1),
            "far-north": lambda: self._move_far(-1, 0), "far-south": lambda: self._move_far(1, 0),
            "play": self._toggle_play, "slower": lambda: self._change_speed(-1),
            "faster": lambda: self._change_speed(1), "help": self._desk.help,
            "ask-search": lambda: self._desk.prompt("search"),
            "ask-goto": lambda: self._desk.prompt("goto"),
            "ask-export": lambda: self._desk.prompt("export"),
            "command": self._desk.line, "comparison": lambda: self.ask("compare"),
            "difference": self._toggle_difference, "theme": self._change_theme,
            "palette": self._desk.palette, "quit": lambda: self.exit(0),
            **{face: partial(self.ask, page)
               for face, page in (DEBUG_FACES | SURVEY_FACES).items()},
        }  # fmt: skip

    def on_mount(self) -> None:
        """Start the courier and show the main screen."""
        self.set_class(self.glyphs.is_ascii, "-ascii")
        self.set_class(self.glyphs.theme == "light", "-light")
        self.push_screen(self._main)
        self.courier.start()
        self.set_interval(_WATCH_SECONDS, self._watch)

    def on_unmount(self) -> None:
        """Let the courier end."""
        self.courier.stop()

    def _deliver(self, answer: Answer) -> None:
        self.post_message(self.Answered(answer))

    @property
    def main(self) -> MainScreen:
        """the main screen"""
        return self._main

    # -- orders --------------------------------------------------------------------------------

    def command(self, command_id: str, *arguments: object) -> None:
        """Run a command of the table, here or in the session."""
        if TABLE[command_id].scope == "face":
            face = self._faces.get(command_id)
            if face is None:
                self.say(f"'{command_id}' is not there in the terminal; '?' lists what is", "warn")
            else:
                face()
            return
        if self._player is not None and TABLE[command_id].group == "time":
            self._stop_play()
        self.courier.send(Do(command_id, arguments))

    def ask(self, page: str) -> None:
        """Fetch what a page shows; it opens when that is there."""
        self.courier.send(Ask(page))

    @property
    def metric(self) -> str:
        """id of the metric shown"""
        return self.session.cursor.metric

    def _move_far(self, down: int, across: int) -> None:
        shot = self._main.snapshot
        if shot is None:
            return
        view, place = shot.map, shot.map.selection.pe
        if place is None:
            self.command("south")
            return
        row = place[0] + down * max(_FAR_PES, view.pool_rows)
        col = place[1] + across * max(_FAR_PES, view.pool_cols)
        row, col = (min(max(at, 0), most - 1)
                    for at, most in zip((row, col), view.grid, strict=True))  # fmt: skip
        self.command("goto", f"{row},{col}")

    def on_main_screen_pressed(self, event: MainScreen.Pressed) -> None:
        """Run what the key stands for."""
        command_id = self._keys.get(event.key)
        if command_id is not None:
            self.command(command_id)

    def on_main_screen_room_changed(self, event: MainScreen.RoomChanged) -> None:
        """Fetch a snapshot of the new size."""
        self.courier.room = event.room
        self.courier.send(Look())

    def on_map_widget_picked(self, event: MapWidget.Picked) -> None:
        """Select the PE that was clicked."""
        self.command("pe", event.row, event.col)

    def action_repaint(self) -> None:
        """Paint everything anew."""
        self.refresh(layout=True)

    # -- answers -------------------------------------------------------------------------------

    def on_waferscope_app_answered(self, event: Answered) -> None:
        """Paint what the courier brought."""
        answer = event.answer
        if isinstance(answer, Snapshot):
            self._main.paint(answer)
        elif isinstance(answer, Page):
            self._desk.open(answer.name, answer.view)
        elif isinstance(answer, Fault):
            self.say(answer.message, "alert")

    def say(self, text: str, severity: str = "ok") -> None:
        """Show a sentence until the next answer."""
        self._main.show_answer(Text(text, lines.SEVERITY[severity], no_wrap=True))

    def _watch(self) -> None:
        """Show what another face changed, that the session is lost, or that something lasts."""
        if self.session.trouble:
            self._was_lost = True
            self.say(self.session.trouble, "alert")
            return
        self._follow_others()
        self._busy_ticks = 0 if self.courier.is_idle else self._busy_ticks + 1
        job = self.session.job
        if job is not None and job.is_running:
            line = lines.job_line(job_view(job), self.glyphs, self._main.size.width)
            self._main.show_answer(line)
        elif self._busy_ticks > 2:
            self.say("working ...")
        elif job is not None and (job.id, job.state) != self._seen_job:
            self.courier.send(Look())
        if job is not None:
            self._seen_job = job.id, job.state

    def _follow_others(self) -> None:
        """Look again when the session changed by itself or by another face, or is back."""
        shot, revision = self._main.snapshot, self.session.revision
        if shot is None or not self.courier.is_idle:
            return
        is_news = revision not in (shot.revision, self._asked_for)
        if is_news or self._was_lost:
            self._asked_for, self._was_lost = revision, False
            self.courier.send(Look())

    # -- looks -------------------------------------------------------------------------------

    def _toggle_difference(self) -> None:
        self.courier.differing = not self.courier.differing
        self.courier.send(Look())

    def _change_theme(self) -> None:
        self.glyphs = self.glyphs.other_theme
        self.set_class(self.glyphs.theme == "light", "-light")
        self._main.relight(self.glyphs)
        self.say(f"{self.glyphs.theme} ground")

    # -- playing -------------------------------------------------------------------------------

    def _toggle_play(self) -> None:
        if self._player is None:
            self._start_play()
        else:
            self._stop_play()

    def _start_play(self) -> None:
        self._played_step = -1
        self._player = self.set_interval(1 / SPEEDS[self._speed], self._tick)
        self._main.note = f"playing, at most {SPEEDS[self._speed]:g} steps a second"

    def _stop_play(self) -> None:
        if self._player is not None:
            self._player.stop()
        self._player = None
        self._main.note = ""

    def _tick(self) -> None:
        shot = self._main.snapshot
        if not self.courier.is_idle or shot is None:
            return
        if shot.status.step == self._played_step:
            self._stop_play()
            return
        self._played_step = shot.status.step
        self.courier.send(Do("next"))

    def _change_speed(self, by: int) -> None:
        self._speed = min(len(SPEEDS) - 1, max(0, self._speed + by))
        if self._player is not None:
            self._stop_play()
            self._start_play()
        self.say(f"play: at most {SPEEDS[self._speed]:g} steps a second")
