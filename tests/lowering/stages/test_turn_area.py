"""Where kernels take turns: the largest rectangle without a defective PE, and runs on it."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from engine.machine import MachineSpec, generic_mesh
from engine.run import execute
from engine.values import run_values
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.evaluate import default_inputs
from lowering.stages.turn_area import turn_area
from tests.factories.graphs import model_graph
from tests.factories.training import initial_inputs, step_graph


def damaged(rows: int, cols: int, *defects: tuple[int, int]) -> MachineSpec:
    return replace(generic_mesh(rows, cols), defects=defects)


def test_without_defects_it_is_the_whole_mesh() -> None:
    area = turn_area(generic_mesh(5, 9))
    assert (area.row, area.col, area.rows, area.cols) == (0, 0, 5, 9)


@pytest.mark.parametrize("seed", range(30))
def test_it_is_the_largest_of_all_rectangles_that_work(seed: int) -> None:
    dice = random.Random(seed)
    rows, cols = dice.randrange(2, 8), dice.randrange(2, 8)
    dead = {(dice.randrange(rows), dice.randrange(cols)) for _ in range(dice.randrange(1, 4))}
    works = np.ones((rows, cols), bool)
    for place in dead:
        works[place] = False
    largest = max(
        (bottom - top) * (right - left)
        for top in range(rows) for bottom in range(top + 1, rows + 1)
        for left in range(cols) for right in range(left + 1, cols + 1)
        if works[top:bottom, left:right].all()
    )  # fmt: skip
    area = turn_area(damaged(rows, cols, *dead))
    assert works[area.slices()].all()
    assert area.area == largest


@pytest.mark.parametrize("spill_mb", [None, 0.0])
@pytest.mark.parametrize("name", ["mlp", "gpt2_2l"])
def test_no_kernel_has_a_defective_pe_and_every_law_holds(
    name: str, spill_mb: float | None
) -> None:
    trains = name == "gpt2_2l"
    graph = step_graph(name) if trains else model_graph(name)
    inputs = initial_inputs(graph) if trains else default_inputs(graph)
    machine = damaged(24, 24, (3, 4), (20, 1))
    config = CompileConfig(machine=machine, mode="streaming", samples=1, spill_mb=spill_mb)
    made = compile_graph(graph, config)
    execution = execute(made.program, made.store, every_step=True)
    assert [check for check in execution.ledger.checks if not check.ok] == []
    assert not any(k.region.contains(*place) for k in made.program.kernels
                   for place in machine.defects)  # fmt: skip
    assert any("largest rectangle without a defective one" in note for note in made.report.notes)
    area = turn_area(machine)
    whole = replace(config, machine=generic_mesh(area.rows, area.cols))
    plain = compile_graph(graph, whole)
    found, wanted = (
        run_values(each.program, each.store, inputs).outputs() for each in (made, plain)
    )
    for output in graph.outputs:
        assert np.array_equal(found[output], wanted[output]), output
