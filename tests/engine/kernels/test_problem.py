"""Iteration spaces: M x K x N of every kind of operation, by hand."""

from __future__ import annotations

import pytest

from engine.kernels.conv.spec import Conv
from engine.kernels.dot.spec import Dot
from engine.kernels.gather.spec import Gather
from engine.kernels.pointwise.spec import Map
from engine.kernels.problem import Problem, kernel_problem
from engine.kernels.reduce.spec import Normalize, Reduce, Softmax
from engine.kernels.spec import KernelSpec, Operation
from engine.kernels.window.spec import Window


def problem(op: Operation, **shapes: tuple[int, ...]) -> Problem:
    return kernel_problem(KernelSpec((op,), 0), shapes)


def test_product_with_a_matrix_has_all_leading_axes_as_positions() -> None:
    found = problem(Dot(inputs=("a", "b"), outputs=("y",)), a=(2, 5, 8), b=(8, 3), y=(2, 5, 3))
    assert (found.m, found.k, found.n, found.batch, found.work) == (10, 8, 3, 1, "mac")


def test_heads_of_a_batched_product_lie_along_the_columns() -> None:
    found = problem(Dot(inputs=("a", "b"), outputs=("y",)), a=(4, 5, 8), b=(4, 8, 3), y=(4, 5, 3))
    assert (found.m, found.k, found.n, found.batch) == (5, 8, 12, 4)


def convolution(groups: int, strides: tuple[int, int], dilations: tuple[int, int]) -> Conv:
    return Conv(inputs=("x", "w"), outputs=("y",), strides=strides, pads=((1, 1), (1, 1)),
                dilations=dilations, groups=groups)  # fmt: skip


def test_convolution_is_cut_between_rows_of_the_map_and_channels() -> None:
    shapes = {"x": (2, 6, 9, 8), "w": (10, 6, 3, 3), "y": (2, 10, 9, 8)}
    found = problem(convolution(1, (1, 1), (1, 1)), **shapes)
    assert (found.m_units, found.m_inner) == (18, 8)
    assert (found.k_units, found.k_inner) == (18, 3)
    assert (found.n, found.batch, found.in_units, found.halo_units) == (10, 1, 18, 2)


@pytest.mark.parametrize(
    ("strides", "dilations", "halo"),
    [((2, 2), (1, 1), 1), ((3, 3), (1, 1), 0), ((1, 1), (2, 2), 4)],
)
def test_halo_is_what_windows_share(
    strides: tuple[int, int], dilations: tuple[int, int], halo: int
) -> None:
    shapes = {"x": (1, 6, 9, 9), "w": (6, 2, 3, 3), "y": (1, 6, 5, 5)}
    found = problem(convolution(3, strides, dilations), **shapes)
    assert found.halo_units == halo
    assert found.batch == 3


def test_pooling_reads_its_window_for_every_result() -> None:
    op = Window(inputs=("x",), outputs=("y",), fn="max", kernel=(3, 2), strides=(2, 2),
                pads=((0, 0), (0, 0)), dilations=(1, 1))  # fmt: skip
    found = problem(op, x=(1, 4, 9, 8), y=(1, 4, 4, 4))
    assert (found.m_units, found.m_inner, found.k, found.n) == (4, 4, 6, 4)
    assert (found.work, found.halo_units) == ("window", 1)


def test_reduction_sums_its_axes() -> None:
    op = Reduce(inputs=("x",), outputs=("y",), fn="mean", axes=(1,))
    found = problem(op, x=(3, 50, 7), y=(3, 1, 7))
    assert (found.m, found.k, found.n, found.work) == (3, 50, 7, "reduce")
    every = Reduce(inputs=("x",), outputs=("y",), fn="sum", axes=(0, 1, 2))
    assert problem(every, x=(3, 5, 7), y=(1, 1, 1)).k == 105


def test_look_up_cuts_the_table_over_rows() -> None:
    op = Gather(inputs=("t", "ids"), outputs=("y",), axis=0)
    found = problem(op, t=(500, 16), ids=(2, 6), y=(2, 6, 16))
    assert (found.m, found.k, found.n, found.work) == (12, 500, 16, "lookup")


@pytest.mark.parametrize(
    ("op", "m", "n", "axis"),
    [
        (Map(inputs=("x",), outputs=("y",), fn="relu"), 12, 5, 2),
        (Softmax(inputs=("x",), outputs=("y",), axis=1), 15, 4, 1),
        (Normalize(inputs=("x",), outputs=("y",), axes=(2,), epsilon=1e-5), 12, 5, 2),
    ],
)
def test_grid_operations_have_their_axis_along_the_columns(
    op: Operation, m: int, n: int, axis: int
) -> None:
    found = problem(op, x=(3, 4, 5), y=(3, 4, 5))
    assert (found.m, found.k, found.n, found.n_axis, found.work) == (m, 1, n, axis, "none")


def test_scalar_is_one_result() -> None:
    found = problem(Map(inputs=("x",), outputs=("y",), fn="relu"), x=(), y=())
    assert (found.m, found.n) == (1, 1)
