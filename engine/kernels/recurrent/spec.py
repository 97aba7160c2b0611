"""Recurrent cells."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.spec import Operation

GATES = {"lstm": 4, "gru": 3, "rnn": 1}
"""products a hidden unit takes in one time step, by cell"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrent(Operation):
    """One direction of an ONNX LSTM, GRU or RNN after the product of its inputs and weights.

    inputs = (x (steps, batch, gates x hidden), r (hidden, gates x hidden)) and those of
    `operands`; gates in ONNX order. outputs = (all hidden states (steps, batch, hidden), the last
    hidden state, the last cell state of an lstm).
    """

    cell: str
    """lstm | gru | rnn"""
    hidden: int
    """hidden units"""
    operands: tuple[str, ...]
    """what inputs[2:] are: bias (gates x hidden), lengths (batch), h, c (batch, hidden),
    peepholes (3 x hidden)"""
    activations: tuple[tuple[str, tuple[float, ...]], ...]
    """(function, parameters) in ONNX order"""
    reverse: bool = False
    """from the last step to the first"""
    clip: float = 0.0
    """what enters an activation stays within -clip to clip; 0: no bound"""
    linear_before_reset: bool = False
    """gru: the reset gate scales the product, not the state"""
    coupled: bool = False
    """lstm: the forget gate is 1 - the input gate"""

    @property
    def gates(self) -> int:
        """products a hidden unit takes in one time step"""
        return GATES[self.cell]
