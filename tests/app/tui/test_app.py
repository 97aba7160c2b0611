"""The application under a pilot: keys, lines and clicks become commands and paintings."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import DataTable, Input, Static

from app.runs.map_metrics import MAP_METRICS
from app.tui.glyphs import plain
from app.tui.keys import TABLE
from app.tui.main_screen import MainScreen
from app.tui.pages import PromptPage, TablePage, TextPage
from tests.app.tui.factory import Drive, play, small_session


def test_stepping_forth_and_back_gives_the_same_lines() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("n", "2")
        before = drive.map_lines()
        await drive.press("n", "n")
        assert drive.map_lines() != before
        await drive.press("N", "N")
        assert drive.map_lines() == before

    play(script)


def test_every_digit_shows_its_metric() -> None:
    async def script(drive: Drive) -> None:
        for key, metric in (
            ("2", "cause"),
            ("3", "sram_live"),
            ("5", "traffic"),
            ("9", "link_south"),
        ):
            await drive.press(key)
            view = drive.map.view
            assert view is not None
            assert view.metric == metric
            assert any(MAP_METRICS[metric].label in line for line in drive.screen_text())

    play(script)


def test_metric_list_shows_a_metric_without_a_key() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("m")
        assert isinstance(drive.app.screen, TablePage)
        row = list(MAP_METRICS).index("cause:wait-input")
        await drive.press(*["down"] * row, "enter")
        assert drive.app.session.cursor.metric == "cause:wait-input"

    play(script)


def test_maps_of_types_and_phases_have_their_legend() -> None:
    async def script(drive: Drive) -> None:
        for metric, words in (("kind", ("kernel type", "dot")), ("phase", ("training phase",))):
            drive.app.command("metric", metric)
            await drive.settle()
            text = "\n".join(drive.screen_text())
            assert all(word in text for word in words), text

    play(script)


def test_zoom_and_pan_keep_pes_square_and_fit_shows_all() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("+")
        assert drive.app.session.cursor.viewport.rows == 16
        await drive.press("0")
        viewport = drive.app.session.cursor.viewport
        assert (viewport.rows, viewport.cols) == (32, 48)

    play(script)


def test_cursor_moves_and_panel_says_whose_pe_it_is() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("l")
        first = drive.app.session.cursor.selection.pe
        await drive.press("l", "j")
        assert first is not None
        assert drive.app.session.cursor.selection.pe == (first[0] + 1, first[1] + 1)
        text = "\n".join(drive.screen_text())
        assert f"PE ({first[0] + 1}, {first[1] + 1})" in text
        assert "cycles by cause" in text
        assert "SRAM" in text

    play(script)


def test_shift_and_an_arrow_moves_eight_pes_and_stays_on_the_mesh() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("g")
        await drive.type("10,40")
        await drive.press("shift+left", "shift+down")
        assert drive.app.session.cursor.selection.pe == (18, 32)
        await drive.press("shift+right", "shift+right")
        assert drive.app.session.cursor.selection.pe == (18, 47)

    play(script)


def test_click_selects_the_pe_under_the_pointer() -> None:
    async def script(drive: Drive) -> None:
        picture = drive.map._picture
        assert picture is not None
        x = 6 + picture.cell(10)
        y = 1 + -(-picture.pixel_row(7) // 2)
        await drive.pilot.click("#map", offset=(x, y))
        await drive.settle()
        place = drive.app.session.cursor.selection.pe
        assert place is not None
        assert place[1] == 10
        assert place[0] in (7, 8)

    play(script)


def test_knob_is_compiled_in_the_background_and_undone() -> None:
    session = small_session()
    before = session.view_status().samples

    async def script(drive: Drive) -> None:
        await drive.press("o", "down", "enter")
        assert isinstance(drive.app.screen, PromptPage)
        await drive.type("2")
        session.wait(20)
        for _ in range(40):
            await drive.pilot.pause(0.05)
            if session.view_status().samples == 2:
                break
        await drive.pilot.pause(0.3)
        await drive.settle()
        text = "\n".join(drive.screen_text())
        assert "samples = 2: makespan" in text
        await drive.press("u")
        assert "undone: samples = 2" in "\n".join(drive.screen_text())

    play(script, session=session)
    assert before != 2
    assert session.view_status().samples == before


def test_a_value_out_of_range_is_refused_in_a_sentence() -> None:
    async def script(drive: Drive) -> None:
        await drive.press(":")
        await drive.type("set samples 0")
        assert "knob 'samples' is '0', must be 1..4,096 samples" in "\n".join(drive.screen_text())

    play(script)


def test_enter_on_an_idle_region_goes_there() -> None:
    async def script(drive: Drive) -> None:
        region = drive.app.session.find_idle().regions[1]
        await drive.press("i")
        assert isinstance(drive.app.screen, TablePage)
        await drive.press("down", "enter")
        rect = drive.app.session.cursor.selection.region
        assert rect is not None
        assert (rect.row, rect.col, rect.rows, rect.cols) == region.rect

    play(script)


def test_kernel_table_selects_and_shows_a_kernel() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("K", "down", "enter")
        assert drive.app.session.cursor.selection.kernel == "fc1"
        assert "kernel fc1" in "\n".join(drive.screen_text())

    play(script)


def test_help_lists_every_command_of_the_table() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("question_mark")
        assert isinstance(drive.app.screen, TextPage)
        body = str(drive.app.screen.query_one("#body", Static).render())
        assert [c.id for c in TABLE.values() if c.usage not in body] == []
        await drive.press("escape")
        assert not isinstance(drive.app.screen, TextPage)

    play(script)


def test_report_names_the_ledger_and_the_bottleneck() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("r")
        body = str(drive.app.screen.query_one("#body", Static).render())
        assert "makespan" in body
        assert "bottleneck" in body
        assert "Ledger" in body

    play(script)


def test_a_typed_mistake_names_the_nearest_command() -> None:
    async def script(drive: Drive) -> None:
        await drive.press(":")
        await drive.type("sek 3")
        assert "did you mean 'seek'?" in "\n".join(drive.screen_text())
        await drive.press(":")
        await drive.type("seek 3")
        assert drive.app.session.cursor.step == 3

    play(script)


def test_go_to_takes_a_pe() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("g")
        await drive.type("3,4")
        assert drive.app.session.cursor.selection.pe == (3, 4)

    play(script)


def test_export_writes_the_file_that_was_typed(tmp_path: Path) -> None:
    target = tmp_path / "map.csv"

    async def script(drive: Drive) -> None:
        await drive.press("e")
        drive.app.screen.query_one(Input).value = str(target)
        await drive.press("enter")

    play(script)
    assert target.stat().st_size > 0


def test_a_file_that_cannot_be_written_is_told() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("e")
        await drive.type("map.xyz")
        assert "xyz" in drive.screen_text()[-2]

    play(script)


@pytest.mark.parametrize("key", ["i", "o", "K", "r", "m", "question_mark"])
def test_pages_are_whole_on_the_smallest_screen(key: str) -> None:
    async def script(drive: Drive) -> None:
        await drive.press(key)
        text = "\n".join(drive.screen_text())
        assert "Escape closes" in text
        await drive.press("escape")
        assert isinstance(drive.app.screen, MainScreen)

    play(script, size=(80, 24))


def test_play_steps_by_itself_until_it_is_stopped() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("right_square_bracket", "right_square_bracket", "right_square_bracket")
        await drive.press("space")
        await drive.pilot.pause(0.5)
        await drive.press("space")
        step = drive.app.session.cursor.step
        assert step > 0
        await drive.pilot.pause(0.3)
        assert drive.app.session.cursor.step == step

    play(script)


def test_play_ends_at_the_last_stop() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("end", "right_square_bracket", "right_square_bracket", "space")
        await drive.pilot.pause(0.8)
        assert drive.app._player is None

    play(script)


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (200, 60)])
def test_essentials_are_whole_at_any_size(size: tuple[int, int]) -> None:
    async def script(drive: Drive) -> None:
        await drive.press("n", "n")
        lines = drive.screen_text()
        text = "\n".join(lines)
        for essential in ("mlp on mesh-32x48", "ledger ok", "step ", "cycles ", "utilization",
                          "100 %", "? help", "q quit", "stride kernel"):  # fmt: skip
            assert essential in text, essential
        assert all(len(line) <= size[0] for line in lines)
        assert drive.map.size.height >= size[1] // 2

    play(script, size=size)


def is_side_shown(drive: Drive) -> bool:
    return bool(drive.app.main.query_one("#side").display)


def test_side_panel_starts_hidden_on_a_small_screen_and_v_shows_it() -> None:
    async def script(drive: Drive) -> None:
        assert not is_side_shown(drive)
        await drive.press("v", "l")
        assert is_side_shown(drive)
        assert "PE (" in "\n".join(drive.screen_text())
        await drive.press("v")
        assert not is_side_shown(drive)

    play(script, size=(80, 24))


def test_without_colour_characters_stand_for_values() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("4")
        text = "\n".join(drive.screen_text())
        assert "▀" not in text
        assert "' .:-=+*#%@'" in text
        assert any("%%%" in line or "@@@" in line or "..." in line for line in drive.screen_text())

    play(script, size=(80, 24), glyphs=plain("NO_COLOR is set: characters stand for values"))


def test_no_color_of_the_environment_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def script(drive: Drive) -> None:
        assert drive.app.glyphs.is_ascii
        assert "NO_COLOR is set" in "\n".join(drive.screen_text())
        await drive.press("2", "l", "o")
        assert isinstance(drive.app.screen, TablePage)

    play(script, size=(80, 24), glyphs=None)


def test_table_pages_close_without_a_choice() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("K")
        assert drive.app.screen.query_one(DataTable).row_count == 3
        await drive.press("escape")
        assert drive.app.session.cursor.selection.kind == "none"

    play(script)
