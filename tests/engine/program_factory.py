"""A small Program for tests that need one but not its meaning."""

from __future__ import annotations

from engine.geometry import Rect
from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Pad
from engine.kernels.pointwise.spec import Map
from engine.kernels.spec import KernelSpec
from engine.machine import parse_machine
from engine.program import Kernel, Program, Tensor, Tiling


def small_program() -> Program:
    """Return one kernel of three operations on a 4x4 mesh."""
    ops = (
        Pad(inputs=("x",), outputs=("p",), pads=((0, 0), (1, 1)), mode="constant",
            value=float("-inf")),
        Dot(inputs=("p", "w"), outputs=("d",)),
        Map(inputs=("d",), outputs=("y",), fn="relu"),
    )  # fmt: skip
    kernel = Kernel(
        id="fc", family="dot", spec=KernelSpec(ops, 1), region=Rect(0, 0, 2, 3),
        tiling=Tiling(1, 2, 3), reads=("x",), writes=("y",), weights=("w",),
        tags=(("phase", "forward"),), origin=("Gemm_0",),
    )  # fmt: skip
    tensors = (
        Tensor("x", (2, 6), "float32", "fp32", "input"),
        Tensor("w", (8, 3), "float32", "fp32", "weight", "0" * 64),
        Tensor("y", (2, 3), "float32", "fp32", "output"),
    )
    return Program(parse_machine("mesh-4x4"), tensors, (kernel,), (), (), (("fc",),), (), 2, "fp32")
