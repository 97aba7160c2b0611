"""The pictures of the browser: all there, not too large, and none that nothing makes."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from app.web.layout import TABS

DOCS = Path(__file__).parents[2] / "docs"
MOST_BYTES = 6 << 20


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "make_screenshots.py"))


def test_every_panel_is_taken_in_both_themes_and_sizes(script: dict[str, Any]) -> None:
    assert [panel.name for panel in script["PANELS"]] == [panel.tab for panel in script["PANELS"]]
    assert {panel.tab for panel in script["PANELS"]} == {name for name, _, _ in TABS}
    names = {shot.name for shot in script["every_shot"]()}
    for name, _, _ in TABS:
        assert {f"{name}-{theme}-{width}" for theme in ("dark", "light") for width in (1280, 1920)
                } <= names  # fmt: skip


def test_pictures_are_there_in_their_size_and_none_is_left_over(script: dict[str, Any]) -> None:
    shots = {f"{shot.name}.webp": shot.size for shot in script["every_shot"]()}
    files = {path.name: path for path in script["IMAGES"].glob("*.webp")}
    assert set(files) == set(shots)
    for name, path in files.items():
        with Image.open(path) as picture:
            assert picture.size == shots[name], name
    assert sum(path.stat().st_size for path in script["IMAGES"].iterdir()) < MOST_BYTES
