"""Ticks that would overlap are left out."""

from __future__ import annotations

from app.views.map import Tick
from app.web.legend import _running, spread_out


def ticks(*positions: float) -> tuple[Tick, ...]:
    return tuple(Tick(p, p, str(p)) for p in positions)


def test_ticks_too_near_to_the_top_are_dropped() -> None:
    kept = spread_out(ticks(0.0, 0.6, 0.93, 0.97, 1.0))
    assert [tick.position for tick in kept] == [0.0, 0.6, 1.0]


def test_even_ticks_are_all_kept() -> None:
    even = ticks(0.0, 0.25, 0.5, 0.75, 1.0)
    assert spread_out(even) == even


def test_single_tick_of_an_empty_scale_is_kept() -> None:
    assert spread_out(ticks(0.0)) == ticks(0.0)


def test_many_running_kernels_are_counted() -> None:
    assert _running(()) == "no kernel runs in this step"
    assert _running(("a", "b")) == "running: a, b"
    assert _running(("a", "b", "c", "d")) == "running: a, b and 2 more"
