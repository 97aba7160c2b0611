"""JUnit XML of checks, as CI systems read it. Knows no run and no screen."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from app.configs.file import write_text


@dataclass(frozen=True, slots=True)
class Case:
    """One check."""

    name: str
    ok: bool
    detail: str
    """both sides in numbers"""


def junit_text(suite: str, cases: Sequence[Case]) -> str:
    """Return a test suite without times: equal results give equal files.

    Characters that XML cannot hold become spaces.
    """
    suite = _clean(suite)
    cases = [Case(_clean(case.name), case.ok, _clean(case.detail)) for case in cases]
    failed = str(sum(not case.ok for case in cases))
    root = ElementTree.Element("testsuites", tests=str(len(cases)), failures=failed, errors="0")
    group = ElementTree.SubElement(
        root, "testsuite", name=suite, tests=str(len(cases)), failures=failed, errors="0",
        skipped="0",
    )  # fmt: skip
    for case in cases:
        element = ElementTree.SubElement(group, "testcase", classname=suite, name=case.name)
        if not case.ok:
            ElementTree.SubElement(element, "failure", message=case.detail).text = case.detail
        else:
            ElementTree.SubElement(element, "system-out").text = case.detail
    ElementTree.indent(root)
    stream = io.BytesIO()
    ElementTree.ElementTree(root).write(stream, encoding="utf-8", xml_declaration=True)
    return stream.getvalue().decode("utf-8") + "\n"


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in text)


def write_junit(path: Path, suite: str, cases: Sequence[Case]) -> None:
    """Write a test suite to a file."""
    write_text(path, junit_text(suite, cases))
