"""The compile report and the run's figures on one page. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One kernel of the report."""

    name: str
    kind: str
    region: tuple[int, int, int, int]
    """row, col, rows, cols"""
    active_pes: int
    cycles: int
    """of an instance"""
    samples_per_mcycle: float
    compute_samples_per_mcycle: float
    transmission_samples_per_mcycle: float
    utilization: float
    """0..1"""
    sram_bytes: int
    ops: int
    """floating point operations a sample"""
    source_nodes: tuple[str, ...]
    is_bottleneck: bool


@dataclass(frozen=True, slots=True)
class OverflowRow:
    """Something that does not fit."""

    resource: str
    where: str
    demand: float
    bound: float
    gap: float
    unit: str
    holders: tuple[tuple[str, int], ...]
    """(name, bytes), largest first"""
    levers: tuple[str, ...]
    """what would help"""
    sentence: str


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One law of the ledger."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class ReportView(View):
    """Kernels, overflows, ledger and headline figures."""

    model: str
    machine: str
    fits: bool
    headline: tuple[tuple[str, str], ...]
    """(label, value with unit), in reading order"""
    rows: tuple[ReportRow, ...]
    overflows: tuple[OverflowRow, ...]
    """those that miss most of what there is first"""
    checks: tuple[CheckRow, ...]
    ledger_ok: bool
    """True when every law holds"""
    notes: tuple[str, ...]
    text: str
    """the compiler's report as plain text"""
    bottleneck: str
    """one sentence"""
    standing: str
    severity: str
    smallest_machine: str | None = None
    """a machine on which it would fit, None when it fits or none is known"""
    wafers: str = ""
    """how many wafers would hold it, as a sentence; empty when it fits or a machine is known"""
