"""Sweeps: which points, what a row says, which rows are on the front; pool and table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from app.configs.file import ConfigFileError
from app.runs.figures import figures
from app.runs.opening import load_graph
from app.sweep.pool import run_points
from app.sweep.sweep import FIGURES, Point, Row, pareto, parse_vary, plan_points, run_point
from app.sweep.table import read_table, table_text, write_table
from lowering.config import CompileConfig, KnobError
from lowering.graph import Graph
from tests.app.sessions import mesh_config, mlp_run

ROOT = Path(__file__).resolve().parents[3]
VARY = ("samples=1,2,3,4", "slots=1,2,auto")


@lru_cache(maxsize=1)
def mlp() -> Graph:
    return load_graph("mlp", {}, shape_only=True)


@lru_cache(maxsize=1)
def points() -> tuple[Point, ...]:
    return plan_points(mlp(), mesh_config(), VARY)


@lru_cache(maxsize=1)
def here() -> dict[str, Row]:
    """The rows of twelve points, run in this process."""
    return {row.key: row for row in run_points(mlp(), points(), 1)}


def row(status: str, throughput: float, sram: float, pes: float) -> Row:
    numbers = dict.fromkeys(FIGURES, "0")
    numbers |= {"throughput_samples_per_mcycle": str(throughput), "sram_peak_bytes": str(sram),
                "pes_used": str(pes)}  # fmt: skip
    return Row((f"{throughput}-{sram}-{pes}",), status, tuple(numbers.values()), "k")


def test_values_are_split_at_commas_or_semicolons() -> None:
    assert parse_vary("samples=1, 2,4") == ("samples", ("1", "2", "4"))
    assert parse_vary("pin@fc1=4x4 at 0,0; auto") == ("pin@fc1", ("4x4 at 0,0", "auto"))
    for text in ("samples", "=1", "samples=", "samples=,"):
        with pytest.raises(KnobError, match="must be KNOB=V1,V2"):
            parse_vary(text)
    with pytest.raises(KnobError, match="a value is there twice"):
        parse_vary("samples=1,1")


def test_every_combination_is_a_point_with_its_own_key() -> None:
    assert len(points()) == 12
    assert points()[0].settings == (("samples", "1"), ("slots", "1"))
    assert points()[-1].settings == (("samples", "4"), ("slots", "auto"))
    assert len({point.key for point in points()}) == 12
    other = plan_points(mlp(), replace(mesh_config(), max_chunks=2), VARY)
    assert not {point.key for point in other} & {point.key for point in points()}


def test_mistakes_are_found_before_anything_runs() -> None:
    with pytest.raises(KnobError, match="must be 1"):
        plan_points(mlp(), mesh_config(), ("samples=1,0",))
    with pytest.raises(KnobError, match="names a knob twice"):
        plan_points(mlp(), mesh_config(), ("samples=1", "samples=2"))
    many = ",".join(map(str, range(1, 400)))
    with pytest.raises(KnobError, match="at most 100,000"):
        plan_points(mlp(), mesh_config(), (f"samples={many}", f"pe_cap@fc1={many}"))


def test_row_holds_the_figures_of_the_run() -> None:
    point = next(p for p in points() if p.settings == (("samples", "4"), ("slots", "auto")))
    found, expected = here()[point.key], figures(mlp_run())
    assert found.status == "ok"
    assert found.figure("makespan_cycles") == expected.makespan
    assert found.figure("pes_used") == expected.pes_used
    assert found.figure("utilization") == pytest.approx(expected.utilization)


def test_point_that_does_not_fit_is_a_row_that_says_so() -> None:
    (point,) = plan_points(mlp(), CompileConfig(mode="pipeline"), ("machine=mesh-1x2",))
    found = run_point(mlp(), point)
    assert found.figures == ()
    assert "it would fit on" in found.status
    (what_if,) = plan_points(mlp(), mesh_config(), ("sram_bytes=4200",))
    assert run_point(mlp(), what_if).status == "what-if"


def test_front_keeps_what_nothing_beats() -> None:
    fast, small = row("ok", 9, 100, 50), row("ok", 5, 80, 50)
    beaten, equal, lost = row("ok", 5, 90, 60), row("ok", 9, 100, 50), row("what-if", 99, 1, 1)
    assert pareto([small, beaten, fast, equal, lost]) == (fast, small)
    assert pareto([lost, Row(("x",), "no room", (), "k")]) == ()


def test_processes_give_the_same_table(tmp_path: Path) -> None:
    rows = {row.key: row for row in run_points(mlp(), points(), 2)}
    assert table_text(points(), rows) == table_text(points(), here())


def test_table_is_read_back_and_only_what_belongs_to_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    assert read_table(path, points()) == {}
    write_table(path, points(), here())
    assert read_table(path, points()) == here()
    assert len(read_table(path, points()[:3])) == 3
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([head, *lines[:4], lines[4][:30]]), encoding="utf-8")
    assert len(read_table(path, points())) == 4
    other = plan_points(mlp(), mesh_config(), ("max_chunks=1,2",))
    with pytest.raises(ConfigFileError, match="cannot be continued: it is no sweep over max_ch"):
        read_table(path, other)


def test_status_with_commas_survives_the_table(tmp_path: Path) -> None:
    path, point = tmp_path / "t.csv", points()[0]
    said = Row(("1", "1"), 'no room: "2", and 3', (), point.key)
    write_table(path, points(), {point.key: said})
    assert read_table(path, points()) == {point.key: said}


def sweep_words(path: Path, *more: str) -> list[str]:
    vary = [word for text in VARY for word in ("--vary", text)]
    return [sys.executable, "-m", "app.cli.main", "sweep", "mlp", "--machine", "mesh-64x64", *vary,
            "--set", "mode=pipeline", "-o", str(path), *more]  # fmt: skip


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_stopped_half_way_and_resumed_gives_the_same_table(
    tmp_path: Path, sign: signal.Signals
) -> None:
    path = tmp_path / "t.csv"
    running = subprocess.Popen(
        sweep_words(path, "--jobs", "1"), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and running.poll() is None:
        if path.exists() and path.read_text(encoding="utf-8").count("\n") > 3:
            os.kill(running.pid, sign)
            break
        time.sleep(0.002)
    _, said = running.communicate(timeout=60)
    kept = read_table(path, points())
    assert 3 <= len(kept) < 12, said
    if sign == signal.SIGINT:
        assert running.returncode == 130
        assert f"of 12 points are in {path}; --resume goes on" in said
    again = subprocess.run(
        sweep_words(path, "--jobs", "1", "--resume"), cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert f"ran {12 - len(kept)} of 12 points" in again.stderr
    assert path.read_text(encoding="utf-8") == table_text(points(), here())


def test_ctrl_c_ends_the_processes_and_leaves_the_finished_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    many = ["--vary", "pe_cap@fc1=" + ",".join(map(str, range(20, 220)))]
    running = subprocess.Popen(
        [*sweep_words(path, "--jobs", "2"), *many], cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and running.poll() is None:
        if path.exists() and path.read_text(encoding="utf-8").count("\n") > 5:
            os.killpg(running.pid, signal.SIGINT)
            break
        time.sleep(0.01)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert 5 <= path.read_text(encoding="utf-8").count("\n") < 2400
    deadline = time.monotonic() + 10
    while living(running.pid):
        assert time.monotonic() < deadline, "processes of the sweep are still there"
        time.sleep(0.05)


def living(group: int) -> list[str]:
    """Processes of a group that are not only waiting to be reaped."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, owner = place.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(owner) == group and state != "Z":
            found.append(place.parent.name)
    return found


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """A Dask scheduler with two workers, each a process of its own."""
    code = (
        "import sys\n"
        "from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True,\n"
        "                      dashboard_address=None, host='127.0.0.1') as cluster:\n"
        "        print(cluster.scheduler_address, flush=True)\n"
        "        sys.stdin.read()\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert running.stdout is not None
    yield running.stdout.readline().strip()
    running.communicate(timeout=60)


def test_cluster_gives_the_same_table(scheduler: str) -> None:
    rows = {row.key: row for row in run_points(mlp(), points(), scheduler=scheduler)}
    assert table_text(points(), rows) == table_text(points(), here())


def test_scheduler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.sweep.pool.CONNECT_SECONDS", 0.5)
    with pytest.raises(KnobError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        list(run_points(mlp(), points()[:1], scheduler="tcp://127.0.0.1:9"))
