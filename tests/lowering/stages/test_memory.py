"""Memory: buffers of a kernel by hand, and what overflows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.geometry import Rect
from engine.kernels.cost import kernel_model
from engine.kernels.dot.spec import Dot
from engine.kernels.pointwise.spec import Map
from engine.kernels.spec import KernelSpec
from engine.machine import parse_machine
from engine.program import HOST, Kernel, Tiling, Transfer
from lowering.stages.memory import KernelMemory, kernel_memory
from tests.factories.graphs import compiled_model

SHAPES = {"x": (16, 64), "w": (64, 32), "b": (32,), "d": (16, 32), "s": (16, 32), "y": (16, 32)}
SPEC = KernelSpec(
    (
        Dot(inputs=("x", "w"), outputs=("d",)),
        Map(inputs=("d", "b"), outputs=("s",), fn="add"),
        Map(inputs=("s",), outputs=("y",), fn="relu"),
    ),
    0,
)
KERNEL = Kernel("fc", "dot", SPEC, Rect(0, 0, 4, 8), Tiling(1, 4, 8), ("x",), ("y",), ("w", "b"))
INTO = Transfer("x", "x", HOST, ("fc",), (), 8, 2, (3,), 0, (32,))
OUT = Transfer("y", "y", "fc", (HOST,), (), 8, 2, (2,), 8, (0,))


def memory(sram: int = 49_152, dtype: str = "fp32") -> KernelMemory:
    machine = replace(parse_machine("mesh-16x16"), sram_bytes=sram)
    model = kernel_model(SPEC, SHAPES, frozenset({"w", "b"}))
    return kernel_memory(KERNEL, model, [INTO, OUT], machine, dtype)


def test_buffers_have_the_sizes_of_the_fullest_pe() -> None:
    sizes = {(b.role, b.name): (b.size, b.count) for b in memory().buffers}
    assert sizes == {
        ("code", "program and runtime"): (4_176, 1),
        ("weights", "weights"): ((64 // 4) * (32 // 8) * 4 + (32 // 8) * 4, 1),
        ("in slot", "x"): (96, 3),
        ("out slot", "y"): (16, 2),
        ("work", "partial sums"): (2 * 4 * 4, 1),  # 2 positions a chunk, 4 results, fp32
        ("work", "s"): (2 * 4, 1),
        ("work", "y"): (2 * 4, 1),
    }


def test_half_precision_keeps_sums_in_single() -> None:
    sizes = {b.name: b.size for b in memory(dtype="fp16").buffers}
    assert sizes["partial sums"] == 32
    assert sizes["s"] == 4
    assert sizes["weights"] == (16 * 4 + 4) * 2


def test_layout_starts_after_the_code_and_shares_bytes_over_time() -> None:
    found = memory()
    rest = [b for b in found.buffers if b.role != "code"]
    assert min(b.offset for b in rest) == 4_176
    assert found.peak == max(b.offset + b.size for b in rest)
    assert found.overflow == 0
    for one in rest:
        for other in rest:
            if one is not other and one.live[0] <= other.live[1] and other.live[0] <= one.live[1]:
                assert (
                    one.offset + one.size <= other.offset or other.offset + other.size <= one.offset
                )
    # partial sums end with the product, `y` begins two operations later: same bytes
    live = {b.name: b.live for b in rest}
    assert (live["partial sums"], live["s"], live["y"]) == ((0, 0), (1, 2), (2, 2))
    assert found.peak <= 4_176 + 272 + 96 + 16 + 32 + 8


def test_overflow_is_what_lies_beyond_the_sram() -> None:
    found = memory(sram=4_400)
    assert found.peak > 4_400
    assert found.overflow == found.peak - 4_400


@pytest.mark.parametrize("name", ["mlp", "bert", "demo-cnn", "demo-gpt2-small"])
def test_kernels_of_a_model_stay_in_their_sram(name: str) -> None:
    compiled = compiled_model(name, "wse2")
    capacity = compiled.program.machine.sram_bytes
    assert compiled.fits
    assert max(b.offset + b.size for b in compiled.program.buffers) <= capacity
    assert {b.kernel for b in compiled.program.buffers} == {k.id for k in compiled.program.kernels}
