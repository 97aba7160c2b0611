"""Jit kernels compiled with progress: only where needed, beside the session, stoppable."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.session import valuing, warming
from app.session.warming import COMPILING, compile_if_needed, compile_kernels
from engine.progress import Cancelled, Progress, ProgressState
from tests.app.sessions import mlp_run, mlp_session


def test_progress_counts_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "warm_up", lambda: None)
    monkeypatch.setattr(warming, "ready_count", lambda: (3, 5))
    seen: list[ProgressState] = []
    compile_kernels(Progress(seen.append))
    assert seen[0] == ProgressState(COMPILING, 0, 5, "kernels")


def test_a_fault_while_compiling_is_raised_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("no compiler")

    monkeypatch.setattr(warming, "warm_up", broken)
    with pytest.raises(RuntimeError, match="no compiler"):
        compile_kernels()


def test_small_programs_wait_for_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    monkeypatch.setattr(warming, "must_compile", lambda: True)
    monkeypatch.setattr(warming, "compile_kernels", lambda progress: called.append("now"))
    compile_if_needed(mlp_run().program)
    assert called == []
    monkeypatch.setattr(warming, "INTERPRETED_CHUNKS", 1)
    compile_if_needed(mlp_run().program)
    assert called == ["now"]


def test_compiling_can_be_cancelled() -> None:
    with pytest.raises(Cancelled):
        compile_kernels(Progress(cancelled=lambda: True))


def test_a_session_shows_kernels_compiled_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    go = threading.Event()

    def slow(progress: Progress) -> None:
        progress.stage(COMPILING, 28, "kernels")
        go.wait(10)

    monkeypatch.setattr(valuing, "must_compile", lambda: True)
    monkeypatch.setattr(valuing, "compile_kernels", slow)
    session = mlp_session()
    session.warm_up()
    job = session.view_status().job
    assert job is not None
    assert (job.what, job.state) == ("first start", "running")
    session.set_knob("samples", 2)
    session.wait(60)
    assert session.run.program.samples == 2
    assert session.do("cancel").startswith("kernels go on being compiled")
    go.set()


def test_a_warm_machine_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valuing, "must_compile", lambda: False)
    session = mlp_session()
    session.warm_up()
    assert session.job is None


def test_help_loads_no_compiler(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom app.cli.main import main\nmain(['--help'])\n"
        "assert not {'numba', 'numpy', 'dash', 'textual'} & set(sys.modules)"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
