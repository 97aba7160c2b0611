"""`compare`, `sweep`, gates and config files on the command line: output, files, exit codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.cli.main import main

MESH = ("--machine", "mesh-64x64")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("compare")
    a, b = folder / "a.wscope", folder / "b.wscope"
    assert main(["run", "mlp", *MESH, "-o", str(a)]) == 0
    assert main(["run", "mlp", *MESH, "--set", "pe_cap@fc1=40", "-o", str(b)]) == 0
    return str(a), str(b)


def test_compare_prints_figures_kernels_and_knobs(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *pair]) == 0
    out = capsys.readouterr().out
    makespan = next(line for line in out.splitlines() if line.startswith("makespan"))
    assert makespan.endswith("cycles  worse")
    assert "  fc1: shrunk from 64x10 to" in out
    assert "  pe_cap@fc1: auto -> 40" in out


def test_compare_as_json(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *pair, "--json"]) == 0
    view = json.loads(capsys.readouterr().out)
    row = view["rows"][0]
    assert (row["name"], row["b"] - row["a"]) == ("makespan", row["difference"])
    assert [kernel["name"] for kernel in view["kernels"]] == ["fc0", "fc1", "scores"]


def test_compare_draws_what_differs(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "d.svg"
    assert main(["compare", *pair, "-o", str(picture), "--metric", "traffic"]) == 0
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    assert f"wrote {picture}: traffic, B less A over the run" in capsys.readouterr().err
    assert main(["compare", *pair, "-o", str(tmp_path / "d.csv")]) == 2


def test_gate_on_a_change_fails_with_4_and_writes_junit(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    junit = tmp_path / "j.xml"
    gate = ["--fail-on", "makespan>+5%", "--fail-on", "sram > 40 KB", "--junit", str(junit)]
    assert main(["compare", *pair, *gate]) == 4
    assert "gate failed: makespan>+5%: makespan>+5% holds" in capsys.readouterr().err
    suite = ElementTree.parse(junit).getroot()[0]
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == ["not (makespan>+5%)"]
    assert suite.get("failures") == "1"
    assert main(["compare", *reversed(pair), *gate]) == 0


def test_gate_of_run_and_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "mlp", *MESH, "--fail-on", "utilization < 90%"]) == 4
    assert main(["run", "mlp", *MESH, "--fail-on", "makespan > 1 M"]) == 0
    junit = tmp_path / "j.xml"
    words = ["check", "mlp", *MESH, "--fail-on", "pes > 3 and sram > 1 KB", "--junit", str(junit)]
    assert main(words) == 4
    names = [case.get("name") for case in ElementTree.parse(junit).getroot()[0]]
    assert names == ["fits the machine", "not (pes > 3 and sram > 1 KB)"]
    capsys.readouterr()
    assert main(["check", "mlp", *MESH, "--fail-on", "makespan > 3"]) == 2
    assert "a compile alone has no figures" in capsys.readouterr().err


def test_condition_that_cannot_be_read_stops_before_the_work(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "no-such-model", "--fail-on", "makespan >> 3"]) == 2
    err = capsys.readouterr().err
    assert "column 11: a number is expected, not >" in err
    assert "no-such-model" not in err


def test_what_does_not_fit_is_1_unless_a_gate_fails(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", "mlp", *MESH, "--set", "sram_bytes=4200"]
    assert main(words) == 1
    assert main([*words, "--fail-on", "fits == 0"]) == 4


def test_compare_takes_recordings_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "mlp", "cnn"]) == 2
    assert "make one with: waferscope run mlp -o F.wscope" in capsys.readouterr().err


def test_config_is_written_and_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "waferscope.yaml"
    words = ["--set", "hop_cycles=3", "--set", "pin@fc1=20x20 at 30,30", "--samples", "3"]
    assert main(["check", "mlp", *MESH, *words, "--write-config", str(path), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["check", "mlp", "--config", str(path), "--json"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert first == second
    assert second["machine"] == "mesh-64x64[hop_cycles=3]"
    assert second["kernels"][1]["region"][:2] == [30, 30]


def test_older_config_notes_what_is_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "old.yaml"
    path.write_text(
        "compile_options: {target_device: WSE-3, fp16_enabled: true}\n"
        "run_options: {num_epochs: 3}\n", encoding="utf-8",
    )  # fmt: skip
    assert main(["check", "mlp", "--config", str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["machine"] == "wse3"
    assert "note: " in err
    assert "run_options.num_epochs = 3: understood, not used; training is not modelled" in err


def test_sweep_writes_a_table_and_prints_the_front(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t.csv"
    words = ["sweep", "mlp", "--vary", "samples=1,4", "--vary", "machine=mesh-64x64,mesh-1x2",
             "-o", str(table), "--jobs", "1", "--set", "mode=pipeline"]  # fmt: skip
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "1 of 4 settings that no other beats" in out
    assert "0 do not fit and are a what-if, 2 gave no run" in out
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert [row["samples"] for row in rows] == ["1", "1", "4", "4"]
    assert [row["status"][:2] for row in rows] == ["ok", "3 ", "ok", "3 "]
    assert main([*words, "--resume", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "ran 0 of 4 points" in err
    plain = json.loads(out)["rows"]
    assert [row["pareto"] for row in plain] == [False, False, True, False]
    assert plain[1]["makespan_cycles"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--vary", "samples=1", "-o", "t.txt"], "a sweep's table is a .csv"),
        (["--vary", "samples", "-o", "t.csv"], "must be KNOB=V1,V2"),
        (["--vary", "sampels=1", "-o", "t.csv"], "did you mean 'samples'?"),
        (["--vary", "samples=1", "-o", "t.csv", "--jobs", "0"], "--jobs 0: must be 1..1024"),
        (["--vary", "samples=1", "-o", "no/such/t.csv"], "cannot write no/such/t.csv"),
    ],
)
def test_sweep_refuses_in_a_sentence(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "mlp", *MESH, *words]) == 2
    assert said in capsys.readouterr().err
