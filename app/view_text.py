"""Any view as plain text: its sentence, its figures, a table for each list. Knows no terminal."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from app.views.base import View

WIDEST = 240
"""characters of a cell"""
_MOST_ROWS = 40


def view_text(view: View | None) -> str:
    """Return a view as lines of text."""
    if view is None:
        return "nothing is selected"
    parts = {f.name: getattr(view, f.name) for f in fields(view)}  # type: ignore[arg-type]
    lines = [str(parts.pop("sentence", "")), *_figures(parts)]
    for name, value in parts.items():
        if isinstance(value, tuple) and value and is_dataclass(value[0]):
            lines += ["", f"{name}:", *_table(value)]
        elif isinstance(value, tuple) and value and isinstance(value[0], tuple):
            lines += ["", f"{name}:", *("  " + "  ".join(map(_cell, row)) for row in value)]
        elif is_dataclass(value) and not isinstance(value, type) and hasattr(value, "sentence"):
            lines += ["", f"{name}: {value.sentence}"]
    return "\n".join(line for line in lines if line is not None).strip()


def _figures(parts: dict[str, Any]) -> list[str]:
    """Return the single figures of a view, one a line; texts of several lines at the end."""
    short = [(n, v) for n, v in parts.items() if not _is_list(v) and v not in ("", None)]
    width = max((len(name) for name, _ in short), default=0)
    single = [f"  {name:<{width}}  {_cell(value)}" for name, value in short
              if not (isinstance(value, str) and "\n" in value)]  # fmt: skip
    return single + [v for _, v in short if isinstance(v, str) and "\n" in v]


def _is_list(value: Any) -> bool:
    if isinstance(value, np.ndarray) or (is_dataclass(value) and not isinstance(value, type)):
        return True
    return isinstance(value, tuple) and bool(value) and (
        is_dataclass(value[0]) or isinstance(value[0], tuple)
    )  # fmt: skip


def _table(rows: tuple[Any, ...]) -> list[str]:
    names = [f.name for f in fields(rows[0])]
    cells = [[_cell(getattr(row, name)) for name in names] for row in rows[:_MOST_ROWS]]
    used = [i for i in range(len(names)) if any(row[i] for row in cells)]
    widths = {i: max(len(names[i]), *(len(row[i]) for row in cells)) for i in used}
    lines = ["  " + "  ".join(names[i].ljust(widths[i]) for i in used).rstrip()]
    lines += ["  " + "  ".join(row[i].ljust(widths[i]) for i in used).rstrip() for row in cells]
    if len(rows) > _MOST_ROWS:
        lines.append(f"  ... and {len(rows) - _MOST_ROWS} more")
    return lines


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {'x'.join(map(str, value.shape))}"
    if is_dataclass(value) and not isinstance(value, type):
        text = str(getattr(value, "sentence", "")) or " ".join(
            _cell(getattr(value, f.name)) for f in fields(value)
        )
    elif isinstance(value, tuple):
        text = ", ".join(_cell(item) for item in value)
    else:
        text = str(value)
    text = text.replace("\n", " ")
    return text if len(text) <= WIDEST else text[: WIDEST - 3] + "..."
