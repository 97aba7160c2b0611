"""Imports run one way: app -> lowering -> engine; screens stay above; the command line is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCREENS = {"dash", "textual", "plotly", "dash_mantine_components", "dash_ag_grid"}
HEAVY = ("numba", "onnx", "dash", "textual", "plotly")


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Every (line, dotted name) that a module imports, at any depth of its code."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield node.lineno, base
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def offences(folder: str, forbidden: set[str]) -> list[str]:
    """Imports below `folder` of a forbidden package or anything in it."""
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for line, name in imported(path):
            if any(name == taboo or name.startswith(f"{taboo}.") for taboo in forbidden):
                found.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    return found


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("engine", {"lowering", "app", "waferscope", "onnx"} | SCREENS),
        ("lowering", {"app", "waferscope"} | SCREENS),
        ("app/web", {"app.tui", "textual"}),
        ("app/tui", {"app.web", "dash", "plotly", "dash_mantine_components", "dash_ag_grid"}),
        ("app/views", {"app.web", "app.tui"} | SCREENS),
        ("app/advice", {"app.web", "app.tui"} | SCREENS),
    ],
)
def test_imports_point_one_way(folder: str, forbidden: set[str]) -> None:
    assert (ROOT / folder).is_dir()
    assert offences(folder, forbidden) == []


def test_reader_sees_relative_and_nested_imports(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "app" / "tui").mkdir(parents=True)
    text = (
        "def f() -> None:\n    import dash.html\n\nfrom ..web import server\nfrom . import keys\n"
    )
    (tmp_path / "app" / "tui" / "screen.py").write_text(text, encoding="utf-8")
    assert offences("app/tui", {"app.web", "dash"}) == [
        "app/tui/screen.py:4 imports app.web",
        "app/tui/screen.py:4 imports app.web.server",
        "app/tui/screen.py:2 imports dash.html",
    ]


def test_command_line_starts_without_heavy_packages() -> None:
    code = f"import sys, app.cli.main; print([name for name in {HEAVY!r} if name in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"
