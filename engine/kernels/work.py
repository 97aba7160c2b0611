"""Vector operations of everything in a kernel but its main product, per element.

Counts are our model of straightforward PE code (one DSD operation each); transcendental
functions take theirs from the scalar function table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from engine.kernels.conv.spec import Conv
from engine.kernels.dequantize.spec import Dequantize
from engine.kernels.dot.spec import Dot
from engine.kernels.embedding.spec import RowSum
from engine.kernels.loss.spec import CrossEntropy, CrossEntropyGrad
from engine.kernels.moe.spec import Moe, MoeGrad, MoeSides
from engine.kernels.move.spec import Expand, Reshape, Slice, Transpose
from engine.kernels.optimizer.spec import AdamW
from engine.kernels.pointwise.functions import FUNCTIONS
from engine.kernels.pointwise.spec import Map
from engine.kernels.problem import Problem, Shapes
from engine.kernels.recurrent.spec import Recurrent
from engine.kernels.reduce.spec import CumSum, Normalize, Reduce, Softmax, TopK
from engine.kernels.spec import KernelSpec, Operation
from engine.kernels.window.spec import Window

_CELLS = {"lstm": ((3, 1, 1), 4), "gru": ((2, 1), 5), "rnn": ((1,), 0)}
"""times a time step applies each activation, and the operations that join gates to a state"""
_ADAMW = 13
"""multiplies and additions of one AdamW update beside its root and its division"""
_NO_ARITHMETIC = (Dot, Conv, Window, Reshape, Transpose, Slice, Expand, Dequantize)


@dataclass(frozen=True, slots=True)
class Epilogue:
    """Vector operations after the main product, as multiples of the main result's elements."""

    vector_ops: float
    """vector operations over one element of the main result"""
    flops: int
    """floating-point operations over the whole instance, without padding"""
    row_sums: int
    """statistics that all PEs of a row must agree on, one word each, over the instance"""
    calls: int
    """separate operations, each with a loop of its own"""


def vector_ops(op: Operation) -> int:
    """Return the vector operations that one element of `op` takes (0 for views and products).

    A selection compares each element with the k best so far in a heap (our assumption).
    """
    if isinstance(op, Map):
        return FUNCTIONS[op.fn].vector_ops
    if isinstance(op, Softmax):
        tail = FUNCTIONS["log"].vector_ops if op.log else FUNCTIONS["div"].vector_ops
        return 3 + FUNCTIONS["exp"].vector_ops + tail + op.causal
    if isinstance(op, Normalize):
        return 2 * op.center + 3 + (len(op.inputs) - 1)
    if isinstance(op, Moe):
        gated = FUNCTIONS[op.fn].vector_ops + 2
        return 2 * gated if isinstance(op, MoeGrad) else gated
    if isinstance(op, CrossEntropy):  # the sum of exponentials is its main work
        return 2 + FUNCTIONS["exp"].vector_ops
    if isinstance(op, CrossEntropyGrad):
        return 5 + FUNCTIONS["exp"].vector_ops + FUNCTIONS["div"].vector_ops
    if isinstance(op, AdamW):
        return _ADAMW + FUNCTIONS["sqrt"].vector_ops + FUNCTIONS["div"].vector_ops
    if isinstance(op, _NO_ARITHMETIC):
        return 0
    if isinstance(op, TopK):
        return 2 + 2 * op.k.bit_length()
    if isinstance(op, Recurrent):
        return gate_vector_ops(op)
    return 1


def gate_vector_ops(op: Recurrent) -> int:
    """Return the vector operations one hidden unit takes in a time step beside its products.

    Two additions a gate (input and bias), the activations, and joining them to the new state.
    """
    uses, joining = _CELLS[op.cell]
    activations = zip(uses, op.activations, strict=True)
    functions = sum(times * FUNCTIONS[name].vector_ops for times, (name, _) in activations)
    return 2 * op.gates + functions + joining


def touched(op: Operation, shapes: Shapes) -> int:
    """Return the elements that `op` walks over: the larger of what it reads first and writes."""
    if isinstance(op, Moe):
        sides = MoeSides.of(op, shapes)
        return sides.tokens * (op.active * sides.inner + sides.experts)
    sizes = [prod(shapes[name]) for name in op.outputs]
    if isinstance(op, Reduce | TopK | RowSum | CrossEntropy):
        sizes.append(prod(shapes[op.inputs[0]]))
    return max(sizes)


def row_sums(op: Operation, shapes: Shapes) -> int:
    """Return the statistics of `op` that span the columns of a region."""
    size = prod(shapes[op.inputs[0]])
    if isinstance(op, Moe):
        return 2 * MoeSides.of(op, shapes).tokens
    if isinstance(op, CrossEntropy | CrossEntropyGrad):
        return 2 * (size // shapes[op.inputs[0]][-1])
    if isinstance(op, Softmax):
        return 2 * (size // shapes[op.inputs[0]][op.axis])
    if isinstance(op, CumSum | TopK):
        return size // max(1, shapes[op.inputs[0]][op.axis])
    if isinstance(op, Normalize):
        reduced = prod(shapes[op.inputs[0]][axis] for axis in op.axes)
        return (1 + op.center) * (size // reduced)
    if isinstance(op, Reduce):
        return prod(shapes[op.outputs[0]])
    return 0


def side_operations(spec: KernelSpec) -> Sequence[Operation]:
    """Return the operations whose work is not that of the main product."""
    main = spec.main_op
    whole = isinstance(main, Dot | Conv | Window | Reduce)
    return [op for op in spec.ops if not (whole and op is main)]


def kernel_epilogue(spec: KernelSpec, problem: Problem, shapes: Shapes) -> Epilogue:
    """Return what a kernel does beside its main product."""
    results = problem.m * problem.n
    ops = side_operations(spec)
    walked = [vector_ops(op) * touched(op, shapes) for op in ops]
    lookup = problem.work in ("lookup", "scatter")
    return Epilogue(
        vector_ops=sum(walked) / results,
        flops=sum(
            count
            for op, count in zip(ops, walked, strict=True)
            if not (lookup and op is spec.main_op)
        ),
        row_sums=sum(row_sums(op, shapes) for op in ops),
        calls=sum(count > 0 for count in walked),
    )
