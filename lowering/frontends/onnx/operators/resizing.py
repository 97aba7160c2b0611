"""Resize and Upsample: along each axis a constant matrix, or a gather where nothing is mixed."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, prod

import numpy as np

from engine.kernels.dot.spec import Dot
from engine.kernels.gather.spec import Gather
from engine.kernels.move.spec import Reshape, Transpose
from engine.kernels.pointwise.functions import Array
from lowering.frontends.builder import MAX_FOLDED_BYTES
from lowering.frontends.onnx.context import NodeContext, NotCoveredError
from lowering.frontends.onnx.table import Importer

_MODES = ("nearest", "linear", "cubic")


def _resize(ctx: NodeContext) -> None:
    shape = ctx.value(0).shape
    axes = [ctx.axis(int(axis), len(shape)) for axis in ctx.attr("axes") or range(len(shape))]
    mode = ctx.attr("mode", "nearest")
    if mode not in _MODES:
        raise NotCoveredError(f"its mode '{mode}' is none of {', '.join(_MODES)}")
    sides, scales = _targets(ctx, shape, axes)
    crops = _crops(ctx, axes)
    result = ctx.input(0)
    outside: list[tuple[int, Array]] = []
    for axis, side, scale in zip(axes, sides, scales, strict=True):
        places = _places(ctx, shape[axis], side, scale, crops.get(axis, (0.0, 1.0)))
        if ctx.attr("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize":
            outside.append((axis, (places < 0) | (places > shape[axis] - 1)))
        if side == shape[axis] and np.array_equal(places, np.arange(side)):
            continue
        if mode == "nearest":
            result = ctx.emit(Gather, result, _constant(ctx, _nearest(ctx, places, shape[axis])),
                              axis=axis)  # fmt: skip
        else:
            result = _mixed(ctx, result, axis, _matrix(ctx, places, shape[axis], scale))
    result = _extrapolated(ctx, result, outside)
    if result == ctx.input(0):
        ctx.give(result)
    else:
        ctx.map("identity", result, output=0)


def _targets(
    ctx: NodeContext, shape: tuple[int, ...], axes: list[int]
) -> tuple[list[int], list[float]]:
    """Return length and scale of each resized axis."""
    if ctx.has(3):
        sides = ctx.integers(3, "sizes")
        scales = [side / shape[axis] for side, axis in zip(sides, axes, strict=True)]
        policy = ctx.attr("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            common = min(scales) if policy == "not_larger" else max(scales)
            scales = [common] * len(axes)
            sides = [floor(common * shape[axis] + 0.5) for axis in axes]
        return sides, scales
    if not ctx.has(2):
        raise ValueError("it has neither scales nor sizes")
    scales = [float(each) for each in ctx.constant(2, "scales").reshape(-1)]
    return [floor(shape[a] * s) for a, s in zip(axes, scales, strict=True)], scales


def _crops(ctx: NodeContext, axes: list[int]) -> dict[int, tuple[float, float]]:
    """Return (start, end) of the cropped region on each axis, as shares of its length."""
    if not ctx.has(1) or ctx.value(1).elements == 0:
        return {}
    flat = [float(each) for each in ctx.constant(1, "region of interest").reshape(-1)]
    half = len(flat) // 2
    return {axis: (flat[i], flat[half + i]) for i, axis in enumerate(axes[:half])}


def _places(
    ctx: NodeContext, size: int, side: int, scale: float, crop: tuple[float, float]
) -> Array:
    """Return where each result lies on the axis of the input, float64 (side,)."""
    at = np.arange(side, dtype=np.float64)
    mode = ctx.attr("coordinate_transformation_mode", "half_pixel")
    last = max(side - 1, 1)
    if mode == "half_pixel":
        return (at + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        adjustment = side / (scale * size)
        return size / 2 * (1 - adjustment) + (at + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel":
        return (at + 0.5) / scale - 0.5 if side > 1 else np.zeros(side)
    if mode == "align_corners":
        return at * (size - 1) / (size * scale - 1) if size * scale > 1 else np.zeros(side)
    if mode == "asymmetric":
        return at / scale
    if mode == "tf_crop_and_resize":
        start, end = crop
        if side > 1:
            return start * (size - 1) + at * (end - start) * (size - 1) / last
        return np.full(side, 0.5 * (start + end) * (size - 1))
    raise NotCoveredError(f"its coordinate transformation '{mode}' is not covered")


def _nearest(ctx: NodeContext, places: Array, size: int) -> Array:
    mode = ctx.attr("nearest_mode", "round_prefer_floor")
    rounding: dict[str, Callable[[Array], Array]] = {
        "round_prefer_floor": lambda x: np.ceil(x - 0.5),
        "round_prefer_ceil": lambda x: np.floor(x + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    if mode not in rounding:
        raise NotCoveredError(f"its nearest mode '{mode}' is not covered")
    return np.asarray(np.clip(rounding[mode](places), 0, size - 1).astype(np.int64))


def _matrix(ctx: NodeContext, places: Array, size: int, scale: float) -> Array:
    """Return the weights of each input (column) in each result (row), float64 (side, size)."""
    cubic = ctx.attr("mode") == "cubic"
    stretch = min(scale, 1.0) if ctx.attr("antialias", 0) else 1.0
    reach = ceil((2 if cubic else 1) / stretch)
    found = np.zeros((len(places), size))
    if found.nbytes > MAX_FOLDED_BYTES:
        raise NotCoveredError(f"its axis of {size:,} is too long to mix")
    drop = bool(ctx.attr("exclude_outside", 0))
    for row, place in enumerate(places):
        first = floor(place) - reach + 1
        taps = np.arange(first, first + 2 * reach)
        weights = _weights((taps - place) * stretch, ctx, cubic=cubic)
        inside = (taps >= 0) & (taps < size)
        if drop or stretch < 1:
            weights = np.where(inside, weights, 0.0) if drop else weights
            weights = weights / weights.sum()
        np.add.at(found[row], np.clip(taps, 0, size - 1), weights)
    return found


def _weights(distance: Array, ctx: NodeContext, *, cubic: bool) -> Array:
    x = np.abs(distance)
    if not cubic:
        return np.maximum(0.0, 1.0 - x)
    a = float(ctx.attr("cubic_coeff_a", -0.75))
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def _mixed(ctx: NodeContext, value: str, axis: int, matrix: Array) -> str:
    """Multiply one axis by a matrix: moved to the end, then back."""
    shape = ctx.shape(value)
    order = [*(a for a in range(len(shape)) if a != axis), axis]
    moved = ctx.emit(Transpose, value, perm=tuple(order))
    kept = ctx.shape(moved)[:-1]
    rows = ctx.emit(Reshape, moved, shape=(prod(kept), shape[axis]))
    weights = matrix.T.astype(ctx.builder.values[value].dtype)
    product = ctx.emit(Dot, rows, _constant(ctx, weights))
    whole = ctx.emit(Reshape, product, shape=(*kept, len(matrix)))
    return ctx.emit(Transpose, whole, perm=tuple(int(a) for a in np.argsort(order)))


def _extrapolated(ctx: NodeContext, value: str, outside: list[tuple[int, Array]]) -> str:
    """Put the extrapolation value where a crop reaches beyond the input."""
    if not any(mask.any() for _, mask in outside):
        return value
    rank = len(ctx.shape(value))
    whole = np.zeros((1,) * rank, bool)
    for axis, mask in outside:
        whole = whole | mask.reshape(*(-1 if a == axis else 1 for a in range(rank)))
    fill = ctx.scalar(float(ctx.attr("extrapolation_value", 0.0)), ctx.value(0).dtype)
    return ctx.map("where", _constant(ctx, whole), fill, value)


def _constant(ctx: NodeContext, array: Array) -> str:
    return ctx.builder.add_constant(ctx.builder.fresh(f"{ctx.node.name}/weights"), array)


OPERATORS: dict[str, Importer] = {"Resize": _resize}
