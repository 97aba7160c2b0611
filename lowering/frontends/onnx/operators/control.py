"""Control flow whose course is known at compile time: branches taken, loops unrolled."""

from __future__ import annotations

import numpy as np
from onnx import GraphProto

from engine.kernels.move.spec import Concat, Reshape, Slice
from lowering.frontends.onnx.context import NodeContext, NotCoveredError
from lowering.frontends.onnx.reading import numpy_dtype
from lowering.frontends.onnx.table import Importer

_MOST_ROUNDS = 4096
"""rounds a loop is unrolled to at most; each one becomes kernels of its own (our assumption)"""


def _if(ctx: NodeContext) -> None:
    name = "then_branch" if bool(ctx.constant(0, "condition").all()) else "else_branch"
    branch: GraphProto = ctx.attr(name)
    made = ctx.bodies.graph(ctx, branch, (), f"{ctx.node.name}/{name}")
    for index, value in enumerate(made):
        if index < len(ctx.node.output) and ctx.node.output[index]:
            ctx.give(value, index)


def _loop(ctx: NodeContext) -> None:
    body: GraphProto = ctx.attr("body")
    limit = int(ctx.constant(0, "trip count").item()) if ctx.has(0) else _MOST_ROUNDS + 1
    go_on = bool(ctx.constant(1, "condition").item()) if ctx.has(1) else True
    state = list(ctx.inputs[2:])
    kept: list[list[str]] = [[] for _ in body.output[1 + len(state) :]]
    rounds = 0
    while go_on and rounds < limit:
        if rounds == _MOST_ROUNDS:
            raise NotCoveredError(f"it runs for more than {_MOST_ROUNDS:,} rounds")
        values = [_number(ctx, rounds, "int64"), _number(ctx, True, "bool"), *state]
        made = ctx.bodies.graph(ctx, body, values, f"{ctx.node.name}/{rounds}")
        go_on = _known(ctx, made[0])
        state = made[1 : 1 + len(state)]
        for place, value in enumerate(made[1 + len(state) :]):
            kept[place].append(value)
        rounds += 1
    results = state + [_stacked(ctx, each, body, 1 + len(state) + i) for i, each in enumerate(kept)]
    _give_all(ctx, results)


def _number(ctx: NodeContext, number: int, dtype: str) -> str:
    name = ctx.builder.fresh(f"{ctx.node.name}/round")
    return ctx.builder.add_constant(name, np.asarray(number, dtype))


def _known(ctx: NodeContext, name: str) -> bool:
    if name not in ctx.builder.constants:
        raise NotCoveredError("whether it goes on depends on data; a mesh program is fixed")
    return bool(ctx.builder.constants[name].item())


def _stacked(ctx: NodeContext, parts: list[str], body: GraphProto, output: int) -> str:
    """Return the rounds' values along a new first axis; of no rounds, an empty tensor."""
    if parts:
        return _joined(ctx, [_lifted(ctx, each, 0) for each in parts], 0)
    kind = body.output[output].type.tensor_type
    shape = (0, *(dim.dim_value for dim in kind.shape.dim))
    dtype = numpy_dtype(kind.elem_type, "a loop's output")
    return ctx.builder.add_constant(
        ctx.builder.fresh(f"{ctx.node.name}/none"), np.empty(shape, dtype)
    )


def _lifted(ctx: NodeContext, name: str, axis: int) -> str:
    shape = list(ctx.shape(name))
    shape.insert(axis if axis >= 0 else len(shape) + 1 + axis, 1)
    return ctx.emit(Reshape, name, shape=tuple(shape))


def _joined(ctx: NodeContext, parts: list[str], axis: int) -> str:
    return parts[0] if len(parts) == 1 else ctx.emit(Concat, *parts, axis=axis)


def _give_all(ctx: NodeContext, results: list[str]) -> None:
    for index, value in enumerate(results):
        if ctx.wants(index):
            ctx.give(value, index)


def _scan(ctx: NodeContext) -> None:
    body: GraphProto = ctx.attr("body")
    count = int(ctx.attr("num_scan_inputs", 1))
    state, scanned = list(ctx.inputs[:-count]), ctx.inputs[-count:]
    outputs = len(body.output) - len(state)
    axes = list(ctx.attr("scan_input_axes") or [0] * count)
    turned = list(ctx.attr("scan_input_directions") or [0] * count)
    out_axes = list(ctx.attr("scan_output_axes") or [0] * outputs)
    out_turned = list(ctx.attr("scan_output_directions") or [0] * outputs)
    places = [ctx.axis(axis, len(ctx.shape(n))) for axis, n in zip(axes, scanned, strict=True)]
    rounds = ctx.shape(scanned[0])[places[0]]
    if not 1 <= rounds <= _MOST_ROUNDS:
        raise NotCoveredError(f"it runs for {rounds:,} rounds; 1 to {_MOST_ROUNDS:,} are covered")
    kept: list[list[str]] = [[] for _ in range(outputs)]
    for step in range(rounds):
        cuts = [
            _cut(ctx, name, axis, rounds - 1 - step if back else step)
            for name, axis, back in zip(scanned, places, turned, strict=True)
        ]
        made = ctx.bodies.graph(ctx, body, [*state, *cuts], f"{ctx.node.name}/{step}")
        state = made[: len(state)]
        for place, value in enumerate(made[len(state) :]):
            kept[place].append(value)
    results = list(state)
    for parts, axis, back in zip(kept, out_axes, out_turned, strict=True):
        lifted = [_lifted(ctx, each, axis) for each in parts]
        place = axis if axis >= 0 else len(ctx.shape(lifted[0])) + axis
        results.append(_joined(ctx, lifted[::-1] if back else lifted, place))
    _give_all(ctx, results)


def _cut(ctx: NodeContext, name: str, axis: int, at: int) -> str:
    """Return one slice of a value without the axis it was cut along."""
    shape = ctx.shape(name)
    ranges = [(0, side, 1) for side in shape]
    ranges[axis] = (at, at + 1, 1)
    part = ctx.emit(Slice, name, ranges=tuple(ranges))
    rest = (*shape[:axis], *shape[axis + 1 :])
    return ctx.emit(Reshape, part, shape=rest)


OPERATORS: dict[str, Importer] = {"If": _if, "Loop": _loop, "Scan": _scan}
