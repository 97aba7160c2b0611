"""What is said of a model that does not fit: machines that hold it, in the mode that is open."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine.kernels.dot.spec import Dot
from engine.machine import MachineSpec, generic_mesh, parse_machine
from lowering import larger, remedy
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.graph import Graph
from lowering.remedy import Remedy
from lowering.report import CompileReport, Overflow, WaferPart, Wafers
from tests.factories.graphs import model_graph, tiny_graph
from tests.factories.training import step_graph


def report_of(graph: Graph, machine: MachineSpec, mode: str) -> CompileReport:
    return compile_graph(graph, CompileConfig(machine=machine, mode=mode, samples=1)).report


def wide() -> Graph:
    """Return four products whose activations take 1 MB each, so that 16 PEs hold no turn."""
    names = ["x", *(f"y{i}" for i in range(4))]
    ops = [Dot(inputs=(a, f"w{i}"), outputs=(b,)) for i, (a, b) in enumerate(pairwise(names))]
    shapes = dict.fromkeys(names, (512, 512)) | {f"w{i}": (512, 512) for i in range(4)}
    return tiny_graph(shapes, *ops)


def test_a_machine_that_is_named_for_a_pipeline_was_compiled_for() -> None:
    # kernels could be placed on 64 x 64, where slots and colors do not suffice
    report = report_of(step_graph("gpt2_2l"), generic_mesh(12, 12), "pipeline")
    assert not report.fits
    assert report.smallest_machine != "mesh-64x64"
    assert not report_of(step_graph("gpt2_2l"), generic_mesh(64, 64), "pipeline").fits
    for name in ("gpt2_2l", "vit", "demo-transformer"):
        report = report_of(model_graph(name), generic_mesh(5, 5), "pipeline")
        if not report.fits:
            assert report.smallest_machine
            there = parse_machine(report.smallest_machine)
            assert report_of(model_graph(name), there, "pipeline").fits


def test_a_pipeline_that_streaming_would_hold_is_told_so() -> None:
    said = "it fits this machine where kernels take turns (knob mode=streaming; tried)"
    graph, machine = step_graph("gpt2_2l"), generic_mesh(12, 12)
    assert said in report_of(graph, machine, "pipeline").notes
    assert report_of(graph, machine, "streaming").fits
    assert said not in report_of(wide(), generic_mesh(4, 4), "pipeline").notes
    assert not report_of(wide(), generic_mesh(4, 4), "streaming").fits


def test_where_neither_mode_fits_the_smallest_machine_is_one_that_holds_it() -> None:
    report = report_of(wide(), generic_mesh(12, 12), "auto")
    assert "mode pipeline: neither mode fits" in report.notes[-1]
    assert report.smallest_machine == "mesh-64x64"
    assert report_of(wide(), parse_machine("mesh-64x64"), "auto").fits


def test_where_neither_mode_fits_any_machine_the_wafers_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (larger, remedy):
        monkeypatch.setattr(module, "larger_machines", lambda here: [])
    report = report_of(wide(), generic_mesh(12, 12), "auto")
    assert "mode pipeline: neither mode fits" in report.notes[-1]
    assert report.smallest_machine is None
    assert report.wafers is not None
    assert len(report.wafers.parts) > 1
    assert report.wafers.sentence() in report.to_text()


def test_a_machine_beats_wafers_and_those_that_would_do_those_that_are_needed() -> None:
    config = CompileConfig(machine=generic_mesh(4, 4))
    parts = (WaferPart("a", "b"), WaferPart("c", "d"))
    none = Overflow("SRAM", "here", 2, 1, 1, "B", (), ())
    best_first = [
        Remedy("mesh-64x64"), Remedy("mesh-128x128"), Remedy(wafers=Wafers("m", parts)),
        Remedy(wafers=Wafers("m", parts, mode="pipeline")), Remedy(wafers=Wafers("m", (), none)),
        Remedy(),
    ]  # fmt: skip
    ranks = [remedy._effort(config, each) for each in best_first]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)
