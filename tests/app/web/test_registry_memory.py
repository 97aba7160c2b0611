"""Sessions freed for memory, replaced by another model, and closed."""

from __future__ import annotations

from app.debugger import Debugger
from app.web import Registry
from app.web.registry import IDLE_SECONDS


class Clock:
    """Time that a test moves."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def tab(registry: Registry, name: str) -> str:
    return f"{registry.epoch}-{name}"


def heavy(debugger: Debugger) -> Debugger:
    for step in range(30):
        debugger.frame_bytes("traffic", step)
    return debugger


def test_idle_sessions_are_freed_over_the_budget(debugger: Debugger) -> None:
    clock = Clock()
    registry = Registry(debugger, budget_bytes=1000, clock=clock)
    first = heavy(registry.get(tab(registry, "aaaaaaaa")))
    born = registry.born(tab(registry, "aaaaaaaa"))
    clock.now += IDLE_SECONDS + 1
    second = registry.get(tab(registry, "bbbbbbbb"))
    assert len(registry) == 1
    assert registry.get(tab(registry, "bbbbbbbb")) is second
    assert registry.get(tab(registry, "aaaaaaaa")) is not first
    assert registry.born(tab(registry, "aaaaaaaa")) > born


def test_sessions_in_use_and_light_ones_stay(debugger: Debugger) -> None:
    clock = Clock()
    tight = Registry(debugger, budget_bytes=1000, clock=clock)
    heavy(tight.get(tab(tight, "aaaaaaaa")))
    clock.now += IDLE_SECONDS / 2
    tight.get(tab(tight, "bbbbbbbb"))
    assert len(tight) == 2
    roomy = Registry(debugger, budget_bytes=1 << 30, clock=clock)
    heavy(roomy.get(tab(roomy, "aaaaaaaa")))
    clock.now += 10 * IDLE_SECONDS
    roomy.get(tab(roomy, "bbbbbbbb"))
    assert len(roomy) == 2


def test_freed_session_is_not_handed_to_another_user(debugger: Debugger) -> None:
    registry = Registry(debugger, most=1)
    registry.get(tab(registry, "aaaaaaaa")).seek(7)
    other = registry.get(tab(registry, "bbbbbbbb"))
    assert other is not debugger
    assert other.cursor.step != 7


def test_replaced_session_has_another_number(debugger: Debugger) -> None:
    registry = Registry(debugger)
    name = tab(registry, "aaaaaaaa")
    before = registry.born(name)
    other = Debugger(debugger.run)
    registry.replace(name, other)
    assert registry.get(name) is other
    assert registry.born(name) > before
    registry.close()
    assert len(registry) == 0
