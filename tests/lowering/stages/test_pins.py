"""Pins: a kernel stays where it was put, and what cannot be had is said in a sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.geometry import Rect
from engine.machine import parse_machine
from engine.run import execute
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig, KnobError, apply_knob
from lowering.stages.plan import DoesNotFit
from tests.factories.graphs import model_graph

MESH = CompileConfig(machine=parse_machine("mesh-64x64"), mode="pipeline")


def run(compiled: Compiled) -> None:
    assert execute(compiled.program, compiled.store).ledger.ok


def regions(compiled: Compiled) -> list[Rect]:
    return [kernel.region for kernel in compiled.program.kernels]


def test_pinned_kernel_stays_and_the_others_go_around_it() -> None:
    config = apply_knob(MESH, "pin", "20x30 at 25,12", kernel="fc1")
    compiled = compile_graph(model_graph("demo-mlp"), config)
    place = compiled.program.kernel("fc1").region
    assert (place.row, place.col) == (25, 12)
    assert place.rows <= 20
    assert place.cols <= 30
    pinned = Rect(25, 12, 20, 30)
    others = [kernel.region for kernel in compiled.program.kernels if kernel.id != "fc1"]
    assert len(others) == 2
    assert not any(region.overlaps(pinned) for region in others)
    run(compiled)


def test_all_kernels_may_be_pinned() -> None:
    config = MESH
    names = [kernel.id for kernel in compile_graph(model_graph("demo-mlp"), MESH).program.kernels]
    for index, name in enumerate(names):
        config = apply_knob(config, "pin", f"20x20 at {20 * index},{10 * index}", kernel=name)
    compiled = compile_graph(model_graph("demo-mlp"), config)
    assert [(r.row, r.col) for r in regions(compiled)] == [(0, 0), (20, 10), (40, 20)]
    run(compiled)


@pytest.mark.parametrize(
    ("kernel", "value", "text"),
    [
        ("fc1", "20x30 at 50,12", "ends at row 69, column 41, outside the 64x64 PEs"),
        ("fc7", "2x3 at 0,0", "no kernel 'fc7' (with this fusion); did you mean 'fc"),
    ],
)
def test_pin_that_cannot_be_had_says_why(kernel: str, value: str, text: str) -> None:
    with pytest.raises(KnobError) as caught:
        compile_graph(model_graph("demo-mlp"), apply_knob(MESH, "pin", value, kernel=kernel))
    assert text in str(caught.value)


def test_cap_of_a_kernel_that_is_not_there_says_so() -> None:
    with pytest.raises(KnobError, match=r"pe_cap@fc9: the model has no kernel 'fc9'.*=auto takes"):
        compile_graph(model_graph("demo-mlp"), apply_knob(MESH, "pe_cap", 9, kernel="fc9"))


def test_pins_that_overlap_or_cover_a_dead_pe_are_refused() -> None:
    one = apply_knob(MESH, "pin", "20x20 at 0,0", kernel="fc0")
    two = apply_knob(one, "pin", "20x20 at 19,19", kernel="fc1")
    with pytest.raises(KnobError, match="overlaps kernel 'fc0' pinned to 20x20 at 0,0"):
        compile_graph(model_graph("demo-mlp"), two)
    dead = replace(one, machine=replace(MESH.machine, defects=((3, 4),)))
    with pytest.raises(KnobError, match=r"covers the defective PE \(3, 4\)"):
        compile_graph(model_graph("demo-mlp"), dead)


def test_pin_that_leaves_no_room_names_the_pin() -> None:
    config = apply_knob(MESH, "pin", "64x64 at 0,0", kernel="fc0")
    with pytest.raises(DoesNotFit, match=r"around the pinned 'fc0' \(64x64 at 0,0\).*free the pin"):
        compile_graph(model_graph("demo-mlp"), config)


def test_pin_too_small_for_the_sram_is_a_what_if_that_says_so() -> None:
    config = apply_knob(apply_knob(MESH, "sram_bytes", 8_000), "pin", "1x1 at 0,0", kernel="fc1")
    compiled = compile_graph(model_graph("demo-mlp"), config)
    assert not compiled.fits
    assert "kernel 'fc1' pinned to 1x1 at 0,0 needs more SRAM" in compiled.report.to_text()
