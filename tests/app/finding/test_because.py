"""Ties of the worked example with slots 1/1: k2's second instance waits for two things at once."""

from __future__ import annotations

from app.finding.because import gap_at, kernel_gaps, levers_sentence, ties
from app.runs.opening import open_run
from lowering.config import apply_knob
from tests.app.sessions import mesh_config, mlp_streaming, spilled_run
from tests.factories.worked import worked_run


def test_both_tied_causes_are_named() -> None:
    run = worked_run(1, 1)
    gap = next(g for g in kernel_gaps(run, "k2") if g.sample == 1)
    assert (gap.t0, gap.t1, gap.cause) == (35, 40, "wait-output")
    found = ties(run, gap)
    assert [(t.cause, t.transfer, t.lever) for t in found] == [
        ("wait-output", "h2", "out_slots"), ("wait-fabric", "h1", "in_slots"),
    ]  # fmt: skip
    assert "given at 25, it moved from 35 on, when k2 gave an in slot back" in found[1].sentence
    assert "in slots must change together" in levers_sentence(found)


def test_a_single_cause_has_no_tie() -> None:
    run = worked_run(2, 2)
    gap = next(g for g in kernel_gaps(run, "k3", "wait-fabric"))
    found = ties(run, gap)
    assert [(t.cause, t.transfer, t.lever) for t in found] == [("wait-fabric", "h2", "fabric")]
    assert levers_sentence(found) == ""


def test_a_wait_for_what_is_not_made_yet_points_at_the_producer() -> None:
    run = worked_run(2, 2)
    gap = next(g for g in kernel_gaps(run, "k3", "wait-input"))
    assert [(t.cause, t.lever) for t in ties(run, gap)] == [("wait-input", "producer")]


def test_a_kernel_at_work_has_no_gap_and_a_drain_no_ties() -> None:
    run = worked_run(1, 1)
    assert gap_at(run, "k1", int(run.timeline.step_at(5))) is None
    drain = gap_at(run, "k1", int(run.timeline.step_at(95)))
    assert drain is not None
    assert drain.cause == "drain"
    assert ties(run, drain) == ()


def test_a_wait_for_a_sample_says_when_the_host_had_decoded_it() -> None:
    run = open_run(1, "mlp", apply_knob(mesh_config(samples=3), "decode_rate", "1e4"), {}).run
    first = run.program.kernels[0].id
    gap = next(g for g in kernel_gaps(run, first, "wait-host") if g.sample == 1)
    found = ties(run, gap)
    assert [tie.lever for tie in found] == ["host"]
    assert found[0].sentence.endswith("the host had decoded it by 170,000")


def test_a_wait_for_weights_says_since_when_they_pass_the_ports() -> None:
    run = mlp_streaming().run
    gap = kernel_gaps(run, run.program.kernels[1].id, "wait-weights")[0]
    found = ties(run, gap)
    assert [(tie.cause, tie.lever) for tie in found] == [("wait-weights", "weights")]
    stream = next(i for i, s in enumerate(run.program.streams) if s.kernel == "fc1")
    began = run.timeline.start[len(run.program.kernels) + stream, gap.sample]
    assert found[0].sentence == (
        f"the weights of fc1 for sample {gap.sample} arrive at cycle {gap.t1:,}, through the "
        f"ports since {began:,}"
    )


def test_a_wait_for_what_comes_back_says_since_when_it_passes_the_ports() -> None:
    run = spilled_run()
    back = {t.id: t for t in run.program.transfers if t.comes_back}
    waited = [
        gap for t in back.values() for gap in kernel_gaps(run, t.consumers[0], "wait-weights")
    ]
    found = [tie for gap in waited for tie in ties(run, gap) if tie.transfer in back]
    assert found
    for tie in found:
        tensor = back[tie.transfer].tensor
        assert (tie.cause, tie.lever) == ("wait-weights", "weights")
        assert f"'{tensor}' of sample " in tie.sentence
        assert "arrives from outside at cycle" in tie.sentence
        assert "through the weight ports since" in tie.sentence
