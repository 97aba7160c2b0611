"""SRAM in program order, checked against the layout buffer by buffer."""

from __future__ import annotations

import pytest

from app.finding.memory_order import stretches
from app.runs.run import Run
from tests.app.sessions import mlp_run, mlp_streaming


@pytest.fixture(params=["pipeline", "streaming"])
def run(request: pytest.FixtureRequest) -> Run:
    return mlp_run() if request.param == "pipeline" else mlp_streaming().run


def test_bytes_are_the_sum_of_the_buffers_alive(run: Run) -> None:
    for stretch in stretches(run):
        for moment, live in enumerate(stretch.live):
            assert sum(b.size for b in stretch.alive(moment)) == live
            assert live <= stretch.allocated


def test_every_kernel_and_every_buffer_has_its_place(run: Run) -> None:
    found = stretches(run)
    names = [name for stretch in found for name in stretch.kernels]
    assert names == [kernel.id for kernel in run.program.kernels]
    assert sum(len(s.buffers) for s in found) == len(run.program.buffers)


def test_order_is_that_of_operations_or_of_turns() -> None:
    alone = stretches(mlp_run())
    ops = [len(kernel.spec.ops) for kernel in mlp_run().program.kernels]
    assert [len(s.live) for s in alone] == ops
    assert alone[0].moments[0] == f"operation 1 of {ops[0]} (Dot)"
    (shared,) = stretches(mlp_streaming().run)
    assert shared.moments == ("turn 1 of 3", "turn 2 of 3", "turn 3 of 3")
    assert shared.kernel_at(1) == "fc1"


def test_streamed_weights_of_the_next_turn_are_there_already() -> None:
    (shared,) = stretches(mlp_streaming().run)
    holders = {(b.kernel, b.role) for b in shared.alive(0)}
    assert ("fc1", "weight slot") in holders
    assert ("scores", "weight slot") not in holders
