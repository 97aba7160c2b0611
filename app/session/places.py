"""Where selections and the map's verbs lead: pure functions from (run, cursor) to a Move.

Nothing here changes anything or knows of time; the Debugger keeps the cursor.
"""

from __future__ import annotations

import difflib
from dataclasses import replace

from app.commands import CommandError
from app.finding.hot import hot_places
from app.runs.map_metrics import MAP_METRICS
from app.runs.run import Run
from app.session.cursor import Cursor, Move, Selection, Viewport
from engine.geometry import Rect


def select_pe(run: Run, cursor: Cursor, row: int, col: int) -> Move:
    """Select a PE."""
    _need_pe(run, row, col)
    kernel = run.execution.fields.kernel_at(row, col, cursor.step)
    return Move(replace(cursor, selection=Selection("pe", (row, col), kernel)))


def _need_pe(run: Run, row: int, col: int) -> None:
    rows, cols = run.grid
    if not (0 <= row < rows and 0 <= col < cols):
        raise CommandError(
            f"PE ({row}, {col}) lies outside the mesh; rows are 0..{rows - 1}, cols 0..{cols - 1}"
        )


def select_kernel(run: Run, cursor: Cursor, name: str) -> Move:
    """Select a kernel by its id or the beginning of one."""
    names = kernel_ids(run)
    found = [n for n in names if n == name] or [
        n for n in names if n.lower().startswith(name.lower())
    ]
    if not found:
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.3)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise CommandError(f"there is no kernel '{name}' among {len(names)}{hint}")
    region = run.region(found[0])
    return Move(replace(cursor, selection=Selection("kernel", None, found[0], region)))


def kernel_ids(run: Run) -> list[str]:
    """Return the ids of all kernels in program order."""
    return [kernel.id for kernel in run.program.kernels]


def select_region(run: Run, cursor: Cursor, row: int, col: int, rows: int, cols: int) -> Move:
    """Select a rectangle of PEs."""
    _need_pe(run, row, col)
    if rows < 1 or cols < 1:
        raise CommandError(f"a region of {rows}x{cols} PEs is empty")
    _need_pe(run, row + rows - 1, col + cols - 1)
    return Move(replace(cursor, selection=Selection("region", region=Rect(row, col, rows, cols))))


def clear(cursor: Cursor) -> Move:
    """Select nothing."""
    return Move(replace(cursor, selection=Selection()))


def search(run: Run, cursor: Cursor, text: str) -> Move:
    """Select the next kernel whose name or source node holds `text`."""
    wanted = text.lower()
    hits = [
        kernel.id
        for kernel in run.program.kernels
        if wanted in kernel.id.lower() or any(wanted in node.lower() for node in kernel.origin)
    ]
    if not hits:
        raise CommandError(f"no kernel or source node holds '{text}'")
    now = cursor.selection.kernel
    index = (hits.index(now) + 1) % len(hits) if now in hits else 0
    move = reveal(run, select_kernel(run, cursor, hits[index]))
    return Move(move.cursor, f"{hits[index]} ({index + 1} of {len(hits)})")


def move(run: Run, cursor: Cursor, rows: int, cols: int) -> Move:
    """Move the selected PE, kept inside the mesh; the view follows."""
    if cursor.selection.pe is None:
        view = cursor.viewport
        return select_pe(run, cursor, view.row + view.rows // 2, view.col + view.cols // 2)
    row, col = cursor.selection.pe
    height, width = run.grid
    place = min(max(row + rows, 0), height - 1), min(max(col + cols, 0), width - 1)
    return reveal(run, select_pe(run, cursor, *place))


def next_hot(run: Run, cursor: Cursor, direction: int) -> Move:
    """Select the next of the hottest places of the metric in this step."""
    places = hot_places(run, cursor.metric, cursor.step)
    if not places:
        return Move(cursor, f"nothing stands out in {MAP_METRICS[cursor.metric].label} here")
    spots = [(place.row, place.col) for place in places]
    now = cursor.selection.pe
    first = 0 if direction > 0 else len(spots) - 1
    index = (spots.index(now) + direction) % len(spots) if now in spots else first
    found = reveal(run, select_pe(run, cursor, *spots[index]))
    return Move(found.cursor, f"{places[index].text} ({index + 1} of {len(spots)})")


def set_metric(cursor: Cursor, metric: str) -> Move:
    """Choose what the map shows."""
    if metric not in MAP_METRICS:
        near = difflib.get_close_matches(metric, MAP_METRICS, n=1, cutoff=0.3)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise CommandError(f"there is no metric '{metric}'{hint}")
    return Move(replace(cursor, metric=metric), MAP_METRICS[metric].help)


def set_log(cursor: Cursor, scale: str) -> Move:
    """Colour by log(1 + value) ("on") or by the value ("off"); empty: the other of the two.

    Raises:
        CommandError: another word.
    """
    if scale not in ("", "on", "off"):
        raise CommandError(f"log is '{scale}', must be on or off")
    is_log = scale == "on" if scale else not cursor.log
    return Move(replace(cursor, log=is_log), "log scale" if is_log else "linear scale")


def set_viewport(run: Run, cursor: Cursor, row: int, col: int, rows: int, cols: int) -> Move:
    """Show a rectangle of PEs."""
    viewport = Viewport(row, col, rows, cols).clamped(*run.grid)
    return Move(replace(cursor, viewport=viewport))


def zoom(run: Run, cursor: Cursor, factor: float) -> Move:
    """Zoom around the selected PE when it is in view, else around the middle."""
    if not 0.001 <= factor <= 1000:
        raise CommandError(f"zoom factor is {factor}, must be 0.001..1000")
    viewport = cursor.viewport.zoomed(factor)
    place = cursor.selection.pe
    if place and cursor.viewport.rect.contains(*place) and factor > 1:
        row, col = place[0] - viewport.rows // 2, place[1] - viewport.cols // 2
        viewport = Viewport(row, col, viewport.rows, viewport.cols)
    return Move(replace(cursor, viewport=viewport.clamped(*run.grid)))


def pan(run: Run, cursor: Cursor, rows: int, cols: int) -> Move:
    """Move the view."""
    view = cursor.viewport
    return set_viewport(run, cursor, view.row + rows, view.col + cols, view.rows, view.cols)


def fit(run: Run, cursor: Cursor) -> Move:
    """Show all PEs."""
    return set_viewport(run, cursor, 0, 0, *run.grid)


def focus(run: Run, cursor: Cursor) -> Move:
    """Zoom to the selection; when that is shown already, show all PEs."""
    selection = cursor.selection
    if selection.pe:
        wanted = Viewport(selection.pe[0] - 8, selection.pe[1] - 8, 17, 17)
    elif selection.region:
        box = selection.region
        wanted = Viewport(box.row - 1, box.col - 1, box.rows + 2, box.cols + 2)
    else:
        return Move(fit(run, cursor).cursor, "nothing is selected: whole mesh")
    wanted = wanted.clamped(*run.grid)
    if wanted == cursor.viewport:
        return fit(run, cursor)
    return Move(replace(cursor, viewport=wanted))


def reveal(run: Run, moved: Move) -> Move:
    """Return the move with the view shifted so that the selection is in it."""
    cursor = moved.cursor
    view, selection = cursor.viewport, cursor.selection
    row, col = selection.pe or (
        (selection.region.row, selection.region.col) if selection.region else (view.row, view.col)
    )
    if view.rect.contains(row, col):
        return moved
    shifted = Viewport(row - view.rows // 2, col - view.cols // 2, view.rows, view.cols)
    return Move(replace(cursor, viewport=shifted.clamped(*run.grid)), moved.message)
