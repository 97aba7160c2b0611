"""What a rule of advice is and says. Knows no run and no screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.advice.facts import Facts

GOALS = ("cycles", "sram", "fit")
"""what a proposal should lower: cycles a sample, the fullest PE's bytes, or what does not fit"""


@dataclass(frozen=True, slots=True)
class Change:
    """A knob turned."""

    knob: str
    """name of a knob, or in_slots / out_slots for one end of `slots`"""
    value: str
    kernel: str = ""
    """kernel of a knob that acts on one, empty for none"""

    @property
    def text(self) -> str:
        """such as 'slots = 2'"""
        return f"{self.knob} = {self.value}" + (f" for {self.kernel}" if self.kernel else "")


Changes = tuple[Change, ...]
"""knobs turned together"""


def slots_pair(value: int) -> Changes:
    """Return the two ends of `slots` turned together."""
    return Change("out_slots", str(value)), Change("in_slots", str(value))


def changes_text(changes: Changes) -> str:
    """Return changes as a user sets them; both ends of an edge are the knob `slots`."""
    ends = {c.knob: c.value for c in changes if c.knob in ("in_slots", "out_slots")}
    if len(ends) == 2 and len(set(ends.values())) == 1:
        rest = [c.text for c in changes if c.knob not in ends]
        return " and ".join([f"slots = {ends['in_slots']} (out and in together)", *rest])
    return " and ".join(change.text for change in changes)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule saw in a run."""

    sentence: str
    """what is wrong and where"""
    evidence: tuple[tuple[str, str], ...]
    """(what, value with unit)"""
    knobs: tuple[str, ...]
    """knobs whose mechanism acts on it"""
    proposals: tuple[Changes, ...]
    """what to try, most promising first; may be empty"""
    goal: str = "cycles"
    """one of GOALS"""
    severity: str = "warn"
    """warn | alert"""
    kernels: tuple[str, ...] = ()
    """kernels concerned, at most 8"""
    place: tuple[int, int, int, int] | None = None
    """row, col, rows, cols to look at, None for the whole mesh"""
    weight: float = 0.0
    """share of the run it concerns, 0..1; findings are shown heaviest first"""


@dataclass(frozen=True, slots=True)
class Rule:
    """One piece of advice."""

    id: str
    title: str
    check: Callable[[Facts], Finding | None]
    """None where the rule does not fire"""
