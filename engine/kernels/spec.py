"""What a kernel computes: a straight line of operations on named tensors, without a graph.

Each family adds its operations in `<family>/spec.py`. An operation is frozen data with `inputs`
and `outputs` (tensor ids); what it costs and how it is computed is elsewhere in its family.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation. Subclasses add their parameters."""

    inputs: tuple[str, ...]
    """tensor ids read, in order"""
    outputs: tuple[str, ...]
    """tensor ids written"""


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """The operations of one kernel in running order."""

    ops: tuple[Operation, ...]
    main: int
    """index of the operation that shapes the kernel; those after it are its epilogue"""

    @property
    def main_op(self) -> Operation:
        """the operation that shapes the kernel"""
        return self.ops[self.main]
