"""The iteration space of a kernel: what of it can be cut over rows and columns of a region.

Every kernel is seen as M x K x N: M positions (tokens, pixels), K terms that are summed, N
results a position (features, channels). Rows of a region cut M and K, columns cut N. Knows
operations and shapes, no graph, no machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from engine.dtypes import DTYPES
from engine.kernels.conv.spec import Conv
from engine.kernels.dot.spec import Dot
from engine.kernels.embedding.spec import RowSum
from engine.kernels.gather.spec import Gather, GatherND
from engine.kernels.loss.spec import CrossEntropy
from engine.kernels.moe.spec import Moe, MoeSides
from engine.kernels.recurrent.spec import Recurrent
from engine.kernels.reduce.spec import Normalize, Reduce, Softmax
from engine.kernels.spec import KernelSpec, Operation
from engine.kernels.window.spec import Window

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Problem:
    """M x K x N of a kernel's main operation. Cuts fall between units, never inside."""

    m_units: int
    """units along M that rows may be cut between: tokens, rows of a map"""
    m_inner: int
    """positions of one unit"""
    k_units: int
    k_inner: int
    n_units: int
    batch: int = 1
    """columns fall into this many groups with a streamed operand each (heads, conv groups)"""
    work: str = "none"
    """mac | window | reduce | lookup | scatter | none: arithmetic of the main operation"""
    halo_units: int = 0
    """input units beyond its own that a row of the region needs"""
    in_units: int = 1
    """units of the streamed input along M"""
    n_axis: int = -1
    """axis of the output that N runs along (innermost part)"""
    serial: int = 1
    """time steps that follow one another inside an instance; each needs all of the one before"""
    accumulate: str = "fp32"
    """dtype of partial sums on a PE and on their way, a name in `engine.dtypes`"""

    @property
    def accumulator_bytes(self) -> int:
        """bytes of one partial sum"""
        return DTYPES[self.accumulate].bytes

    @property
    def m(self) -> int:
        """positions"""
        return self.m_units * self.m_inner

    @property
    def k(self) -> int:
        """terms summed"""
        return self.k_units * self.k_inner

    @property
    def n(self) -> int:
        """results a position"""
        return self.n_units


def kernel_problem(spec: KernelSpec, shapes: Shapes) -> Problem:
    """Return the iteration space of a kernel's main operation; one of no elements takes one PE."""
    op = spec.main_op
    builder = next((each for kind, each in _BUILDERS if isinstance(op, kind)), _grid)
    found = builder(op, shapes)
    if min(found.m_units, found.m_inner, found.k_units, found.k_inner, found.n_units) > 0:
        return found
    return Problem(1, 1, 1, 1, 1)


def _dot(op: Operation, shapes: Shapes) -> Problem:
    a, b = shapes[op.inputs[0]], shapes[op.inputs[1]]
    batch = prod(b[:-2])
    if batch == 1:
        m = prod(a[:-1])
        return Problem(m, 1, a[-1], 1, b[-1], work="mac", in_units=m)
    out = shapes[op.outputs[0]]
    groups = prod(out[:-2])
    return Problem(
        a[-2], 1, a[-1], 1, groups * b[-1], batch=groups, work="mac", in_units=a[-2]
    )  # fmt: skip


def _conv(op: Operation, shapes: Shapes) -> Problem:
    assert isinstance(op, Conv)
    x, w, out = shapes[op.inputs[0]], shapes[op.inputs[1]], shapes[op.outputs[0]]
    reach = (w[2] - 1) * op.dilations[0] + 1
    return Problem(
        out[0] * out[2], prod(out[3:]), w[1] * w[2], prod(w[3:]), w[0],
        batch=op.groups, work="mac", halo_units=max(0, reach - op.strides[0]),
        in_units=x[0] * x[2], n_axis=1,
    )  # fmt: skip


def _window(op: Operation, shapes: Shapes) -> Problem:
    assert isinstance(op, Window)
    x, out = shapes[op.inputs[0]], shapes[op.outputs[0]]
    reach = (op.kernel[0] - 1) * op.dilations[0] + 1
    return Problem(
        out[0] * out[2], prod(out[3:]), 1, prod(op.kernel), out[1],
        work="window", halo_units=max(0, reach - op.strides[0]), in_units=x[0] * x[2], n_axis=1,
    )  # fmt: skip


