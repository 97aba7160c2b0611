"""Zeros that are skipped: cycles follow the non-zeros of each PE's tile."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.kernels.cost import KernelModel, kernel_model
from engine.kernels.dot.spec import Dot
from engine.kernels.spec import KernelSpec
from engine.machine import PRESETS, MachineSpec, SimdRate
from engine.profile import profile
from engine.program import Tiling
from engine.sparsity import kernel_nonzeros

SPEC = KernelSpec((Dot(inputs=("x", "w"), outputs=("y",)),), 0)
SHAPES = {"x": (3, 8), "w": (8, 4), "y": (3, 4)}
TILING = Tiling(1, 2, 2)


def paper_machine() -> MachineSpec:
    """Return a machine on which a product takes two cycles and nothing else costs compute."""
    return replace(PRESETS["wse2"], simd=(SimdRate("fp32", 0.5, 0.0),))


def model() -> KernelModel:
    """Return the model of a 3x8 by 8x4 product."""
    return kernel_model(SPEC, SHAPES, frozenset({"w"}))


def half_empty() -> np.ndarray:
    """Return weights whose upper half (terms 0-3) is dense and whose lower half is zero."""
    weights = np.ones((8, 4), np.float32)
    weights[4:] = 0
    return weights


def nonzeros(machine: MachineSpec, weights: np.ndarray) -> np.ndarray | None:
    """Return the counts by tile."""
    return kernel_nonzeros(SPEC, model().problem, TILING, machine, {"w": weights})


def test_counts_are_those_of_each_tile() -> None:
    weights = half_empty()
    weights[5, 3] = 7
    found = nonzeros(paper_machine(), weights)
    assert found is not None
    assert found.tolist() == [[8, 8], [0, 1]]


def test_empty_half_computes_nothing_and_waits() -> None:
    # a dense tile multiplies 3 x 4 x 2 = 24 times at 2 cycles; an empty one never
    found = profile(
        model(), TILING, paper_machine(), "fp32", nonzeros(paper_machine(), half_empty())
    )
    assert found.pe(0, 0)[0] == 48
    assert found.pe(1, 1)[0] == 0
    assert found.total("compute") == 2 * 48
    assert found.total("imbalance") >= 2 * 48


def test_dense_weights_and_plain_machines_count_everything() -> None:
    assert nonzeros(paper_machine(), np.ones((8, 4), np.float32)) is None
    plain = replace(paper_machine(), harvests_sparsity=False)
    assert nonzeros(plain, half_empty()) is None
    dense = profile(model(), TILING, plain, "fp32")
    assert dense.total("compute") == 4 * 48


def test_three_quarters_of_a_tile_take_three_quarters_of_its_cycles() -> None:
    weights = np.ones((8, 4), np.float32)
    weights[0, :2] = 0
    found = profile(model(), TILING, paper_machine(), "fp32", nonzeros(paper_machine(), weights))
    assert [int(found.pe(0, col)[0]) for col in range(2)] == [36, 48]
