"""Vector operations beside the main product, counted by hand."""

from __future__ import annotations

from engine.kernels.dot.spec import Dot
from engine.kernels.gather.spec import Gather
from engine.kernels.move.spec import Reshape, Transpose
from engine.kernels.pointwise.functions import FUNCTIONS
from engine.kernels.pointwise.spec import Map
from engine.kernels.problem import kernel_problem
from engine.kernels.reduce.spec import Normalize, Reduce, Softmax
from engine.kernels.spec import KernelSpec, Operation
from engine.kernels.work import Epilogue, kernel_epilogue, row_sums, side_operations, vector_ops

SHAPES = {"x": (6, 4), "w": (4, 8), "b": (8,), "d": (6, 8), "s": (6, 8), "y": (6, 8), "r": (6, 1)}
DOT = Dot(inputs=("x", "w"), outputs=("d",))
BIAS = Map(inputs=("d", "b"), outputs=("s",), fn="add")


def epilogue(*tail: Operation) -> Epilogue:
    spec = KernelSpec((DOT, *tail), 0)
    return kernel_epilogue(spec, kernel_problem(spec, SHAPES), SHAPES)


def test_product_alone_has_no_epilogue() -> None:
    assert epilogue() == Epilogue(vector_ops=0, flops=0, row_sums=0, calls=0)


def test_bias_and_softmax_touch_every_result() -> None:
    softmax = Softmax(inputs=("s",), outputs=("y",), axis=1)
    each = 3 + FUNCTIONS["exp"].vector_ops + FUNCTIONS["div"].vector_ops
    assert vector_ops(softmax) == each
    found = epilogue(BIAS, softmax)
    assert found.vector_ops == 1 + each
    assert found.flops == 48 * (1 + each)
    assert found.calls == 2
    assert found.row_sums == 2 * 6  # maximum and sum of each row


def test_normalisation_needs_mean_and_variance_or_one_of_them() -> None:
    norm = Normalize(inputs=("d", "b", "b"), outputs=("y",), axes=(1,), epsilon=1e-5)
    root = Normalize(inputs=("d", "b"), outputs=("y",), axes=(1,), epsilon=1e-5, center=False)
    assert (vector_ops(norm), row_sums(norm, SHAPES)) == (2 + 3 + 2, 12)
    assert (vector_ops(root), row_sums(root, SHAPES)) == (3 + 1, 6)


def test_views_cost_nothing() -> None:
    views = (Reshape(inputs=("d",), outputs=("s",), shape=(6, 8)),
             Transpose(inputs=("s",), outputs=("y",), perm=(0, 1)))  # fmt: skip
    assert epilogue(*views).vector_ops == 0
    assert epilogue(*views).calls == 0


def test_reduction_walks_what_it_reads() -> None:
    reduce = Reduce(inputs=("d",), outputs=("r",), fn="sum", axes=(1,))
    found = epilogue(reduce)
    assert (found.flops, found.row_sums) == (48, 6)


def test_main_operation_of_a_grid_kernel_is_side_work() -> None:
    spec = KernelSpec((BIAS,), 0)
    assert list(side_operations(spec)) == [BIAS]
    assert list(side_operations(KernelSpec((DOT, BIAS), 0))) == [BIAS]


def test_look_up_moves_numbers_without_arithmetic() -> None:
    gather = Gather(inputs=("w", "ids"), outputs=("y",), axis=0)
    shapes = {"w": (4, 8), "ids": (6,), "y": (6, 8)}
    spec = KernelSpec((gather,), 0)
    found = kernel_epilogue(spec, kernel_problem(spec, shapes), shapes)
    assert (found.flops, found.vector_ops) == (0, 1)
