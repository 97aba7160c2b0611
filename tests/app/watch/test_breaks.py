"""Breakpoints: what their texts mean, which is next, one-shot and ignore counts."""

from __future__ import annotations

import pytest

from app.commands import CommandError
from app.session import moves
from app.session.cursor import Cursor
from app.session.places import select_kernel, select_pe, set_metric
from app.watch.breaks import Breakpoint, break_text, check, find, find_stop, watch_text
from tests.factories.worked import worked_run

RUN = worked_run(1, 1)


def _cursor() -> Cursor:
    return moves.start(RUN)


def _at(text: str, number: int = 1, **choices: int) -> Breakpoint:
    return Breakpoint(number, "break", check(RUN, text), **choices)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("step 3", "step == 3"),
        ("3", "step == 3"),
        ("cycle 40", "cycle == 40"),
        ("sample 2", "entered == 2"),
        ("kernel k2", 'kernel == "k2" and starts'),
        ("kernel k2 end", 'kernel == "k2" and ends'),
        ("kernel == k2 and ends", "kernel == k2 and ends"),
        ("", "step == 0"),
    ],
)
def test_texts_of_breakpoints(text: str, means: str) -> None:
    assert break_text(RUN, _cursor(), text) == means


def test_nothing_means_the_selected_kernel() -> None:
    cursor = select_kernel(RUN, _cursor(), "k2").cursor
    assert break_text(RUN, cursor, "") == 'kernel == "k2" and starts'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("step 99", "step 99 does not exist; the run has steps 0..11"),
        ("cycle 100", r"cycle 100 does not exist; the run has cycles 0..99"),
        ("sample 3", "sample 3 does not exist"),
        ("kernel q", "there is no kernel 'q'"),
    ],
)
def test_what_does_not_exist_is_refused(text: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        break_text(RUN, _cursor(), text)


def test_texts_of_watchpoints() -> None:
    cursor = select_pe(RUN, _cursor(), 0, 1).cursor
    assert watch_text(RUN, cursor, "sram allocated > 1KB") == "allocated > 1KB"
    assert watch_text(RUN, cursor, "sram live > 1KB") == "sram > 1KB"
    assert watch_text(RUN, cursor, "") == "utilization(0, 1) < 20%"
    assert watch_text(RUN, set_metric(cursor, "traffic").cursor, "") == "link(0, 1) >= 90%"
    sram = set_metric(cursor, "sram_live").cursor.at(4)
    assert watch_text(RUN, sram, "") == "sram(0, 1) > 200"
    with pytest.raises(CommandError, match="select a PE first"):
        watch_text(RUN, _cursor(), "")


def test_the_next_and_the_last_are_found() -> None:
    item = _at("kernel == k2 and starts")  # cycles 15, 40, 65
    hit, _ = find_stop(RUN, [item], 0, 1)
    assert hit is not None
    assert RUN.step_bounds(hit.step)[0] == 15
    assert hit.rows == (1,)
    again, _ = find_stop(RUN, [item], hit.step, 1)
    assert again is not None
    assert RUN.step_bounds(again.step)[0] == 40
    back, _ = find_stop(RUN, [item], again.step, -1)
    assert back == hit
    assert find_stop(RUN, [item], hit.step, -1)[0] is None


def test_ignore_counts_pass_over() -> None:
    hit, left = find_stop(RUN, [_at("kernel == k2 and starts", ignore=2)], 0, 1)
    assert hit is not None
    assert RUN.step_bounds(hit.step)[0] == 65
    assert (left[0].ignore, left[0].hits) == (0, 3)


def test_one_shot_goes_away_and_disabled_never_stops() -> None:
    hit, left = find_stop(RUN, [_at("starts", once=True)], 0, 1)
    assert hit is not None
    assert left == ()
    assert find_stop(RUN, [_at("starts", enabled=False)], 0, 1)[0] is None


def test_the_nearest_of_several_stops() -> None:
    hit, _ = find_stop(RUN, [_at("cycle == 65"), _at("cycle == 50", 2)], 0, 1)
    assert hit is not None
    assert hit.id == 2
    back, _ = find_stop(RUN, [_at("cycle == 65"), _at("cycle == 50", 2)], 11, -1)
    assert back is not None
    assert back.id == 1


def test_what_the_compile_decided_stops_nothing() -> None:
    assert find_stop(RUN, [_at("allocated > 150")], 0, 1)[0] is None


def test_unknown_number_lists_those_there_are() -> None:
    with pytest.raises(CommandError, match="there is no breakpoint 9; there are: 1, 2"):
        find([_at("starts"), _at("ends", 2)], 9)
