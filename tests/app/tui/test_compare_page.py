"""Two runs in the terminal: the table, the map of differences, the tied cursors."""

from __future__ import annotations

import numpy as np

from app.debugger import Debugger
from app.tui.difference import KIND, difference_levels
from app.tui.glyphs import plain
from app.tui.pages import TablePage
from app.tui.pages.compare_spec import compare_spec, kernel_of
from tests.app.tui.factory import Drive, play, small_session


def _turned() -> Debugger:
    session = small_session()
    session.do("set", "slots", "1")
    session.wait(60)
    session.do("compare")
    return session


def test_the_table_holds_figures_causes_and_kernels() -> None:
    view = _turned().view_compare()
    assert view is not None
    spec = compare_spec(view)
    names = [row[0] for row in spec.rows]
    assert names[0] == view.rows[0].name
    assert "kernel fc0" in names
    assert f"step {view.step_a} of A" in spec.title
    assert kernel_of(view, names.index("kernel fc0")) == "fc0"
    assert kernel_of(view, 0) is None


def test_equal_has_the_middle_level_and_only_equal() -> None:
    levels = difference_levels(np.array([0, 1, 127, 128, 129, 254, 255], np.uint8))
    assert levels.tolist() == [0, 0, 6, 7, 8, 14, 14]


def test_keys_open_the_table_and_the_map_of_differences() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("D")
        assert isinstance(drive.app.screen, TablePage)
        assert "difference" in "\n".join(drive.screen_text())
        await drive.press("m")
        await drive.settle()
        shot = drive.app.main.snapshot
        assert shot is not None
        assert shot.map.kind == KIND
        await drive.press("n")
        shot = drive.app.main.snapshot
        assert shot is not None
        tied = drive.app.session.view_compare()
        assert tied is not None
        assert f"A step {tied.step_a}, B step {tied.step_b}" in shot.map.label
        await drive.press("M")
        shot = drive.app.main.snapshot
        assert shot is not None
        assert shot.map.kind != KIND

    play(script, session=_turned())


def test_without_colours_letters_tell_lower_from_higher() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("4", "M")
        assert "'GFEDCBA.1234567'" in "\n".join(drive.screen_text())

    play(script, session=_turned(), glyphs=plain("NO_COLOR is set"), size=(120, 40))


def test_nothing_to_compare_is_a_sentence() -> None:
    async def script(drive: Drive) -> None:
        for key in "DM":
            await drive.press(key)
            assert "nothing is compared" in "\n".join(drive.screen_text())

    play(script)
