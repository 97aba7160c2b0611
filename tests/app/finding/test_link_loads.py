"""Loads of links in every step: against every step painted, and two flows on one link on paper."""

from __future__ import annotations

import numpy as np
import pytest

from app.finding.link_loads import FlowTable, flow_table
from app.runs.run import Run
from engine.metrics import LINK_PLANES
from engine.traffic import Flow
from engine.transfers import Pattern
from tests.app.sessions import mlp_run


class Known:
    """Rates given as numbers."""

    def __init__(self, rates: np.ndarray) -> None:
        self._rates = rates
        self.shape = (len(rates), rates.shape[1])

    def row(self, flow: int) -> np.ndarray:
        return np.asarray(self._rates[flow])

    def at(self, step: int) -> np.ndarray:
        return np.asarray(self._rates[:, step])

    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        moves = self._rates > 0
        return moves.argmax(axis=1), moves.shape[1] - moves[:, ::-1].argmax(axis=1)


def dense(table: FlowTable, limit: float) -> np.ndarray:
    """Return bool (flows, steps): where a link of a flow is above a limit."""
    found = np.zeros(table.rates.shape, bool)
    for flow, steps in table.exceeding(LINK_PLANES, limit, or_equal=False):
        found[flow, steps] = True
    return found


def _painted(run: Run, table: FlowTable, step: int) -> float:
    """Return the most loaded link of a step from a map of rates."""
    best = 0.0
    for plane in LINK_PLANES:
        load = np.zeros(run.grid)
        for flow, rate in zip(table.flows, table.rates.at(step), strict=True):
            for pattern in flow.patterns:
                if pattern.plane == plane and rate:
                    row, col, end_row, end_col = pattern.rect
                    words = pattern.words if pattern.axis == "x" else pattern.words[:, None]
                    load[row:end_row, col:end_col] += rate * words / flow.unit
        best = max(best, float(load.max()))
    return best


@pytest.mark.parametrize("limit", [0.2, 0.5, 0.9])
def test_agrees_with_every_step_painted(limit: float) -> None:
    run = mlp_run()
    table = flow_table(run)
    found = dense(table, limit).any(axis=0)
    painted = [_painted(run, table, step) > limit + 1e-9 for step in range(run.timeline.steps)]
    assert found.tolist() == painted
    assert any(painted)
    assert not all(painted)


def test_rates_never_exceed_a_link() -> None:
    table = flow_table(mlp_run())
    assert not list(table.exceeding(LINK_PLANES, 1.0, or_equal=False))


def _two_flows() -> FlowTable:
    """100 wavelets each over one link: [0,50) one at 1, [50,150) both at 1/2, [150,200) one."""

    def flow(name: str, index: int, start: int) -> Flow:
        words = np.full(2, 100, np.int64)
        return Flow(name, False, index, 100, (Pattern("east", "x", 0, 1, start, words),))

    flows = (flow("a", 0, 0), flow("b", 1, 1))  # they share the link of column 1
    rates = np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]])
    return FlowTable(flows, Known(rates))


def test_two_flows_share_a_link() -> None:
    table = _two_flows()
    assert table.at(0, 0, LINK_PLANES).tolist() == [1.0, 0.5, 0.0]
    assert table.at(0, 1, LINK_PLANES).tolist() == [1.0, 1.0, 1.0]
    assert table.at(1, 1, LINK_PLANES).tolist() == [0.0, 0.0, 0.0]
    full = dense(table, 0.9)
    assert full.tolist() == [[True, True, False], [False, True, True]]


def test_a_limit_that_is_met_counts_only_when_equal_is_asked_for() -> None:
    table = _two_flows()
    assert list(table.exceeding(LINK_PLANES, 1.0, or_equal=True))
    assert not list(table.exceeding(LINK_PLANES, 1.0, or_equal=False))
