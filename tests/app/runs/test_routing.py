"""Runs timed with the tokens that experts take: in a session, on the command line, in a file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.advice.lab import CompileLab
from app.cli.main import OK, main
from app.debugger import Debugger
from app.runs.routing import recorded_routing
from app.runs.run import make_run
from app.runs.saving import load_run, save_run, verify_recording
from engine.experts import spread_out, token_counts
from engine.ledger import operations_match
from engine.models import program_models
from engine.program import Kernel
from engine.recording import RecordingError
from engine.validate import validate
from lowering.cache import StageCache
from tests.app.sessions import mesh_config
from tests.factories.mixtures import SKEWED, mixture, tokens_to
from tests.lowering.frontends.huggingface.files import write_config, write_tensors
from tests.lowering.frontends.huggingface.test_folder import LLAMA, llama_tensors


def session_with(counts: tuple[int, ...]) -> Debugger:
    """Return a session on the mixture, its values computed from tokens of these experts."""
    session = Debugger(make_run(700, mixture(), mesh_config(16), "mixture"))
    session.compute_values({"x": tokens_to(counts)})
    job = session.wait(60)
    assert job is not None
    assert job.state == "done", job.message
    return session


def the_kernel(session: Debugger) -> Kernel:
    return session.run.program.kernel("moe")


def test_values_time_the_run_anew_and_undo_brings_the_even_spread_back() -> None:
    session = session_with(SKEWED)
    skewed = session.run
    assert session.message.endswith("timed with the tokens that each expert takes")
    assert np.sum(the_kernel(session).experts, axis=0).tolist() == list(SKEWED)
    assert "tokens by expert 3:1:0:0" in session.view_report().text
    assert session.view_values().state == "ready"
    session.undo()
    assert the_kernel(session).experts == ()
    assert "assumed to spread evenly" in session.view_report().text
    assert session.run.id != skewed.id
    assert session.run.timeline.makespan < skewed.timeline.makespan


def test_other_tokens_time_it_once_more() -> None:
    session = session_with(SKEWED)
    session.compute_values({"x": tokens_to((0, 0, 0, 4))})
    session.wait(60)
    assert np.sum(the_kernel(session).experts, axis=0).tolist() == [0, 0, 0, 4]


def test_knobs_and_trials_keep_the_tokens_and_another_seed_drops_them() -> None:
    """Else every knob would seem to gain what the even spread gains."""
    session = session_with(SKEWED)
    skewed = session.run
    trial = CompileLab(skewed, StageCache()).measure(())
    assert trial.makespan == skewed.timeline.makespan
    session.set_knob("slots", 3)
    session.wait(60)
    assert np.sum(the_kernel(session).experts, axis=0).tolist() == list(SKEWED)
    session.set_knob("seed", 3)
    session.wait(60)
    assert the_kernel(session).experts == ()


def test_recording_carries_the_tokens_and_verifies(tmp_path: Path) -> None:
    run, path = session_with(SKEWED).run, tmp_path / "mixture.wscope"
    save_run(run, path)
    checks = verify_recording(path)
    assert all(check.ok for check in checks), [c for c in checks if not c.ok]
    opened = load_run(1, path).run
    assert opened.remarks == ()
    assert opened.program.kernel("moe").experts == run.program.kernel("moe").experts
    assert opened.timeline.makespan == run.timeline.makespan


def test_routing_of_a_program_has_the_counts_of_its_kernel() -> None:
    program = session_with(SKEWED).run.program
    kernel = program.kernel("moe")
    again = token_counts(recorded_routing(program)["moe"], 4, kernel.tiling.m_parts)
    assert again == kernel.experts


def test_counts_that_no_routing_gives_are_refused() -> None:
    with pytest.raises(ValueError, match="4 tokens of 1 experts each do not give counts"):
        spread_out(((2, 0), (0, 1)), 4, 1)


@pytest.mark.parametrize(
    ("experts", "said"),
    [
        (((1, 0, 0, 0),), "1 groups of tokens, its tiling has 4"),
        (((1, 0, 0),) * 4, "tokens of 4 experts, none below 0, are wanted"),
        (((2, -1, 0, 0),) * 4, "tokens of 4 experts, none below 0, are wanted"),
        (((2, 0, 0, 0),) * 4, "the experts of a group do not take its tokens, 1 experts each"),
    ],
)
def test_a_damaged_program_says_what_is_wrong(
    experts: tuple[tuple[int, ...], ...], said: str, tmp_path: Path
) -> None:
    run = session_with(SKEWED).run
    broken = replace(run.program, kernels=(replace(run.program.kernels[0], experts=experts),))
    assert any(said in text for text in validate(broken))
    path = tmp_path / "broken.wscope"
    execution = replace(run.execution, program=broken)
    save_run(replace(run, execution=execution), path)
    with pytest.raises(RecordingError, match="cannot be executed"):
        load_run(1, path)


def test_tokens_that_are_lost_break_the_law_of_operations() -> None:
    run = session_with(SKEWED).run
    lost = tuple((0, *counts[1:]) for counts in run.program.kernels[0].experts)
    broken = replace(run.program, kernels=(replace(run.program.kernels[0], experts=lost),))
    check = operations_match(broken, program_models(broken))
    assert not check.ok
    assert "kernel 'moe' executes" in check.detail


def test_command_line_times_what_it_computed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    write_config(folder, **{**LLAMA, "num_local_experts": 4, "model_type": "mixtral"})
    write_tensors(folder / "model.safetensors", llama_tensors("experts"))
    common = [str(folder), "--machine", "mesh-48x48", "--sequence", "6"]
    file = tmp_path / "run.wscope"
    assert main(["run", *common, "-o", str(file)]) == OK
    assert "as computed for sample 0, in every sample: tokens by expert" in capsys.readouterr().out
    assert main(["verify", str(file)]) == OK
    capsys.readouterr()
    assert main(["run", *common, "--values", "none", "--json"]) == OK
    plain = json.loads(capsys.readouterr().out)
    assert plain["ledger"]["ok"]
    assert main(["run", *common, "--values", "none"]) == OK
    assert "assumed to spread evenly over the experts of 1 mixture" in capsys.readouterr().out
