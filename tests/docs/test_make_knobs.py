"""The page of knobs is the one that the table gives."""

from __future__ import annotations

import runpy
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "make_knobs.py"


def test_page_is_current() -> None:
    made = runpy.run_path(str(SCRIPT))["page"]()
    assert SCRIPT.with_name("knobs.md").read_text(encoding="utf-8") == made, (
        "docs/knobs.md is out of date: run python docs/make_knobs.py"
    )
