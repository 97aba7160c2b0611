"""The one-line parts never outgrow the screen and say what they must."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.tui import lines
from app.tui.glyphs import BLOCKS, plain
from app.views.status import JobView
from app.views.timeline import Bar, Series, TimelineView
from tests.app.tui.factory import map_view, small_session

ASCII = plain("a test")


def timeline(mean: tuple[float, ...], step_start: int, step_end: int) -> TimelineView:
    series = Series("utilization", "fraction", "share", mean, mean, max(mean), 1, "1 %")
    bars = (Bar("a", 0, 0, 0, 50), Bar("b", 1, 0, 50, 100))
    return TimelineView(
        0, 100, 100, 4, 1, step_start, step_end, (series,), ("a", "b"), bars, 0, ""
    )  # fmt: skip


@pytest.mark.parametrize("width", [80, 120])
def test_lines_fit(width: int) -> None:
    session = small_session()
    status = replace(session.view_status(), step_label="a very long label " * 9, model="m" * 99)
    view = session.view_map(30, 40)
    for text in (lines.header(status, width), lines.moment(status, width),
                 lines.legend(view, BLOCKS, width)):  # fmt: skip
        assert text.cell_len <= width, text.plain


def test_header_tells_when_the_books_do_not_balance_or_it_would_not_run() -> None:
    status = small_session().view_status()
    assert "ledger ok" in lines.header(status, 80).plain
    broken = replace(status, ledger_ok=False, would_run=False)
    text = lines.header(broken, 80).plain
    assert "LEDGER BROKEN" in text
    assert "DOES NOT FIT" in text


def test_spark_rises_with_the_series_and_marks_the_step() -> None:
    view = timeline((0.0, 0.5, 1.0, 0.0), 50, 75)
    text = lines.spark(view.series[0], view, BLOCKS, 12 + 4 + 21)
    assert text.plain == "utilization ▁▅█▁ peak 100.0 % @1"
    marked = [s for s in text.spans if "reverse" in str(s.style)]
    assert [text.plain[s.start : s.end] for s in marked] == ["█"]


def test_lanes_show_when_kernels_run() -> None:
    view = timeline((0.0,) * 4, 0, 25)
    first, second = lines.lanes(view, ASCII, 12 + 4 + 21, 6)
    assert first.plain == f"{'a':<12}==  "
    assert second.plain == f"{'b':<12}  =="


def test_legend_names_unit_range_and_standing() -> None:
    text = lines.legend(map_view([[0, 255]]), BLOCKS, 100).plain
    for part in ("utilization", "% of step", "0 %", "100 %", "model"):
        assert part in text


def test_legend_of_causes_lists_only_those_shown() -> None:
    names = ("defective", "unassigned", "compute")
    text = lines.legend(map_view([[1, 2]], categories=names), ASCII, 100).plain
    assert "'#'=compute" in text
    assert "defective" not in text


def test_answer_prefers_the_job_then_the_error_then_the_message() -> None:
    status = replace(small_session().view_status(), message="a message")
    view = map_view([[0]])
    job = JobView(1, "running", "samples = 8", "placement", 3, 12, "kernels", 0.25, "")
    running = lines.answer(replace(status, job=job), view, "an error", "", BLOCKS, 80).plain
    assert running == "samples = 8: ████░░░░░░░░░░░░ placement 3/12 kernels  x cancels"
    assert lines.answer(status, view, "an error", "", BLOCKS, 80).plain == "an error"
    assert lines.answer(status, view, "", "", BLOCKS, 80).plain == "a message"
    assert lines.answer(replace(status, message=""), view, "", "", BLOCKS, 80).plain == (
        "a sentence"
    )


def test_a_small_share_shows_in_a_bar() -> None:
    assert lines.bar(0.001, 5, BLOCKS) == "█░░░░"
    assert lines.bar(0.0, 5, ASCII) == "....."
    assert lines.bar(1.0, 5, ASCII) == "#####"
