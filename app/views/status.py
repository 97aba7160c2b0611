"""The status line: where we are, what happens, whether the books balance. No screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class JobView(View):
    """The work in the background."""

    id: int
    state: str
    """running | done | failed | cancelled"""
    what: str
    """what was asked for, such as 'samples 4 -> 8'"""
    stage: str
    """stage at work"""
    done: int
    total: int
    """0 when unknown"""
    unit: str
    fraction: float
    """of the stage, 0..1"""
    message: str
    """error in one sentence when failed, else empty"""


@dataclass(frozen=True, slots=True)
class DeltaRow:
    """One figure before and after a knob."""

    name: str
    unit: str
    old: float
    new: float
    percent: float | None
    """change in per cent of the old value, None when that was 0"""


@dataclass(frozen=True, slots=True)
class DeltaView(View):
    """What the last knob did."""

    change: str
    """such as 'samples 4 -> 8'"""
    rows: tuple[DeltaRow, ...]
    """makespan, utilization, PEs, peak SRAM"""
    sentence: str


@dataclass(frozen=True, slots=True)
class StatusView(View):
    """Where the session is."""

    revision: int
    """grows by one whenever a verb changed something"""
    run_id: int
    """changes whenever another run is shown; frames of a run never change"""
    model: str
    machine: str
    step: int
    steps: int
    step_label: str
    """such as 'ffn1 starts, sample 2'"""
    cycle_start: int
    cycle_end: int
    makespan: int
    sample: int
    samples: int
    stride: str
    metric: str
    ledger_ok: bool
    would_run: bool
    """False: a what-if, the program does not fit"""
    standing: str
    sentence: str
    message: str
    """answer to the last verb, empty when there is nothing to say"""
    severity: str
    values: str
    """none | ready | unavailable: whether tensors can be shown"""
    job: JobView | None
    delta: DeltaView | None
