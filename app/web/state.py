"""What the page's scripts are told: views as JSON, once a run and once a move. No rules here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from app.palette import THEMES, hex_table, mark_colour, palette_names
from app.runs.frames import metric_scale
from app.runs.map_metrics import BARE, CATEGORIES, MAP_METRICS, categories_of
from app.session import moves
from app.session.cursor import Viewport
from app.views.base import to_plain
from app.views.build_map import view_map
from app.views.build_streaming import view_streaming
from app.views.help import view_help
from app.views.map import Scale, code_levels

if TYPE_CHECKING:
    from app.debugger import Debugger
    from app.runs.run import Run


def page_state(debugger: Debugger) -> dict[str, Any]:
    """Return where the session is, with the steps that a key may lead to next."""
    run, cursor = debugger.run, debugger.cursor
    around = [moves.step(run, cursor, way).cursor.step for way in (1, -1, 2)]
    return {
        "status": debugger.view_status().to_json(),
        "cursor": to_plain(cursor),
        "hit": to_plain(debugger.hit_mark()),
        "around": [step for step in dict.fromkeys(around) if step != cursor.step],
        "streaming": to_plain(view_streaming(run, cursor.step)),
        "knobs": debugger.view_knobs().to_json(),
        "compared": debugger.compared is not None,
        "compared_as": debugger.compared_as,
    }


def run_facts(debugger: Debugger) -> dict[str, Any]:
    """Return what stays the same as long as a run is shown."""
    run = debugger.run
    rows, cols = run.grid
    whole = replace(debugger.cursor, viewport=Viewport(0, 0, rows, cols), metric="cause")
    return {
        "run": run.id,
        "grid": [rows, cols],
        "regions": {kernel.id: to_plain(kernel.region) for kernel in run.program.kernels},
        "outlines": to_plain(view_map(run, whole, 1, 1).outlines),
        "timeline": debugger.view_timeline(bins=800).to_json(),
        "stripes": stripes(),
    }


def page_tables() -> dict[str, Any]:
    """Return what never changes: colours, metrics, commands."""
    return {
        "themes": colour_tables(),
        "metrics": [
            {**to_plain(metric), "categories": list(categories_of(metric.id))}
            for metric in MAP_METRICS.values()
        ],
        "commands": to_plain(view_help().rows),
    }


def colour_tables() -> dict[str, Any]:
    """Return every colour table and mark a theme, colours as '#rrggbb'."""
    return {
        theme: {
            "tables": {name: list(hex_table(name, theme)) for name in palette_names()},
            "marks": {name: mark_colour(name, theme) for name in ("alert", "selection")},
        }
        for theme in THEMES
    }


def stripes() -> list[int]:
    """Return the codes of causes that the canvas hatches instead of colouring."""
    return [CATEGORIES["cause"].index(name) for name in BARE]


def level_table(
    run: Run, metric_id: str, log: bool, like: Scale | None = None
) -> tuple[bytes, dict[str, str]]:
    """Return colour level by code (256 or 65,536 bytes) and headers that say what a code is.

    `like` is the scale of another run, whose colours the codes of this one shall have.

    Raises:
        KeyError: no such metric.
    """
    if metric_id not in MAP_METRICS:
        raise KeyError(f"there is no metric '{metric_id[:40]}'")
    metric = MAP_METRICS[metric_id]
    own = metric_scale(run, metric_id, log)
    scale = own if like is None else replace(like, unit_per_code=own.unit_per_code)
    small = metric.kind in ("fraction", "category")
    codes = np.arange(256 if small else 65_536, dtype=np.uint8 if small else np.uint16)
    levels = code_levels(codes, scale, metric.kind, 256)
    return levels.tobytes(), {"X-Unit-Per-Code": repr(scale.unit_per_code)}
