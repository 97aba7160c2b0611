"""Compaction: placed kernels move together once their tilings leave part of a place unused.

Keeps shelves, their order and the stacks in them, so neighbours stay neighbours; wires get
shorter.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.geometry import Rect
from lowering.stages.placement import PlacedShelf


def compact(
    regions: Sequence[Rect], sizes: Sequence[tuple[int, int]], shelves: Sequence[PlacedShelf]
) -> tuple[Rect, ...]:
    """Return regions of the given (rows, cols), each inside what is left of its shelf.

    `sizes` are at most those of `regions`.
    """
    moved = list(regions)
    row = 0
    for shelf in sorted(shelves, key=lambda shelf: shelf.row):
        first, count = shelf.kernels
        col = height = 0
        for stack in _stacks(regions, range(first, first + count)):
            down = 0
            for kernel in sorted(stack, key=lambda k: regions[k].row):
                rows, cols = sizes[kernel]
                moved[kernel] = Rect(row + down, col, rows, cols)
                down += rows
            col += max(sizes[kernel][1] for kernel in stack)
            height = max(height, down)
        row += height
    return tuple(moved)


def _stacks(regions: Sequence[Rect], kernels: Sequence[int]) -> list[list[int]]:
    """Return the kernels of a shelf by the columns they share, west to east."""
    stacks: list[list[int]] = []
    end = 0
    for kernel in sorted(kernels, key=lambda k: (regions[k].col, regions[k].row)):
        if stacks and regions[kernel].col < end:
            stacks[-1].append(kernel)
        else:
            stacks.append([kernel])
        end = max(end, regions[kernel].end_col)
    return stacks
