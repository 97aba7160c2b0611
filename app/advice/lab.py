"""Tries changes of knobs: compiles with them and times the run. No gain is said without it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from app.advice.rule import Changes, changes_text
from app.runs.routing import routing_of
from app.runs.run import Run
from engine.models import program_profiles
from engine.progress import NO_PROGRESS, Progress
from engine.timing.check import Deadlock
from engine.timing.clock import simulate
from engine.timing.net import build_net
from lowering.cache import StageCache
from lowering.compiler import compile_graph
from lowering.config import KNOBS, CompileConfig, KnobError, apply_knob
from lowering.stages.plan import DoesNotFit


@dataclass(frozen=True, slots=True)
class Trial:
    """What changes gave when they were tried."""

    makespan: int | None
    """cycles, None when it could not be timed"""
    samples: int
    sram_bytes: int
    """allocated on the fullest PE"""
    fits: bool
    note: str = ""
    """why it could not be timed, empty otherwise"""


class Lab(Protocol):
    """Something that tries changes on one run."""

    def measure(self, changes: Changes, progress: Progress = NO_PROGRESS) -> Trial:
        """Return what the run is with knobs changed; without changes, as it is."""


class CompileLab:
    """Compiles anew through the stage cache, times, and forgets the rest."""

    def __init__(self, run: Run, cache: StageCache) -> None:
        self._run, self._cache = run, cache
        self._known: dict[CompileConfig, Trial] = {}

    def measure(self, changes: Changes, progress: Progress = NO_PROGRESS) -> Trial:
        """Return what the run is with knobs changed; tried once each."""
        try:
            config = changed_config(self._run.config, changes)
        except KnobError as error:
            return Trial(None, 1, 0, False, str(error))
        if config not in self._known:
            self._known[config] = self._measure(config, progress)
        return self._known[config]

    def _measure(self, config: CompileConfig, progress: Progress) -> Trial:
        try:
            graph, known = self._run.compiled.graph, routing_of(self._run)
            compiled = compile_graph(graph, config, progress, self._cache, known)
            program = compiled.program
            profiles = program_profiles(program, compiled.store)
            lengths = {name: found.length for name, found in profiles.items()}
            timeline = simulate(build_net(program, lengths), lambda done, all_: progress.check())
        except DoesNotFit as error:
            return Trial(None, 1, 0, False, str(error))
        except Deadlock:
            return Trial(None, 1, 0, False, "it would wait for itself")
        allocated = max((b.offset + b.size for b in program.buffers), default=0)
        return Trial(timeline.makespan, program.samples, allocated, compiled.fits)


def changed_config(config: CompileConfig, changes: Changes) -> CompileConfig:
    """Return the config with knobs turned.

    Raises:
        KnobError: a value that a knob cannot take.
    """
    for change in changes:
        if change.knob == "in_slots" and change.knob not in KNOBS:
            config = replace(config, in_slots=int(change.value))
        elif change.knob == "out_slots" and change.knob not in KNOBS:
            config = replace(config, out_slots=int(change.value))
        else:
            config = apply_knob(config, change.knob, change.value, kernel=change.kernel or None)
    return config


def trial_text(changes: Changes, before: Trial, after: Trial, goal: str) -> str:
    """Say what changes gave, in one sentence that says it was tried."""
    name = changes_text(changes)
    if after.makespan is None:
        return f"tried {name}: {after.note or 'it could not be timed'}"
    if not after.fits and before.fits:
        return f"tried {name}: it would not fit ({after.sram_bytes:,} B on the fullest PE)"
    if any(change.knob in ("dtype", "weights") for change in changes):
        name += " (values change with it)"
    if goal == "fit":
        return f"tried {name}: it {'fits' if after.fits else 'does not fit either'}"
    if goal == "sram":
        return (
            f"tried {name}: {before.sram_bytes:,} B -> {after.sram_bytes:,} B on the fullest PE, "
            f"{_cycles(before, after)}"
        )
    return f"tried {name}: {_cycles(before, after)}"


def _cycles(before: Trial, after: Trial) -> str:
    if before.makespan is None or after.makespan is None:
        return "cycles unknown"
    change = gain(before, after, "cycles")
    word = (
        f"{change:.1%} less" if change > 0 else f"{-change:.1%} more" if change < 0 else "no gain"
    )
    if before.samples == after.samples:
        return f"{before.makespan:,} -> {after.makespan:,} cycles ({word})"
    return (
        f"{before.makespan / before.samples:,.1f} -> {after.makespan / after.samples:,.1f} cycles "
        f"a sample ({word}), {after.samples} samples"
    )


def gain(before: Trial, after: Trial, goal: str) -> float:
    """Return by how much changes lower the goal, as a share of it before; 0 or less: no gain."""
    if after.makespan is None or (before.fits and not after.fits):
        return -1.0
    if goal == "fit":
        return float(after.fits) - float(before.fits)
    if goal == "sram":
        return 1 - after.sram_bytes / max(1, before.sram_bytes)
    if before.makespan is None:
        return 0.0
    old, new = before.makespan / max(1, before.samples), after.makespan / max(1, after.samples)
    return 1 - new / max(1e-9, old)
