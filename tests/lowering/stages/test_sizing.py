"""Sizing: candidate shapes, limits that are kept, and the best tiling against all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from engine.kernels.cost import KernelModel, estimate, kernel_model
from engine.kernels.dot.spec import Dot
from engine.kernels.footprint import tile_bytes
from engine.kernels.spec import KernelSpec
from engine.machine import PRESETS, parse_machine
from engine.profile import profile
from lowering.stages.placement import BIG
from lowering.stages.sizing import (
    SizingLimits,
    best_tiling,
    candidate_heights,
    shape_table,
    useful_cuts,
)

MACHINE = parse_machine("mesh-12x12")


def dot_model(m: int, k: int, n: int) -> KernelModel:
    shapes = {"x": (m, k), "w": (k, n), "y": (m, n)}
    spec = KernelSpec((Dot(inputs=("x", "w"), outputs=("y",)),), 0)
    return kernel_model(spec, shapes, frozenset({"w"}))


def test_heights_ascend_from_one_to_all_rows() -> None:
    assert candidate_heights(5).tolist() == [1, 2, 3, 5]
    many = candidate_heights(994)
    assert (many[0], many[-1]) == (1, 994)
    assert (np.diff(many) > 0).all()


def test_cuts_that_leave_the_largest_part_as_it_is_are_skipped() -> None:
    assert useful_cuts(10, 10, 20).tolist() == [1, 2, 3, 4, 5, 10]
    assert useful_cuts(10, 4, 20).tolist() == [1, 2, 3, 4]
    assert len(useful_cuts(5_000, 750, 48)) <= 48


def test_best_tiling_is_the_fastest_of_all_that_fit() -> None:
    model = dot_model(24, 40, 36)
    limits = SizingLimits(6, 7, 4_000, least_gain=0.0)
    tiling, cycles = best_tiling(model, MACHINE, "fp32", limits)
    best = BIG
    for m, k, n in product(range(1, 7), range(1, 7), range(1, 8)):
        if m * k <= 6:
            parts = (np.array(m), np.array(k), np.array(n))
            if tile_bytes(model, *parts, "fp32") <= 4_000:
                best = min(best, int(estimate(model, *parts, MACHINE, "fp32")))
    assert cycles <= best * 1.05
    assert profile(model, tiling, MACHINE, "fp32").length <= cycles


@pytest.mark.parametrize("sram", [2_000, 8_000, 44_000])
def test_tiling_keeps_every_limit(sram: int) -> None:
    model = dot_model(32, 256, 256)
    limits = SizingLimits(64, 64, sram, cap=900)
    tiling, cycles = best_tiling(model, parse_machine("mesh-64x64"), "fp32", limits)
    assert cycles < BIG
    assert tiling.m_parts * tiling.k_parts <= 64
    assert tiling.n_parts <= 64
    assert tiling.m_parts * tiling.k_parts * tiling.n_parts <= 900
    parts = (np.array(tiling.m_parts), np.array(tiling.k_parts), np.array(tiling.n_parts))
    assert int(tile_bytes(model, *parts, "fp32")) <= sram


def test_table_never_rises_along_widths_and_marks_what_does_not_fit() -> None:
    table = shape_table(dot_model(8, 512, 512), MACHINE, "fp32", SizingLimits(12, 12, 20_000))
    assert (np.diff(table.cycles, axis=1) <= 0).all()
    assert (table.cycles[0] >= BIG).all()  # 1 MB of weights on one row of 12 PEs
    assert (table.cycles[-1, -1]) < BIG


def test_memory_overrules_the_least_gain() -> None:
    """A product of one position gains little from PEs, but its weights need them."""
    model = dot_model(1, 1024, 1024)
    limits = SizingLimits(994, 750, 44_976)
    tiling, cycles = best_tiling(model, PRESETS["wse2"], "fp32", limits)
    assert cycles < BIG
    assert tiling.m_parts * tiling.k_parts * tiling.n_parts >= 1024 * 1024 * 4 / 44_976


def test_small_work_does_not_spread_over_the_wafer() -> None:
    tiling, _ = best_tiling(
        dot_model(4, 16, 16), PRESETS["wse2"], "fp32", SizingLimits(994, 750, 44_976)
    )
    assert tiling.m_parts * tiling.k_parts * tiling.n_parts <= 4 * 16 * 16 // 4


@pytest.mark.parametrize("most", [1, 2, 3, 4, 6])
def test_rows_are_cut_as_a_neighbour_s_chunks_ask(most: int) -> None:
    model = dot_model(720, 3, 4)
    free, freely = best_tiling(model, MACHINE, "fp32", SizingLimits(12, 12, 40_000))
    assert most % free.m_parts
    even = SizingLimits(12, 12, 40_000, m_parts=most)
    tiling, cycles = best_tiling(model, MACHINE, "fp32", even)
    assert most % tiling.m_parts == 0
    assert freely <= cycles < BIG
