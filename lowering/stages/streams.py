"""Where the positions (M) of a kernel are in a tensor: what lets a sample pass in chunks.

A tensor seen as (before, positions, after) in row-major order carries its producer's positions
in the middle. Two kernels that see the same triple agree on what the first chunk is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from engine.kernels.conv.spec import Conv
from engine.kernels.dot.spec import Dot
from engine.kernels.embedding.spec import RowSum
from engine.kernels.gather.spec import Gather, GatherElements, GatherND, Scatter, ScatterND
from engine.kernels.move.spec import Concat, Pad, Reshape, Slice, Transpose
from engine.kernels.problem import Shapes
from engine.kernels.recurrent.spec import Recurrent
from engine.kernels.reduce.spec import CumSum, Normalize, Reduce, Softmax, TopK
from engine.kernels.spec import KernelSpec, Operation
from engine.kernels.window.spec import Window

WHOLE = (GatherElements, Scatter, ScatterND, TopK, CumSum, Recurrent)
"""operations that give nothing before they have read everything"""


@dataclass(frozen=True, slots=True)
class Stream:
    """A tensor as (before, positions, after)."""

    before: int
    positions: int
    after: int


def input_stream(op: Operation, shapes: Shapes) -> Stream | None:
    """Return how a kernel's main operation walks its streamed operand; None if it needs all."""
    if not op.inputs or isinstance(op, WHOLE):
        return None
    shape = shapes[op.inputs[0]]
    if isinstance(op, Dot | Conv | Window):
        return _rows(op, shape, shapes)
    if isinstance(op, Gather) and op.axis == 0:
        ids = shapes[op.inputs[1]]
        return Stream(1, prod(ids), 1)
    if isinstance(op, Reduce | GatherND | Gather | RowSum):
        return None
    return output_stream(op, shapes)


def _rows(op: Dot | Conv | Window, shape: tuple[int, ...], shapes: Shapes) -> Stream | None:
    """Return how a product or a window walks the rows of an operand, or of its result."""
    if isinstance(op, Dot):
        if prod(shapes[op.inputs[1]][:-2]) == 1:
            return Stream(1, prod(shape[:-1]), shape[-1])
        return Stream(prod(shape[:-2]), shape[-2], shape[-1])
    return Stream(shape[1], shape[2], prod(shape[3:])) if shape[0] == 1 else None


def output_stream(op: Operation, shapes: Shapes) -> Stream | None:
    """Return where the positions of a kernel are in its main result."""
    if isinstance(op, WHOLE):
        return None
    shape = shapes[op.outputs[0]]
    if isinstance(op, Dot | Conv | Window):
        return _rows(op, shape, shapes)
    if isinstance(op, Gather) and op.axis == 0:
        ids = prod(shapes[op.inputs[1]])
        return Stream(1, ids, prod(shape) // max(1, ids))
    if isinstance(op, Reduce | GatherND | Gather | RowSum) or not shape:
        return None
    if isinstance(op, Softmax | Normalize):
        axis = op.axis if isinstance(op, Softmax) else op.axes[0]
        if axis != len(shape) - 1:
            return None
    return Stream(1, prod(shape[:-1]), shape[-1])


def kernel_streams(spec: KernelSpec, shapes: Shapes) -> Mapping[str, Stream | None]:
    """Return the stream of every tensor a kernel touches after its main operation.

    A side operand of the epilogue has the stream of the result it meets.
    """
    found: dict[str, Stream | None] = {}
    for op in spec.ops[spec.main :]:
        if op is spec.main_op:
            found[op.outputs[0]] = output_stream(op, shapes)
            continue
        carried = None if isinstance(op, WHOLE) else _carried(op, shapes, found)
        found.update(dict.fromkeys(op.outputs, carried))
        for name in op.inputs:
            if name not in found:
                same = shapes[name] == shapes[op.outputs[0]]
                found[name] = carried if same else None
    return found


def _carried(op: Operation, shapes: Shapes, known: Mapping[str, Stream | None]) -> Stream | None:
    """Return the stream of an operation's result."""
    for name in op.inputs:
        stream = known.get(name)
        if stream is not None:
            return _through(op, stream, shapes[name], shapes[op.outputs[0]])
    return None


def _through(
    op: Operation, stream: Stream, before: tuple[int, ...], after: tuple[int, ...]
) -> Stream | None:
    if isinstance(op, Reshape):
        return stream
    axis = _axis(stream, before)
    if isinstance(op, Transpose):
        return None if axis is None else _at(op.perm.index(axis), after)
    if isinstance(op, Reduce):
        return None if axis is None or axis in op.axes or not op.keepdims else _at(axis, after)
    if before == after:
        return stream
    if axis is None:
        return None
    if isinstance(op, Slice | Pad | Concat):
        return _at(axis, after) if before[axis] == after[axis] else None
    if isinstance(op, Gather | GatherND):
        return None
    axis += len(after) - len(before)
    return _at(axis, after) if after[axis] == stream.positions else None


def _axis(stream: Stream, shape: tuple[int, ...]) -> int | None:
    """Return the one axis that holds the positions, None if there is none."""
    for axis, side in enumerate(shape):
        if side == stream.positions and prod(shape[:axis]) == stream.before:
            return axis
    return None


def _at(axis: int, shape: tuple[int, ...]) -> Stream:
    return Stream(prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]))
