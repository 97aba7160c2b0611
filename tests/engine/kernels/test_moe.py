"""Mixtures of experts: values token by token, gradients by differences, cost by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.kernels.cost import kernel_model
from engine.kernels.evaluate import evaluate
from engine.kernels.footprint import weight_bytes
from engine.kernels.moe.spec import Moe, MoeGrad
from engine.kernels.moe.values import chosen_experts
from engine.kernels.problem import kernel_problem
from engine.kernels.spec import KernelSpec

OP = Moe(inputs=("x", "r", "g", "u", "d"), outputs=("y",), active=2)
SHAPES = {
    "x": (3, 5), "r": (5, 4), "g": (4, 5, 6), "u": (4, 5, 6), "d": (4, 6, 5), "y": (3, 5)
}  # fmt: skip


def arrays(seed: int = 0) -> list[np.ndarray]:
    """Operands of OP in float64."""
    dice = np.random.default_rng(seed)
    return [dice.standard_normal(SHAPES[name]) for name in OP.inputs]


def by_hand(op: Moe, x: np.ndarray, r: np.ndarray, *experts: np.ndarray) -> np.ndarray:
    """One token after the other, one expert after the other."""
    rows = []
    for token in x:
        product = token @ r
        scores = np.exp(product) / np.exp(product).sum()
        if op.scoring == "sigmoid":
            scores = 1 / (1 + np.exp(-product))
        best = sorted(range(len(scores)), key=lambda e: -scores[e])[: op.active]
        total = sum(scores[e] for e in best) if op.normalize else 1.0
        row = np.zeros_like(token)
        for e in best:
            gate, up, down = (stack[e] for stack in experts)
            before = token @ gate
            hidden = before / (1 + np.exp(-before)) * (token @ up)
            row += op.scale * scores[e] / total * (hidden @ down)
        rows.append(row)
    return np.array(rows)


HABITS = [
    OP,
    replace(OP, active=1, normalize=False),
    replace(OP, scoring="sigmoid", scale=2.5),
    replace(OP, active=4),
]


@pytest.mark.parametrize("op", HABITS)
def test_values_are_those_of_each_token(op: Moe) -> None:
    (found,) = evaluate(op, arrays())
    np.testing.assert_allclose(found, by_hand(op, *arrays()), rtol=1e-12)


def test_groups_and_bias_change_the_choice_alone() -> None:
    op = replace(OP, groups=2, active_groups=1)
    scores = np.array([[0.9, 0.1, 0.6, 0.5]])
    assert chosen_experts(OP, scores, None).tolist() == [[0, 2]]
    assert chosen_experts(op, scores, None).tolist() == [[2, 3]]
    assert chosen_experts(op, scores, np.array([0.0, 0.5, 0.0, 0.0])).tolist() == [[0, 1]]


@pytest.mark.parametrize("op", HABITS)
def test_gradients_are_slopes(op: Moe) -> None:
    read, given = arrays(), np.random.default_rng(9).standard_normal((3, 5))
    reverse = MoeGrad(
        inputs=(*OP.inputs, "dy"), outputs=("dx", "dr", "dg", "du", "dd"), active=op.active,
        scoring=op.scoring, normalize=op.normalize, scale=op.scale,
    )  # fmt: skip
    found = evaluate(reverse, [*read, given])
    for place, gradient in enumerate(found):
        way = np.random.default_rng(place).standard_normal(gradient.shape)
        ends = []
        for sign in (1, -1):
            moved = list(read)
            moved[place] = read[place] + sign * 1e-6 * way
            ends.append(np.sum(evaluate(op, moved)[0] * given))
        assert np.sum(gradient * way) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5)


def test_only_active_experts_compute_and_all_are_resident() -> None:
    spec = KernelSpec((OP,), 0)
    problem = kernel_problem(spec, SHAPES)
    assert (problem.m, problem.k, problem.n) == (3, 3 * 2 * 6 + 4, 5)
    model = kernel_model(spec, SHAPES, frozenset("rgud"))
    assert model.weights == 5 * 4 + 3 * 4 * 5 * 6
    one = np.array(1)
    assert weight_bytes(model, np.array(problem.k), np.array(5), one, one, "fp32") == 380 * 4


def test_reverse_costs_two_products_each_and_gate_and_up_again() -> None:
    shapes = {**SHAPES, "dy": (3, 5), "dx": (3, 5)}
    op = MoeGrad(inputs=(*OP.inputs, "dy"), outputs=("dx",), active=2)
    assert kernel_problem(KernelSpec((op,), 0), shapes).k == 2 * (36 + 4) + 2 * 2 * 6
