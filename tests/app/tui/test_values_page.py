"""Values in the terminal: computed by a key, listed on a page, told in the panel."""

from __future__ import annotations

from app.tui.pages import TablePage
from app.tui.pages.values_spec import values_spec
from tests.app.tui.factory import Drive, play, small_session


def test_a_key_computes_values_and_another_lists_them() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("l", "V")
        drive.app.session.wait(60)  # type: ignore[attr-defined]
        await drive.press("T")
        page = drive.app.screen
        assert isinstance(page, TablePage)
        words = "\n".join(drive.screen_text())
        assert "relu0" in words
        assert "scores" in words
        await drive.press("down", "enter")
        assert drive.app.session.cursor.selection.kernel == "fc0"

    play(script)


def test_without_values_the_page_says_which_key_computes_them() -> None:
    spec = values_spec(small_session().view_values())
    assert spec.rows == ()
    assert "V (values) computes" in spec.title


def test_rows_tell_error_place_and_output() -> None:
    session = small_session()
    session.compute_values()
    session.wait(60)
    view = session.view_values()
    spec = values_spec(view)
    assert spec.rows[0][1] == "input"
    assert spec.rows[0][3] == "not compared"
    assert spec.rows[-1][3] == f"{view.rows[-1].max_error:.2g}"
    assert f"begins {view.outputs[0].first[0]:.4g}" in spec.details[-1]


def test_the_page_is_whole_on_the_smallest_screen() -> None:
    session = small_session()
    session.compute_values()
    session.wait(60)

    async def script(drive: Drive) -> None:
        await drive.press("T", "down", "down", "down")
        words = "\n".join(drive.screen_text())
        assert "Escape closes" in words
        assert "output:" in words

    play(script, size=(80, 24), session=session)
