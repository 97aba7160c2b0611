"""The mesh's order of sums: by hand where rounding shows, against float64 everywhere else."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from engine.kernels.conv.spec import Conv
from engine.kernels.dot.spec import Dot
from engine.kernels.evaluate import evaluate
from engine.kernels.problem import Problem, kernel_problem
from engine.kernels.reduce.spec import Normalize, Reduce, Softmax
from engine.kernels.spec import KernelSpec, Operation
from engine.mesh_order import keeper_rows, mesh_evaluate, mesh_product, mesh_sum
from engine.program import Tiling

BIG = np.float32(2**24)
"""from here on float32 has no odd integers: BIG + 1 == BIG, BIG + 2 is exact"""


def product(left: np.ndarray, right: np.ndarray, tiling: Tiling) -> np.ndarray:
    m, k = left.shape
    problem = Problem(m, 1, k, 1, right.shape[1], work="mac")
    return np.asarray(mesh_product(left[None], right[None], problem, tiling)[0])


def test_keepers_are_whole_positions_where_there_are_enough() -> None:
    assert keeper_rows(5, 2, 2).tolist() == [[0, 0], [0, 0], [0, 0], [1, 1], [1, 1]]
    assert keeper_rows(1, 5, 3).tolist() == [[0, 0, 1, 1, 2]]


def test_chain_adds_upper_pieces_and_own_then_the_lower_ones() -> None:
    """One result on three rows, kept by row 0: own + (row 2 first, then row 1)."""
    left = np.array([[BIG, 1, 1]], np.float32)
    ones = np.ones((3, 1), np.float32)
    # (1 + 1) meet on their way up, so the sum is BIG + 2; west to east it would stay BIG
    assert product(left, ones, Tiling(1, 3, 1)).tolist() == [[float(BIG) + 2]]
    assert np.float32(np.float32(BIG + np.float32(1)) + np.float32(1)) == BIG


def test_chain_from_above_rounds_piece_by_piece() -> None:
    """Row i of three positions is kept by row i of the group."""
    left = np.array([[BIG, 1, 1]] * 3, np.float32)
    ones = np.ones((3, 1), np.float32)
    kept_at_0, kept_at_1, kept_at_2 = product(left, ones, Tiling(1, 3, 1))[:, 0].tolist()
    assert kept_at_0 == float(BIG) + 2  # BIG + (1 + 1)
    assert kept_at_1 == float(BIG)  # (BIG + 1) + 1
    assert kept_at_2 == float(BIG)  # (BIG + 1) + 1


def test_middle_row_joins_upper_before_lower() -> None:
    left = np.array([[1, BIG, 1]] * 3, np.float32)
    ones = np.ones((3, 1), np.float32)
    found = product(left, ones, Tiling(1, 3, 1))[:, 0].tolist()
    # row 0: 1 + (1 + BIG) = 1 + BIG; row 1: (1 + BIG) + 1; row 2: (1 + BIG) + 1
    assert found == [float(BIG)] * 3
    left[:, 0] = 2
    found = product(left, ones, Tiling(1, 3, 1))[:, 0].tolist()
    # row 0: 2 + (1 + BIG) = BIG + 2; rows 1, 2: (2 + BIG) + 1, half way, rounds to the even BIG + 4
    assert found == [float(BIG) + 2, float(BIG) + 4, float(BIG) + 4]


def chained_by_hand(left: np.ndarray, right: np.ndarray, tiling: Tiling) -> np.ndarray:
    """Add every result's pieces one by one in float32, in the order the chain has."""
    m, k, n = *left.shape, right.shape[1]
    k_at = np.cumsum([0, *(k // tiling.k_parts + (i < k % tiling.k_parts)
                           for i in range(tiling.k_parts))])  # fmt: skip
    pieces = [left[:, a:b] @ right[a:b] for a, b in pairwise(k_at)]
    out = np.empty((m, n), np.float32)
    row = 0
    for part in range(tiling.m_parts):
        rows = m // tiling.m_parts + (part < m % tiling.m_parts)
        col = 0
        for column in range(tiling.n_parts):
            cols = n // tiling.n_parts + (column < n % tiling.n_parts)
            for (i, j), keeper in np.ndenumerate(keeper_rows(rows, cols, tiling.k_parts)):
                upper, lower = np.float32(0), np.float32(0)
                for piece in range(keeper + 1):
                    upper += pieces[piece][row + i, col + j]
                for piece in range(tiling.k_parts - 1, keeper, -1):
                    lower += pieces[piece][row + i, col + j]
                out[row + i, col + j] = upper + lower
            col += cols
        row += rows
    return out


