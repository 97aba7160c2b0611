"""The pytest marker `waferscope`: a test that fails when a model breaks its gates on a machine.

    @pytest.mark.waferscope("model.onnx", "sram > 46KB", "utilization < 20%", machine="wse2")
    def test_mapping(waferscope_run):
        assert waferscope_run.timeline.makespan < 2_000_000

A relative model is looked for beside the test's file. What does not fit and a broken ledger fail
the test too. Other keywords are knobs. pytest loads this in every project that has Waferscope
installed, so nothing heavy is imported before a marked test runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from app.runs.run import Run

MARK = "waferscope"


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(model, *fail_on, machine='wse2', dims=None, **knobs): run a model on a machine; "
        "the test fails when it does not fit or a condition of fail_on holds",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let every marked test run its model, whether it asks for the run or not."""
    for item in items:
        if item.get_closest_marker(MARK) and isinstance(item, pytest.Function):
            item.fixturenames.insert(0, f"{MARK}_run")


@pytest.fixture
def waferscope_run(request: pytest.FixtureRequest) -> Run:
    """Return the run of the marked model."""
    from app import api
    from app.gates.gate import check_condition

    marker = request.node.get_closest_marker(MARK)
    if marker is None:
        pytest.fail("waferscope_run needs @pytest.mark.waferscope(model, ...)", pytrace=False)
    if not marker.args:
        pytest.fail("@pytest.mark.waferscope needs a model: a file or a demo's name", pytrace=False)
    model, *conditions = map(str, marker.args)
    try:
        for text in conditions:
            check_condition(text)
        return api.run(_beside(request.path, model), **marker.kwargs)
    except (ValueError, OSError, api.RecordingError) as error:
        pytest.fail(f"{model}: {error}", pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Judge the run of a marked test before its own lines."""
    marker = item.get_closest_marker(MARK)
    if marker is None or not isinstance(item, pytest.Function):
        return
    model, *conditions = map(str, marker.args)
    run: Run = item.funcargs[f"{MARK}_run"]  # type: ignore[assignment]
    machine, broken = _broken(run, conditions)
    if broken:
        where = f"{model} on {machine}: "
        pytest.fail("\n".join(where + sentence for sentence in broken), pytrace=False)


def _broken(run: Run, conditions: list[str]) -> tuple[str, list[str]]:
    """Return the machine's name and a sentence on each thing that is wrong with a run."""
    from app import api
    from app.gates.gate import GateError, judge

    summary = api.summary(run)
    broken = [item["sentence"] for item in summary["sram"]["overflows"]]
    laws = [check for check in summary["ledger"]["checks"] if not check["ok"]]
    broken += [f"ledger: {check['name']}: {check['detail']}" for check in laws]
    try:
        verdicts = [judge(text, summary) for text in conditions]
    except GateError as error:
        return summary["machine"], [*broken, str(error)]
    broken += [f"{v.text}: {v.sentence()}" for v in verdicts if v.holds]
    return summary["machine"], broken


def _beside(test: Path, model: str) -> str:
    found = test.parent / model
    return str(found) if found.exists() else model
