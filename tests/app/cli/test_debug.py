"""`waferscope debug`: text, JSON, exit codes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from app.cli.main import main

MESH = ("--machine", "mesh-64x64")


def _script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "cmds.txt"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_text_of_a_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = str(tmp_path / "r.wscope")
    assert main(["run", "mlp", *MESH, "-o", recording]) == 0
    script = _script(tmp_path, "watch link > 90%\ncontinue\nbreaks\nadvise 2\nadvice\n")
    capsys.readouterr()
    assert main(["debug", recording, "--script", script]) == 0
    out = capsys.readouterr().out
    assert "> continue\nbreakpoint 1 (link > 90%) turned true" in out
    assert "tried" in out


def test_json_is_one_object_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = _script(tmp_path, "next\nhot-links\nwhy\n")
    assert main(["debug", "mlp", *MESH, "--script", script, "--json"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [a["command"] for a in answers] == ["next", "hot-links", "why"]
    assert answers[1]["view"]["rows"][0]["senders"]


def test_a_failing_line_stops_with_its_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["debug", "mlp", *MESH, "--script", _script(tmp_path, "next\nnexxt\n")]) == 2
    assert "line 2 ('nexxt'): there is no command 'nexxt'; did you mean 'next'?" in (
        capsys.readouterr().err
    )


def test_standard_input_and_files_that_are_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("next\n"))
    assert main(["debug", "mlp", *MESH, "--script", "-"]) == 0
    assert "> next" in capsys.readouterr().out
    assert main(["debug", "mlp", *MESH, "--script", "not-there.txt"]) == 2
    assert "the script not-there.txt cannot be read" in capsys.readouterr().err
    assert main(["debug", "x.wscope", *MESH, "--script", "-"]) == 2
    assert "carries its own knobs" in capsys.readouterr().err