def _recurrent(op: Operation, shapes: Shapes) -> Problem:
    """See a cell as (steps x batch) x (hidden x gates) x hidden: rows cut K, time is never cut."""
    assert isinstance(op, Recurrent)
    steps, batch, _ = shapes[op.inputs[0]]
    return Problem(
        1, steps * batch, op.hidden, op.gates, op.hidden, work="mac", in_units=1, serial=steps
    )  # fmt: skip


def _reduce(op: Operation, shapes: Shapes) -> Problem:
    assert isinstance(op, Reduce)
    x = shapes[op.inputs[0]]
    kept = [axis for axis in range(len(x)) if axis not in op.axes]
    n = x[kept[-1]] if kept else 1
    m = prod(x[axis] for axis in kept[:-1])
    return Problem(m, 1, prod(x[axis] for axis in op.axes), 1, n, work="reduce", in_units=m)


def _cross_entropy(op: Operation, shapes: Shapes) -> Problem:
    """See a loss as positions x classes: rows share the classes, columns the positions."""
    assert isinstance(op, CrossEntropy)
    out = shapes[op.outputs[0]] or (1,)
    m = prod(out[:-1])
    return Problem(
        m, 1, shapes[op.inputs[0]][-1], 1, out[-1], work="reduce", in_units=m,
        n_axis=len(out) - 1,
    )  # fmt: skip


def _gather(op: Operation, shapes: Shapes) -> Problem:
    assert isinstance(op, Gather)
    table, ids = shapes[op.inputs[0]], shapes[op.inputs[1]]
    if op.axis != 0:
        return _grid(op, shapes)
    m = prod(ids)
    return Problem(m, 1, table[0], 1, prod(table[1:]), work="lookup", in_units=m)


def _row_sum(op: Operation, shapes: Shapes) -> Problem:
    """See a sum of rows as table rows x arriving rows x width: every table row may want each."""
    assert isinstance(op, RowSum)
    arriving = prod(shapes[op.inputs[1]])
    width = shapes[op.inputs[0]][-1]
    return Problem(op.length, 1, arriving, 1, width, work="scatter", in_units=arriving)


def _moe(op: Operation, shapes: Shapes) -> Problem:
    """See a mixture as tokens x inner features of a token's experts x features.

    The weights of all experts are resident. Here tokens spread evenly over them, so every PE has
    the same share of the active products; `engine.experts` has the shares of a known routing.
    """
    assert isinstance(op, Moe)
    sides = MoeSides.of(op, shapes)
    return Problem(
        sides.tokens, 1, sides.terms(op), 1, sides.width, work="mac", in_units=sides.tokens
    )  # fmt: skip


def _grid(op: Operation, shapes: Shapes) -> Problem:
    out = shapes[op.outputs[0]] or (1,)
    axis = op.axis if isinstance(op, Softmax) else len(out) - 1
    if isinstance(op, Normalize):
        axis = op.axes[-1]
    m = prod(out) // max(1, out[axis])
    return Problem(m, 1, 1, 1, out[axis], in_units=m, n_axis=axis)


def _gather_nd(op: Operation, shapes: Shapes) -> Problem:
    """See slices picked from a table as look-ups; picks inside batch axes have no table."""
    assert isinstance(op, GatherND)
    table, indices = shapes[op.inputs[0]], shapes[op.inputs[1]]
    depth = indices[-1]
    if op.batch_dims or depth == len(table):
        return _grid(op, shapes)
    m = prod(indices[:-1])
    return Problem(m, 1, prod(table[:depth]), 1, prod(table[depth:]), work="lookup", in_units=m)


_BUILDERS: tuple[tuple[type[Operation], Callable[[Operation, Shapes], Problem]], ...] = (
    (Dot, _dot),
    (Conv, _conv),
    (Window, _window),
    (Reduce, _reduce),
    (Gather, _gather),
    (GatherND, _gather_nd),
    (Recurrent, _recurrent),
    (RowSum, _row_sum),
    (CrossEntropy, _cross_entropy),
    (Moe, _moe),
)
