"""Runs the selected conformance cases and writes their counts: python -m tests.conformance.report.

Fails when a case that is not excluded fails, or an excluded one passes.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import onnx

from tests.conformance.exclusions import EXCLUSIONS, reason_for
from tests.conformance.suite import Case, Result, read_cases, run_cases

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
PROCESSES = 2
_TIERS = {
    "1": "elementwise",
    "2": "contraction, normalisation, reduction, pooling, loss, attention",
    "3": "layout, index, shape",
    "4": "recurrent, optimizers",
    "5": "quantised",
}


def run_all(cases: Sequence[Case]) -> list[Result]:
    """Run the cases in `PROCESSES` processes, each with every nth case."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    names = [case.name for case in cases]
    parts = [names[i::PROCESSES] for i in range(PROCESSES)]
    context = multiprocessing.get_context("spawn")
    with context.Pool(PROCESSES) as pool:
        return [result for part in pool.map(run_cases, parts) for result in part]


def _groups(case: Case, kind: str) -> list[str]:
    groups = [f"tier {case.tier}: {_TIERS[case.tier]}", "node cases selected"] if case.tier else []
    if kind != "node":
        groups.append(f"{kind} cases")
    return groups + (["m1: operators of 49 real graphs"] if case.first else [])


def count_groups(cases: Sequence[Case], results: Sequence[Result]) -> dict[str, tuple[int, int]]:
    """Return (passed, all) of every group, tiers first."""
    by_name = {case.name: case for case in cases}
    passed, every = Counter[str](), Counter[str]()
    for result in results:
        for group in _groups(by_name[result.name], result.kind):
            every[group] += 1
            passed[group] += not result.failure
    order = sorted(every, key=lambda group: (not group.startswith("tier"), group))
    return {group: (passed[group], every[group]) for group in order}


def unexpected(results: Sequence[Result]) -> list[str]:
    """Return a line for each case that did other than the exclusions say."""
    lines = []
    for result in results:
        excluded = bool(reason_for(result.name))
        if bool(result.failure) != excluded:
            said = result.failure.splitlines()[-1][:300] if result.failure else "it is excluded"
            verb = "passes, though" if excluded else "fails:"
            lines.append(f"{result.name} {verb} {said}")
    return lines


def _in_table(text: str) -> str:
    return text.replace("|", "\\|")


def render_page(groups: dict[str, tuple[int, int]], results: Sequence[Result]) -> str:
    """Return docs/conformance.md."""
    rows = [f"| {name} | {passed:,} | {every:,} |" for name, (passed, every) in groups.items()]
    reasons = Counter(reason_for(result.name) for result in results)
    excluded = [
        f"| `{_in_table(pattern)}` | {reasons[why]} | {why} |"
        for pattern, why in EXCLUSIONS.items()
    ]  # fmt: skip
    return "\n".join(
        [
            "# Conformance",
            "",
            f"The standard runner of `onnx.backend.test` (onnx {onnx.__version__}) with Waferscope",
            "as its backend. Each case is imported, compiled and placed on a small generic mesh,",
            "executed there, its ledger checked, and its outputs computed by the placed kernels in",
            "the mesh's order of sums. Written by `make conformance`.",
            "",
            "The mesh has 16 x 16 PEs of 48 KiB and 96 virtual channels, or the first of 64 x 64",
            "and 256 x 256 on which the case fits; a window over a million positions needs PEs",
            "of 8 MiB. Integer inputs that say how to lay out (shapes, axes, counts) are fixed",
            "when their values are known, so a case with other values compiles anew. The light",
            "models have one number in all their weights, so all their logits are equal and huge:",
            "they sum products in 64 bits, or softmax would show how each column rounded.",
            "",
            "| cases | passed | all |",
            "|---|---|---|",
            *rows,
            "",
            "## Excluded",
            "",
            "| pattern | cases | reason |",
            "|---|---|---|",
            *excluded,
            "",
        ]
    )


def main() -> int:
    """Run everything, print the counts, write the page; 1 if a case surprises."""
    begun = time.monotonic()
    cases = read_cases()
    results = run_all(cases)
    groups = count_groups(cases, results)
    for name, (passed, every) in groups.items():
        print(f"{passed:>5} of {every:>5}  {name}")
    wrong = unexpected(results)
    for line in wrong:
        print(line)
    PAGE.write_text(render_page(groups, results), encoding="utf-8")
    print(f"{len(results):,} cases in {time.monotonic() - begun:.0f} s", file=sys.stderr)
    return 1 if wrong or len(results) != len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
