"""The compile report: rows against the program, overflows, text and data."""

from __future__ import annotations

import json
from math import prod

import pytest

from engine.kernels.dot.spec import Dot
from engine.models import program_profiles
from lowering.report import Overflow
from tests.factories.graphs import compiled_model, lowered_graph


def test_rows_are_the_kernels_of_the_program() -> None:
    compiled = compiled_model("bert", "wse2")
    profiles = program_profiles(compiled.program)
    for row, kernel in zip(compiled.report.rows, compiled.program.kernels, strict=True):
        assert (row.name, row.region) == (kernel.id, kernel.region)
        assert row.active_pes == kernel.region.area
        assert row.cycles == profiles[kernel.id].length
        ends = [b.offset + b.size for b in compiled.program.buffers if b.kernel == kernel.id]
        assert row.sram_bytes == max(ends)
        assert row.samples_per_mcycle == pytest.approx(
            min(row.compute_samples_per_mcycle, row.transmission_samples_per_mcycle)
        )
        assert 0 < row.utilization <= 1


def test_multiply_accumulates_are_those_of_the_graph() -> None:
    graph = lowered_graph("gpt2_2l")
    dots = [node.op for node in graph.nodes if isinstance(node.op, Dot)]
    macs = sum(
        prod(graph.values[op.outputs[0]].shape) * graph.values[op.inputs[0]].shape[-1]
        for op in dots
    )
    report = compiled_model("gpt2_2l", "wse2").report
    assert report.macs == macs
    assert report.parameters == graph.parameters


def test_known_size_of_gpt2_small() -> None:
    report = compiled_model("demo-gpt2-small", "wse2").report
    assert report.parameters == 124_439_808
    # 12 layers x (12 x 768^2 products a token + attention 2 x 128 x 768) + the head, 128 tokens
    layer = 12 * 768 * 768 + 2 * 128 * 768
    assert report.macs == 128 * (12 * layer + 768 * 50_257)
    assert report.fits


def test_overflow_names_holders_gap_and_what_helps() -> None:
    report = compiled_model("demo-transformer", "mesh-5x5").report
    assert not report.fits
    assert report.smallest_machine == "mesh-64x64"
    for overflow in report.overflows:
        assert overflow.resource == "SRAM"
        assert overflow.gap == overflow.demand - overflow.bound > 0
        assert overflow.bound == 49_152
        sizes = [size for _, size in overflow.holders]
        assert sizes == sorted(sizes, reverse=True)
        assert sum(sizes) >= overflow.demand
        assert "use a machine with more PEs (knob machine)" in overflow.levers
    first = report.overflows[0].sentence()
    assert first.startswith("kernel 'embed/token' on its fullest PE needs ")
    assert f"(short by {report.overflows[0].gap:,} B)" in first


def test_sentence_without_levers_ends_with_the_gap() -> None:
    overflow = Overflow("colors", "router (1, 2)", 30, 21, 9, "colors", (), ())
    assert overflow.sentence() == "router (1, 2) needs 30 colors, there are 21 (short by 9 colors)"


def test_text_is_a_table_for_100_columns() -> None:
    for name, machine in (("bert", "wse2"), ("demo-transformer", "mesh-5x5")):
        report = compiled_model(name, machine).report
        text = report.to_text()
        table = text.split("does not fit:")[0].splitlines()
        assert max(len(line) for line in table if not line.startswith("memory")) <= 100
        assert ("DOES NOT FIT" in text) == (not report.fits)
        assert all(row.name[:28] in text for row in report.rows)
        assert "Overall" in text
    assert "it would fit on mesh-64x64" in text
    assert "weights: weights" in text


def test_text_names_at_most_twelve_overflows_the_worst_first() -> None:
    report = compiled_model("demo-gpt2-small", "mesh-128x128").report
    assert len(report.overflows) > 12
    lines = report.to_text().splitlines()
    named = [line for line in lines if line.startswith("does not fit:")]
    assert len(named) == 12
    assert named[0] == f"does not fit: {max(report.overflows, key=lambda o: o.gap).need()}"
    assert f"    and {len(report.overflows) - 12} more" in lines
    assert any(line.endswith("use a machine with more PEs (knob machine)") for line in lines)
    assert f"it would fit on {report.smallest_machine}" in lines


def test_data_survives_json() -> None:
    report = compiled_model("demo-transformer", "mesh-5x5").report
    data = json.loads(json.dumps(report.to_json()))
    assert data == report.to_json()
    assert data["fits"] is False
    assert data["pes_used"] == sum(kernel["active_pes"] for kernel in data["kernels"])
    assert data["kernels"][0]["region"] == [
        getattr(report.rows[0].region, side) for side in ("row", "col", "rows", "cols")
    ]
    assert data["overflows"][0]["gap"] == report.overflows[0].gap
