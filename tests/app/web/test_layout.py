"""The static page: every control is a command of the table and has a name."""

from __future__ import annotations

from typing import Any

from dash import html

from app.commands import COMMANDS
from app.runs.map_metrics import MAP_METRICS
from app.web.layout import page
from tests.app.web.rendered import prop, text, walk

_SCREEN_ONLY = {"theme", "library", "widen", "copy-panel", "kernels-csv", "curve",
                "curve-top"}  # fmt: skip


def parts(kind: type) -> list[Any]:
    return [part for part in walk(page("epoch")) if isinstance(part, kind)]


def test_every_button_runs_a_command_that_exists() -> None:
    commands = {prop(button, "data-do") for button in parts(html.Button)} - {None}
    assert commands <= {*COMMANDS, *_SCREEN_ONLY}
    assert {"first", "back", "play", "next", "last", "log", "focus"} <= commands


def test_every_button_has_a_name() -> None:
    for button in parts(html.Button):
        if prop(button, "id") in ("curve", "curve-top"):
            continue  # named by the script with the curve that it shows
        assert text(button).strip() or prop(button, "aria-label")


def test_every_metric_can_be_chosen() -> None:
    chosen = [prop(option, "value") for option in parts(html.Option)]
    assert set(MAP_METRICS) <= set(chosen)


def test_help_lists_every_command() -> None:
    words = text([part for part in parts(html.Dialog) if prop(part, "id") == "help"])
    for command in COMMANDS.values():
        assert command.help in words
