"""Turns findings into advice: tries what the rules propose, and searches knobs for the best.

A gain is only ever one that was measured. Knows no screen.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from app.advice.lab import Lab, Trial, gain, trial_text
from app.advice.rule import Change, Changes, Finding, Rule, changes_text, slots_pair
from app.advice.table import findings
from app.runs.run import Run
from engine.progress import NO_PROGRESS, Progress
from lowering.config import KNOBS, knob_value

LEAST_GAIN = 0.001
"""share below which a change counts as no gain"""
_SEARCHED = {
    "max_chunks": ("1", "2", "4", "8"), "slots": ("1", "2", "3", "4", "8"),
    "dtype": ("fp16", "fp32"),
}  # fmt: skip
"""knobs that `optimize` turns, with the values it tries"""


@dataclass(frozen=True, slots=True)
class Tried:
    """Changes that were tried."""

    changes: Changes
    trial: Trial
    gain: float
    """share of the goal gained, 0 or less: none"""
    sentence: str


@dataclass(frozen=True, slots=True)
class Advice:
    """A finding, and what its proposals gave."""

    rule: Rule
    finding: Finding
    tried: tuple[Tried, ...]
    """in the order tried; empty: nothing was tried"""
    best: Tried | None
    """the changes to make, None when nothing that was tried gains"""
    untried: tuple[Changes, ...]
    """proposals for which there was no time"""


def advise(
    run: Run,
    lab: Lab | None,
    seconds: float,
    progress: Progress = NO_PROGRESS,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Advice, ...]:
    """Return the advice on a run; proposals are tried while there is time, without a lab never."""
    found = findings(run)
    total = sum(len(finding.proposals) for _, finding in found)
    progress.stage("advice", total, "trials")
    end = clock() + seconds
    advice, done = [], 0
    for rule, finding in found:
        tried: list[Tried] = []
        for changes in finding.proposals:
            if lab is None or clock() >= end:
                break
            tried.append(_try(lab, changes, finding.goal, progress))
            progress.advance(done + len(tried))
        done += len(finding.proposals)
        advice.append(
            Advice(rule, finding, tuple(tried), best_of(tried), finding.proposals[len(tried) :])
        )
    return tuple(advice)


def _try(lab: Lab, changes: Changes, goal: str, progress: Progress) -> Tried:
    before, after = lab.measure((), progress), lab.measure(changes, progress)
    return Tried(
        changes, after, gain(before, after, goal), trial_text(changes, before, after, goal)
    )


def best_of(tried: list[Tried]) -> Tried | None:
    """Return the largest gain with the fewest changes, None when nothing gains."""
    gaining = [item for item in tried if item.gain > LEAST_GAIN]
    return max(
        gaining,
        key=lambda item: (round(item.gain, 4), -len(item.changes), -tried.index(item)),
        default=None,
    )


def try_levers(
    run: Run, lab: Lab, end: float, progress: Progress, clock: Callable[[], float] = time.monotonic
) -> dict[str, Tried]:
    """Try once each knob that acts on a cause of idle PEs; lever -> what it gave."""
    config, found = run.config, {}
    turned: dict[str, Changes] = {
        "samples": (Change("samples", str(2 * run.program.samples)),),
        "slots": slots_pair(1 + max((t.out_slots for t in run.program.transfers), default=1)),
        "dtype": (Change("dtype", "fp32" if config.storage == "fp16" else "fp16"),),
        "max_chunks": (Change("max_chunks", "4" if config.max_chunks == 8 else "8"),),
    }
    name = run.execution.bottleneck.kernel
    if name and run.region(name).area > 1:
        half = run.region(name).area // 2
        turned["pe_cap"] = (Change("pe_cap", str(half), name),)
    for lever, changes in turned.items():
        if clock() >= end:
            break
        found[lever] = _try(lab, changes, "cycles", progress)
    return found


@dataclass(frozen=True, slots=True)
class Optimum:
    """What a search over knobs found."""

    before: Trial
    tried: tuple[Tried, ...]
    """best first"""
    best: Tried | None
    """None when nothing gains"""
    left: int
    """candidates for which there was no time"""
    seconds: float
    """budget"""


def optimize(
    run: Run,
    lab: Lab,
    seconds: float,
    progress: Progress = NO_PROGRESS,
    clock: Callable[[], float] = time.monotonic,
) -> Optimum:
    """Try single knobs, then pairs of those that help or do no harm, within a time budget."""
    end = clock() + seconds
    before = lab.measure((), progress)
    singles = list(candidates(run))
    progress.stage("optimize", len(singles), "trials")
    tried: list[Tried] = []
    left = 0
    for done, changes in enumerate(singles):
        if clock() >= end:
            left += 1
            continue
        tried.append(_try(lab, changes, "cycles", progress))
        progress.advance(done + 1)
    pairs = list(_pairs(tried))
    progress.stage("optimize pairs", len(pairs), "trials")
    for done, changes in enumerate(pairs):
        if clock() >= end:
            left += 1
            continue
        tried.append(_try(lab, changes, "cycles", progress))
        progress.advance(done + 1)
    ranked = tuple(sorted(tried, key=lambda item: (-round(item.gain, 6), len(item.changes))))
    return Optimum(before, ranked, best_of(tried), left, seconds)


def candidates(run: Run) -> Iterator[Changes]:
    """Yield single knobs at values that they do not have."""
    config = run.config
    for knob, values in _SEARCHED.items():
        if knob not in KNOBS:
            continue
        now = knob_value(config, knob)
        for value in values:
            if value == now:
                continue
            yield slots_pair(int(value)) if knob == "slots" else (Change(knob, value),)
    name = run.execution.bottleneck.kernel
    if name and "pe_cap" in KNOBS:
        area = run.region(name).area
        sizes = dict.fromkeys((area // 2, area * 3 // 4, area * 2, area * 4))
        yield from ((Change("pe_cap", str(size), name),) for size in sizes if size > 0)


MOST_PARTNERS = 2
"""best values of each knob that are joined with those of other knobs"""


def _pairs(tried: list[Tried]) -> Iterator[Changes]:
    """Yield pairs of different knobs that do no harm alone, the best together first."""
    groups: dict[frozenset[tuple[str, str]], list[Tried]] = {}
    for item in sorted((t for t in tried if t.gain > -LEAST_GAIN), key=lambda item: -item.gain):
        knobs = frozenset((change.knob, change.kernel) for change in item.changes)
        groups.setdefault(knobs, []).append(item)
    pairs = [
        (one, other)
        for mine, theirs in itertools.combinations(groups.values(), 2)
        for one in mine[:MOST_PARTNERS]
        for other in theirs[:MOST_PARTNERS]
    ]
    for one, other in sorted(pairs, key=lambda pair: -(pair[0].gain + pair[1].gain)):
        yield (*one.changes, *other.changes)


def best_text(optimum: Optimum) -> str:
    """Say what the search found."""
    count = len(optimum.tried)
    rest = f"; {optimum.left} more had no time" if optimum.left else ""
    if optimum.best is None:
        return f"{count} changes tried, none gains{rest}"
    return (
        f"best of {count} changes tried: {changes_text(optimum.best.changes)}, "
        f"{optimum.best.gain:.1%} fewer cycles a sample{rest}"
    )
