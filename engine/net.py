"""The timing net: all that the event engine needs of a Program, as plain arrays.

Built from a Program by `build_net`; knows no geometry. Rates are integers in 1 / RATE_UNIT
wavelet a cycle; a flow's share of a resource is an integer in 1 / COEF_UNIT, rounded up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

RATE_UNIT = 720_720
"""lcm(1..16): shares down to a sixteenth are exact"""
COEF_UNIT = 1 << 16
"""resolution of a flow's share of a resource"""
UNLIMITED = 1 << 40
"""slots that never run out"""


class TimingNet(NamedTuple):
    """Arrays of one net; K kernels, T transfers, U uses (transfer -> one consumer), R conflicts.

    All int64. CSR pairs `x_start` (n + 1) and `x` list the members of each of n rows.
    """

    samples: int
    admit_every: int
    """cycles between host samples; 0 = all there from cycle 0"""
    length: np.ndarray
    """(K,) cycles of an instance without stalls, >= 1"""
    region_start: np.ndarray
    """(G + 1,) CSR over regions"""
    region_kernel: np.ndarray
    """(K,) kernels of each region in running order"""
    producer: np.ndarray
    """(T,) kernel, or -1 for the host"""
    chunks: np.ndarray
    """(T,) chunks a sample"""
    words: np.ndarray
    """(T,) words of a chunk on its busiest link; 0 allowed"""
    cap: np.ndarray
    """(T,) highest rate, 1 .. RATE_UNIT"""
    latency: np.ndarray
    """(T,) cycles from the last wavelet's departure to the chunk's arrival"""
    out_slots: np.ndarray
    """(T,) chunks that fit at the producer (ignored for the host)"""
    give_first: np.ndarray
    """(T,) progress of the producer at which chunk 0 is given; equals give_last if chunks == 1"""
    give_last: np.ndarray
    """(T,) progress at which the last chunk is given, <= length"""
    use_start: np.ndarray
    """(T + 1,) CSR over transfers"""
    use_kernel: np.ndarray
    """(U,) consumer, or -1 for the host sink (always has a slot)"""
    in_slots: np.ndarray
    """(U,) chunks that fit at the consumer"""
    need_first: np.ndarray
    """(U,) progress of the consumer at which chunk 0 is needed; 0 if chunks == 1"""
    need_last: np.ndarray
    """(U,) progress at which the last chunk is needed"""
    conflict_start: np.ndarray
    """(R + 1,) CSR over conflicts"""
    conflict_transfer: np.ndarray
    """transfers that share the resource"""
    conflict_coef: np.ndarray
    """their load a unit of rate, in 1 / COEF_UNIT, rounded up"""
    reserve_start: np.ndarray
    """(R + 1,) CSR over conflicts: kernels whose own traffic is served first"""
    reserve_kernel: np.ndarray
    """kernels with traffic of their own on the resource"""
    reserve_rate: np.ndarray
    """rate they hold while running and not stalled, in 1 / (RATE_UNIT * COEF_UNIT), rounded up"""
