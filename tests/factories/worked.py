"""The worked example of the timing contract as a run: kernels of 10, 20, 10 cycles on 1 PE each.

Transfers of 5 wavelets without latency, three samples; only the slots differ.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from app.runs.run import Run
from engine.bottleneck import find_bottleneck
from engine.causes import gap_causes
from engine.fields import Fields
from engine.geometry import Rect
from engine.kernels.pointwise.spec import Map
from engine.kernels.spec import KernelSpec
from engine.ledger import Ledger
from engine.machine import parse_machine
from engine.occupancy import Occupancy
from engine.profile import Profile
from engine.program import Buffer, Kernel, Leg, Program, Tensor, Tiling, Transfer
from engine.run import Execution
from engine.steps import StepTables
from engine.store import TensorStore
from engine.timing.clock import simulate
from engine.traffic import Traffic
from lowering.compiler import Compiled
from lowering.config import CompileConfig
from lowering.graph import Graph
from lowering.report import CompileReport
from tests.factories.timing_nets import build_chain

LENGTHS = {"k1": 10, "k2": 20, "k3": 10}
SLOT_BYTES = 100


def worked_program(out: int, slots: int) -> Program:
    """Return k1 -> h1 -> k2 -> h2 -> k3 on PEs (0, 0), (0, 1), (0, 2) of a 2x4 mesh."""
    return Program(
        machine=parse_machine("mesh-2x4"),
        tensors=tuple(Tensor(n, (5,), "float32", "fp32", "activation") for n in ("h1", "h2")),
        kernels=tuple(_kernel(i) for i in range(3)),
        transfers=tuple(_transfer(i, out, slots) for i in range(2)),
        buffers=_buffers(out, slots), order=(("k1",), ("k2",), ("k3",)), conflicts=(),
        samples=3, storage="fp32",
    )  # fmt: skip


def _kernel(index: int) -> Kernel:
    op = Map(inputs=(f"h{index}",), outputs=(f"h{index + 1}",), fn="relu")
    return Kernel(
        f"k{index + 1}", "pointwise", KernelSpec((op,), 0), Rect(0, index, 1, 1),
        Tiling(1, 1, 1), (f"h{index}",), (f"h{index + 1}",), origin=(f"node{index + 1}",),
    )  # fmt: skip


def _transfer(index: int, out: int, slots: int) -> Transfer:
    ends, length = (f"k{index + 1}", f"k{index + 2}"), (10, 20)[index]
    leg = Leg("shift", "x", 0, 1, index, 1, index + 1, 1, 5, groups=0, color=index)
    return Transfer(
        f"h{index + 1}", f"h{index + 1}", ends[0], (ends[1],), (leg,), 1, out, (slots,),
        SLOT_BYTES, (SLOT_BYTES,), (length, length), ((0, 0),),
    )  # fmt: skip


def _buffers(out: int, slots: int) -> tuple[Buffer, ...]:
    rows = (
        ("k1", "out slot", "h1", out), ("k2", "in slot", "h1", slots),
        ("k2", "out slot", "h2", out), ("k3", "in slot", "h2", slots),
    )  # fmt: skip
    offset = {"k2": 0}
    made = []
    for kernel, role, name, slot_count in rows:
        begin = offset.get(kernel, 0)
        made.append(Buffer(kernel, role, name, begin, slot_count * SLOT_BYTES, slot_count))
        offset[kernel] = begin + slot_count * SLOT_BYTES
    return tuple(made)


def worked_execution(out: int, slots: int) -> Execution:
    """Execute the example."""
    program, net = worked_program(out, slots), build_chain(out, slots)
    profiles = {
        name: Profile(length, np.zeros((1, 1), np.int32), np.array([[length, 0, 0, 0]]))
        for name, length in LENGTHS.items()
    }
    timeline = simulate(net)
    gaps = gap_causes(net, timeline)
    tables = StepTables.of(program, LENGTHS, timeline, gaps)
    fields = Fields(
        program, profiles, timeline, tables, Traffic.of(program, LENGTHS, tables),
        Occupancy.of(program, timeline, tables),
    )  # fmt: skip
    bottleneck = find_bottleneck(program, profiles, net, timeline)
    return Execution(
        program, TensorStore(), profiles, net, timeline, gaps, fields, Ledger(()), bottleneck
    )  # fmt: skip


@lru_cache(maxsize=4)
def worked_run(out: int, slots: int) -> Run:
    """Return the example with `out` slots at producers and `slots` at readers."""
    execution = worked_execution(out, slots)
    machine = execution.program.machine
    config = CompileConfig(machine=machine, samples=3, out_slots=out, in_slots=slots)
    graph = Graph("worked", (), (), (), {}, {})
    report = CompileReport("worked", machine, (), 0, 0, 0, 0, 2)
    compiled = Compiled(graph, execution.program, execution.store, report, config)
    return Run(5000 + 10 * out + slots, compiled, execution, "worked example")


def with_values(run: Run, **values: np.ndarray) -> Run:
    """Return the run with tensors of sample 0."""
    return replace(run, values=values)
