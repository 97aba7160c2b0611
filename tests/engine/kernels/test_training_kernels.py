"""AdamW, row sums, slopes and causal softmax: values by hand, and what they cost."""

from __future__ import annotations

import numpy as np
import pytest

from engine.kernels.cost import kernel_model
from engine.kernels.embedding.spec import RowSum
from engine.kernels.evaluate import evaluate
from engine.kernels.footprint import weight_bytes
from engine.kernels.loss.spec import CrossEntropy, CrossEntropyGrad
from engine.kernels.optimizer.spec import AdamW
from engine.kernels.pointwise.functions import FUNCTIONS
from engine.kernels.pointwise.slopes import SLOPES, slope
from engine.kernels.problem import kernel_problem
from engine.kernels.reduce.spec import Softmax
from engine.kernels.spec import KernelSpec
from engine.kernels.work import vector_ops
from engine.mesh_order import mesh_evaluate
from engine.program import Tiling


def test_rows_are_summed_by_their_index() -> None:
    op = RowSum(inputs=("rows", "ids"), outputs=("y",), length=3)
    rows = np.array([[[1.0, 2.0], [10.0, 20.0]], [[100.0, 200.0], [5.0, 5.0]]])
    (found,) = evaluate(op, [rows, np.array([[2, 0], [2, 0]])])
    np.testing.assert_array_equal(found, [[15, 25], [0, 0], [101, 202]])
    with pytest.raises(IndexError):
        evaluate(op, [rows, np.array([[3, 0], [2, 0]])])


def test_a_row_sum_cuts_the_table_that_it_makes() -> None:
    op = RowSum(inputs=("rows", "ids"), outputs=("y",), length=30)
    problem = kernel_problem(KernelSpec((op,), 0), {"rows": (2, 2, 7), "ids": (2, 2), "y": (30, 7)})
    assert (problem.m, problem.k, problem.n, problem.work) == (30, 4, 7, "scatter")


def test_first_step_of_adamw_moves_by_the_rate() -> None:
    op = AdamW(inputs=("w", "g", "m", "v"), outputs=("a", "b", "c"), rate=0.1, decay=0.5)
    zero = np.zeros(2)
    w, m, v = evaluate(op, [np.array([1.0, 2.0]), np.array([4.0, -4.0]), zero, zero])
    np.testing.assert_allclose(w, [0.95 - 0.1, 1.9 + 0.1])
    np.testing.assert_allclose((m, v), ([0.4, -0.4], [0.016, 0.016]))
    assert vector_ops(op) == 13 + 8 + 6


def test_the_loss_of_a_label_is_minus_its_log_share() -> None:
    logits = np.log(np.array([[[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]]])) + 700
    labels = np.array([[1, 2]])
    op = CrossEntropy(inputs=("x", "t"), outputs=("y",))
    (found,) = evaluate(op, [logits, labels])
    np.testing.assert_allclose(found, -np.log([[0.25, 0.8]]), rtol=1e-10)
    back = CrossEntropyGrad(inputs=("x", "t"), outputs=("y",), scale=0.5)
    (gradient,) = evaluate(back, [logits, labels])
    want = [[[0.25, -0.375, 0.125], [0.05, 0.05, -0.1]]]
    np.testing.assert_allclose(gradient, want, rtol=1e-10)
    with pytest.raises(IndexError, match="labels from 1 to 3 do not fit 3 classes"):
        evaluate(op, [logits, np.array([[1, 3]])])


@pytest.mark.parametrize("fn", SLOPES)
def test_slopes_are_those_of_their_functions(fn: str) -> None:
    x = np.array([-3.0, -0.7, -0.1, 0.2, 1.3, 4.0])
    function = FUNCTIONS[fn].evaluate
    want = (function(x + 1e-6) - function(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope(fn, x), want, atol=1e-8)
    np.testing.assert_array_equal(FUNCTIONS[f"{fn}_slope"].evaluate(x), slope(fn, x))


def test_a_function_without_a_slope_is_said() -> None:
    with pytest.raises(ValueError, match="function 'sign' has no slope"):
        slope("sign", np.zeros(1))


@pytest.mark.parametrize(
    ("window", "seen"),
    [
        (0, [[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]),
        (2, [[0, 1, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 1, 1]]),
    ],
)
def test_a_causal_softmax_hides_what_comes_later(window: int, seen: list[list[int]]) -> None:
    op = Softmax(inputs=("x",), outputs=("y",), axis=2, causal=True, window=window)
    (found,) = evaluate(op, [np.zeros((1, 3, 5), np.float32)])
    want = np.array(seen) / np.array(seen).sum(1, keepdims=True)
    np.testing.assert_allclose(found[0], want, rtol=1e-6)
    problem = kernel_problem(KernelSpec((op,), 0), {"x": (1, 3, 5), "y": (1, 3, 5)})
    (mesh,) = mesh_evaluate(op, [np.zeros((1, 3, 5), np.float32)], problem, Tiling(1, 1, 2))
    np.testing.assert_allclose(mesh, found, rtol=1e-6)


def test_each_pe_holds_the_state_of_its_own_results_alone() -> None:
    op = AdamW(inputs=("w", "g", "m", "v"), outputs=("a", "b", "c"), rate=0.1)
    shapes = dict.fromkeys((*op.inputs, *op.outputs), (96, 40))
    model = kernel_model(KernelSpec((op,), 0), shapes, frozenset({"w", "m", "v"}))
    rows, cols = np.array([1, 8]), np.array([1, 4])
    held = weight_bytes(model, np.array([1, 1]), 40 // cols, rows, cols, "fp32")
    stored = model.weights + sum(model.constants)
    assert stored % (96 * 40) == 0
    assert held.tolist() == [stored * 4, stored * 4 // 32]
