"""JUnit files: counts, failures, and texts that XML cannot hold."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from app.gates.junit import Case, junit_text, write_junit


def test_suite_counts_and_quotes(tmp_path: Path) -> None:
    cases = [Case("fits", True, "yes"), Case("makespan > 3 & <x>", False, "it is\x00 5")]
    path = tmp_path / "j.xml"
    write_junit(path, "run mlp", cases)
    root = ElementTree.parse(path).getroot()
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("name")) == ("2", "1", "run mlp")
    assert [case.get("name") for case in suite] == ["fits", "makespan > 3 & <x>"]
    failure = suite[1].find("failure")
    assert failure is not None
    assert failure.get("message") == "it is  5"
    assert path.read_text(encoding="utf-8") == junit_text("run mlp", cases)
