"""Mixtures whose routing is known: rows work on the tokens of their experts, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.experts import expert_shares, routed_terms, token_counts
from engine.kernels.cost import KernelModel, kernel_model
from engine.kernels.moe.spec import Moe, MoeGrad
from engine.kernels.spec import KernelSpec, Operation
from engine.machine import PRESETS, MachineSpec, SimdRate
from engine.profile import Profile, profile
from engine.program import Tiling

OP = Moe(inputs=("x", "r", "g", "u", "d"), outputs=("y",), active=1)
SHAPES = {
    "x": (4, 6), "r": (6, 4), "g": (4, 6, 8), "u": (4, 6, 8), "d": (4, 8, 6), "y": (4, 6)
}  # fmt: skip
SPEC = KernelSpec((OP,), 0)
FOUR_ROWS = Tiling(1, 4, 2)
THREE_TO_ONE = np.array([[0], [0], [1], [0]])
"""four tokens: three take expert 0, one takes expert 1"""


def model(op: Operation = OP) -> KernelModel:
    """Return the model of a mixture: 4 tokens, 6 features, 4 experts of 8 inner features."""
    return kernel_model(KernelSpec((op,), 0), SHAPES, frozenset("rgud"))


def paper_machine() -> MachineSpec:
    """Return a machine on which a product takes two cycles and a vector operation nothing more."""
    return replace(PRESETS["wse2"], simd=(SimdRate("fp32", 0.5, 0.0),))


def found(counts: tuple[tuple[int, ...], ...], tiling: Tiling = FOUR_ROWS) -> Profile:
    routed = routed_terms(SPEC, SHAPES, tiling, counts)
    return profile(model(), tiling, paper_machine(), "fp32", routed=routed)


def test_tokens_are_counted_by_group_of_rows() -> None:
    assert token_counts(THREE_TO_ONE, 4, 1) == ((3, 1, 0, 0),)
    assert token_counts(THREE_TO_ONE, 4, 2) == ((2, 0, 0, 0), (1, 1, 0, 0))
    assert token_counts(np.array([[2, 1], [3, 2]]), 4, 1) == ((0, 1, 2, 1),)


def test_rows_hold_experts_one_after_the_other() -> None:
    assert expert_shares(4, 24, 4).tolist() == (24 * np.eye(4, dtype=int)).tolist()
    assert expert_shares(2, 24, 4).tolist() == [[12, 0], [12, 0], [0, 12], [0, 12]]
    assert expert_shares(3, 4, 2).tolist() == [[4, 2, 0], [0, 2, 4]]


def test_three_tokens_to_one_give_the_cycles_and_the_imbalance_counted_by_hand() -> None:
    """Each row holds one expert: 3 x 8 terms a token and result, and one term of the router.

    A column holds 3 results. Row 0 works on 3 tokens, row 1 on one, rows 2 and 3 on none; all four
    share the router of 4 tokens. A product takes 2 cycles.
    """
    routed = routed_terms(SPEC, SHAPES, FOUR_ROWS, ((3, 1, 0, 0),))
    assert routed.tolist() == [3 * 24 + 4, 24 + 4, 4, 4]
    skewed, even = found(((3, 1, 0, 0),)), found(((1, 1, 1, 1),))
    plain = profile(model(), FOUR_ROWS, paper_machine(), "fp32")
    # what the gate adds is spread evenly: the same in every row and column
    gate = int(plain.pe(0, 0)[0]) - 2 * 3 * (24 + 4)
    assert gate > 0
    by_row = [int(skewed.pe(row, 0)[0]) - gate for row in range(4)]
    assert by_row == [2 * 3 * 76, 2 * 3 * 28, 2 * 3 * 4, 2 * 3 * 4]
    assert [int(even.pe(row, 1)[0]) - gate for row in range(4)] == [2 * 3 * 28] * 4
    # both columns: the longest row has 76 terms, the others wait for it
    waited = 2 * (2 * 3) * (0 + 48 + 72 + 72)
    assert skewed.total("imbalance") - even.total("imbalance") == waited
    assert skewed.length - even.length == 2 * 3 * 48
    assert skewed.total("compute") == even.total("compute")


def test_even_tokens_are_what_is_assumed_without_values() -> None:
    even = found(((1, 1, 1, 1),))
    plain = profile(model(), FOUR_ROWS, paper_machine(), "fp32")
    assert even.length == plain.length
    np.testing.assert_array_equal(even.counts() @ even.cycles, plain.counts() @ plain.cycles)


@pytest.mark.parametrize("tiling", [Tiling(1, 1, 1), Tiling(2, 3, 2), Tiling(4, 8, 3)])
@pytest.mark.parametrize("op", [OP, replace(OP, active=2), MoeGrad(
    inputs=(*OP.inputs, "y"), outputs=("a", "b", "c", "e", "f"), active=2)])  # fmt: skip
def test_all_rows_together_execute_the_products_of_the_graph(op: Moe, tiling: Tiling) -> None:
    chosen = np.random.default_rng(1).permuted(np.tile(np.arange(4), (4, 1)), axis=1)
    counts = token_counts(chosen[:, : op.active], 4, tiling.m_parts)
    routed = routed_terms(KernelSpec((op,), 0), SHAPES, tiling, counts)
    problem = model(op).problem
    assert int(routed.sum()) == problem.m * problem.k


def test_other_operations_have_no_experts() -> None:
    spec = KernelSpec((Operation(inputs=("x",), outputs=("y",)),), 0)
    with pytest.raises(TypeError, match="Operation has no experts"):
        routed_terms(spec, SHAPES, FOUR_ROWS, ((1, 1, 1, 1),))
