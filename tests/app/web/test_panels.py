"""Panels about a run that does not fit."""

from __future__ import annotations

from dataclasses import replace

from app.debugger import Debugger
from app.views.report import OverflowRow, ReportView
from app.web.panels import header, overflow_notice
from tests.app.web.rendered import prop, text, with_class

OVERFLOW = OverflowRow(
    "SRAM", "kernel 'fc1' on its fullest PE", 60_000, 49_152, 10_848, "B",
    (("weights: w1", 50_000), ("in slot: x", 10_000)), ("store weights as fp16",),
    "kernel 'fc1' needs 60,000 B",
)  # fmt: skip


def overflowing(debugger: Debugger) -> ReportView:
    return replace(debugger.view_report(), fits=False, overflows=(OVERFLOW,))


def test_notice_says_who_holds_what_and_what_helps(debugger: Debugger) -> None:
    words = text(overflow_notice(overflowing(debugger)))
    assert "Does not fit: kernel 'fc1' needs 60,000 B" in words
    assert "short by 10,848 B" in words
    assert "weights: w1 50,000 B" in words
    assert "store weights as fp16" in words


def test_notice_is_short_and_names_the_smallest_machine(debugger: Debugger) -> None:
    view = replace(
        overflowing(debugger), overflows=(OVERFLOW,) * 9, smallest_machine="mesh-256x256"
    )
    words = text(overflow_notice(view))
    assert words.count("held by:") == 3
    assert "and 6 more" in words
    assert "It would fit on mesh-256x256." in words


def test_notice_says_how_many_wafers_would_do(debugger: Debugger) -> None:
    view = replace(overflowing(debugger), wafers="3 wafers would hold it")
    words = text(overflow_notice(view))
    assert "3 wafers would hold it." in words
    assert "would fit on" not in words


def test_header_marks_a_what_if(debugger: Debugger) -> None:
    assert "would not run" in text(header(overflowing(debugger)))
    assert "would not run" not in text(header(debugger.view_report()))


def test_broken_ledger_names_the_law(debugger: Debugger) -> None:
    view = debugger.view_report()
    broken = replace(view.checks[0], ok=False, name="causes sum to cycles")
    head = header(replace(view, ledger_ok=False, checks=(broken,)))
    badge = with_class(head, "badge")[0]
    assert text(badge) == "ledger broken"
    assert prop(badge, "title") == "causes sum to cycles"
