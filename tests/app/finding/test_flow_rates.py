"""Rates of flows: a row, a step and the span agree with the timeline's words."""

from __future__ import annotations

import numpy as np
import pytest

from app.finding.link_loads import flow_table
from app.runs.run import Run
from tests.app.sessions import mlp_run, mlp_streaming


@pytest.mark.parametrize("run", [mlp_run(), mlp_streaming().run], ids=["pipeline", "streaming"])
def test_rows_steps_and_spans_are_one_table(run: Run) -> None:
    table = flow_table(run)
    flows, steps = table.rates.shape
    rows = np.stack([table.rates.row(flow) for flow in range(flows)])
    columns = np.stack([table.rates.at(step) for step in range(steps)], axis=1)
    np.testing.assert_allclose(rows, columns, atol=1e-6)
    for flow, first, end in zip(rows, *table.rates.spans(), strict=True):
        moving = np.flatnonzero(flow)
        assert (first, end) == ((moving[0], moving[-1] + 1) if moving.size else (0, 0))


@pytest.mark.parametrize("run", [mlp_run(), mlp_streaming().run], ids=["pipeline", "streaming"])
def test_rates_over_time_are_the_words_that_moved(run: Run) -> None:
    table = flow_table(run)
    traffic = run.execution.fields.traffic
    cycles = np.diff(run.timeline.times)
    for index, flow in enumerate(table.flows):
        moved = float(table.rates.row(index).astype(np.float64) @ cycles)
        starts = run.timeline.segment_start
        pieces = 0 if flow.is_kernel else starts[flow.index + 1] - starts[flow.index]
        assert abs(moved - float(traffic.amounts(flow)[-1])) <= pieces + 1e-3 * moved
