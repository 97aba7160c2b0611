"""What a terminal can draw is read from its environment."""

from __future__ import annotations

import numpy as np
import pytest

from app.tui.glyphs import BLOCKS, LEVELS, colours, detect, letters
from engine.causes import CAUSES


@pytest.mark.parametrize("system", ["256", "truecolor"])
def test_colours_mean_half_blocks(system: str) -> None:
    found = detect({"TERM": "xterm-256color"}, system)
    assert (found.name, found.theme, found.few) == ("blocks", "dark", system == "256")


@pytest.mark.parametrize(
    ("environ", "system", "reason"),
    [
        ({"NO_COLOR": "1"}, "truecolor", "NO_COLOR is set"),
        ({"TERM": "dumb"}, None, "TERM is dumb"),
        ({"TERM": "xterm"}, "standard", "16 colours or fewer"),
    ],
)
def test_without_colours_characters_do_and_the_reason_is_said(
    environ: dict[str, str], system: str | None, reason: str
) -> None:
    glyphs = detect(environ, system)
    assert glyphs.is_ascii
    assert reason in glyphs.reason
    assert all(ord(mark) < 128 for mark in glyphs.spark + glyphs.bar + glyphs.row_mark)


def test_an_empty_no_color_counts_as_unset() -> None:
    assert detect({"NO_COLOR": ""}, "truecolor") == BLOCKS


def test_every_level_has_its_own_colour() -> None:
    assert len(np.unique(colours("inferno", False)[:LEVELS])) == LEVELS


def test_every_cause_has_its_own_letter() -> None:
    marks = letters(CAUSES)[: len(CAUSES)]
    assert len(set(marks)) == len(CAUSES)
