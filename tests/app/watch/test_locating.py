"""Elements that stand out, and the PE that keeps each: the tile of that PE holds it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.debugger import Debugger
from app.runs.run import Run
from app.watch.locating import find_element, keeper
from tests.app.sessions import mlp_run


@pytest.fixture(scope="module")
def computed() -> Run:
    session = Debugger(mlp_run())
    session.compute_values()
    session.wait(60)
    return session.run


@pytest.mark.parametrize("what", ["largest", "smallest"])
def test_the_keepers_tile_holds_the_element(computed: Run, what: str) -> None:
    kernel = computed.program.kernel("scores")
    found = find_element(computed, kernel, "scores", 0, what)
    assert found is not None
    scores = computed.values["scores"]
    assert found.value == pytest.approx(scores.max() if what == "largest" else scores.min())
    assert scores[found.index] == pytest.approx(found.value)
    assert found.pe is not None
    assert computed.computed is not None
    tile = computed.computed.tiles.read("scores", *found.pe).tile
    main = computed.computed.values.mains["scores"]  # before the bias, as the tile is
    assert np.isclose(tile.values, main[found.index]).any()


def test_nan_is_found_where_it_is(computed: Run) -> None:
    bad = computed.values["scores"].copy()
    bad.flat[5] = np.nan
    run = replace(computed, values={**computed.values, "scores": bad})
    kernel = run.program.kernel("scores")
    found = find_element(run, kernel, "scores", 0, "nan")
    assert found is not None
    assert found.index == tuple(int(i) for i in np.unravel_index(5, bad.shape))
    assert find_element(run, kernel, "scores", 0, "inf") is None
    assert find_element(run, kernel, "scores", 9, "nan") is None


def test_another_layout_has_no_keeper(computed: Run) -> None:
    assert keeper(computed, computed.program.kernel("scores"), (3, 3), 0) is None


def test_a_watch_on_a_value_names_element_and_pe(computed: Run) -> None:
    session = Debugger(computed)
    limit = float(computed.values["scores"].max()) * 0.9
    session.do("until", f"value(scores) > {limit:.4f}")
    stop = session.view_breaks().stop
    assert stop is not None
    assert stop.kernel == "scores"
    assert stop.pe is not None
    assert f"kept by PE ({stop.pe[0]}, {stop.pe[1]})" in stop.evidence[0]
