"""Everything that answers why, on a run whose weights are streamed in: nothing is missing there."""

from __future__ import annotations

import pytest

from app.debugger import Debugger
from app.finding import decisions
from tests.app.sessions import mlp_streaming


@pytest.fixture(scope="module")
def session() -> Debugger:
    return mlp_streaming()


def test_advice_is_given(session: Debugger) -> None:
    assert "rules fire" in session.view_advice().sentence


def test_every_step_and_every_kernel_is_explained(session: Debugger) -> None:
    told = [session.view_explain(f"step {step}") for step in range(session.run.timeline.steps)]
    told += [session.view_explain(f"kernel {k.id}") for k in session.run.program.kernels]
    rows = [row.sentence for view in told for row in view.chain]
    assert any("come in through the ports" in row for row in rows)
    assert any("the weights of fc1 for sample" in row for row in rows)


def test_stop_on_a_wait_names_the_weights(session: Debugger) -> None:
    session.do("first")
    session.do("until", "cause == wait-weights")
    stop = session.view_breaks().stop
    assert stop is not None
    assert any("wait-weights" in line for line in stop.evidence)


def test_hot_link_under_streamed_weights_is_explained(session: Debugger) -> None:
    hot = next(row for row in session.find_hot().rows
               if any(sender.flow.startswith("weights of") for sender in row.senders))  # fmt: skip
    assert "inside weights" not in hot.sentence
    view = session.view_explain(f"link {hot.row},{hot.col} {hot.plane}")
    assert any("come in through the ports" in row.sentence for row in view.chain)


def test_ends_of_each_kind_of_flow(session: Debugger) -> None:
    run = session.run
    assert decisions.flow_ends(run, run.program.streams[1].id) == ("fc1",)
    assert decisions.flow_ends(run, "fc0") == ("fc0",)
    first = run.program.transfers[0]
    assert decisions.flow_ends(run, first.id) == (first.producer, *first.consumers)


def test_stop_on_live_sram_names_whose_buffer_grew(session: Debugger) -> None:
    live = session.run.execution.fields.occupancy.live[0]
    told = []
    for wanted in sorted({*live[1:].tolist()} - {*range(int(live[0]) + 1)})[::3]:
        session.do("first")
        session.do("until", f"sram >= {wanted}")
        stop = session.view_breaks().stop
        assert stop is not None
        told.append(stop.evidence[0])
        assert f"{int(live[stop.step]):,} B live" in told[-1]
    names = [kernel.id for kernel in session.run.program.kernels]
    assert any(f"' of {name} grew" in text for text in told for name in names)
