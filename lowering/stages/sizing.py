"""Sizing: what a kernel costs on every region shape worth considering, and its best tiling.

Knows kernel models and the machine, not where regions are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from engine.kernels.cost import MAX_CHUNKS, KernelModel, estimate
from engine.kernels.footprint import tile_bytes
from engine.machine import MachineSpec
from engine.program import Tiling
from lowering.stages.placement import BIG, ShapeTable
from lowering.stages.weight_arrival import arrival_cycles, weight_words

_HEIGHT_STEPS = 28
_WIDTH_STEPS = 48
_CUTS = 14
"""candidate cuts of K a height; more changed the bottleneck by less than 1 % on GPT-2"""
LEAST_GAIN = 0.25
"""speed-up a PE: a region must be this share of its PEs faster than one PE would be, our choice;
below it a small layer spreads over the wafer to save few cycles and pays them back on the links"""
_ONE = np.array(1)


@dataclass(frozen=True, slots=True)
class SizingLimits:
    """What bounds the region of one kernel."""

    rows: int
    cols: int
    sram_bytes: int
    """bytes a PE may use for data"""
    cap: int | None = None
    """most PEs, None: as many as help"""
    whole: bool = False
    """slots hold whole samples: a neighbour cannot work in chunks"""
    max_chunks: int = MAX_CHUNKS
    """most chunks a sample is cut into"""
    m_parts: int | None = None
    """M is cut into a divisor of this, so that a neighbour's chunks are cut evenly; None: freely"""
    least_gain: float = LEAST_GAIN
    """0 where the memory asks for more PEs than the work does"""
    results: int = 0
    """where kernels take turns: results that wait as whole samples for later turns; the cycles in
    which weights arrive then count as those of work do"""


@lru_cache(maxsize=256)
def candidate_heights(rows: int) -> np.ndarray:
    """Return shelf heights to consider, ascending, the full height included; read-only."""
    return _fixed(np.unique(np.geomspace(1, rows, min(rows, _HEIGHT_STEPS)).round()))


