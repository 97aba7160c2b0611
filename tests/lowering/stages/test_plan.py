"""The plan: unique names, regions with room to spare, machines that would do."""

from __future__ import annotations

from dataclasses import replace

from engine.machine import generic_mesh, parse_machine
from engine.progress import NO_PROGRESS
from lowering.config import CompileConfig
from lowering.passes.fuse import fuse
from lowering.stages.plan import KernelPlan, place_kernels, plan_kernels, smallest_machine
from tests.factories.graphs import lowered_graph

MESH = CompileConfig(machine=parse_machine("mesh-64x64"))


def plan_of(name: str) -> KernelPlan:
    graph = lowered_graph(name)
    shapes = {value: found.shape for value, found in graph.values.items()}
    return plan_kernels(fuse(graph), shapes)


def test_kernels_get_short_unique_names() -> None:
    plan = plan_of("gpt2_2l")
    names = [draft.name for draft in plan.drafts]
    assert names[:3] == ["embedding", "addmm", "matmul"]
    assert len(set(names)) == len(names)
    assert set(plan.models) == set(names)


def test_same_source_name_is_numbered() -> None:
    drafts = plan_of("mlp").drafts
    shapes = {value: found.shape for value, found in lowered_graph("mlp").values.items()}
    twice = [replace(drafts[0], name="same", origin=("same",)) for _ in range(3)]
    assert [d.name for d in plan_kernels(twice, shapes).drafts] == ["same", "same_1", "same_2"]


def test_spare_bytes_make_regions_larger() -> None:
    plan = plan_of("mlp")
    name = plan.drafts[1].name
    tight = replace(MESH, machine=parse_machine("mesh-6x6"))
    before = place_kernels(plan, tight, NO_PROGRESS)
    after = place_kernels(plan, tight, NO_PROGRESS, {name: 30_000})
    assert before.finding is None
    assert after.ends[name].region.area >= before.ends[name].region.area
    assert set(before.lengths()) == {draft.name for draft in plan.drafts}


def test_plan_that_needs_relaxed_memory_says_why() -> None:
    placed = place_kernels(
        plan_of("demo-transformer"), replace(MESH, machine=parse_machine("mesh-5x5")), NO_PROGRESS
    )
    assert placed.finding is not None
    assert placed.finding.sentence.startswith("18 kernels at their smallest sizes on 5x5 PEs")


def test_first_machine_with_room_is_named() -> None:
    plan = plan_of("demo-transformer")
    meshes = [generic_mesh(side, side) for side in (2, 4, 12, 64)]
    assert smallest_machine(plan, MESH, meshes, NO_PROGRESS) == "mesh-12x12"
    assert smallest_machine(plan, MESH, meshes[:2], NO_PROGRESS) is None