@pytest.mark.parametrize("seed", range(25))
def test_product_is_the_chain_done_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, k, n = (int(side) for side in rng.integers(1, 14, 3))
    tiling = Tiling(*(int(rng.integers(1, side + 1)) for side in (m, k, n)))
    left = rng.integers(-50, 50, (m, k)).astype(np.float32)
    left[rng.random((m, k)) < 0.2] *= BIG
    right = rng.integers(-3, 4, (k, n)).astype(np.float32)
    whole = product(left, right, tiling)
    reference = left.astype(np.float64) @ right.astype(np.float64)
    assert np.abs(whole - reference).max() <= 1e-5 * max(1.0, np.abs(reference).max())
    scale = np.abs(left).max() * 3 * k
    by_hand = chained_by_hand(left, right, tiling)
    assert np.abs(whole - by_hand).max() <= scale * 2**-23  # BLAS may sum a piece in its own order


@pytest.mark.parametrize("seed", range(40))
def test_single_terms_leave_no_freedom_and_match_bit_for_bit(seed: int) -> None:
    """With one term of K a piece BLAS adds nothing: the whole order is the mesh's."""
    rng = np.random.default_rng(seed)
    m, k, n = (int(side) for side in rng.integers(1, 9, 3))
    tiling = Tiling(int(rng.integers(1, m + 1)), k, int(rng.integers(1, n + 1)))
    left = (rng.standard_normal((m, k)) * 10.0 ** rng.integers(-3, 4, (m, k))).astype(np.float32)
    right = rng.standard_normal((k, n)).astype(np.float32)
    np.testing.assert_array_equal(
        product(left, right, tiling), chained_by_hand(left, right, tiling)
    )


def problem_of(op: Operation, *arrays: np.ndarray) -> tuple[Problem, np.ndarray]:
    """Return the problem of one operation and its float64 values."""
    wide = evaluate(op, [a.astype(np.float64) for a in arrays])[0]
    shapes = dict(zip(op.inputs, (a.shape for a in arrays), strict=True))
    shapes[op.outputs[0]] = wide.shape
    return kernel_problem(KernelSpec((op,), 0), shapes), wide


def random_tiling(problem: Problem, rng: np.random.Generator) -> Tiling:
    sides = (problem.m_units, problem.k_units, problem.n_units)
    return Tiling(*(int(rng.integers(1, min(side, 6) + 1)) for side in sides))


@pytest.mark.parametrize(
    ("op", "shapes"),
    [
        (Dot(inputs=("a", "b"), outputs=("y",)), [(7, 13), (13, 9)]),
        (Dot(inputs=("a", "b"), outputs=("y",)), [(2, 5, 13), (13, 9)]),
        (Dot(inputs=("a", "b"), outputs=("y",)), [(3, 4, 5, 8), (3, 4, 8, 6)]),
        (Dot(inputs=("a", "b"), outputs=("y",)), [(4, 5, 8), (1, 8, 6)]),
        (Conv(inputs=("a", "b"), outputs=("y",), strides=(1, 1), pads=((1, 1), (1, 1)),
              dilations=(1, 1)), [(1, 5, 9, 8), (7, 5, 3, 3)]),
        (Conv(inputs=("a", "b"), outputs=("y",), strides=(2, 1), pads=((0, 1), (2, 0)),
              dilations=(1, 2), groups=3), [(2, 6, 9, 8), (9, 2, 3, 2)]),
    ],
)  # fmt: skip
def test_products_agree_with_float64_on_any_tiling(
    op: Operation, shapes: list[tuple[int, ...]]
) -> None:
    rng = np.random.default_rng(len(shapes[0]))
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    problem, wide = problem_of(op, *arrays)
    for _ in range(20):
        (ours,) = mesh_evaluate(op, arrays, problem, random_tiling(problem, rng))
        assert ours.dtype == np.float32
        assert ours.shape == wide.shape
        assert np.abs(ours - wide).max() <= 2e-6 * np.abs(wide).max()


