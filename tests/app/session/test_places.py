"""Selections, hot spots and viewports."""

from __future__ import annotations

import numpy as np
import pytest

from app.commands import CommandError
from app.session import moves, places
from app.session.cursor import Viewport
from tests.app.sessions import mlp_run


def test_selected_pe_knows_its_kernel() -> None:
    run = mlp_run()
    region = run.program.kernels[0].region
    selection = places.select_pe(run, moves.start(run), region.row, region.col).cursor.selection
    assert selection.kernel == run.program.kernels[0].id


def test_pe_outside_the_mesh_is_refused_with_the_bounds() -> None:
    with pytest.raises(CommandError, match=r"\(64, 0\) lies outside.*rows are 0\.\.63"):
        places.select_pe(mlp_run(), moves.start(mlp_run()), 64, 0)


def test_unknown_kernel_gets_the_nearest_name() -> None:
    with pytest.raises(CommandError, match="did you mean 'scores'"):
        places.select_kernel(mlp_run(), moves.start(mlp_run()), "scoers")


def test_search_cycles_through_all_hits() -> None:
    run, cursor = mlp_run(), moves.start(mlp_run())
    found = []
    for _ in range(3):
        cursor = places.search(run, cursor, "fc").cursor
        found.append(cursor.selection.kernel)
    assert found == ["fc0", "fc1", "fc0"]


def test_hot_spots_come_highest_first() -> None:
    run = mlp_run()
    cursor = places.set_metric(moves.start(run), "sram_allocated").cursor
    cursor = places.next_hot(run, cursor, 1).cursor
    assert cursor.selection.pe is not None
    field = run.execution.fields.field("sram_allocated", 0)
    assert field[cursor.selection.pe] == field.max()
    again = places.next_hot(run, cursor, 1).cursor
    assert places.next_hot(run, again, -1).cursor.selection == cursor.selection


def test_unknown_metric_gets_the_nearest_name() -> None:
    with pytest.raises(CommandError, match="did you mean 'utilization'"):
        places.set_metric(moves.start(mlp_run()), "utilisation")


def test_viewport_never_leaves_the_mesh() -> None:
    run, cursor, dice = mlp_run(), moves.start(mlp_run()), np.random.default_rng(1)
    for _ in range(200):
        choice = int(dice.integers(3))
        if choice == 0:
            cursor = places.zoom(run, cursor, float(dice.choice([0.5, 2.0, 3.0]))).cursor
        elif choice == 1:
            cursor = places.pan(run, cursor, *dice.integers(-90, 90, 2).tolist()).cursor
        else:
            cursor = places.move(run, cursor, *dice.integers(-9, 9, 2).tolist()).cursor
        view = cursor.viewport
        assert 0 <= view.row <= view.row + view.rows <= 64
        assert 0 <= view.col <= view.col + view.cols <= 64
        assert view.rows >= 2
        assert view.cols >= 2


def test_focus_zooms_to_the_kernel_and_again_to_the_mesh() -> None:
    run = mlp_run()
    cursor = places.select_kernel(run, moves.start(run), "scores").cursor
    focused = places.focus(run, cursor).cursor
    region = run.region("scores")
    assert focused.viewport.rect.contains(region.row, region.col)
    assert focused.viewport.rows <= region.rows + 2
    assert places.focus(run, focused).cursor.viewport == Viewport(0, 0, 64, 64)


def test_log_is_turned_over_or_set() -> None:
    cursor = moves.start(mlp_run())
    assert not cursor.log
    on = places.set_log(cursor, "on").cursor
    assert on.log
    assert places.set_log(on, "on").cursor == on
    assert places.set_log(on, "").cursor == cursor == places.set_log(cursor, "off").cursor
    with pytest.raises(CommandError, match="log is 'maybe', must be on or off"):
        places.set_log(cursor, "maybe")
