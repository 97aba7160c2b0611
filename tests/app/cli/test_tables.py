"""What there is, as a user reads it at 80 columns."""

from __future__ import annotations

import pytest

from app.cli.main import main
from engine.machine import PRESETS
from lowering.config import KNOBS


@pytest.mark.parametrize("verb", ["machines", "knobs", "ops"])
def test_lines_fit_in_80_columns(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5
    assert max(map(len, lines)) <= 80


def test_knobs_say_range_unit_and_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["knobs"]) == 0
    out = capsys.readouterr().out
    assert "slots           1..64 chunks or auto (default auto)" in out
    assert "pe_cap@KERNEL   " in out
    assert out.count("a change compiles again from: ") == len(KNOBS)


def test_every_figure_of_a_machine_has_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["machines"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    for machine in PRESETS.values():
        for name, source in machine.sources:
            assert f"{name}: {source}" in words
    assert "994 rows x 750 columns usable, of 996 x 757: 745,500 PEs" in words
