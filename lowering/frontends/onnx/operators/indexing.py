"""Reads at computed indices."""

from __future__ import annotations

from engine.kernels.gather.spec import Gather, GatherND
from lowering.frontends.onnx.context import NodeContext
from lowering.frontends.onnx.table import Importer


def _gather(ctx: NodeContext) -> None:
    axis = ctx.axis(int(ctx.attr("axis", 0)), len(ctx.value(0).shape))
    ctx.emit(Gather, ctx.input(0), ctx.input(1), output=0, axis=axis)


def _gather_nd(ctx: NodeContext) -> None:
    batch = int(ctx.attr("batch_dims", 0))
    ctx.emit(GatherND, ctx.input(0), ctx.input(1), output=0, batch_dims=batch)


OPERATORS: dict[str, Importer] = {"Gather": _gather, "GatherND": _gather_nd}
