"""Config files, folders and Zoo files on the command line and in the API."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--task", "decode"], "decode needs the kv length"),
        (["--task", "guess"], "task 'guess' is unknown"),
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
