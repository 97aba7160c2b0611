"""The smallest machine for a streaming compile that does not fit: what is tried, what is said."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from engine.kernels.dot.spec import Dot
from engine.machine import PRESETS, MachineSpec, generic_mesh, parse_machine
from engine.progress import Cancelled, Progress
from lowering import larger, remedy
from lowering.assembly import Job, Made
from lowering.cache import StageCache
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig
from lowering.frontends.huggingface.loading import load_config
from lowering.graph import Graph
from lowering.larger import larger_machines, streaming_machine
from lowering.streaming import compile_streaming
from tests.factories.graphs import tiny_graph

FULL_SIZE = Path(__file__).parents[1] / "data" / "huggingface" / "full_size.json"
SMALL = CompileConfig(machine=generic_mesh(4, 4), mode="streaming")


def wide() -> Graph:
    """Return two products whose activations alone take 1 MB each: 64 KB a PE of 4 x 4."""
    names = ["x", "y0", "y1"]
    ops = [Dot(inputs=(a, f"w{i}"), outputs=(b,)) for i, (a, b) in enumerate(pairwise(names))]
    shapes = dict.fromkeys(names, (512, 512)) | {f"w{i}": (512, 512) for i in range(2)}
    return tiny_graph(shapes, *ops)


def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that fills with the machines on which a compile was tried."""
    names: list[str] = []

    def noted(job: Job) -> Made:
        names.append(job.config.machine.name)
        return compile_streaming(job)

    monkeypatch.setattr(larger, "compile_streaming", noted)
    return names


def test_machines_with_more_pes_come_the_smallest_first() -> None:
    names = [machine.name for machine in larger_machines(generic_mesh(128, 128))]
    assert names == ["mesh-256x256", "mesh-512x512", "wse1", "wse2", "wse3"]
    assert larger_machines(PRESETS["wse3"]) == []


def test_the_machine_that_is_named_holds_the_streaming_compile() -> None:
    report = compile_graph(wide(), SMALL).report
    assert report.mode == "streaming"
    assert not report.fits
    assert report.smallest_machine == "mesh-64x64"
    assert report.wafers is None
    there = replace(SMALL, machine=parse_machine(report.smallest_machine))
    assert compile_graph(wide(), there).fits


def test_a_search_is_kept_with_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    names, cache, graph = tried(monkeypatch), StageCache(), wide()
    for _ in range(2):
        assert compile_graph(graph, SMALL, cache=cache).report.smallest_machine == "mesh-64x64"
    assert names == ["mesh-64x64"]


def searched(monkeypatch: pytest.MonkeyPatch) -> tuple[Job, Made]:
    """Return what the compiler hands to the search."""
    seen: list[tuple[Job, Made]] = []

    def noted(job: Job, made: Made) -> None:
        seen.append((job, made))

    monkeypatch.setattr(remedy, "streaming_machine", noted)
    compile_graph(wide(), SMALL)
    return seen[0]


def test_machines_too_small_at_best_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    job, made = searched(monkeypatch)
    names = tried(monkeypatch)
    mesh = generic_mesh(128, 128)
    each = mesh.data_sram_bytes * mesh.pes // SMALL.machine.pes
    for more, first in ((0, "mesh-128x128"), (1, "mesh-256x256")):
        peak = SMALL.machine.reserved_sram_bytes + each + more
        full = replace(made, memories=tuple(replace(m, peak=peak) for m in made.memories))
        assert streaming_machine(job, full) == first
    assert names == ["mesh-128x128", "mesh-256x256"]


def test_few_machines_are_tried_and_none_for_a_large_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job, made = searched(monkeypatch)
    names = tried(monkeypatch)
    monkeypatch.setattr(larger, "shortage", lambda made, config: "short")
    assert streaming_machine(job, made) is None
    assert names == ["mesh-64x64", "mesh-128x128", "mesh-256x256"]
    monkeypatch.setattr(larger, "TRIED_KERNELS", len(made.program.kernels) - 1)
    assert streaming_machine(job, made) is None
    assert len(names) == 3


def test_the_search_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    job, made = searched(monkeypatch)
    with pytest.raises(Cancelled):
        streaming_machine(replace(job, progress=Progress(cancelled=lambda: True)), made)


def test_without_a_machine_the_wafers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(larger, "TRIED_KERNELS", 0)
    report = compile_graph(wide(), SMALL).report
    assert report.smallest_machine is None
    assert report.wafers is not None
    assert report.wafers.sentence() in report.to_text()
    data = json.loads(json.dumps(report.to_json()))
    assert data["wafers"] == report.wafers.to_json()


def llama_step(
    tokens: int, machine: MachineSpec, folder: Path, spill_mb: float | None = None
) -> Compiled:
    """Return the training step of Llama-3-70B, the optimizer outside."""
    rows = json.loads(FULL_SIZE.read_text())
    path = folder / "config.json"
    path.write_text(json.dumps(next(r["config"] for r in rows if r["model"] == "llama3-70b")))
    graph = load_config(path, "training", 1, sequence=tokens)
    config = CompileConfig(
        machine=machine, storage="fp16", mode="streaming", samples=1, optimizer="host",
        spill_mb=spill_mb,
    )  # fmt: skip
    return compile_graph(graph, config)


@pytest.mark.slow
def test_the_wafers_of_a_step_of_70b_are_counted_where_one_is_too_small(tmp_path: Path) -> None:
    wse3 = PRESETS["wse3"]
    assert llama_step(128, wse3, tmp_path).fits
    assert llama_step(512, wse3, tmp_path).fits
    more = llama_step(512, wse3, tmp_path, spill_mb=1e9)
    assert more.report.smallest_machine is None
    found = more.report.wafers
    assert found is not None
    assert len(found.parts) > 1
    assert all((part.sram_bytes or 0) in range(1, wse3.sram_bytes + 1) for part in found.parts)
    names = [kernel.id for kernel in more.program.kernels]
    assert (found.parts[0].first, found.parts[-1].last) == (names[0], names[-1])
    for left, right in pairwise(found.parts):
        assert names.index(right.first) == names.index(left.last) + 1
