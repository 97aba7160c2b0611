"""SRAM of the hand-written program, step by step, and bounds that every model keeps."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from engine.kernels.views import views
from engine.run import Execution, execute
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from tests.factories.graphs import compiled_model
from tests.factories.programs import three_kernels
from tests.factories.training import step_graph


def test_allocated_ends_with_the_highest_buffer() -> None:
    occupancy = three_kernels().run().fields.occupancy
    assert occupancy.allocated.tolist() == [48 + 192 + 64, 32 + 32 + 8, 16 + 64 + 32 + 32]
    painted = three_kernels().run().fields.field("sram_allocated", 0)
    assert painted[0, 1] == 304
    assert painted[0, 0] == 0


def test_slots_hold_data_from_first_wavelet_to_last_need() -> None:
    run = three_kernels().run()
    live = {int(t): run.fields.occupancy.live[:, s].tolist()
            for s, t in enumerate(run.timeline.times[:-1])}  # fmt: skip
    # up: weights 48, x slots of 96 (claimed as x begins to move), out slot of 32
    assert live[0] == [48 + 96, 0, 16]
    assert live[30] == [48 + 2 * 96 + 32, 0, 16]
    # act at 176: in slot 16, out slot 16, work 8
    assert live[176] == [48 + 2 * 96 + 32, 40, 16]
    # down at 211: weights 16, in slot 32, out slot 16, work 32
    assert live[211][2] == 96
    # at 292 `up` takes its last sample, no x is left to come
    assert live[292][0] == 48 + 96 + 2 * 32


def test_uses_of_a_pe_are_its_buffers_by_offset() -> None:
    run = three_kernels().run()
    uses = run.fields.pe_sram(2, 5, run.timeline.step_at(211))
    assert [(u.name, u.offset, u.size, u.live) for u in uses] == [
        ("weights", 0, 16, 16), ("r", 16, 64, 32), ("y", 80, 32, 16), ("partial sums", 112, 32, 32),
    ]  # fmt: skip
    assert run.fields.pe_sram(7, 0, 0) == ()


@pytest.mark.parametrize("name", ["mlp", "bert", "demo-cnn"])
def test_live_stays_within_allocated_and_chunks_within_slots(name: str) -> None:
    compiled = compiled_model(name, "mesh-64x64")
    occupancy = execute(compiled.program, compiled.store).fields.occupancy
    assert (occupancy.live <= occupancy.allocated[:, None]).all()
    for buffer in compiled.program.buffers:
        if buffer.role in ("in slot", "out slot"):
            parts = occupancy.held[buffer.kernel, buffer.role, buffer.name]
            held = np.max([part.held.row() for part in parts], axis=0)
            assert held.max() <= buffer.count
            assert held.min() >= 0
            assert held.max() >= 1
    assert np.all(occupancy.live >= 0)


@pytest.mark.parametrize("name", ["mlp", "bert", "demo-cnn"])
def test_rows_of_a_pe_add_up_to_its_live_bytes_in_every_step(name: str) -> None:
    compiled = compiled_model(name, "mesh-64x64")
    run = execute(compiled.program, compiled.store)
    occupancy = run.fields.occupancy
    for index, kernel in enumerate(compiled.program.kernels):
        for step in range(0, run.timeline.steps, max(1, run.timeline.steps // 9)):
            rows = sum(use.live for use in occupancy.uses(index, step))
            assert rows == occupancy.live[index, step], (kernel.id, step)


def test_some_work_space_is_not_alive_at_the_peak() -> None:
    compiled = compiled_model("bert", "mesh-64x64")
    occupancy = execute(compiled.program, compiled.store).fields.occupancy
    index = next(
        i for i, kernel in enumerate(compiled.program.kernels)
        if len({b.live for b in compiled.program.buffers
                if b.kernel == kernel.id and b.role == "work"}) > 1
    )  # fmt: skip
    step = int(np.argmax(occupancy.alive[index].row()))
    work = [use for use in occupancy.uses(index, step) if use.role == "work"]
    assert {use.live for use in work if use.live} <= {use.size for use in work}
    assert any(use.live for use in work)
    assert any(use.live == 0 for use in work)


@lru_cache(maxsize=1)
def streamed_step() -> Execution:
    """A training step whose kernels take turns: results wait for the backward pass."""
    made = compile_graph(step_graph("gpt2_2l"), CompileConfig(mode="streaming"))
    return execute(made.program, made.store)


def test_turns_keep_live_within_allocated_and_rows_add_up() -> None:
    run = streamed_step()
    occupancy = run.fields.occupancy
    assert (occupancy.live <= occupancy.allocated[:, None]).all()
    for step in range(0, run.timeline.steps, run.timeline.steps // 25):
        rows = sum(use.live for use in occupancy.uses(0, step))
        assert rows == occupancy.live[0, step], step


def test_a_result_is_held_while_any_reader_wants_it_in_any_shape() -> None:
    run = streamed_step()
    program, timeline = run.program, run.timeline
    seen = {kernel.id: views(kernel.spec) for kernel in program.kernels}
    shared = 0
    for buffer in program.buffers:
        if buffer.role != "out slot":
            continue
        root = seen[buffer.kernel].get(buffer.name, buffer.name)
        mine = [
            index for index, transfer in enumerate(program.transfers)
            if transfer.producer == buffer.kernel
            and seen[buffer.kernel].get(transfer.tensor, transfer.tensor) == root
        ]  # fmt: skip
        shared += len({program.transfers[index].tensor for index in mine}) > 1
        last = max(int(timeline.left[slice(*timeline.chunk_start[i : i + 2])].max()) for i in mine)
        step = timeline.step_at(last - 1)
        names = [u.name for u in run.fields.occupancy.uses(0, step) if u.role == "out slot"]
        assert buffer.name in names
    assert shared > 3
