"""The roofline: nothing passes its roof, the axes hold every point."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.debugger import Debugger
from app.runs.opening import open_run
from app.runs.run import Run
from app.views.build_roofline import view_roofline
from tests.app.sessions import mesh_config, mlp_run, mlp_streaming


@pytest.fixture(scope="module", params=["mlp", "cnn", "transformer"])
def run(request: pytest.FixtureRequest) -> Run:
    return open_run(990, request.param, mesh_config(256), {}).run


def test_no_kernel_passes_its_roof(run: Run) -> None:
    view = view_roofline(run)
    assert view.whole is not None
    for point in (*view.points, view.whole):
        assert 0 < point.share <= 1, point.sentence
        assert point.rate <= point.inside_rate * 1.000001
        roofs = [r.ops_per_cycle for r in view.roofs if r.ops_per_cycle is not None]
        assert point.attainable <= min(roofs)


def test_axes_hold_every_point(run: Run) -> None:
    view = view_roofline(run)
    for point in view.points:
        assert 10.0 ** view.y_decades[0] <= point.rate <= 10.0 ** view.y_decades[1]
        if point.x is not None:
            assert 10.0 ** view.x_decades[0] <= point.x <= 10.0 ** view.x_decades[1]
    assert set(view.silent) | {p.kernel for p in view.points} == {
        kernel.id for kernel in run.program.kernels
    }


def test_streamed_weights_place_a_kernel_by_their_bytes() -> None:
    session = mlp_streaming()
    view = session.view_roofline()
    assert {point.x_of for point in view.points} == {"weights"}
    for point in view.points:
        assert point.x == point.ops / point.weight_bytes
    assert view.whole is not None
    assert view.whole.share <= 1


def test_selection_is_told() -> None:
    session = Debugger(mlp_run())
    session.do("kernel", "fc1")
    assert session.view_roofline().selected == "fc1"


def test_a_program_without_arithmetic_says_so() -> None:
    run = mlp_run()
    rows = tuple(replace(row, ops=0) for row in run.compiled.report.rows)
    report = replace(run.compiled.report, rows=rows)
    view = view_roofline(replace(run, compiled=replace(run.compiled, report=report)))
    assert view.points == ()
    assert view.whole is None
    assert "no kernel computes" in view.sentence
