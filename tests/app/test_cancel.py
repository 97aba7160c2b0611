"""Cancelling a compile: it ends at once and the run on screen stays."""

from __future__ import annotations

import time
from functools import lru_cache

import pytest

from app.debugger import Debugger
from app.runs.opening import load_graph
from app.runs.run import Run, make_run
from lowering.config import CompileConfig

LIMIT = 5.0
"""seconds within which the work must have ended; how soon it does is benchmarks/bench_knobs"""


@lru_cache(maxsize=1)
def _large_run() -> Run:
    """Return gpt2-small, shapes only, on a whole wafer."""
    graph = load_graph("gpt2-small", {}, shape_only=True)
    return make_run(1, graph, CompileConfig(), "gpt2-small")


@pytest.mark.parametrize("after", [0.0, 0.05, 0.15, 0.3])
def test_cancel_ends_the_work_and_keeps_the_run(after: float) -> None:
    run = _large_run()
    session = Debugger(run)
    session.do("set", "fusion", "bias")
    time.sleep(after)
    session.do("cancel")
    session.wait(LIMIT)
    assert session.job is not None
    assert session.job.state == "cancelled"
    assert session.run is run
