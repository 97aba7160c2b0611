"""The compile report: what each kernel takes and gives, what does not fit, and what would help."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from engine.geometry import Rect
from engine.machine import MachineSpec
from lowering.lifetimes import Activation, Lifetimes

_TEXT_OVERFLOWS = 12
"""overflows that the text names, the worst first"""
_TEXT_HOLDERS = 3
"""of these, how many say who holds it"""
_TEXT_WAFERS = 4
"""wafers whose first kernel the text names"""


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One kernel of the report."""

    name: str
    kind: str
    samples_per_mcycle: float
    """rate the kernel alone allows: the lower of the next two"""
    compute_samples_per_mcycle: float
    """1e6 / cycles of an instance"""
    transmission_samples_per_mcycle: float
    """1e6 / cycles of its slowest transfer at full rate"""
    active_pes: int
    utilization: float
    """compute cycles / (PEs x cycles of the slowest kernel; streaming: of all turns), 0..1"""
    region: Rect
    cycles: int
    """cycles of an instance"""
    sram_bytes: int
    """allocated on its fullest PE"""
    ops: int
    """floating-point operations a sample"""
    source_nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overflow:
    """A resource that does not suffice."""

    resource: str
    """SRAM | colors | PEs"""
    where: str
    demand: int
    bound: int
    gap: int
    unit: str
    holders: tuple[tuple[str, int], ...]
    """(what holds it, how much), largest first"""
    levers: tuple[str, ...]
    """what would help, most likely first"""

    def sentence(self) -> str:
        """Return the overflow as a sentence."""
        text = self.need()
        return f"{text}; {' or '.join(self.levers)}" if self.levers else text

    def need(self) -> str:
        """Return where how much is missing, without what would help."""
        return (
            f"{self.where} needs {self.demand:,} {self.unit}, there are {self.bound:,} "
            f"(short by {self.gap:,} {self.unit})"
        )


@dataclass(frozen=True, slots=True)
class WaferPart:
    """Consecutive kernels on a wafer of their own."""

    first: str
    """kernel"""
    last: str
    """kernel, included"""
    sram_bytes: int | None = None
    """on the fullest PE, program code included; None where sizes are not settled"""
    pes: int | None = None
    """in a pipeline: PEs of its kernels at their smallest sizes"""


@dataclass(frozen=True, slots=True)
class Wafers:
    """How many wafers would hold a model that one does not; transfers between them left out.

    Of kernels that take turns as many as would do, of a pipeline the least that it needs.
    """

    machine: str
    parts: tuple[WaferPart, ...]
    """a wafer each, empty where no number of wafers helps"""
    alone: Overflow | None = None
    """what a kernel lacks even on a wafer of its own, None where there is no such kernel"""
    mode: str = "streaming"
    """pipeline | streaming: how kernels share a wafer"""

    def sentence(self) -> str:
        """Return the number as a sentence with its standing."""
        piped = self.mode == "pipeline"
        if self.alone is not None:
            how = "as a pipeline" if piped else "as it is cut into tiles"
            return f"no number of wafers would hold it {how} (bound): {self.alone.sentence()}"
        starts = ", ".join(f"'{part.first}'" for part in self.parts[:_TEXT_WAFERS])
        more = ", ..." if len(self.parts) > _TEXT_WAFERS else ""
        each = f"each with consecutive kernels from {starts}{more} on"
        if piped:
            return (
                f"a pipeline needs at least {len(self.parts):,} wafers of {self.machine}, {each} "
                "(bound: by kernels at their smallest sizes; slots, colors and transfers between "
                "wafers may ask for more)"
            )
        return (
            f"{len(self.parts):,} wafers of {self.machine} would hold it, {each} (bound: by SRAM "
            "alone, transfers between wafers are not modelled)"
        )

    def to_json(self) -> dict[str, object]:
        """Return the figures as plain data."""
        return {
            "count": len(self.parts) or None,
            "mode": self.mode,
            "standing": "bound",
            "parts": [
                {"first": p.first, "last": p.last, "sram_bytes": p.sram_bytes, "pes": p.pes}
                for p in self.parts
            ],
            "sentence": self.sentence(),
        }