@lru_cache(maxsize=16384)
def useful_cuts(units: int, most: int, steps: int) -> np.ndarray:
    """Return part counts <= most that shrink the largest part, thinned to about `steps`."""
    sizes = np.unique(np.geomspace(1, max(1, units), 4 * steps).round().astype(np.int64))
    parts = np.unique(-(-units // sizes))
    parts = parts[parts <= most]
    if len(parts) > steps:
        parts = parts[np.unique(np.linspace(0, len(parts) - 1, steps).round().astype(int))]
    return _fixed(parts)


def _fixed(counts: np.ndarray) -> np.ndarray:
    fixed = np.asarray(counts, np.int64)
    fixed.flags.writeable = False
    return fixed


class _RowCuts(NamedTuple):
    """Ways to cut M and K over each candidate height; heights share the pairs that they can."""

    start: np.ndarray
    """(heights,) first place of a height in `pair`"""
    pair: np.ndarray
    """index of a way, for all heights one after the other"""
    m_parts: np.ndarray
    """(ways,) parts of M"""
    k_parts: np.ndarray
    """(ways,) parts of K"""


@lru_cache(maxsize=4096)
def _row_cuts(m_units: int, k_units: int, rows: int) -> _RowCuts:
    starts: list[int] = []
    pairs: list[tuple[int, int]] = []
    for height in candidate_heights(rows).tolist():
        starts.append(len(pairs))
        k_parts = useful_cuts(k_units, height, _CUTS).tolist()
        pairs += [(_even_cut(m_units, height // k), k) for k in k_parts]
    ways = list(dict.fromkeys(pairs))
    place = {way: index for index, way in enumerate(ways)}
    m_parts, k_parts = np.array(ways, np.int64).T.copy()
    return _RowCuts(np.array(starts), np.array([place[p] for p in pairs]), m_parts, k_parts)


@lru_cache(maxsize=2048)
def shape_table(
    model: KernelModel, machine: MachineSpec, dtype: str, limits: SizingLimits
) -> ShapeTable:
    """Return cycles by (height, width); BIG where the SRAM or the cap forbids the shape."""
    heights = candidate_heights(limits.rows)
    widths = useful_cuts(model.problem.n_units, limits.cols, _WIDTH_STEPS)
    cuts = _row_cuts(model.problem.m_units, model.problem.k_units, limits.rows)
    cycles = _cycles(model, machine, dtype, limits, cuts, widths)
    cycles = np.minimum.reduceat(cycles[cuts.pair], cuts.start, axis=0)
    cycles = np.minimum.accumulate(np.minimum.accumulate(cycles, axis=1), axis=0)
    if limits.least_gain and (cycles >= BIG).all():
        return shape_table(model, machine, dtype, replace(limits, least_gain=0.0))
    shape = (len(heights), len(widths))
    return ShapeTable(heights, np.broadcast_to(widths, shape), _fixed(cycles))


def _cycles(
    model: KernelModel,
    machine: MachineSpec,
    dtype: str,
    limits: SizingLimits,
    cuts: _RowCuts,
    widths: np.ndarray,
) -> np.ndarray:
    """Return the cycles of every way to cut the rows at each width; BIG where one is forbidden."""
    m_parts, k_parts, n_parts = cuts.m_parts[:, None], cuts.k_parts[:, None], widths[None]
    rows = m_parts * k_parts
    cycles = estimate(model, m_parts, k_parts, n_parts, machine, dtype)
    cycles = np.maximum(cycles, _row_cycles(model, rows, machine, dtype))
    held = tile_bytes(
        model, m_parts, k_parts, n_parts, dtype, whole=limits.whole, most=limits.max_chunks,
        results=limits.results,
    )  # fmt: skip
    area = rows * n_parts
    alone = int(estimate(model, _ONE, _ONE, _ONE, machine, dtype))
    helps = area * cycles * limits.least_gain <= alone
    arriving = np.zeros_like(cycles)
    if limits.results:
        words = weight_words(model, machine, dtype)
        arriving = arrival_cycles(words, rows, n_parts, machine)
        helps |= arriving > cycles
    allowed = (held <= limits.sram_bytes) & helps
    if limits.cap is not None:
        allowed &= area <= limits.cap
    if limits.m_parts is not None:
        allowed &= limits.m_parts % m_parts == 0
    return np.where(allowed, cycles + arriving, BIG)


def _row_cycles(
    model: KernelModel, rows: np.ndarray, machine: MachineSpec, dtype: str
) -> np.ndarray:
    """Return the cycles in which a region's rows can carry what arrives: a wavelet a link a cycle.

    Keeps a kernel of little work from being so flat that its rows choke the pipeline.
    """
    arriving = model.streamed + model.side_inputs
    return np.asarray(-(-machine.words(arriving, dtype) // rows))


@lru_cache(maxsize=65536)
def _even_cut(units: int, most: int) -> int:
    """Return the largest useful part count <= most, a divisor of units where one is near."""
    most = max(1, min(units, most))
    for parts in range(most, most // 2, -1):
        if parts and units % parts == 0:
            return parts
    return -(-units // -(-units // most))


@lru_cache(maxsize=4096)
def best_tiling(
    model: KernelModel,
    machine: MachineSpec,
    dtype: str,
    limits: SizingLimits,
) -> tuple[Tiling, int]:
    """Return the fastest tiling inside a region of limits.rows x limits.cols, and its cycles.

    Among equally fast ones the one with the fewest PEs. Cycles are BIG if none fits.
    """
    widths = useful_cuts(model.problem.n_units, limits.cols, _WIDTH_STEPS)
    cuts = _row_cuts(model.problem.m_units, model.problem.k_units, limits.rows)
    all_cycles = _cycles(model, machine, dtype, limits, cuts, widths)
    best: tuple[int, int, Tiling] | None = None
    for ways in np.split(cuts.pair, cuts.start[1:]):
        cycles = all_cycles[ways]
        at = int(cycles.min(axis=0).argmin())
        way = ways[cycles[:, at].argmin()]
        tiling = Tiling(int(cuts.m_parts[way]), int(cuts.k_parts[way]), int(widths[at]))
        found = (int(all_cycles[way, at]), tiling.m_parts * tiling.k_parts * tiling.n_parts, tiling)
        if best is None or found[:2] < best[:2]:
            best = found
    assert best is not None
    if limits.least_gain and best[0] >= BIG:
        return best_tiling(model, machine, dtype, replace(limits, least_gain=0.0))
    if best[0] >= BIG and limits.cap is None:
        return _least_bytes(model, dtype, limits), BIG
    return best[2], best[0]


def _least_bytes(model: KernelModel, dtype: str, limits: SizingLimits) -> Tiling:
    """Return the tiling that holds the least on a PE: the best what-if where none fits."""
    problem = model.problem
    widths = useful_cuts(problem.n_units, limits.cols, _WIDTH_STEPS)
    k_parts = useful_cuts(problem.k_units, limits.rows, _WIDTH_STEPS)
    m_parts = np.array([_even_cut(problem.m_units, limits.rows // int(k)) for k in k_parts])
    held = tile_bytes(
        model, m_parts[:, None], k_parts[:, None], widths[None], dtype, whole=limits.whole,
        most=limits.max_chunks, results=limits.results,
    )  # fmt: skip
    row, col = np.unravel_index(int(held.argmin()), held.shape)
    return Tiling(int(m_parts[row]), int(k_parts[row]), int(widths[col]))
