"""Optimizer updates, kept whole: one node a parameter."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.spec import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class AdamW(Operation):
    """One step of AdamW with decoupled weight decay (Loshchilov and Hutter, 2019, Algorithm 2).

    inputs = (weight, gradient, first moment, second moment), outputs = their new values without
    the gradient's.
    """

    rate: float
    """learning rate"""
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    decay: float = 0.01
    step: int = 1
    """steps taken with this one, for the bias correction"""
