"""From a request to a file: the ending chooses the format. Written whole or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from app.export.picture import ExportError, Picture, Request, make_picture
from app.runs.run import Run
from app.runs.saving import save_run
from app.session.cursor import Cursor
from app.views.map import HitMark
from engine.progress import NO_PROGRESS, Progress
from engine.whole_file import whole_file

ENDINGS = (".png", ".svg", ".html", ".csv", ".npz", ".json", ".wscope")
_ONE_STEP = (".png", ".svg")
MOST_STEPS = 10_000


def export_view(run: Run, cursor: Cursor, path: Path, hit: HitMark | None = None) -> Path:
    """Write what the cursor shows and what stopped the run there; a .wscope holds the whole run."""
    if path.suffix.lower() == ".wscope":
        save_run(run, path, cursor)
        return path
    request = Request(
        cursor.metric, step=cursor.step, viewport=cursor.viewport, log=cursor.log, theme="dark",
        hit=hit,
    )  # fmt: skip
    return export_request(run, request, path)


def export_request(
    run: Run, request: Request, path: Path, progress: Progress = NO_PROGRESS
) -> Path:
    """Write a request to a file and return its path.

    Raises:
        ExportError: an unknown ending, a metric or step that is not there, or no place to write.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS or ending == ".wscope":
        raise ExportError(
            f"cannot write '{path.name}': the ending must be one of {', '.join(ENDINGS[:-1])}"
        )
    pictures = _pictures(run, request, progress)
    if len(pictures) > 1 and ending in _ONE_STEP:
        raise ExportError(f"a {ending} shows one step; use .html, .npz, .csv or .json for several")
    write_bytes(path, render(pictures, ending))
    return path


def _pictures(run: Run, request: Request, progress: Progress) -> list[Picture]:
    if request.what != "steps":
        return [make_picture(run, request)]
    first, last = request.steps
    if not 0 <= first < last <= run.timeline.steps or last - first > MOST_STEPS:
        raise ExportError(
            f"steps {first}:{last} do not exist or are too many; the run has steps "
            f"0..{run.timeline.steps - 1}, A:B means A up to B - 1, at most {MOST_STEPS:,}"
        )
    progress.stage("drawing", last - first, "steps")
    pictures = []
    for step in range(first, last):
        pictures.append(make_picture(run, replace(request, what="step", step=step)))
        progress.advance(step - first + 1)
    return pictures


def render(pictures: list[Picture], ending: str) -> bytes:
    """Return the bytes of a file with this ending."""
    if ending == ".png":
        from app.export.raster import render_png

        return render_png(pictures[0])
    if ending == ".svg":
        from app.export.vector import render_svg

        return render_svg(pictures[0]).encode("utf-8")
    if ending == ".html":
        from app.export.replay import render_html

        return render_html(pictures)
    from app.export import tables

    writers = {".csv": tables.render_csv, ".json": tables.render_json, ".npz": tables.render_npz}
    return writers[ending](pictures)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all. Raises ExportError."""
    try:
        with whole_file(path) as stream:
            stream.write(data)
    except OSError as error:
        raise ExportError(f"cannot write {path}: {error.strerror or error}") from error
