"""How long streamed weights take to reach a region: through the ports, then over its links."""

from __future__ import annotations

import numpy as np

from engine.kernels.cost import KernelModel
from engine.kernels.footprint import stored_bytes
from engine.machine import MachineSpec

LINK_SHARE = 4
"""weights take at most one wavelet in this many cycles of a link, so that others move too"""


def weight_words(model: KernelModel, machine: MachineSpec, dtype: str) -> int:
    """Return the wavelets of a kernel's weights and constants."""
    return -(-stored_bytes(model, dtype) // machine.wavelet_bytes)


def arrival_cycles(
    words: int, rows: np.ndarray, cols: np.ndarray, machine: MachineSpec
) -> np.ndarray:
    """Return the cycles in which `words` wavelets enter regions of rows x cols PEs; no latency.

    They enter evenly over the rows and are copied along the columns; the ports bound them all.
    """
    links = np.maximum(-(-words // rows), -(-words // cols))
    ports = int(-(-words // machine.weight_wavelets_per_cycle))
    return np.asarray(np.maximum(links * LINK_SHARE, ports))
