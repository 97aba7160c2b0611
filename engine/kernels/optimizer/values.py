"""Values of optimizer updates, element by element."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.optimizer.spec import AdamW
from engine.kernels.pointwise.functions import Array


def evaluate(op: AdamW, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return (weight, first moment, second moment) after the step, in the weight's dtype."""
    weight, gradient, first, second = arrays
    first = op.beta1 * first + (1 - op.beta1) * gradient
    second = op.beta2 * second + (1 - op.beta2) * gradient * gradient
    mean = first / (1 - op.beta1**op.step)
    spread = np.sqrt(second / (1 - op.beta2**op.step)) + op.epsilon
    moved = weight * (1 - op.rate * op.decay) - op.rate * mean / spread
    return tuple(each.astype(weight.dtype, copy=False) for each in (moved, first, second))
