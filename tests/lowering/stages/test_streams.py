"""Streams: where the positions of a kernel are after views, and when order is lost."""

from __future__ import annotations

import pytest

from engine.kernels.conv.spec import Conv
from engine.kernels.dot.spec import Dot
from engine.kernels.gather.spec import Gather
from engine.kernels.move.spec import Reshape, Slice, Transpose
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Normalize, Reduce, Softmax
from engine.kernels.spec import KernelSpec, Operation
from lowering.stages.streams import Stream, input_stream, kernel_streams, output_stream

CONV = Conv(inputs=("x", "w"), outputs=("y",), strides=(1, 1), pads=((1, 1), (1, 1)),
            dilations=(1, 1))  # fmt: skip


def test_product_with_a_matrix_walks_all_leading_axes() -> None:
    shapes = {"x": (2, 5, 8), "w": (8, 3), "y": (2, 5, 3)}
    op = Dot(inputs=("x", "w"), outputs=("y",))
    assert input_stream(op, shapes) == Stream(1, 10, 8)
    assert output_stream(op, shapes) == Stream(1, 10, 3)


def test_batched_product_walks_rows_of_every_head() -> None:
    shapes = {"x": (4, 5, 8), "w": (4, 8, 3), "y": (4, 5, 3)}
    op = Dot(inputs=("x", "w"), outputs=("y",))
    assert input_stream(op, shapes) == Stream(4, 5, 8)
    assert output_stream(op, shapes) == Stream(4, 5, 3)


def test_convolution_walks_the_rows_of_one_image() -> None:
    one = {"x": (1, 3, 8, 9), "w": (4, 3, 3, 3), "y": (1, 4, 8, 9)}
    two = {"x": (2, 3, 8, 9), "w": (4, 3, 3, 3), "y": (2, 4, 8, 9)}
    assert input_stream(CONV, one) == Stream(3, 8, 9)
    assert output_stream(CONV, one) == Stream(4, 8, 9)
    assert input_stream(CONV, two) is None


def test_look_up_walks_its_indices() -> None:
    shapes = {"t": (50, 8), "ids": (2, 6), "y": (2, 6, 8)}
    op = Gather(inputs=("t", "ids"), outputs=("y",), axis=0)
    assert input_stream(op, shapes) == Stream(1, 12, 1)
    assert output_stream(op, shapes) == Stream(1, 12, 8)


def test_reduction_needs_all_and_gives_at_the_end() -> None:
    shapes = {"x": (6, 4), "y": (1, 4)}
    op = Reduce(inputs=("x",), outputs=("y",), fn="sum", axes=(0,))
    assert input_stream(op, shapes) is None
    assert output_stream(op, shapes) is None


@pytest.mark.parametrize(("axis", "found"), [(1, Stream(1, 6, 4)), (0, None)])
def test_statistics_keep_order_only_over_the_last_axis(axis: int, found: Stream | None) -> None:
    shapes = {"x": (6, 4), "y": (6, 4)}
    assert output_stream(Softmax(inputs=("x",), outputs=("y",), axis=axis), shapes) == found
    norm = Normalize(inputs=("x",), outputs=("y",), axes=(axis,), epsilon=1e-5)
    assert output_stream(norm, shapes) == found


def last_stream(shapes: dict[str, tuple[int, ...]], *tail: Operation) -> Stream | None:
    """Stream of the last result behind x (6, 4) @ w (4, 12) = d (6, 12)."""
    full = {"x": (6, 4), "w": (4, 12), "d": (6, 12), **shapes}
    spec = KernelSpec((Dot(inputs=("x", "w"), outputs=("d",)), *tail), 0)
    return kernel_streams(spec, full)[tail[-1].outputs[0]]


def test_heads_turned_to_the_front_keep_their_positions() -> None:
    heads = Reshape(inputs=("d",), outputs=("h",), shape=(6, 3, 4))
    turned = Transpose(inputs=("h",), outputs=("t",), perm=(1, 0, 2))
    assert last_stream({"h": (6, 3, 4)}, heads) == Stream(1, 6, 12)
    assert last_stream({"h": (6, 3, 4), "t": (3, 6, 4)}, heads, turned) == Stream(3, 6, 4)


@pytest.mark.parametrize("heads", [3, 6])
def test_heads_merged_behind_the_mix_bring_positions_to_the_front(heads: int) -> None:
    """With as many heads as positions only what lies before tells the two axes apart."""
    shapes = {"x": (heads, 6, 5), "v": (heads, 5, 4), "d": (heads, 6, 4), "t": (6, heads, 4)}
    spec = KernelSpec((Dot(inputs=("x", "v"), outputs=("d",)),
                       Transpose(inputs=("d",), outputs=("t",), perm=(1, 0, 2))), 0)  # fmt: skip
    found = kernel_streams(spec, shapes)
    assert found == {"d": Stream(heads, 6, 4), "t": Stream(1, 6, heads * 4)}


def test_transposed_keys_stream_along_the_last_axis() -> None:
    turned = Transpose(inputs=("d",), outputs=("t",), perm=(1, 0))
    assert last_stream({"t": (12, 6)}, turned) == Stream(12, 6, 1)


def test_slice_of_positions_loses_the_order_and_of_features_does_not() -> None:
    features = Slice(inputs=("d",), outputs=("s",), ranges=((0, None, 1), (0, 5, 1)))
    positions = Slice(inputs=("d",), outputs=("s",), ranges=((0, 3, 1), (0, None, 1)))
    assert last_stream({"s": (6, 5)}, features) == Stream(1, 6, 5)
    assert last_stream({"s": (3, 12)}, positions) is None


def test_reduction_of_features_keeps_positions_if_their_axis_stays() -> None:
    kept = Reduce(inputs=("d",), outputs=("r",), fn="max", axes=(1,))
    assert last_stream({"r": (6, 1)}, kept) == Stream(1, 6, 1)
    gone = Reduce(inputs=("d",), outputs=("r",), fn="max", axes=(0,))
    assert last_stream({"r": (1, 12)}, gone) is None


def test_side_operand_of_equal_shape_streams_along_and_a_bias_does_not() -> None:
    shapes = {"x": (6, 4), "w": (4, 12), "d": (6, 12), "skip": (6, 12), "b": (12,), "y": (6, 12),
              "z": (6, 12)}  # fmt: skip
    spec = KernelSpec(
        (
            Dot(inputs=("x", "w"), outputs=("d",)),
            Map(inputs=("d", "b"), outputs=("y",), fn="add"),
            Map(inputs=("y", "skip"), outputs=("z",), fn="add"),
        ),
        0,
    )
    found = kernel_streams(spec, shapes)
    assert found["skip"] == found["z"] == Stream(1, 6, 12)
    assert found["b"] is None
