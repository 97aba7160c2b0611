"""A kernel's profile: cycles by cause of every PE of its region in one instance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.geometry import Split
from engine.kernels.cost import KernelModel, chain_latency, row_tiles, tile_cycles
from engine.machine import MachineSpec
from engine.program import Tiling

BUSY_CAUSES = ("compute", "overhead", "memory", "transfer")
"""causes inside an instance, in the order they are shown; imbalance is what is left"""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Cycles of one instance. PEs fall into classes by row and by column."""

    length: int
    """cycles of an instance without stalls, >= 1"""
    row_class: np.ndarray
    """int64 (rows,) index into axis 0 of `cycles`"""
    col_class: np.ndarray
    """int64 (cols,) index into axis 1 of `cycles`"""
    cycles: np.ndarray
    """int64 (row classes, col classes, 4) cycles by `BUSY_CAUSES`"""

    def counts(self) -> np.ndarray:
        """Return the PEs of each class, int64 (row classes, col classes)."""
        rows = np.bincount(self.row_class, minlength=self.cycles.shape[0])
        cols = np.bincount(self.col_class, minlength=self.cycles.shape[1])
        return np.outer(rows, cols)

    def total(self, cause: str) -> int:
        """Return the PE-cycles of a cause over the region in one instance."""
        busy = (self.cycles * self.counts()[:, :, None]).sum(axis=(0, 1))
        if cause == "imbalance":
            return int(self.length * self.counts().sum() - busy.sum())
        return int(busy[BUSY_CAUSES.index(cause)])

    def pe(self, row: int, col: int) -> np.ndarray:
        """Return the cycles by busy cause of the PE at (row, col) of the region."""
        return np.asarray(self.cycles[self.row_class[row], self.col_class[col]])


def profile(model: KernelModel, tiling: Tiling, machine: MachineSpec, dtype: str) -> Profile:
    """Return the exact profile of a kernel on a tiling."""
    m, k = row_tiles(model.problem, tiling)
    n = Split(model.problem.n_units, tiling.n_parts).sizes()
    rows, row_class = np.unique(np.stack([m, k]), axis=1, return_inverse=True)
    cols, col_class = np.unique(n, return_inverse=True)
    k_parts = np.asarray(tiling.k_parts)
    parts = tile_cycles(
        model, rows[0][:, None], rows[1][:, None], cols[None, :], k_parts,
        machine, dtype,
    )  # fmt: skip
    cycles = np.stack(np.broadcast_arrays(*parts), axis=-1).astype(np.int64)
    chain = chain_latency(model, k_parts, np.asarray(tiling.n_parts), machine)
    length = max(1, int(cycles.sum(axis=-1).max() + chain))
    return Profile(length, row_class.ravel(), col_class.ravel(), cycles)
