"""Strides, dilations and pads that convolutions and pooling share."""

from __future__ import annotations

from collections.abc import Sequence

from lowering.frontends.onnx.context import NodeContext, NotCoveredError


def _sides(ctx: NodeContext, name: str, rank: int) -> tuple[int, ...]:
    sides = tuple(int(each) for each in ctx.attr(name) or [1] * rank)
    if len(sides) != rank or min(sides) < 1:
        raise ValueError(f"{name} {sides} must be {rank} numbers of at least 1")
    return sides


def strides(ctx: NodeContext, rank: int) -> tuple[int, ...]:
    """Return the stride of each spatial axis."""
    return _sides(ctx, "strides", rank)


def dilations(ctx: NodeContext, rank: int) -> tuple[int, ...]:
    """Return the dilation of each spatial axis."""
    return _sides(ctx, "dilations", rank)


def kernel_fits(ctx: NodeContext, kernel: Sequence[int]) -> None:
    """Check the declared kernel shape against the weights'."""
    declared = ctx.attr("kernel_shape")
    if declared is not None and list(declared) != list(kernel):
        raise ValueError(f"kernel_shape {list(declared)} differs from the weights' {list(kernel)}")


def pads(
    ctx: NodeContext, spatial: Sequence[int], kernel: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Return (before, after) of each spatial axis, automatic padding worked out."""
    rank = len(kernel)
    auto = ctx.attr("auto_pad", "NOTSET")
    if auto == "VALID":
        return ((0, 0),) * rank
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        return tuple(
            _same(size, reach, stride, upper=auto == "SAME_UPPER")
            for size, reach, stride in zip(
                spatial, _reaches(ctx, kernel), strides(ctx, rank), strict=True
            )
        )
    if auto != "NOTSET":
        raise NotCoveredError(f"its auto_pad '{auto}' is unknown")
    flat = [int(each) for each in ctx.attr("pads") or [0] * 2 * rank]
    if len(flat) != 2 * rank or min(flat) < 0:
        raise ValueError(f"pads {flat} must be {2 * rank} numbers of at least 0")
    return tuple(zip(flat[:rank], flat[rank:], strict=True))


def _reaches(ctx: NodeContext, kernel: Sequence[int]) -> list[int]:
    spread = dilations(ctx, len(kernel))
    return [(side - 1) * step + 1 for side, step in zip(kernel, spread, strict=True)]


def _same(size: int, reach: int, stride: int, *, upper: bool) -> tuple[int, int]:
    total = max((-(-size // stride) - 1) * stride + reach - size, 0)
    small, large = total // 2, total - total // 2
    return (small, large) if upper else (large, small)


def transposed_pads(
    ctx: NodeContext, spatial: Sequence[int], reach: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Return the pads of the convolution that a transposed one is; they may be negative."""
    rank = len(spatial)
    steps = strides(ctx, rank)
    more = [int(each) for each in ctx.attr("output_padding") or [0] * rank]
    wanted = ctx.attr("output_shape")
    auto = ctx.attr("auto_pad", "NOTSET")
    flat = [int(each) for each in ctx.attr("pads") or [0] * 2 * rank]
    found = []
    for axis, size in enumerate(spatial):
        full = (size - 1) * steps[axis] + more[axis] + reach[axis]
        before, after = flat[axis], flat[rank + axis]
        if wanted or auto in ("SAME_UPPER", "SAME_LOWER"):
            target = int(wanted[len(wanted) - rank + axis]) if wanted else size * steps[axis]
            total = max(full - target, 0)
            more[axis] += max(target - full, 0)
            small = total // 2
            before, after = (
                (small, total - small) if auto == "SAME_UPPER" else (total - small, small)
            )
        elif auto == "VALID":
            before = after = 0
        found.append((reach[axis] - 1 - before, reach[axis] - 1 - after + more[axis]))
    return tuple(found)
