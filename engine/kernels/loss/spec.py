"""Losses, kept whole: comparing every class with the label would fill the fabric with flags."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.spec import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossEntropy(Operation):
    """The negative log-likelihood of the label at each position.

    inputs = (logits (..., classes), labels (...)), result (...) in the logits' dtype.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossEntropyGrad(Operation):
    """The gradient of the logits: (softmax - 1 at the label) times `scale`; inputs as above."""

    scale: float = 1.0
    """gradient of each position's loss: 1 / positions for their mean"""
