"""One layout for kernels that take turns: results kept once, and no layout below the live peak."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from engine.models import program_models
from engine.program import Program
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.stages.shared_memory import SharedRequests, shared_memory, shared_requests
from tests.factories.graphs import model_graph
from tests.factories.training import step_graph

NAMES = ("demo-transformer", "step-mlp")


def streamed(name: str) -> Program:
    graph = step_graph("mlp") if name == "step-mlp" else model_graph(name)
    return compile_graph(graph, CompileConfig(mode="streaming")).program


def wanted_by(program: Program) -> SharedRequests:
    models = program_models(program)
    return shared_requests(
        program.kernels, models, program.transfers, program.streams, program.storage
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_kept_once_until_its_last_reader(name: str) -> None:
    program = streamed(name)
    place = {kernel.id: turn for turn, kernel in enumerate(program.kernels)}
    kept = Counter((b.kernel, b.name) for b in program.buffers if b.role == "out slot")
    assert set(kept.values()) == {1}
    readers = Counter((t.producer, t.tensor) for t in program.transfers)
    assert max(readers.values()) > 1
    last = {(b.kernel, b.name): b.live for b in program.buffers if b.role == "out slot"}
    checked = 0
    for transfer in program.transfers:
        live = last.get((transfer.producer, transfer.tensor))
        if live is None or live[1] == len(place) - 1:
            continue
        inner = [place[c] for c in transfer.consumers if c in place]
        assert all(live[0] <= place[transfer.producer] and turn <= live[1] for turn in inner)
        checked += len(inner)
    assert checked > 3


@pytest.mark.parametrize("name", NAMES)
def test_no_layout_needs_less_than_its_fullest_turn(name: str) -> None:
    program = streamed(name)
    wanted = wanted_by(program)
    base = program.machine.reserved_sram_bytes
    peak = max(memory.peak for memory in shared_memory(program.kernels, wanted, program.machine))
    by_turn = [
        sum(each.size for each in wanted.requests if each.first <= turn <= each.last)
        for turn in range(len(program.kernels))
    ]
    assert wanted.live_peak == max(by_turn) <= peak - base


def test_what_exceeds_the_sram_is_said_of_the_fullest_kernel() -> None:
    program = streamed("demo-transformer")
    wanted = wanted_by(program)
    base = program.machine.reserved_sram_bytes
    small = replace(program.machine, sram_bytes=base + wanted.live_peak - 2)
    memories = shared_memory(program.kernels, wanted, small)
    over = [memory for memory in memories if memory.overflow]
    assert len(over) == 1
    assert over[0].peak == base + small.data_sram_bytes + over[0].overflow
