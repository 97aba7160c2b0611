"""A kernel's profile: cycles by cause of every PE of its region in one instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from engine.geometry import Split
from engine.kernels.cost import KernelModel, chain_latency, row_tiles, tile_cycles
from engine.machine import MachineSpec
from engine.program import Tiling

BUSY_CAUSES = ("compute", "overhead", "memory", "transfer")
"""causes inside an instance, in the order they are shown; imbalance is what is left"""
DENSE = 1 << 16
"""resolution of a tile's share of weights that are not zero"""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Cycles of one instance. PEs with the same cycles form a class."""

    length: int
    """cycles of an instance without stalls, >= 1"""
    pe_class: np.ndarray
    """int32 (rows, cols) of the region, index into `cycles`"""
    cycles: np.ndarray
    """int64 (classes, 4) cycles by `BUSY_CAUSES`"""

    def counts(self) -> np.ndarray:
        """Return the PEs of each class, int64 (classes,)."""
        return _class_counts(self)

    def total(self, cause: str) -> int:
        """Return the PE-cycles of a cause over the region in one instance."""
        busy = self.counts() @ self.cycles
        if cause == "imbalance":
            return int(self.length * self.pe_class.size - busy.sum())
        return int(busy[BUSY_CAUSES.index(cause)])

    def pe(self, row: int, col: int) -> np.ndarray:
        """Return the cycles by busy cause of the PE at (row, col) of the region."""
        return np.asarray(self.cycles[self.pe_class[row, col]])


@lru_cache(maxsize=256)
def _class_counts(found: Profile) -> np.ndarray:
    """Equal layers share a profile, and everything about a run asks for its counts."""
    counts = np.bincount(found.pe_class.ravel(), minlength=len(found.cycles))
    counts.flags.writeable = False
    return counts


def profile(
    model: KernelModel,
    tiling: Tiling,
    machine: MachineSpec,
    dtype: str,
    nonzeros: np.ndarray | None = None,
    routed: np.ndarray | None = None,
) -> Profile:
    """Return the exact profile of a kernel on a tiling.

    `nonzeros`, int64 (k_parts, n_parts), are the weights of each tile that are not zero; None
    where all count. `routed`, int64 (rows,), are the products that each row of a mixture's region
    executes for one result; None where tokens spread evenly.
    """
    m, k = row_tiles(model.problem, tiling)
    n = Split(model.problem.n_units, tiling.n_parts).sizes()
    if nonzeros is None and routed is None:
        (m, k, n), pe_class = _even_classes(m, k, n)
        executed = np.full(len(m), DENSE)
    else:
        shape = (len(m), len(n))
        if nonzeros is not None:
            done = _density(model, k, n, nonzeros, tiling)
        if routed is not None:
            done = np.broadcast_to(routed[:, None], shape)
        maps = [np.broadcast_to(side, shape) for side in (m[:, None], k[:, None], n[None, :])]
        (m, k, n, executed), pe_class = _classes([*maps, done])
    k_parts = np.asarray(tiling.k_parts)
    density = executed / (DENSE if routed is None else np.maximum(1, m * k))
    parts = tile_cycles(model, m, k, n, k_parts, machine, dtype, density)
    cycles = np.stack(np.broadcast_arrays(*parts), axis=-1).astype(np.int64)
    chain = chain_latency(model, k_parts, np.asarray(tiling.n_parts), machine)
    length = max(1, int(cycles.sum(axis=-1).max() + chain))
    return Profile(length, pe_class, cycles)


def _density(
    model: KernelModel, k: np.ndarray, n: np.ndarray, nonzeros: np.ndarray, tiling: Tiling
) -> np.ndarray:
    """Return the share of each PE's weights that are not zero, in 1 / DENSE, int64."""
    size = np.maximum(1, k[:, None] * model.problem.k_inner * n[None, :])
    return np.asarray(np.tile(nonzeros, (tiling.m_parts, 1)) * DENSE // size)


def _even_classes(m: np.ndarray, k: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return `_classes` of PEs that differ by the m and k of their row and the n of their column.

    Every class of rows meets every class of columns.
    """
    (m, k), row_class = _classes([m, k])
    (n,), col_class = _classes([n])
    values = np.stack([np.repeat(m, len(n)), np.repeat(k, len(n)), np.tile(n, len(m))])
    return values, row_class[:, None] * np.int32(len(n)) + col_class[None, :]


def _classes(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return (values of each class, class of each PE) of maps of one shape."""
    key = np.zeros(columns[0].shape, np.int64)
    for column in columns:
        key = key * (int(column.max()) + 1) + column
    _, first, pe_class = np.unique(key, return_index=True, return_inverse=True)
    values = np.stack([column.ravel()[first] for column in columns])
    return values, pe_class.reshape(key.shape).astype(np.int32)
