"""Shelves around blocked PEs: each band of rows keeps its widest run of free columns.

A blocked rectangle costs the columns on its narrow side, on its own band only. Knows bands and
columns; what fits into them is asked of `shelves`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.geometry import Rect
from lowering.stages.shapes import Ints
from lowering.stages.shelves import Shelf, ShelfWidths

LATER_STARTS = 3
"""bands tried below a blocked rectangle, beside the one that starts at once"""


@dataclass(frozen=True, slots=True, eq=False)
class FreeBands:
    """The widest free run of columns in every band of rows."""

    widths: Ints
    """columns of the band that starts at a row, 0 past the grid, int64 (rows, S)"""
    starts: Ints
    """first of these columns, int64 (rows, S)"""
    ends: tuple[int, ...]
    """first rows below blocked rectangles, ascending"""


@dataclass(frozen=True, slots=True)
class Site:
    """A shelf and the part of the grid it has."""

    shelf: Shelf
    row: int
    """northmost row"""
    col: int
    """first free column"""
    cols: int
    """free columns"""


def free_bands(rows: int, cols: int, heights: Ints, blocked: Sequence[Rect]) -> FreeBands:
    """Find the widest free run of columns for each first row and height of a band."""
    first = np.arange(rows)[:, None]
    after = first + heights
    inside = after <= rows
    touched = np.stack([(rect.row < after) & (first < rect.end_row) for rect in blocked], axis=-1)
    packed = np.packbits(touched, axis=-1).reshape(rows * len(heights), -1)
    kinds, kind_of = np.unique(packed, axis=0, return_inverse=True)
    runs = []
    for kind in kinds:
        bits = np.unpackbits(kind, count=len(blocked))
        runs.append(
            _widest_run(cols, [rect for rect, bit in zip(blocked, bits, strict=True) if bit])
        )
    found = np.array(runs, np.int64)[kind_of.reshape(rows, len(heights))]
    ends = sorted({rect.end_row for rect in blocked if rect.end_row < rows})
    return FreeBands(np.where(inside, found[:, :, 1], 0), found[:, :, 0], tuple(ends))


def _widest_run(cols: int, blocked: Sequence[Rect]) -> tuple[int, int]:
    """Return (first column, columns) of the widest run that no rectangle touches."""
    best, end = (0, 0), 0
    for start, stop in [*sorted((rect.col, rect.end_col) for rect in blocked), (cols, cols)]:
        if start - end > best[1]:
            best = (end, start - end)
        end = max(end, stop)
    return best


def fewest_rows_around(
    widths: ShelfWidths, heights: Ints, bands: FreeBands
) -> tuple[int, tuple[Site, ...]]:
    """Cut a chain into shelves on free bands so that the last ends as far north as found.

    Each prefix of the chain keeps its least end row only: near the best, not proven.
    """
    count, rows = len(widths.least), len(bands.widths)
    ends = [0] + [1 << 40] * count
    sites: list[Site | None] = [None] * (count + 1)
    for first in range(count):
        if ends[first] >= rows:
            continue
        below = [end for end in bands.ends if end > ends[first]][:LATER_STARTS]
        longest = min(len(widths.runs) - 1, count - first)
        if not longest:
            break
        wide = np.stack([widths.runs[length][first] for length in range(1, longest + 1)])
        for row in (ends[first], *below):
            fits = wide <= bands.widths[row]
            levels = np.where(fits.any(axis=1), fits.argmax(axis=1), -1)
            for length, level in enumerate(levels.tolist(), start=1):
                if level < 0 or row + heights[level] >= ends[first + length]:
                    continue
                ends[first + length] = row + int(heights[level])
                shelf = Shelf(first, length, level)
                place = int(bands.starts[row, level]), int(bands.widths[row, level])
                sites[first + length] = Site(shelf, row, *place)
    return ends[count], _read_back(sites)


def _read_back(sites: Sequence[Site | None]) -> tuple[Site, ...]:
    chosen = []
    site = sites[-1]
    while site is not None:
        chosen.append(site)
        site = sites[site.shelf.start]
    return tuple(reversed(chosen))
