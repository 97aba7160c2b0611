"""Sessions freed for memory, replaced by another model, and closed."""

from __future__ import annotations

from collections.abc import Callable

from app.debugger import Debugger
from app.web import Registry
from app.web.registry import FACE_SECONDS, IDLE_SECONDS


class Clock:
    """Time that a test moves."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def tab(registry: Registry, name: str) -> str:
    return f"{registry.epoch}-{name}"


def born(registry: Registry, name: str) -> int:
    facts = registry.look(name)
    assert facts is not None
    return facts.born


def at_once(work: Callable[[], None]) -> None:
    """Do at once what a server does beside its requests."""
    work()


def heavy(debugger: Debugger, *samples: int) -> Debugger:
    """Return the session with runs of its own."""
    for count in samples or (2,):
        debugger.do("set", "samples", count)
        debugger.wait(60)
    return debugger


def test_idle_sessions_are_freed_over_the_budget(debugger: Debugger) -> None:
    clock = Clock()
    registry = Registry(debugger, budget_bytes=1000, clock=clock, aside=at_once)
    first = heavy(registry.get(tab(registry, "aaaaaaaa")))
    before = born(registry, tab(registry, "aaaaaaaa"))
    clock.now += IDLE_SECONDS + 1
    second = registry.get(tab(registry, "bbbbbbbb"))
    assert len(registry) == 1
    assert registry.get(tab(registry, "bbbbbbbb")) is second
    assert registry.get(tab(registry, "aaaaaaaa")) is not first
    assert born(registry, tab(registry, "aaaaaaaa")) > before


def test_sessions_in_use_and_light_ones_stay(debugger: Debugger) -> None:
    clock = Clock()
    tight = Registry(debugger, budget_bytes=1000, clock=clock, aside=at_once)
    heavy(tight.get(tab(tight, "aaaaaaaa")))
    clock.now += IDLE_SECONDS / 2
    tight.get(tab(tight, "bbbbbbbb"))
    assert len(tight) == 2
    roomy = Registry(debugger, budget_bytes=1 << 30, clock=clock, aside=at_once)
    heavy(roomy.get(tab(roomy, "aaaaaaaa")))
    clock.now += 10 * IDLE_SECONDS
    roomy.get(tab(roomy, "bbbbbbbb"))
    assert len(roomy) == 2


def test_who_only_looks_is_counted_but_keeps_nothing_alive(debugger: Debugger) -> None:
    clock = Clock()
    registry = Registry(debugger, budget_bytes=1000, clock=clock, aside=at_once)
    first = tab(registry, "aaaaaaaa")
    assert registry.look(first) is None
    heavy(registry.get(first))
    clock.now += IDLE_SECONDS + 1
    registry.look(first, "terminal")
    facts = registry.look(first, "page")
    assert facts is not None
    assert (facts.faces, facts.idle_seconds) == (2, IDLE_SECONDS + 1)
    clock.now += FACE_SECONDS
    assert [one.faces for one in registry.sessions()] == [0]
    registry.get(tab(registry, "bbbbbbbb"))
    assert registry.look(first) is None


def test_sessions_are_listed_with_the_one_used_last_first(debugger: Debugger) -> None:
    registry = Registry(debugger)
    names = [tab(registry, 8 * letter) for letter in "abc"]
    for name in (*names, names[0]):
        registry.get(name)
    registry.look(names[1])
    assert [one.id for one in registry.sessions()] == [names[0], names[2], names[1]]


def test_freed_session_is_not_handed_to_another_user(debugger: Debugger) -> None:
    registry = Registry(debugger, most=1)
    registry.get(tab(registry, "aaaaaaaa")).seek(7)
    other = registry.get(tab(registry, "bbbbbbbb"))
    assert other is not debugger
    assert other.cursor.step != 7


def test_replaced_session_has_another_number(debugger: Debugger) -> None:
    registry = Registry(debugger)
    name = tab(registry, "aaaaaaaa")
    registry.get(name)
    before = born(registry, name)
    other = Debugger(debugger.run)
    registry.replace(name, other)
    assert registry.get(name) is other
    assert born(registry, name) > before
    registry.close()
    assert len(registry) == 0


def test_sessions_in_use_forget_the_runs_of_older_knobs(debugger: Debugger) -> None:
    clock = Clock()
    registry = Registry(debugger, budget_bytes=1000, clock=clock, aside=at_once)
    name = tab(registry, "aaaaaaaa")
    session = heavy(registry.get(name), 2, 3, 5)
    assert len(session.view_knobs().history) == 3
    clock.now += IDLE_SECONDS - 1
    registry.get(name)
    clock.now += IDLE_SECONDS - 1
    assert registry.get(name) is session
    assert session.run.program.samples == 5
    assert len(session.view_knobs().history) == 1
    assert "2 older run(s) were forgotten" in session.message
    session.undo()
    assert session.run.program.samples == 3


def test_frames_are_kept_together(debugger: Debugger) -> None:
    registry = Registry(debugger)
    first, second = (registry.get(tab(registry, 8 * letter)) for letter in "ab")
    assert first.frame("traffic", 3) is second.frame("traffic", 3)
    other = Debugger(heavy(Debugger(debugger.run), 2).run)
    registry.replace(tab(registry, "aaaaaaaa"), other)
    assert other.frame("traffic", 3) is not first.frame("traffic", 3)
    assert first.frame("traffic", 3) is second.frame("traffic", 3)


def test_runs_that_no_tab_shows_are_dropped_over_the_budget(debugger: Debugger) -> None:
    clock = Clock()
    registry = Registry(debugger, budget_bytes=1000, clock=clock, aside=at_once)
    name = tab(registry, "aaaaaaaa")
    registry.get(name)
    for samples in (2, 3):
        registry.replace(name, Debugger(heavy(Debugger(debugger.run), samples).run))
    assert [run.number for run in registry.runs(name)] == [3, 2, 1]
    clock.now += IDLE_SECONDS - 1
    registry.get(name)
    assert [run.number for run in registry.runs(name)] == [3, 1]  # the shared run costs nothing
    assert registry.get(name).run.program.samples == 3
