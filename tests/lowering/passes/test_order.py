"""Updates follow their gradients, and the order still computes."""

from __future__ import annotations

import pytest

from lowering.passes import run_passes
from lowering.passes.fuse import KernelDraft, fuse
from lowering.passes.order import early_updates
from tests.factories.training import step_graph


def computes(drafts: tuple[KernelDraft, ...]) -> bool:
    """Whether every kernel comes after those that make what it reads."""
    made = {name for draft in drafts for name in draft.writes}
    for draft in drafts:
        if made.intersection(draft.reads):
            return False
        made -= set(draft.writes)
    return True


@pytest.mark.parametrize("name", ["mlp", "gpt2_2l", "resnet_s"])
def test_updates_follow_the_last_kernel_they_read(name: str) -> None:
    drafts = fuse(run_passes(step_graph(name)))
    ordered = early_updates(drafts)
    assert sorted(d.name for d in ordered) == sorted(d.name for d in drafts)
    assert computes(ordered)
    rest = [d for d in ordered if d.phase != "optimizer"]
    assert rest == [d for d in drafts if d.phase != "optimizer"]
    place = {name: turn for turn, d in enumerate(ordered) for name in d.writes}
    for turn, draft in enumerate(ordered):
        if draft.phase == "optimizer":
            last = max((place[name] for name in draft.reads if name in place), default=-1)
            assert {d.phase for d in ordered[last + 1 : turn]} <= {"optimizer"}


def test_a_graph_that_does_not_train_keeps_its_order() -> None:
    drafts = tuple(d for d in fuse(run_passes(step_graph("mlp"))) if d.phase == "forward")
    assert early_updates(drafts) == drafts
