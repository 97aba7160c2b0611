"""Sums of rows by index: the gradient of a table look-up."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.spec import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSum(Operation):
    """`outputs[0][i]` is the sum of the rows of inputs[0] whose index in inputs[1] is i.

    inputs = (rows (*ids, W), ids), result (length, W).
    """

    length: int
    """rows of the result"""