@pytest.mark.parametrize(
    "op",
    [
        Softmax(inputs=("a",), outputs=("y",), axis=2),
        Softmax(inputs=("a",), outputs=("y",), axis=1, log=True),
        Normalize(inputs=("a",), outputs=("y",), axes=(2,), epsilon=1e-5),
        Normalize(inputs=("a",), outputs=("y",), axes=(1, 2), epsilon=1e-5, center=False),
        Reduce(inputs=("a",), outputs=("y",), fn="mean", axes=(0, 1), keepdims=False),
        Reduce(inputs=("a",), outputs=("y",), fn="sum", axes=(2,)),
        Reduce(inputs=("a",), outputs=("y",), fn="max", axes=(1,)),
    ],
)
def test_statistics_agree_with_float64_on_any_tiling(op: Operation) -> None:
    rng = np.random.default_rng(2)
    array = rng.standard_normal((3, 11, 17)).astype(np.float32)
    problem, wide = problem_of(op, array)
    for _ in range(20):
        (ours,) = mesh_evaluate(op, (array,), problem, random_tiling(problem, rng))
        assert ours.shape == wide.shape
        assert np.abs(ours - wide).max() <= 3e-6 * np.abs(wide).max()


def test_row_sums_run_from_west_to_east() -> None:
    x = np.array([BIG, 1, 1, 0], np.float32)
    assert mesh_sum(x, (0,), 1).tolist() in ([float(BIG)], [float(BIG) + 2])
    # two PEs: BIG + 1 rounds to BIG, then (1 + 0) rounds away again
    assert mesh_sum(x, (0,), 2).tolist() == [float(BIG)]
    # west to east on four PEs: the small ones meet before the big one
    assert mesh_sum(x[::-1].copy(), (0,), 4).tolist() == [float(BIG) + 2]


def test_more_parts_than_columns_is_one_each() -> None:
    x = np.arange(3, dtype=np.float32)
    assert mesh_sum(x, (0,), 9).tolist() == [3]


HALF = np.float32(2**11)
"""from here on float16 has no odd integers: HALF + 1 == HALF, HALF + 2 is exact"""


def narrow_product(left: list[list[float]], tiling: Tiling) -> list[float]:
    """Return the sums of each row of `left` with partial sums in fp16."""
    array = np.array(left, np.float32)
    m, k = array.shape
    problem = Problem(m, 1, k, 1, 1, work="mac", accumulate="fp16")
    ones = np.ones((1, k, 1), np.float32)
    found: list[float] = mesh_product(array[None], ones, problem, tiling)[0, :, 0].tolist()
    return found


def test_fp16_partial_sums_are_rounded_after_each_step_of_the_chain() -> None:
    row = [float(HALF), 1.0, 1.0]
    # one result, kept by row 0: HALF + (1 + 1)
    assert narrow_product([row], Tiling(1, 3, 1)) == [HALF + 2]
    # three positions: row 0 keeps HALF + (1 + 1), rows 1 and 2 keep (HALF + 1) + 1
    assert narrow_product([row] * 3, Tiling(1, 3, 1)) == [HALF + 2, HALF, HALF]
    # one PE sums in float32 and rounds what it keeps
    assert narrow_product([row], Tiling(1, 1, 1)) == [HALF + 2]
    assert narrow_product([[float(HALF), 1.0]], Tiling(1, 1, 1)) == [HALF]


def test_fp16_row_statistics_are_rounded_from_pe_to_pe() -> None:
    x = np.array([HALF, 1, 1], np.float32)
    assert mesh_sum(x, (0,), 1, "fp16").tolist() == [HALF + 2]
    assert mesh_sum(x, (0,), 3, "fp16").tolist() == [HALF]
    assert mesh_sum(x[::-1].copy(), (0,), 3, "fp16").tolist() == [HALF + 2]
    assert mesh_sum(x, (0,), 3).tolist() == [HALF + 2]
