"""The values of one run beside what they are compared with, and any PE's tile of them.

Knows no session and no screen: a run carries one of these once its values are computed.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.models import program_models
from engine.values import Tile, ValueRun, cut_tile

REFERENCE_BYTES = 256 << 20
"""float64 references kept for the errors of tiles; beyond it only those of the outputs"""


@dataclass(frozen=True, slots=True, eq=False)
class KernelResult:
    """The main result of one kernel, whole."""

    ours: np.ndarray
    """in mesh order, before the epilogue"""
    reference: np.ndarray | None
    """float64, None where there is none"""
    scale: float
    """largest magnitude of the reference, 1 without one or when that is 0"""


@dataclass(frozen=True, slots=True, eq=False)
class TileValues:
    """What a PE keeps, beside the reference."""

    tile: Tile
    error: float | None
    """max |ours - reference| over the tile / max |reference| of the tensor, None without one"""


class TileReader:
    """Cuts tiles out of kernels' main results; keeps the last kernel's. Safe from any thread."""

    def __init__(self, values: ValueRun, reference: Mapping[str, np.ndarray]) -> None:
        self._values = values
        self._reference = reference
        self._models = program_models(values.program)
        self._last: tuple[str, KernelResult] | None = None
        self._lock = threading.Lock()

    def read(self, kernel_id: str, row: int, col: int) -> TileValues:
        """Return what the PE at (row, col) of the fabric keeps of sample 0's main result."""
        kernel, model = self._values.program.kernel(kernel_id), self._models[kernel_id]
        result = self._result(kernel_id)
        tile = cut_tile(kernel, model, result.ours, row, col)
        if result.reference is None or not tile.values.size:
            return TileValues(tile, None)
        right = cut_tile(kernel, model, result.reference, row, col).values
        with np.errstate(all="ignore"):
            off = np.abs(tile.values.astype(np.float64) - right).max()
        return TileValues(tile, float(off) / result.scale)

    def _result(self, kernel_id: str) -> KernelResult:
        with self._lock:
            if self._last is None or self._last[0] != kernel_id:
                self._last = kernel_id, self._make(kernel_id)
            return self._last[1]

    def _make(self, kernel_id: str) -> KernelResult:
        kernel = self._values.program.kernel(kernel_id)
        with np.errstate(all="ignore"):
            ours = self._values.kernel_result(kernel, self._models[kernel_id])
        right = self._reference.get(kernel.spec.main_op.outputs[0])
        if right is None or right.shape != ours.shape or ours.dtype.kind != "f":
            return KernelResult(ours, None, 1.0)
        scale = float(np.abs(right).max(initial=0.0))
        return KernelResult(ours, right, scale or 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """Values, errors and tiles of a run."""

    values: ValueRun
    """not written to any more"""
    inputs: str
    """what the inputs were, such as 'seeded inputs (seed 0)'"""
    reference: Mapping[str, np.ndarray] = field(default_factory=dict)
    """value name -> float64 array of sample 0, as far as kept"""
    tiles: TileReader = field(init=False)
    """what a PE keeps"""

    def __post_init__(self) -> None:
        """Make the tile reader."""
        object.__setattr__(self, "tiles", TileReader(self.values, self.reference))

    @property
    def max_error(self) -> float | None:
        """largest error over all compared tensors, None when none was compared"""
        ratios = [error.ratio for error in self.values.errors.values()]
        return float(np.max(ratios)) if ratios else None