@dataclass(frozen=True, slots=True)
class CompileReport:
    """What the compiler made of a model."""

    model: str
    machine: MachineSpec
    rows: tuple[KernelRow, ...]
    parameters: int
    """distinct parameters of the model"""
    macs: int
    """multiply-accumulates of one sample of the model"""
    parameter_bytes: int
    """resident bytes over all PEs"""
    activation_bytes: int
    """bytes of slots over all PEs"""
    colors_used: int
    mode: str = "pipeline"
    """pipeline | streaming: kernels have PEs of their own, or take turns on the same"""
    overflows: tuple[Overflow, ...] = ()
    smallest_machine: str | None = None
    """a machine on which it would fit, None when it fits or none is known"""
    wafers: Wafers | None = None
    """where no machine is known: how many wafers would do"""
    notes: tuple[str, ...] = ()
    activations: Lifetimes = field(default_factory=Lifetimes)
    """where kernels take turns: how long what they hand on lives"""
    recomputed_macs: int = 0
    """multiply-accumulates of one sample that are done again for activations that were dropped"""

    @property
    def fits(self) -> bool:
        """True when nothing overflows"""
        return not self.overflows

    @property
    def pes_used(self) -> int:
        """PEs with a kernel; of kernels that take turns those of the largest"""
        areas = [row.active_pes for row in self.rows]
        return max(areas, default=0) if self.mode == "streaming" else sum(areas)

    def to_text(self) -> str:
        """Return the report as a table for a terminal of 100 columns."""
        lines = [
            f"{self.model} on {self.machine.name} "
            f"({self.machine.rows} x {self.machine.cols} PEs): "
            + ("fits" if self.fits else "DOES NOT FIT"),
            f"{self.parameters:,} parameters, {self.macs:,} MACs a sample"
            + (f" and {self.recomputed_macs:,} again, " if self.recomputed_macs else ", ")
            + f"{self.pes_used:,} of {self.machine.working_pes:,} PEs "
            f"({self.pes_used / self.machine.working_pes:.1%})",
            f"memory over all PEs: parameters {self.parameter_bytes:,} B, "
            f"activations {self.activation_bytes:,} B; colors {self.colors_used} of "
            f"{self.machine.colors - self.machine.reserved_colors}",
            "",
            f"{'Kernel':<28} {'Samples/':>10} {'Compute':>10} {'Transmis-':>10} {'Active':>9} "
            f"{'Compute':>8} {'SRAM':>9}",
            f"{'':<28} {'Mcycle':>10} {'':>10} {'sion':>10} {'PEs':>9} {'util.':>8} {'B/PE':>9}",
        ]
        lines += [_row_text(row) for row in self.rows]
        if self.rows:
            lines.append(self._overall())
        lines += self.activations.lines()
        lines += self._overflow_lines()
        if self.smallest_machine:
            lines.append(f"it would fit on {self.smallest_machine}")
        if self.wafers:
            lines.append(self.wafers.sentence())
        return "\n".join([*lines, *self.notes])

    def worst_first(self) -> tuple[Overflow, ...]:
        """Return the overflows, those that miss most of what there is first."""
        return tuple(sorted(self.overflows, key=lambda item: -item.gap / max(1, item.bound)))

    def _overflow_lines(self) -> list[str]:
        """Say what does not fit: the worst by line, who holds it, and what helps how many."""
        lines = []
        for index, overflow in enumerate(self.worst_first()[:_TEXT_OVERFLOWS]):
            lines.append(f"does not fit: {overflow.need()}")
            if index < _TEXT_HOLDERS:
                lines += [f"    {name[:60]:<60} {held:>12,} {overflow.unit}"
                          for name, held in overflow.holders[:6]]  # fmt: skip
        more = len(self.overflows) - _TEXT_OVERFLOWS
        if more > 0:
            lines.append(f"    and {more:,} more")
        helped = Counter(lever for overflow in self.overflows for lever in overflow.levers)
        lines += [f"would help {count:,} of these {len(self.overflows):,}: {lever}"
                  for lever, count in helped.most_common()]  # fmt: skip
        return lines

    def _overall(self) -> str:
        slow = min(self.rows, key=lambda row: row.samples_per_mcycle)
        compute = min(row.compute_samples_per_mcycle for row in self.rows)
        move = min(row.transmission_samples_per_mcycle for row in self.rows)
        used = sum(row.utilization * row.active_pes for row in self.rows)
        rates = [slow.samples_per_mcycle, compute, move]
        if self.mode == "streaming":
            each = ((r.samples_per_mcycle, r.compute_samples_per_mcycle,
                     r.transmission_samples_per_mcycle) for r in self.rows)  # fmt: skip
            rates = [1 / sum(1 / rate for rate in column) for column in zip(*each, strict=True)]
        return (
            f"{'Overall':<28} {rates[0]:>10.3f} {rates[1]:>10.3f} {rates[2]:>10.3f} "
            f"{self.pes_used:>9,} {used / max(1, self.pes_used):>8.1%} "
            f"{max(row.sram_bytes for row in self.rows):>9,}"
        )

    def to_json(self) -> dict[str, object]:
        """Return the report as plain data."""
        return {
            "model": self.model,
            "machine": self.machine.name,
            "fits": self.fits,
            "mode": self.mode,
            "parameters": self.parameters,
            "macs": self.macs,
            "recomputed_macs": self.recomputed_macs,
            "pes_used": self.pes_used,
            "memory": {
                "parameter_bytes": self.parameter_bytes,
                "activation_bytes": self.activation_bytes,
            },
            "activations": {
                "peak_bytes": self.activations.peak_bytes,
                "peak_kernel": self.activations.peak_kernel,
                "tensors": [_activation_json(row) for row in self.activations.rows],
            },
            "colors_used": self.colors_used,
            "kernels": [_row_json(row) for row in self.rows],
            "overflows": [
                {
                    "resource": o.resource, "where": o.where, "demand": o.demand,
                    "bound": o.bound, "gap": o.gap, "unit": o.unit,
                    "holders": [list(h) for h in o.holders], "levers": list(o.levers),
                }
                for o in self.overflows
            ],
            "smallest_machine": self.smallest_machine,
            "wafers": self.wafers.to_json() if self.wafers else None,
            "notes": list(self.notes),
        }  # fmt: skip


