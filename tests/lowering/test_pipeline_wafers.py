"""How many wafers a pipeline needs at least: cases on paper, and what the report says."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from engine.kernels.dot.spec import Dot
from engine.machine import MachineSpec, generic_mesh
from engine.progress import NO_PROGRESS, Cancelled, Progress
from lowering import larger
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.graph import Graph
from lowering.passes.fuse import fuse
from lowering.pipeline_wafers import pipeline_wafers
from lowering.report import Wafers
from lowering.stages.plan import DoesNotFit, KernelPlan, place_kernels, plan_kernels
from tests.factories.graphs import model_graph, tiny_graph
from tests.factories.training import step_graph

SIDE = 128
"""rows and columns of a layer's weights: 64 KB, two PEs of 45 KB at least"""


def chain(count: int, side: int = SIDE) -> Graph:
    """Return so many square products of one position each."""
    names = ["x", *(f"y{i}" for i in range(count))]
    ops = [Dot(inputs=(a, f"w{i}"), outputs=(b,)) for i, (a, b) in enumerate(pairwise(names))]
    shapes = dict.fromkeys(names, (1, side)) | {f"w{i}": (side, side) for i in range(count)}
    return tiny_graph(shapes, *ops)


def plan_of(graph: Graph) -> KernelPlan:
    shapes = {name: value.shape for name, value in graph.values.items()}
    return plan_kernels(fuse(graph), shapes, graph.constants)


def needed(count: int, machine: MachineSpec, side: int = SIDE) -> Wafers | None:
    return pipeline_wafers(plan_of(chain(count, side)), CompileConfig(machine=machine))


def groups(found: Wafers | None) -> list[tuple[str, str, int | None]]:
    assert found is not None
    return [(part.first, part.last, part.pes) for part in found.parts]


def test_each_wafer_takes_as_many_kernels_as_have_room() -> None:
    # two PEs a layer: four layers on eight PEs, the ninth and tenth on a third wafer
    found = groups(needed(10, generic_mesh(2, 4)))
    assert found == [("y0", "y3", 8), ("y4", "y7", 8), ("y8", "y9", 4)]


def test_where_one_wafer_has_room_nothing_is_said() -> None:
    assert needed(4, generic_mesh(2, 4)) is None


def test_dead_pes_take_no_kernel() -> None:
    machine = replace(generic_mesh(2, 4), defects=((0, 0), (1, 0)))
    assert [part[:2] for part in groups(needed(4, machine))] == [("y0", "y2"), ("y3", "y3")]


@pytest.mark.parametrize("name", ["gpt2_2l", "resnet_s"])
def test_every_part_can_be_placed_and_none_takes_one_more(name: str) -> None:
    config = CompileConfig(machine=generic_mesh(6, 6))
    plan = plan_of(step_graph(name))
    found = pipeline_wafers(plan, config)
    assert found is not None
    names = [draft.name for draft in plan.drafts]
    assert len(found.parts) > 2
    stop = 0
    for part in found.parts:
        start, stop_before = names.index(part.first), stop
        stop = names.index(part.last) + 1
        assert start == stop_before
        own = replace(plan, drafts=plan.drafts[start:stop])
        assert place_kernels(own, config, NO_PROGRESS).finding is None
        assert part.pes is not None
        assert part.pes <= config.machine.pes
    assert stop == len(names)


def test_a_kernel_larger_than_a_wafer_is_named_with_its_gap() -> None:
    # 1,024 x 1,024 weights of 4 bytes on 8 PEs: 512 KB each
    machine = generic_mesh(2, 4)
    found = needed(3, machine, side=1024)
    assert found is not None
    assert found.parts == ()
    assert found.alone is not None
    assert found.alone.where == "kernel 'y0' on its fullest PE"
    assert found.alone.demand > machine.reserved_sram_bytes + 1024 * 1024 * 4 // 8
    assert found.alone.gap == found.alone.demand - machine.sram_bytes
    assert found.sentence().startswith("no number of wafers would hold it as a pipeline (bound): ")


def test_the_report_says_so_in_text_and_data() -> None:
    config = CompileConfig(machine=generic_mesh(2, 4), mode="pipeline")
    found = needed(10, config.machine)
    assert found is not None
    assert found.sentence() == (
        "a pipeline needs at least 3 wafers of mesh-2x4, each with consecutive kernels from 'y0', "
        "'y4', 'y8' on (bound: by kernels at their smallest sizes; slots, colors and transfers "
        "between wafers may ask for more)"
    )
    data = found.to_json()
    assert (data["count"], data["mode"], data["standing"]) == (3, "pipeline", "bound")


def test_a_pipeline_without_any_place_says_what_would_hold_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = CompileConfig(machine=generic_mesh(3, 3), mode="pipeline")
    with pytest.raises(DoesNotFit, match="it would fit on mesh-64x64"):
        compile_graph(model_graph("gpt2_2l"), config)
    monkeypatch.setattr(larger, "TRIED_IN_PIPELINE", 100)
    with pytest.raises(DoesNotFit, match=r"a pipeline needs at least [0-9]+ wafers of mesh-3x3"):
        compile_graph(step_graph("gpt2_2l"), config)


def test_the_search_can_be_cancelled() -> None:
    with pytest.raises(Cancelled):
        pipeline_wafers(
            plan_of(chain(3)), CompileConfig(machine=generic_mesh(2, 2)),
            Progress(cancelled=lambda: True),
        )  # fmt: skip
