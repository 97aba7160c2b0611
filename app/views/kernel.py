"""Everything about one kernel. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class InstanceRow:
    """A kernel's execution on one sample."""

    sample: int
    start: int
    """cycle"""
    end: int
    """cycle"""
    stalled: int
    """cycles stalled inside"""


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """A transfer into or out of the kernel."""

    transfer: str
    tensor: str
    direction: str
    """in | out"""
    other: str
    """kernel at the other end, 'host' for the host, 'outside' beyond the weight ports; several
    joined by commas"""
    chunks: int
    """chunks a sample"""
    out_slots: int
    in_slots: int
    words: int
    """wavelets a sample over all legs' lines (first leg)"""


@dataclass(frozen=True, slots=True)
class KernelView(View):
    """One kernel: region, cost, instances, edges, buffers."""

    name: str
    kind: str
    region: tuple[int, int, int, int]
    """row, col, rows, cols"""
    tiling: tuple[int, int, int]
    """m, k, n parts"""
    cycles: int
    """of an instance without stalls"""
    utilization: float
    """compute / cycles of the kernel's PEs over its instances, 0..1"""
    samples_per_mcycle: float
    """attainable throughput of this kernel alone"""
    sram_bytes: int
    """on its fullest PE"""
    sram_capacity: int
    ops: tuple[str, ...]
    """operations, in running order"""
    source_nodes: tuple[str, ...]
    instances: tuple[InstanceRow, ...]
    """the first ones, at most 64"""
    edges: tuple[EdgeRow, ...]
    tags: tuple[tuple[str, str], ...]
    standing: str
    severity: str
    sentence: str
