"""The standard runner of onnx.backend.test with our backend, restricted to the selected cases."""

from __future__ import annotations

import csv
import os
import re
import tempfile
import time
import unittest
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx.backend.test

from tests.conformance.backend import WaferscopeBackend

CASES = Path(__file__).parents[1] / "data" / "conformance_cases.csv"
_CATEGORIES = {
    "OnnxBackendNodeModelTest": "node",
    "OnnxBackendRealModelTest": "real",
    "OnnxBackendSimpleModelTest": "simple",
    "OnnxBackendPyTorchConvertedModelTest": "pytorch",
    "OnnxBackendPyTorchOperatorModelTest": "pytorch",
}
_SUFFIX = "_cpu"


@dataclass(frozen=True, slots=True)
class Case:
    """One selected case of the suite."""

    name: str
    tier: str
    """1 to 5 for node cases, empty for whole models"""
    first: bool
    """uses only operators that the 49 surveyed graphs use (m1)"""


@dataclass(frozen=True, slots=True)
class Result:
    """How one case went."""

    name: str
    kind: str
    """node | pytorch | simple | real"""
    failure: str
    """last line of what went wrong, empty for a pass"""
    seconds: float
    """wall time"""


def read_cases() -> tuple[Case, ...]:
    """Return the selected cases, in the order of the file."""
    with CASES.open(encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return tuple(Case(row["name"], row["tier"], row["m1"] == "1") for row in rows)


def backend_tests(names: Iterable[str]) -> list[tuple[str, unittest.TestCase]]:
    """Return (kind, test) of the named cases from the suite's own runner."""
    pattern = "|".join(f"^{re.escape(name)}{_SUFFIX}$" for name in names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        suite = onnx.backend.test.BackendTest(WaferscopeBackend, __name__)
    suite.include(pattern)
    wanted = re.compile(pattern)
    return [
        (_CATEGORIES[title], case(name))
        for title, case in suite.test_cases.items() if title in _CATEGORIES
        for name in sorted(vars(case)) if wanted.search(name)
    ]  # fmt: skip


def run_cases(names: Sequence[str]) -> list[Result]:
    """Run the named cases one after the other."""
    results = []
    with tempfile.TemporaryDirectory() as home, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ["ONNX_HOME"] = home
        for kind, test in backend_tests(names):
            outcome, begun = unittest.TestResult(), time.monotonic()
            test.run(outcome)
            faults = [*outcome.errors, *outcome.failures]
            said = faults[0][1].strip() if faults else ""
            if outcome.skipped:
                said = f"skipped: {outcome.skipped[0][1]}"
            name = test.id().rsplit(".", 1)[1].removesuffix(_SUFFIX)
            results.append(Result(name, kind, said, time.monotonic() - begun))
    return results
