"""Rows and texts of the pages, from hand-made views."""

from __future__ import annotations

from dataclasses import replace

from app.tui.pages import specs
from app.views.help import HelpRow, HelpView
from app.views.idle import IdleRegion, IdleView
from app.views.knobs import KnobRow, KnobsView
from app.views.report import CheckRow, OverflowRow, ReportView


def report(overflows: tuple[OverflowRow, ...]) -> ReportView:
    return ReportView(
        "m", "mesh-4x4", not overflows, (("makespan", "90 cycles"),), (), overflows,
        (CheckRow("words are delivered", False, "7 of 8"),), False, ("a note",), "the table",
        "kernel 'a' limits", "would not run", "alert",
    )  # fmt: skip


def test_what_does_not_fit_comes_first_with_what_holds_it() -> None:
    row = OverflowRow(
        "SRAM", "PE (1, 2)", 60_000.0, 49_152.0, 10_848.0, "bytes", (("weights", 50_000),),
        ("enlarge the region",), "PE (1, 2): SRAM needs 60,000 bytes",
    )  # fmt: skip
    text = specs.report_text(report((row,))).plain.splitlines()
    assert text[0] == "DOES NOT FIT"
    assert text[1] == "PE (1, 2): SRAM needs 60,000 bytes"
    assert text[2].split() == ["50,000", "bytes", "weights"]


def test_many_overflows_are_cut_and_the_smallest_machine_is_named() -> None:
    row = OverflowRow("SRAM", "PE (1, 2)", 60_000.0, 49_152.0, 10_848.0, "B", (), (), "too much")
    view = replace(report((row,) * 20), smallest_machine="mesh-64x64")
    text = specs.report_text(view).plain
    assert text.count("too much") == 12
    assert "and 8 more" in text
    assert "it would fit on mesh-64x64" in text


def test_the_wafers_that_would_do_are_said() -> None:
    row = OverflowRow("SRAM", "PE (1, 2)", 60_000.0, 49_152.0, 10_848.0, "B", (), (), "too much")
    text = specs.report_text(replace(report((row,)), wafers="3 wafers would hold it")).plain
    assert "3 wafers would hold it" in text.splitlines()
    assert "would fit on" not in text


def test_a_broken_law_is_named() -> None:
    text = specs.report_text(report(())).plain
    assert "BROKEN  words are delivered: 7 of 8" in text
    assert "DOES NOT FIT" not in text


def test_idle_rows_say_why_and_what_would_help() -> None:
    region = IdleRegion("wait-input", 12, 340, 0.25, (1, 2, 3, 4), ("ffn",), "why", ("samples",))
    view = IdleView("run", None, 90, 0.5, (), (region,), "model", "half is idle")
    spec = specs.idle_spec(view)
    assert spec.rows == (("wait-input", "25.0 %", "340", "12", "row 1, col 2, 3x4", "ffn"),)
    assert spec.details == ("why\nwould help: samples",)
    assert "half is idle" in spec.title


def test_knob_rows_mark_what_was_changed() -> None:
    knob = KnobRow(
        name="samples", label="samples", type="integer", value="8", default="auto", changed=True,
        choices=(), low=1, high=64, auto=True, per_kernel=False, unit="samples", help="how many",
        stage="timing", range="1..64 samples or auto",
    )  # fmt: skip
    spec = specs.knobs_spec(KnobsView((knob,), ("samples = 8",), True, False))
    assert spec.rows == (("samples", "8 *", "auto", "samples", "model", "1..64 samples or auto"),)
    assert "samples = 8" in spec.title
    assert "timing" in spec.details[0]


def test_help_is_ordered_by_group() -> None:
    rows = (
        HelpRow("next", ("n",), "next [COUNT]", "forward", "next stop", "time"),
        HelpRow("quit", ("q",), "quit", "quit", "leave", "screen"),
        HelpRow("back", ("N",), "back [COUNT]", "back", "previous stop", "time"),
    )
    lines = specs.help_text(HelpView(rows)).plain.splitlines()
    assert [line.split()[0] for line in lines if line] == ["time", "n", "N", "screen", "q"]
