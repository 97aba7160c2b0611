"""Values of recurrent cells, one time step after the other; the caller says how products sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine.kernels.pointwise.functions import FUNCTIONS, Array
from engine.kernels.recurrent.spec import Recurrent

Product = Callable[[Array, Array], Array]
"""(batch, hidden) @ (hidden, hidden), the sum of one gate over the hidden state"""


def evaluate(op: Recurrent, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Run all time steps with the host's order of sums."""
    return run_cell(op, arrays, np.matmul)


def run_cell(op: Recurrent, arrays: Sequence[Array], product: Product) -> tuple[Array, ...]:
    """Run all time steps; past a sequence's length its state stays and its outputs are zero."""
    x, weights = arrays[0], arrays[1]
    given = dict(zip(op.operands, arrays[2:], strict=True))
    steps, batch, _ = x.shape
    zero = np.zeros((batch, op.hidden), x.dtype)
    state = (given.get("h", zero), given.get("c", zero))
    lengths = given.get("lengths", np.full(batch, steps))
    outputs = np.zeros((steps, batch, op.hidden), x.dtype)
    cell = _Cell(op, weights, given, product)
    rows = np.arange(batch)
    with np.errstate(all="ignore"):
        for step in range(steps):
            at = lengths - 1 - step if op.reverse else np.full(batch, step)
            live = (at >= 0) & (at < lengths)
            new = cell.step(x[np.where(live, at, 0), rows], *state)
            keep = live[:, None]
            state = (np.where(keep, new[0], state[0]), np.where(keep, new[1], state[1]))
            outputs[at[live], rows[live]] = new[0][live]
    return (outputs, *state)[: len(op.outputs)]


class _Cell:
    """One time step of a cell, weights cut by gate."""

    def __init__(
        self, op: Recurrent, weights: Array, given: dict[str, Array], product: Product
    ) -> None:
        self._op = op
        self._product = product
        self._weights = np.split(weights, op.gates, axis=1)
        bias = given.get("bias", np.zeros(op.gates * op.hidden, weights.dtype))
        self._bias = np.split(bias, op.gates)
        self._peepholes = np.split(
            given.get("peepholes", np.zeros(3 * op.hidden, weights.dtype)), 3
        )

    def step(self, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
        """Return the next (hidden, cell) state from the step's gates (batch, gates x hidden)."""
        parts = np.split(x, self._op.gates, axis=1)
        if self._op.cell == "lstm":
            return self._lstm(parts, h, c)
        if self._op.cell == "gru":
            return self._gru(parts, h), c
        return self._apply(0, parts[0] + self._hidden(0, h)), c

    def _hidden(self, gate: int, h: Array) -> Array:
        return np.asarray(self._product(h, self._weights[gate]) + self._bias[gate])

    def _apply(self, place: int, x: Array) -> Array:
        name, params = self._op.activations[place]
        if self._op.clip:
            x = np.clip(x, -self._op.clip, self._op.clip)
        return np.asarray(FUNCTIONS[name].evaluate(x, *params)).astype(x.dtype, copy=False)

    def _lstm(self, x: list[Array], h: Array, c: Array) -> tuple[Array, Array]:
        gates = [part + self._hidden(gate, h) for gate, part in enumerate(x)]
        peep = self._peepholes
        i = self._apply(0, gates[0] + peep[0] * c)
        f = 1 - i if self._op.coupled else self._apply(0, gates[2] + peep[2] * c)
        cell = f * c + i * self._apply(1, gates[3])
        o = self._apply(0, gates[1] + peep[1] * cell)
        return o * self._apply(2, cell), cell

    def _gru(self, x: list[Array], h: Array) -> Array:
        z = self._apply(0, x[0] + self._hidden(0, h))
        r = self._apply(0, x[1] + self._hidden(1, h))
        late = self._op.linear_before_reset
        inner = r * self._hidden(2, h) if late else self._hidden(2, r * h)
        return np.asarray((1 - z) * self._apply(1, x[2] + inner) + z * h)
