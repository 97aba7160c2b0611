"""A program that does not fit: shown, explained, marked, recorded; never passed off as running."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest

from app.cli.main import main
from app.debugger import Debugger
from app.runs.opening import open_run
from app.runs.run import Run
from app.runs.saving import load_run
from app.web import Registry
from app.web.callbacks import show_run
from tests.app.sessions import mesh_config
from tests.app.web.rendered import text


@lru_cache(maxsize=1)
def what_if() -> Run:
    """Return the transformer demo on 6 x 6 PEs: far too small."""
    return open_run(970, "transformer", mesh_config(6, 2), {}).run


def test_map_marks_every_kernel_that_overflows() -> None:
    session = Debugger(what_if())
    over = {row.name for row in what_if().compiled.report.rows if row.sram_bytes > 48 * 1024}
    assert over
    for outline in session.view_map(6, 6).outlines:
        names = set(outline.name.split(", "))
        assert outline.severity == ("alert" if names & over else "ok")
    session.set_metric("sram_allocated")
    view = session.view_map(6, 6)
    assert view.severity == "alert"
    assert "need more than their 49,152 B" in view.sentence


def test_report_explains_and_marks_its_figures() -> None:
    view = Debugger(what_if()).view_report()
    assert not view.fits
    assert view.smallest_machine == "mesh-64x64"
    gaps = [row.gap / row.bound for row in view.overflows]
    assert gaps == sorted(gaps, reverse=True)
    assert view.overflows[0].holders
    assert view.overflows[0].levers
    figures = dict(view.headline)
    assert figures["makespan"].endswith("; would not run")
    assert "would not run" not in figures["parameters"]
    assert all("would not run" not in value for _, value in fitting().view_report().headline)


def fitting() -> Debugger:
    return Debugger(open_run(971, "mlp", mesh_config(), {}).run)


def test_pe_says_by_how_much_its_sram_is_short() -> None:
    session = Debugger(what_if())
    view = next(
        pe for row in range(6) for col in range(6)
        if (pe := session.view_pe(row, col)) is not None and pe.severity == "alert"
    )  # fmt: skip
    assert "short by" in view.sentence
    assert view.standing == "would not run"
    assert not all(row.fits for row in view.sram)


def test_browser_shows_notice_and_mark() -> None:
    registry = Registry(Debugger(what_if()))
    header, notice, report = show_run(registry, {"session": f"{registry.epoch}-0123456789"})
    assert "would not run" in text(header)
    words = text(notice)
    assert "Does not fit:" in words
    assert "held by:" in words
    assert "(knob machine)" in words
    assert "It would fit on mesh-64x64." in words
    assert "; would not run" in text(report)


def test_run_exits_1_and_writes_the_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "big.wscope"
    words = ["transformer", "--machine", "mesh-6x6", "--samples", "2", "--set", "mode=pipeline"]
    assert main(["run", *words, "-o", str(path)]) == 1
    assert "would not run" in capsys.readouterr().out
    assert not load_run(972, path).run.program.would_run
    assert main(["check", *words]) == 1
    out = capsys.readouterr().out
    assert out.count("does not fit:") <= 12
    assert "it would fit on" in out
