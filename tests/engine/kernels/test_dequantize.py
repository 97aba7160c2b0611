"""Weights kept as integers: values, bytes and cycles worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.kernels.conv.spec import Conv
from engine.kernels.cost import KernelModel, estimate, kernel_model, tile_cycles
from engine.kernels.dequantize.spec import Dequantize, Scales, matrix_scales
from engine.kernels.dot.spec import Dot
from engine.kernels.evaluate import evaluate
from engine.kernels.footprint import stored_bytes, tile_bytes, weight_bytes
from engine.kernels.spec import KernelSpec
from engine.machine import PRESETS, MachineSpec, SimdRate
from engine.profile import profile
from engine.program import Tiling
from engine.sparsity import kernel_nonzeros

WSE2 = PRESETS["wse2"]
FLOATS = Dequantize(inputs=("q", "s"), outputs=("w",))
SHIFTED = replace(FLOATS, inputs=("q", "s", "z"))
DOT = Dot(inputs=("x", "w"), outputs=("y",))


def integer_model(
    m: int, k: int, n: int, scale: tuple[int, int] | None = None, floats: Dequantize = FLOATS
) -> KernelModel:
    """Return the model of x (m, k) @ w (k, n), w kept as integers with a scale a column."""
    sides = scale or (1, n)
    shapes = {"x": (m, k), "q": (k, n), "s": sides, "z": sides, "w": (k, n), "y": (m, n)}
    return kernel_model(KernelSpec((floats, DOT), 1), shapes, frozenset(floats.inputs))


def paper_machine(setup: float) -> MachineSpec:
    """Return a machine on which an element takes two cycles, a vector operation `setup` more."""
    return replace(WSE2, simd=(SimdRate("fp32", 0.5, setup),), task_start_cycles=0)


def one(value: int) -> np.ndarray:
    return np.array([value])


def test_values_of_blocks_by_hand() -> None:
    integers = np.array([[1, 2, 3, 4], [-128, 127, 0, 5]], np.int8)
    whole = np.array([[0.5]], np.float32)
    blocks = np.array([[1, 10], [2, 20]], np.float32)
    assert evaluate(FLOATS, (integers, whole))[0].tolist() == [
        [0.5, 1, 1.5, 2],
        [-64, 63.5, 0, 2.5],
    ]
    assert evaluate(FLOATS, (integers, blocks))[0].tolist() == [
        [1, 2, 30, 40], [-256, 254, 0, 100],
    ]  # fmt: skip


def test_zero_points_are_taken_off_before_the_scale_without_overflow() -> None:
    integers, zero = np.array([[0, 255]], np.uint8), np.array([[128, 1]], np.uint8)
    scale = np.array([[2, 3]], np.float32)
    found = evaluate(SHIFTED, (integers, scale, zero))[0]
    assert found.tolist() == [[-256, 762]]
    assert found.dtype == np.float32


@pytest.mark.parametrize(
    ("whole", "scale", "conv", "wanted"),
    [
        ((12, 8), (1, 8), False, Scales(12, 8, 12, 1, zeros=False)),
        ((12, 8), (1, 1), False, Scales(12, 8, 12, 8, zeros=False)),
        ((12, 8), (3, 8), False, Scales(12, 8, 4, 1, zeros=False)),
        ((8, 6, 3, 3), (8, 1, 1, 1), True, Scales(54, 8, 54, 1, zeros=False)),
        ((8, 6, 3, 3), (8, 2, 1, 1), True, Scales(54, 8, 27, 1, zeros=False)),
        ((8, 6, 3, 3), (8, 6, 3, 1), True, None),
        ((2, 12, 8), (1, 1, 8), False, None),
        ((12, 8), (5, 8), False, None),
        ((12, 8), (8,), False, None),
    ],
)
def test_scales_lie_in_rectangles_of_the_matrix(
    whole: tuple[int, ...], scale: tuple[int, ...], conv: bool, wanted: Scales | None
) -> None:
    assert matrix_scales(whole, scale, zeros=False, conv=conv) == wanted


def test_integers_take_a_byte_and_scales_lie_beside() -> None:
    plain = kernel_model(
        KernelSpec((DOT,), 0), {"x": (4, 64), "w": (64, 32), "y": (4, 32)}, frozenset({"w"})
    )
    model = integer_model(4, 64, 32)
    shifted = integer_model(4, 64, 32, (4, 32), SHIFTED)
    assert (model.streamed, model.stationary, model.constants) == (256, 0, ())
    assert stored_bytes(plain, "fp32") == 64 * 32 * 4
    assert stored_bytes(model, "fp32") == 64 * 32 + 32 * 4
    assert stored_bytes(model, "fp16") == 64 * 32 + 32 * 2
    assert stored_bytes(shifted, "fp32") == 64 * 32 + 4 * 32 * (4 + 1)
    # a tile of 16 terms x 8 results: 8 scales; of blocks of 16 terms it can touch two a column
    tile = (one(16), one(8), one(4), one(4))
    assert weight_bytes(plain, *tile, "fp32").tolist() == [16 * 8 * 4]
    assert weight_bytes(model, *tile, "fp32").tolist() == [16 * 8 + 8 * 4]
    assert weight_bytes(shifted, *tile, "fp32").tolist() == [16 * 8 + 2 * 8 * 5]


def test_convolution_keeps_a_scale_a_kernel() -> None:
    shapes = {"x": (1, 4, 8, 8), "q": (6, 4, 3, 3), "s": (6, 1, 1, 1), "w": (6, 4, 3, 3),
              "y": (1, 6, 6, 6)}  # fmt: skip
    conv = Conv(
        inputs=("x", "w"), outputs=("y",), strides=(1, 1), pads=((0, 0), (0, 0)), dilations=(1, 1)
    )
    model = kernel_model(KernelSpec((FLOATS, conv), 1), shapes, frozenset({"q", "s"}))
    assert stored_bytes(model, "fp32") == 6 * 36 + 6 * 4
    # 2 of 4 channels x 3 kernel rows and 3 kernels: 6 units of 3 terms
    held = weight_bytes(model, one(6), one(3), one(2), one(2), "fp32")
    assert held.tolist() == [6 * 3 * 3 + 3 * 4]


def test_floats_are_made_once_a_position_or_once_a_chunk_whichever_is_cheaper() -> None:
    """Two operations an element at 2 cycles each; 3 positions, then 16 in at most 8 chunks."""
    machine = paper_machine(0)
    few, many = integer_model(3, 8, 4), integer_model(16, 8, 4)
    overheads = [
        tile_cycles(model, one(m), one(8), one(4), one(1), machine, "fp32").overhead.tolist()
        for model, m in ((few, 3), (many, 16))
    ]
    assert overheads == [[2 * 2 * 3 * 8 * 4], [2 * 2 * 8 * 8 * 4]]


def test_set_up_of_both_ways_is_counted() -> None:
    """At 5 cycles a vector: by position 3 x 8 products and 2 x 3 x 8 rows of floats."""
    cycles = tile_cycles(
        integer_model(3, 8, 40), one(3), one(8), one(40), one(1), paper_machine(5), "fp32"
    )
    by_position = 5 * (3 * 8 + 2 * 3 * 8) + 2 * 2 * 3 * 8 * 40
    by_result = 5 * (3 * 8 * 40 + 2 * 3 * 40) + 2 * 2 * 3 * 8 * 40
    assert by_position < by_result
    assert cycles.overhead.tolist() == [by_position]
    assert cycles.compute.tolist() == [2 * 3 * 8 * 40]


def test_fast_machines_make_floats_no_faster_than_their_ports() -> None:
    quick = replace(WSE2, simd=(SimdRate("fp32", 1000.0, 0.0),), task_start_cycles=0)
    cycles = tile_cycles(integer_model(1, 8, 4), one(1), one(8), one(4), one(1), quick, "fp32")
    # two operands of 4 bytes at 16 bytes a cycle, a result of 4 bytes at 8: half a cycle each
    assert cycles.overhead.tolist() == [2 * 8 * 4 // 2]


def test_estimate_is_the_profile_and_larger_tiles_never_cheaper() -> None:
    for m, k, n in ((1, 30, 8), (17, 5, 3), (25, 30, 8)):
        model = integer_model(m, k, n)
        for tiling in (Tiling(1, 1, 1), Tiling(1, 2, 3), Tiling(min(m, 3), 5, 2)):
            parts = (one(tiling.m_parts), one(tiling.k_parts), one(tiling.n_parts))
            sized = estimate(model, *parts, WSE2, "fp32")
            assert sized.tolist() == [profile(model, tiling, WSE2, "fp32").length]
    side = np.arange(1, 26)
    sides = np.meshgrid(side, side, side, indexing="ij")
    busy = tile_cycles(integer_model(64, 64, 64), *sides, np.array(3), WSE2, "fp32").busy
    assert all(np.diff(busy, axis=axis).min() >= 0 for axis in range(3))


def test_more_parts_hold_fewer_bytes() -> None:
    model = integer_model(64, 96, 80, (8, 80), SHIFTED)
    for axis in range(3):
        parts = [np.ones(6, np.int64) for _ in range(3)]
        parts[axis] = np.array([1, 2, 4, 8, 16, 32])
        m, k, n = parts
        assert np.diff(tile_bytes(model, m, k, n, "fp32")).max() <= 0


def test_integers_at_their_zero_point_are_zeros() -> None:
    model, spec = integer_model(3, 4, 2, None, SHIFTED), KernelSpec((SHIFTED, DOT), 1)
    weights: dict[str, np.ndarray] = {
        "q": np.array([[5, 0], [5, 1], [6, 0], [5, 5]], np.uint8),
        "s": np.ones((1, 2), np.float32),
        "z": np.array([[5, 0]], np.uint8),
    }
    found = kernel_nonzeros(spec, model.problem, Tiling(1, 2, 2), WSE2, weights)
    assert found is not None
    assert found.tolist() == [[0, 1], [1, 1]]
    del weights["z"]
    assert kernel_nonzeros(spec, model.problem, Tiling(1, 2, 2), WSE2, weights) is None