def _activation_json(row: Activation) -> dict[str, object]:
    return {
        "tensor": row.tensor, "bytes": row.bytes, "made_by": row.made_by,
        "last_read_by": row.last_read_by, "turns": row.turns, "turns_outside": row.away,
        "comes_back": row.returns, "phase": row.phase, "at_peak": row.at_peak,
    }  # fmt: skip


def _row_text(row: KernelRow) -> str:
    return (
        f"{row.name[:28]:<28} {row.samples_per_mcycle:>10.3f} "
        f"{row.compute_samples_per_mcycle:>10.3f} {row.transmission_samples_per_mcycle:>10.3f} "
        f"{row.active_pes:>9,} {row.utilization:>8.1%} {row.sram_bytes:>9,}"
    )


def _row_json(row: KernelRow) -> dict[str, object]:
    region = row.region
    return {
        "name": row.name,
        "kind": row.kind,
        "samples_per_mcycle": row.samples_per_mcycle,
        "compute_samples_per_mcycle": row.compute_samples_per_mcycle,
        "transmission_samples_per_mcycle": row.transmission_samples_per_mcycle,
        "active_pes": row.active_pes,
        "utilization": row.utilization,
        "region": [region.row, region.col, region.rows, region.cols],
        "cycles": row.cycles,
        "sram_bytes": row.sram_bytes,
        "ops": row.ops,
        "source_nodes": list(row.source_nodes),
    }
