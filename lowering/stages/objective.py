"""What the placer aims at beside the least bottleneck: regions near square, equal blocks.

Knows sizes, no cuts and no positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowering.stages.shapes import Floats, Ints


@dataclass(frozen=True, slots=True)
class Objective:
    """How much each aim of a placement counts. The defaults are our choice."""

    square: float = 25.0
    """per cent of a region's price that is the square on its half perimeter; the rest is its PEs"""
    aspect_loss: float = 2.0
    """per cent of the bottleneck that a limit on the side ratio may cost: thin strips make long
    trees inside a kernel"""
    block_loss: float = 3.0
    """per cent of the bottleneck that equal shelves for repeated blocks may cost: equal blocks
    compile once and read better"""

    def price(self, height: Ints | int, width: Ints | int) -> Floats:
        """Return the price of regions in PEs: their PEs, more the farther they are from square.

        At the default a 4:1 region costs 14 % more than a square of as many PEs, 16:1 88 % more.
        """
        share = self.square / 100
        sides = np.asarray(height, np.float64) + width
        area = np.asarray(height, np.float64) * width
        price: Floats = (1 - share) * area + share / 4 * sides * sides
        return price

    def loosened(self, tau: int) -> int:
        """Return the bottleneck that a limit on the side ratio may go up to, cycles."""
        return max(tau, int(tau * (1 + self.aspect_loss / 100)))

    def unblocked(self, tau: int) -> int:
        """Return the bottleneck below which free shelves beat equal ones of `tau`, cycles."""
        return int(tau / (1 + self.block_loss / 100))


DEFAULT_OBJECTIVE = Objective()
