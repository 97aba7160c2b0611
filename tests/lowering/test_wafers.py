"""How many wafers would hold a model: cases on paper, and what the report says of real ones."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import pytest

from engine.geometry import Rect
from engine.kernels.dot.spec import Dot
from engine.machine import generic_mesh
from engine.program import HOST, Buffer, Program
from engine.progress import Cancelled, Progress
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.report import Wafers
from lowering.stages.layout import BufferRequest, plan_layout
from lowering.wafers import wafers_needed
from tests.factories.graphs import tiny_graph

MACHINE = generic_mesh(16, 16)
ROOM = MACHINE.data_sram_bytes
UNIT = 4 * (ROOM // 240)
"""a sixtieth of the room, a multiple of four bytes"""


@lru_cache(maxsize=8)
def chain(count: int) -> Program:
    """Return a program of so many products that take turns: y0, y1, ..."""
    names = ["x", *(f"y{i}" for i in range(count))]
    ops = [Dot(inputs=(a, f"w{i}"), outputs=(b,)) for i, (a, b) in enumerate(pairwise(names))]
    shapes = dict.fromkeys(names, (8, 16)) | {f"w{i}": (16, 16) for i in range(count)}
    config = CompileConfig(machine=MACHINE, mode="streaming")
    return compile_graph(tiny_graph(shapes, *ops), config).program


def holding(count: int, *held: tuple[int, int, int, int], role: str = "out slot") -> Program:
    """Return a chain with these buffers only: (kernel, units, first turn, last turn)."""
    program = chain(count)
    names = [kernel.id for kernel in program.kernels]
    code = tuple(Buffer(n, "code", "program", 0, MACHINE.reserved_sram_bytes) for n in names[:1])
    own = tuple(Buffer(names[k], role, f"t{i}", 0, units * UNIT, live=(first, last))
                for i, (k, units, first, last) in enumerate(held))  # fmt: skip
    return replace(program, buffers=(*code, *own))


def groups(program: Program) -> list[tuple[int, int]]:
    """Return the first and the last turn of each wafer."""
    names = [kernel.id for kernel in program.kernels]
    return [(names.index(p.first), names.index(p.last)) for p in wafers_needed(program).parts]


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ([(k, 36, 0, 3) for k in range(4)], [(0, 0), (1, 1), (2, 2), (3, 3)]),
        ([(0, 24, 0, 3), (1, 24, 0, 3), (2, 24, 0, 3), (3, 24, 0, 3)], [(0, 1), (2, 3)]),
        ([(0, 24, 0, 3), (1, 24, 0, 3), (2, 12, 0, 3), (3, 24, 0, 3)], [(0, 2), (3, 3)]),
        ([(0, 36, 0, 0), (1, 36, 1, 1), (2, 36, 2, 2), (3, 36, 3, 3)], [(0, 3)]),
        ([(0, 24, 0, 1), (1, 24, 1, 2), (2, 24, 2, 3), (3, 36, 3, 3)], [(0, 3)]),
        ([(0, 40, 0, 3), (3, 40, 1, 1)], [(0, 2), (3, 3)]),
    ],
)  # fmt: skip
def test_each_wafer_takes_the_longest_run_of_kernels_that_fits(
    held: list[tuple[int, int, int, int]], said: list[tuple[int, int]]
) -> None:
    assert groups(holding(4, *held)) == said


def test_the_bytes_of_a_wafer_are_those_alive_together_and_the_code() -> None:
    program = holding(4, (0, 24, 0, 3), (1, 24, 0, 3), (2, 24, 1, 3), (3, 10, 0, 1))
    first, second = wafers_needed(program).parts
    base = MACHINE.reserved_sram_bytes
    assert (first.sram_bytes, second.sram_bytes) == (base + 48 * UNIT, base + 34 * UNIT)
    assert base + 48 * UNIT <= MACHINE.sram_bytes


def test_gaps_that_a_layout_leaves_count() -> None:
    held = ((0, 24, 0, 1), (1, 20, 1, 2), (2, 20, 2, 2), (0, 8, 0, 1), (0, 24, 0, 0),
            (2, 20, 2, 2))  # fmt: skip
    program = holding(3, *held)
    layout = plan_layout(
        [BufferRequest("", "", units * UNIT, first, last) for _, units, first, last in held], ROOM
    )
    assert layout.max_live <= ROOM < layout.peak
    assert groups(program) == [(0, 1), (2, 2)]


def test_a_kernel_that_needs_more_by_itself_fits_no_number_of_wafers() -> None:
    found = wafers_needed(holding(4, (0, 30, 0, 3), (2, 50, 2, 2), (2, 20, 2, 2)))
    assert found.parts == ()
    assert found.alone is not None
    assert found.alone.demand == MACHINE.reserved_sram_bytes + 70 * UNIT
    assert found.alone.gap == found.alone.demand - found.alone.bound == 70 * UNIT - ROOM
    assert found.alone.holders == (("out slot: t1", 50 * UNIT), ("out slot: t2", 20 * UNIT))
    assert found.to_json()["count"] is None
    assert found.sentence().startswith(
        "no number of wafers would hold it as it is cut into tiles (bound): kernel 'y2' on its "
        f"fullest PE needs {found.alone.demand:,} B"
    )


def levers(program: Program) -> tuple[str, ...]:
    """Return what would help the kernel that no wafer holds."""
    found = wafers_needed(program).alone
    assert found is not None
    return found.levers


def test_what_helps_a_kernel_follows_from_what_holds_its_bytes() -> None:
    held = (1, 70, 1, 1)
    assert levers(holding(2, held)) == (
        "store weights and activations as fp16 (knob dtype)",
        "fewer sequences or tokens in a sample (--batch, --sequence)",
    )
    half = replace(holding(2, held), storage="fp16")
    assert levers(half) == ("fewer sequences or tokens in a sample (--batch, --sequence)",)
    weights = replace(holding(2, held, role="weight slot"), storage="fp16")
    assert levers(weights) == ("keep the weights of products as int8 (knob weights)",)


def test_a_gradient_does_not_shrink_with_the_sample() -> None:
    program = replace(holding(2, (1, 70, 1, 1)), storage="fp16")
    own = (t for t in program.transfers if t.producer != HOST)
    sent = tuple(replace(t, tensor="t0", port="weights") for t in own)
    assert levers(replace(program, transfers=sent)) == ()
    small = tuple(replace(k, region=Rect(0, 0, 4, 16)) for k in program.kernels)
    assert levers(replace(program, transfers=sent, kernels=small)) == (
        "more sequences or tokens in a sample, so that its gradient lies on more than 4 of "
        "16 rows (--batch, --sequence)",
    )


def test_the_optimizer_may_leave() -> None:
    program = replace(holding(2, (1, 70, 1, 1)), storage="fp16")
    updates = tuple(replace(k, tags=(("phase", "optimizer"),)) for k in program.kernels)
    assert levers(replace(program, kernels=updates))[0] == (
        "run the optimizer outside (knob optimizer=host)"
    )


def test_text_and_data_say_the_same() -> None:
    found = wafers_needed(holding(4, *((k, 36, 0, 3) for k in range(4))))
    assert found.sentence() == (
        "4 wafers of mesh-16x16 would hold it, each with consecutive kernels from 'y0', 'y1', "
        "'y2', 'y3' on (bound: by SRAM alone, transfers between wafers are not modelled)"
    )
    data = found.to_json()
    assert (data["count"], data["standing"], data["sentence"]) == (4, "bound", found.sentence())
    many = Wafers("wse3", found.parts * 2)
    assert "'y3', ... on" in many.sentence()


def test_the_search_can_be_cancelled() -> None:
    with pytest.raises(Cancelled):
        wafers_needed(holding(4), Progress(cancelled=lambda: True))
