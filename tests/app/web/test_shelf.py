"""The runs of a tab: in order, bounded, gone when deleted."""

from __future__ import annotations

import pytest

from app.debugger import Debugger
from app.web.shelf import MOST_RUNS, Shelf, ShelfError


def numbers(shelf: Shelf) -> list[int]:
    return [item.number for item in shelf.runs()]


def test_newest_is_shown_and_a_run_taken_again_is_the_newest(debugger: Debugger) -> None:
    shelf = Shelf(debugger, 1.0)
    second, third = Debugger(debugger.run), Debugger(debugger.run)
    shelf.put(second, 2.0)
    shelf.put(third, 3.0)
    assert shelf.shown is third
    shelf.take(2, 4.0)
    assert shelf.shown is second
    assert numbers(shelf) == [2, 3, 1]
    assert [item.opened for item in shelf.runs()] == [4.0, 3.0, 1.0]


def test_oldest_leaves_when_there_are_too_many_and_numbers_never_come_again(
    debugger: Debugger,
) -> None:
    shelf = Shelf(debugger, 0.0)
    for _ in range(MOST_RUNS):
        shelf.put(Debugger(debugger.run), 1.0)
    assert numbers(shelf) == list(range(MOST_RUNS + 1, 1, -1))
    with pytest.raises(ShelfError, match="not on the list any more"):
        shelf.take(1, 2.0)
    shelf.delete(2)
    shelf.put(Debugger(debugger.run), 2.0)
    assert numbers(shelf) == list(range(MOST_RUNS + 2, 2, -1))


def test_shown_run_cannot_be_deleted(debugger: Debugger) -> None:
    shelf = Shelf(debugger, 0.0)
    with pytest.raises(ShelfError, match="open another one first"):
        shelf.delete(1)
    with pytest.raises(ShelfError, match="not on the list"):
        shelf.delete(2)
    assert shelf.shown is debugger
