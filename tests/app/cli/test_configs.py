"""Config files, folders and Zoo files on the command line and in the API."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import waferscope

from app.cli.main import main

CONFIG = {
    "model_type": "gpt2", "n_embd": 16, "n_layer": 2, "n_head": 2, "vocab_size": 30,
    "n_positions": 16, "resid_pdrop": 0.1,
}  # fmt: skip


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A small config.json."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    return path


def test_check_reads_a_config(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", str(config), "--machine", "mesh-64x64", "--json"]
    assert main([*words, "--task", "prefill", "--sequence", "8"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["parameters"] == 30 * 16 + 16 * 16 + 2 * 3280 + 32
    assert "understood but without effect here: resid_pdrop" in said.err


def test_run_executes_a_step_of_decode(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", str(config.parent), "--machine", "mesh-64x64", "--samples", "1", "--json"]
    assert main([*words, "--task", "decode", "--kv", "9", "--dtype", "fp16"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ledger"]["ok"]
    assert found["macs"] == 2 * (12 * 16 * 16 + 2 * 9 * 16) + 30 * 16


def test_what_a_file_leaves_open_may_be_a_setting(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["check", str(config), "--machine", "mesh-64x64", "--json"]
    found = []
    for more in (
        ["--task", "decode", "--kv", "9", "--batch", "2"],
        ["--set", "task=decode", "--set", "kv=9", "--set", "batch=2", "--batch", "2"],
    ):
        assert main([*words, *more]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert found[0]["macs"] == 2 * (2 * (12 * 16 * 16 + 2 * 9 * 16) + 30 * 16)


def test_sweeps_and_scripts_take_the_task_too(
    config: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    decode = ["--machine", "mesh-64x64", "--task", "decode", "--kv", "9", "--samples", "1"]
    assert main(["run", str(config), *decode, "--json"]) == 0
    makespan = json.loads(capsys.readouterr().out)["makespan_cycles"]
    table = tmp_path / "t.csv"
    vary = ["--vary", "max_chunks=8", "--jobs", "1"]
    assert main(["sweep", str(config), *decode, *vary, "-o", str(table)]) == 0
    (row,) = csv.DictReader(table.read_text().splitlines())
    assert int(row["makespan_cycles"]) == makespan
    script = tmp_path / "s.txt"
    script.write_text("report\n")
    capsys.readouterr()
    assert main(["debug", str(config), *decode, "--script", str(script)]) == 0
    assert f"{makespan:,} cycles" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--task", "decode"], "decode needs the kv length"),
        (["--task", "guess"], "task 'guess' is unknown"),
        (["--set", "task=guess"], "task 'guess' is unknown"),
        (["--set", "batch=0"], "--batch 0: must be a number above 0"),
        (["--batch", "2", "--set", "batch=3"], "batch is said to be 2 and 3; keep one"),
        (["--batch", "x"], "--batch x: must be a number above 0"),
        (["--sequence", "17"], "a table of 16 positions and is asked for 17 tokens"),
        (["--dim", "n=3"], "no symbolic dimensions, so n cannot be fixed"),
        (["--dtype", "fp12"], "knob 'dtype' is 'fp12'"),
    ],
)
def test_wrong_options_exit_2_with_a_sentence(
    words: list[str], said: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(config), *words]) == 2
    assert said in capsys.readouterr().err


def test_options_of_configs_are_refused_for_a_demo(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "mlp", "--batch", "2"]) == 2
    assert "batch can be chosen for a config.json" in capsys.readouterr().err


def test_the_api_takes_the_same_options(config: Path) -> None:
    shape = waferscope.ModelOptions("decode", kv_length=9)
    run = waferscope.run(config, "mesh-64x64", shape=shape, samples=1)
    assert waferscope.summary(run)["samples"] == 1
    session = waferscope.open(config, "mesh-64x64", shape=shape)
    assert "layers/0/attn/q" in {kernel.id for kernel in session.run.program.kernels}
