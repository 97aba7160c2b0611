"""One door to the plain values of any operation: whole tensors, the host's order of sums.

The mesh's own order of sums is elsewhere; this is what it is compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.kernels.conv import values as conv
from engine.kernels.conv.spec import Conv
from engine.kernels.dequantize import values as dequantize
from engine.kernels.dequantize.spec import Dequantize
from engine.kernels.dot import values as dot
from engine.kernels.dot.spec import Dot
from engine.kernels.embedding import values as embedding
from engine.kernels.embedding.spec import RowSum
from engine.kernels.gather import values as gather
from engine.kernels.gather.spec import Gather, GatherElements, GatherND, Scatter, ScatterND
from engine.kernels.loss import values as loss
from engine.kernels.loss.spec import CrossEntropy, CrossEntropyGrad
from engine.kernels.moe import values as moe
from engine.kernels.moe.spec import Moe, MoeGrad
from engine.kernels.move import values as move
from engine.kernels.move.spec import Concat, Expand, Pad, Reshape, Slice, Transpose
from engine.kernels.optimizer import values as optimizer
from engine.kernels.optimizer.spec import AdamW
from engine.kernels.pointwise import values as pointwise
from engine.kernels.pointwise.functions import Array
from engine.kernels.pointwise.spec import Map
from engine.kernels.recurrent import values as recurrent
from engine.kernels.recurrent.spec import Recurrent
from engine.kernels.reduce import values as reduce
from engine.kernels.reduce.spec import CumSum, Normalize, Reduce, Softmax, TopK
from engine.kernels.spec import Operation
from engine.kernels.window import values as window
from engine.kernels.window.spec import Window

_EVALUATORS: dict[type[Operation], Callable[[Any, Sequence[Array]], tuple[Array, ...]]] = {
    Map: pointwise.evaluate,
    Dot: dot.evaluate,
    Conv: conv.evaluate,
    Dequantize: dequantize.evaluate,
    Window: window.evaluate,
    **dict.fromkeys((Reduce, Softmax, Normalize, TopK, CumSum), reduce.evaluate),
    RowSum: embedding.evaluate,
    AdamW: optimizer.evaluate,
    **dict.fromkeys((CrossEntropy, CrossEntropyGrad), loss.evaluate),
    **dict.fromkeys((Moe, MoeGrad), moe.evaluate),
    **dict.fromkeys((Reshape, Transpose, Slice, Concat, Pad, Expand), move.evaluate),
    **dict.fromkeys((Gather, GatherND, GatherElements, Scatter, ScatterND), gather.evaluate),
    Recurrent: recurrent.evaluate,
}


def evaluate(op: Operation, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the outputs of `op` on `arrays`, in the dtype of its inputs.

    Raises TypeError for an operation of no family.
    """
    evaluator = _EVALUATORS.get(type(op))
    if evaluator is None:
        raise TypeError(f"operation {type(op).__name__} has no values: no family defines it")
    return evaluator(op, arrays)
