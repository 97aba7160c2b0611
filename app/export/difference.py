"""A difference of two runs as a picture: the diverging palette, equal PEs in its middle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from app.comparison.difference import Difference, difference
from app.export.picture import ExportError, Picture
from app.export.write import render, write_bytes
from app.runs.run import Run
from app.session.cursor import Viewport
from app.views.build_compare import difference_sentence, limit_of, scaled_outlines, ticks_of
from app.views.map import Scale
from engine.geometry import Rect

ENDINGS = (".png", ".svg")


def export_difference(
    a: Run, b: Run, metric: str, path: Path, theme: str = "light",
    steps: tuple[int, int] | None = None,
) -> Path:  # fmt: skip
    """Write B less A as a .png or .svg and return the path.

    Raises:
        ExportError: another ending, or a file that cannot be written.
        CommandError: no such metric, or one without numbers.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ExportError(f"cannot write '{path.name}': a difference is a .png or .svg")
    picture = difference_picture(a, b, difference(a, b, metric, steps), theme)
    write_bytes(path, render([picture], ending))
    return path


def difference_picture(a: Run, b: Run, found: Difference, theme: str) -> Picture:
    """Return the picture of a difference."""
    limit = limit_of(found)
    rows, cols = found.field.shape
    span = 2 * limit or 1.0
    lifted = np.clip(found.field + span / 2, 0.0, span)
    outlines = tuple(
        (line.name, Rect(line.row, line.col, line.rows, line.cols))
        for line in scaled_outlines(b, (rows, cols))
    )
    names = f"{b.source} ({b.machine.name}) less {a.source} ({a.machine.name})"
    where = "whole run" if found.steps is None else "steps {} and {}".format(*found.steps)
    return Picture(
        metric=replace(found.metric, kind="words", palette="diverging"),
        title=f"{found.metric.label}, {where}: {names}",
        subtitle=difference_sentence(found), field=lifted, step=None,
        viewport=Viewport(0, 0, rows, cols), scale=Scale(0.0, span, span / 65_535, False),
        unit=found.unit, ticks=ticks_of(found, limit), outlines=outlines,
        standing=b.standing_of(found.metric.standing), theme=theme,
    )  # fmt: skip
