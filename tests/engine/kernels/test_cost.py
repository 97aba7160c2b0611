"""Costs: the law of the GEMM fit, sizing held to profiles, and larger tiles never cheaper."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from engine.kernels.cost import KernelModel, estimate, kernel_model, share_of, tile_cycles
from engine.kernels.dot.spec import Dot
from engine.kernels.footprint import tile_bytes
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Softmax
from engine.kernels.spec import KernelSpec, Operation
from engine.machine import PRESETS
from engine.models import program_models
from engine.profile import profile
from engine.program import Tiling
from tests.factories.graphs import DEMO_NAMES, MODEL_NAMES, compiled_model

WSE2 = PRESETS["wse2"]


def dot_model(m: int, k: int, n: int, *tail: Operation) -> KernelModel:
    """Return the model of x (m, k) @ w (k, n) = y1, then the operations of a tail."""
    shapes = {"x": (m, k), "w": (k, n)} | {f"y{i}": (m, n) for i in range(1, 4)}
    spec = KernelSpec((Dot(inputs=("x", "w"), outputs=("y1",)), *tail), 0)
    return kernel_model(spec, shapes, frozenset({"w"}))


def one(value: int) -> np.ndarray:
    return np.array([value])


@pytest.mark.parametrize(
    ("m", "k", "n"),
    [(16, 16, 16), (8, 64, 32), (32, 48, 24), (64, 64, 64), (4, 90, 90), (100, 20, 13)],
)
def test_product_follows_the_published_gemm_fit(m: int, k: int, n: int) -> None:
    cycles = tile_cycles(dot_model(m, k, n), one(m), one(k), one(n), one(1), WSE2, "fp32")
    law = k * m * (2.111 * n + 20.88)
    assert abs(int((cycles.compute + cycles.overhead)[0]) / law - 1) <= 0.03


def test_short_rows_run_along_the_positions_of_a_chunk() -> None:
    cycles = tile_cycles(dot_model(64, 10, 2), one(64), one(10), one(2), one(1), WSE2, "fp32")
    vectors = 8 * 10 * 2
    assert cycles.overhead.tolist() == [int(np.ceil(vectors * 20.88)) + 12]


def test_wse2_fp32_is_bound_by_arithmetic_not_by_ports() -> None:
    cycles = tile_cycles(dot_model(9, 30, 20), one(9), one(30), one(20), one(1), WSE2, "fp32")
    assert cycles.memory.tolist() == [0]


def test_empty_tile_costs_nothing() -> None:
    cycles = tile_cycles(
        dot_model(4, 4, 4), np.array([0, 4, 4, 1]), np.array([4, 0, 4, 1]),
        np.array([4, 4, 0, 1]), one(1), WSE2, "fp32",
    )  # fmt: skip
    assert cycles.busy[:3].tolist() == [0, 0, 0]
    assert cycles.busy[3] > 0


def tilings(model: KernelModel) -> list[Tiling]:
    problem = model.problem
    sides = (problem.m_units, problem.k_units, problem.n_units)
    cuts = [sorted({1, 2, 3, 7, side // 2, side} & set(range(1, side + 1))) for side in sides]
    return [Tiling(*parts) for parts in product(*cuts) if parts[0] * parts[1] <= 994]


def assert_estimate_is_the_profile(model: KernelModel, dtype: str) -> None:
    cuts = tilings(model)
    m, k, n = (np.array([getattr(t, f"{axis}_parts") for t in cuts]) for axis in "mkn")
    sized = np.broadcast_to(estimate(model, m, k, n, WSE2, dtype), len(cuts))
    exact = [profile(model, tiling, WSE2, dtype).length for tiling in cuts]
    assert sized.tolist() == exact


@pytest.mark.parametrize("name", [*MODEL_NAMES, *(f"demo-{name}" for name in DEMO_NAMES)])
def test_estimate_is_the_profile_of_every_kernel_of_a_model(name: str) -> None:
    models = set(program_models(compiled_model(name, "wse2").program).values())
    for model in list(models)[:30]:
        assert_estimate_is_the_profile(model, "fp32")


def test_estimate_is_the_profile_where_tiles_are_tiny_and_uneven() -> None:
    tail = (Map(inputs=("y1",), outputs=("y2",), fn="gelu"),
            Softmax(inputs=("y2",), outputs=("y3",), axis=1))  # fmt: skip
    for m, k, n in product((1, 9, 17, 25), (1, 5, 30), (1, 3, 8)):
        for ops in ((), tail):
            model = dot_model(m, k, n, *ops)
            assert_estimate_is_the_profile(model, "fp32")
            assert_estimate_is_the_profile(model, "fp16")


@pytest.mark.parametrize("dtype", ["fp32", "fp16"])
def test_larger_tile_never_takes_fewer_cycles(dtype: str) -> None:
    model = dot_model(64, 64, 64, Map(inputs=("y1",), outputs=("y2",), fn="gelu"))
    side = np.arange(1, 26)
    for rows in (1, 3, 10):
        m, k, n = np.meshgrid(side, side, side, indexing="ij")
        busy = tile_cycles(model, m, k, n, np.array(rows), WSE2, dtype).busy
        for axis in range(3):
            assert np.diff(busy, axis=axis).min() >= 0


def test_more_parts_hold_fewer_bytes() -> None:
    model = dot_model(64, 96, 80)
    for axis in range(3):
        parts = [np.ones(6, np.int64) for _ in range(3)]
        parts[axis] = np.array([1, 2, 4, 8, 16, 32])
        m, k, n = parts
        assert np.diff(tile_bytes(model, m, k, n, "fp32")).max() <= 0


def test_half_precision_halves_the_weights() -> None:
    model = dot_model(1, 512, 512)
    single, half = (int(tile_bytes(model, one(1), one(1), one(1), d)[0]) for d in ("fp32", "fp16"))
    assert single > 512 * 512 * 4
    assert 0.49 <= half / single <= 0.52


def test_shares_are_floors_that_survive_products_beyond_64_bits() -> None:
    cells = np.arange(0, 50)
    for total, whole in ((7, 3), (12, 18), (0, 5), (5, 1), (10**10, 3 * 10**10)):
        assert share_of(cells, total, whole).tolist() == [c * total // whole for c in range(50)]
    huge = 256 * 3 * 7168 * 2048
    assert share_of(np.array([huge, -huge]), huge, huge).tolist() == [huge, -huge]
