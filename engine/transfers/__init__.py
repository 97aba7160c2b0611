"""The leg catalogue: which words a leg puts on which links and ramps, and how long they travel.

Knows geometry and words; no kernels, no time beyond latencies.
"""

from engine.transfers.legs import (
    LEG_KINDS,
    Pattern,
    busiest_words,
    leg_latency,
    leg_patterns,
    transfer_latency,
    transfer_patterns,
)

__all__ = [
    "LEG_KINDS",
    "Pattern",
    "busiest_words",
    "leg_latency",
    "leg_patterns",
    "transfer_latency",
    "transfer_patterns",
]
