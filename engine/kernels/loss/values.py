"""Values of losses, whole tensors at once. A label outside the classes raises IndexError."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.loss.spec import CrossEntropy, CrossEntropyGrad
from engine.kernels.pointwise.functions import Array


def evaluate(op: CrossEntropy | CrossEntropyGrad, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the losses, or the gradient of the logits, in the dtype of the logits."""
    logits, labels = arrays
    classes = logits.shape[-1]
    if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < classes:
        raise IndexError(
            f"labels from {labels.min()} to {labels.max()} do not fit {classes} classes"
        )
    place = labels[..., None]
    shifted = logits - logits.max(axis=-1, keepdims=True)
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    if isinstance(op, CrossEntropy):
        found = np.log(total) - np.take_along_axis(shifted, place, axis=-1)
        return (np.asarray(found[..., 0]),)
    shares = np.exp(shifted) / total
    right = np.take_along_axis(shares, place, axis=-1) - shares.dtype.type(1)
    np.put_along_axis(shares, place, right, axis=-1)
    return (np.asarray(shares * shares.dtype.type(op.scale)),)
