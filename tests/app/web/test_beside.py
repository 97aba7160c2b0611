"""The map of the run compared with: tied step, the other's frames, one scale of colours."""

from __future__ import annotations

import numpy as np
import pytest
from flask.testing import FlaskClient

from app.comparison.compare import progress_at, tied_step
from app.debugger import Debugger
from app.runs.frames import metric_scale
from app.web import Registry


@pytest.fixture
def compared(client: FlaskClient, session: str, registry: Registry) -> Debugger:
    """Return the tab's debugger with two samples on screen, compared with the run of four."""
    debugger = registry.get(session)
    debugger.do("set", "samples", 2)
    debugger.wait(60)
    debugger.do("compare")
    return debugger


def test_step_of_the_other_run_is_at_the_same_progress(
    client: FlaskClient, session: str, compared: Debugger
) -> None:
    a, b = compared.compared, compared.run
    assert a is not None
    for step in (0, 7, b.timeline.steps - 1):
        told = client.get(f"/api/beside/{session}/{b.id}/{step}").get_json()
        assert (told["run"], told["step"]) == (a.id, tied_step(a, progress_at(b, step)))
        assert told["grid"] == list(a.grid)
        assert f"step {told['step']:,} of {a.timeline.steps:,}" in told["caption"]
    names = {item["name"] for item in told["outlines"]}
    assert names == {kernel.id for kernel in a.program.kernels}
    assert client.get(f"/api/beside/{session}/{b.id}/{b.timeline.steps}").status_code == 204


def test_frames_are_those_of_the_other_run(
    client: FlaskClient, session: str, compared: Debugger
) -> None:
    a, b = compared.compared, compared.run
    assert a is not None
    step = a.timeline.steps - 1
    assert step >= b.timeline.steps
    data = client.get(f"/api/beside-frame/{session}/{a.id}/traffic/{step}").data
    assert data == compared.compared_frame("traffic", step).data
    assert client.get(f"/api/beside-frame/{session}/{b.id}/traffic/0").status_code == 204
    assert client.get(f"/api/beside-frame/{session}/{a.id}/nope/0").status_code == 404
    assert client.get(f"/api/beside-frame/{session}/{a.id}/traffic/99999").status_code == 404


def test_equal_values_have_equal_colours(
    client: FlaskClient, session: str, compared: Debugger
) -> None:
    a, b = compared.compared, compared.run
    assert a is not None
    mine = metric_scale(b, "traffic", False)
    answer = client.get(f"/api/beside-levels/{session}/{a.id}/{b.id}/traffic/0")
    unit = float(answer.headers["X-Unit-Per-Code"])
    assert unit == metric_scale(a, "traffic", False).unit_per_code
    levels = np.frombuffer(answer.data, np.uint8)
    values = np.minimum(np.arange(levels.size) * unit, mine.hi)
    np.testing.assert_array_equal(levels, np.minimum(values / mine.hi * 256, 255).astype(np.uint8))


def test_nothing_is_told_when_nothing_is_compared(
    client: FlaskClient, session: str, compared: Debugger
) -> None:
    a, b = compared.compared, compared.run
    assert a is not None
    compared.do("compare", "off")
    for path in (f"beside/{session}/{b.id}/0", f"beside-frame/{session}/{a.id}/traffic/0",
                 f"beside-levels/{session}/{a.id}/{b.id}/traffic/0"):  # fmt: skip
        assert client.get(f"/api/{path}").status_code == 204
