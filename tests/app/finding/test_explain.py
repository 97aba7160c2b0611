"""Explanations: the chain from the pixel to the source nodes, and every tied cause."""

from __future__ import annotations

import pytest

from app.commands import CommandError
from app.finding.explain import explain
from app.session import moves
from tests.app.sessions import mlp_run
from tests.factories.worked import worked_run

RUN = worked_run(1, 1)
WAITING = int(RUN.timeline.step_at(36))
"""step in which k2 waits for two things at once"""


@pytest.mark.parametrize("target", ["kernel k2", "k2", "pe 0,1", "0 1"])
def test_both_tied_causes_are_named(target: str) -> None:
    view = explain(RUN, moves.start(RUN).at(WAITING), target)
    assert [(tie.cause, tie.lever) for tie in view.ties] == [
        ("wait-output", "out_slots"), ("wait-fabric", "in_slots"),
    ]  # fmt: skip
    assert "wait-output and wait-fabric (tied)" in view.sentence
    levels = [row.level for row in view.chain]
    assert levels[0] == "pixel"
    assert levels[-3:] == ["placement", "fusion", "source"]
    assert {"cause", "route"} <= set(levels)
    assert "node2" in view.chain[-1].sentence


def test_a_link_names_who_sends_over_it() -> None:
    view = explain(RUN, moves.start(RUN).at(WAITING), "link 0,0 east")
    assert "carries 1 wavelets a cycle (100.0 %): k1 to k2 100.0 %" in view.sentence
    assert view.place == (0, 0, 1, 1)
    assert [row.name for row in view.chain if row.level == "source"] == ["node1", "node2"]


def test_a_step_names_all_that_wait() -> None:
    view = explain(RUN, moves.start(RUN), f"step {WAITING}")
    causes = [row.name for row in view.chain if row.level == "cause"]
    assert causes == ["", "k1", "k2", "k2"]
    assert view.step == WAITING


def test_a_pe_without_a_kernel_says_so() -> None:
    view = explain(RUN, moves.start(RUN), "1,3")
    assert "no kernel was placed on PE (1, 3)" in view.sentence


def test_nothing_means_the_selection_then_the_step() -> None:
    run = mlp_run()
    cursor = moves.start(run)
    assert explain(run, cursor).kind == "step"
    from app.session.places import select_kernel, select_pe

    assert explain(run, select_kernel(run, cursor, "fc1").cursor).target == "fc1"
    view = explain(run, select_pe(run, cursor, 3, 4).cursor)
    assert view.target == "PE (3, 4)"
    assert "relu0" in view.chain[-1].sentence


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("link 0,0 up", "there is no link 'up'"),
        ("pe 9,9", "lies outside the mesh"),
        ("step 400", "step 400 does not exist"),
        ("kernel zz", "there is no kernel 'zz'"),
    ],
)
def test_what_does_not_exist_is_named(target: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        explain(RUN, moves.start(RUN), target)
