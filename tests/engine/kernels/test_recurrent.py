"""Cells against steps written out, in the mesh's order too, and what time costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.kernels.cost import KernelModel, estimate, kernel_model
from engine.kernels.evaluate import evaluate
from engine.kernels.recurrent.spec import Recurrent
from engine.kernels.spec import KernelSpec
from engine.kernels.work import gate_vector_ops
from engine.machine import PRESETS
from engine.mesh_order import mesh_evaluate
from engine.profile import profile
from engine.program import Tiling

WSE2 = PRESETS["wse2"]
TANH = (("tanh", ()),)
SIGMOID = ("sigmoid", ())


def rnn(**changes: Any) -> Recurrent:
    fields: dict[str, Any] = {
        "inputs": ("x", "r"), "outputs": ("y", "h"), "cell": "rnn", "hidden": 2,
        "operands": (), "activations": TANH,
    }  # fmt: skip
    return Recurrent(**(fields | changes))


X = np.array([[[0.5, -1.0]], [[0.25, 2.0]], [[-0.5, 0.0]]])
R = np.array([[0.5, -0.25], [1.0, 0.75]])


def test_rnn_steps_written_out() -> None:
    outputs, last = evaluate(rnn(), (X, R))
    state = np.zeros((1, 2))
    for step in range(3):
        state = np.tanh(X[step] + state @ R)
        np.testing.assert_allclose(outputs[step], state)
    np.testing.assert_allclose(last, state)


def test_reverse_runs_from_the_last_step() -> None:
    outputs, _ = evaluate(rnn(reverse=True), (X, R))
    forward, _ = evaluate(rnn(), (X[::-1], R))
    np.testing.assert_allclose(outputs[::-1], forward)


def test_past_its_length_a_sequence_keeps_its_state_and_gives_zero() -> None:
    two = np.concatenate([X, X], axis=1)
    op = rnn(operands=("lengths",))
    outputs, last = evaluate(op, (two, R, np.array([3, 1])))
    np.testing.assert_allclose(outputs[1:, 1], 0)
    np.testing.assert_allclose(last[1], outputs[0, 1])
    np.testing.assert_allclose(last[0], outputs[2, 0])


def test_lstm_step_written_out() -> None:
    op = Recurrent(
        inputs=("x", "r", "c"), outputs=("y", "h", "cell"), cell="lstm", hidden=1,
        operands=("c",), activations=(SIGMOID, ("tanh", ()), ("tanh", ())),
    )  # fmt: skip
    x = np.array([[[0.1, 0.2, 0.3, 0.4]]])
    _, last, cell = evaluate(op, (x, np.zeros((1, 4)), np.array([[2.0]])))
    i, o, f = (1 / (1 + np.exp(-each)) for each in (0.1, 0.2, 0.3))
    expected = f * 2 + i * np.tanh(0.4)
    np.testing.assert_allclose(cell, [[expected]])
    np.testing.assert_allclose(last, [[o * np.tanh(expected)]])


def model_of(steps: int, hidden: int) -> KernelModel:
    op = rnn(hidden=hidden)
    shapes = {"x": (steps, 1, hidden), "r": (hidden, hidden), "y": (steps, 1, hidden)}
    spec = KernelSpec((op,), 0)
    return kernel_model(spec, shapes | {"h": (1, hidden)}, frozenset({"r"}))


@pytest.mark.parametrize("k_parts", [1, 3, 8])
def test_mesh_order_differs_by_rounding_only(k_parts: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 2, 8)).astype(np.float32)
    r = (rng.standard_normal((8, 8)) / 3).astype(np.float32)
    op, model = rnn(hidden=8), model_of(5, 8)
    tiling = Tiling(1, k_parts, 2)
    ours = mesh_evaluate(op, (x, r), model.problem, tiling)
    wide = evaluate(op, (x.astype(np.float64), r.astype(np.float64)))
    for mine, exact in zip(ours, wide, strict=True):
        assert mine.dtype == np.float32
        np.testing.assert_allclose(mine, exact, atol=1e-6)


def test_time_steps_are_serial_whatever_the_region() -> None:
    tiling = Tiling(1, 4, 4)
    short, long = (profile(model_of(t, 64), tiling, WSE2, "fp32").length for t in (8, 16))
    assert long / short == pytest.approx(2, rel=0.02)


def test_sizing_equals_the_profile() -> None:
    model = model_of(6, 48)
    for k_parts, n_parts in ((1, 1), (3, 5), (16, 48)):
        exact = profile(model, Tiling(1, k_parts, n_parts), WSE2, "fp32").length
        assert (
            int(estimate(model, np.array(1), np.array(k_parts), np.array(n_parts), WSE2, "fp32"))
            == exact
        )


def test_gates_cost_their_activations_and_sums() -> None:
    assert gate_vector_ops(rnn()) == 2 + 14
    lstm = rnn(cell="lstm", activations=(SIGMOID, *TANH, *TANH))
    assert gate_vector_ops(lstm) == 4 * 2 + 3 * 19 + 14 + 14 + 4


def test_every_product_is_counted() -> None:
    problem = model_of(6, 48).problem
    assert problem.m * problem.k * problem.n == 6 * 48 * 48
    assert problem.serial == 6
