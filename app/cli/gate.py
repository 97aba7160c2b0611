"""`--fail-on` and `--junit`, shared by run, check and compare: conditions, exit code, report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.cli.main import GATE
from app.gates.gate import check_condition, judge
from app.gates.junit import Case, write_junit


def check_gate(arguments: argparse.Namespace, *, changes: bool = False) -> None:
    """Read the conditions before any work is done.

    Raises:
        GateError: one cannot be read; the message points at the column.
    """
    for text in arguments.fail_on:
        check_condition(text, changes=changes)


def gated(
    arguments: argparse.Namespace,
    code: int,
    suite: str,
    summary: Mapping[str, Any],
    before: Mapping[str, Any] | None = None,
) -> int:
    """Judge the conditions, write the JUnit file, and return the exit code.

    A condition that holds makes it 4; else it is `code`.
    """
    verdicts = [judge(text, summary, before) for text in arguments.fail_on]
    for verdict in verdicts:
        if verdict.holds:
            print(f"gate failed: {verdict.text}: {verdict.sentence()}", file=sys.stderr)
    if arguments.junit:
        cases = [*_standard(summary), *(
            Case(f"not ({v.text})", not v.holds, v.sentence()) for v in verdicts
        )]  # fmt: skip
        write_junit(Path(arguments.junit), suite, cases)
    return GATE if any(verdict.holds for verdict in verdicts) else code


def _standard(summary: Mapping[str, Any]) -> list[Case]:
    """The checks that every summary has: it fits, its ledger balances."""
    overflows = [item["sentence"] for item in summary["sram"]["overflows"]]
    fits = Case("fits the machine", bool(summary["fits"]), "; ".join(overflows) or "it fits")
    ledger = summary["ledger"]
    if ledger is None:
        return [fits]
    return [fits, *(Case(f"ledger: {c['name']}", c["ok"], c["detail"]) for c in ledger["checks"])]
