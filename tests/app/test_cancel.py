"""Cancelling a compile: it ends at once and the run on screen stays."""

from __future__ import annotations

import time
from functools import lru_cache

import pytest

from app.debugger import Debugger
from app.opening import load_graph
from app.run import Run, make_run
from lowering.config import CompileConfig

BUDGET = 0.2
"""seconds from the order to the end of the work: the promise of the knobs"""


@lru_cache(maxsize=1)
def _large_run() -> Run:
    """Return gpt2-small, shapes only, on a whole wafer."""
    graph = load_graph("gpt2-small", {}, shape_only=True)
    return make_run(1, graph, CompileConfig(), "gpt2-small")


@pytest.mark.parametrize("after", [0.0, 0.05, 0.15, 0.3])
def test_cancel_ends_the_work_in_time(after: float) -> None:
    run = _large_run()
    session = Debugger(run)
    session.do("set", "fusion", "bias")
    time.sleep(after)
    begun = time.process_time()
    session.do("cancel")
    session.wait(20)
    assert time.process_time() - begun < BUDGET
    assert session.job is not None
    assert session.job.state == "cancelled"
    assert session.run is run
