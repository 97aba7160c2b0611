"""`export`: a map of a recording (or of a model, compiled now) as a picture or as data."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import replace
from pathlib import Path

from app.cli.faults import UsageError
from app.cli.main import OK
from app.cli.progress import shown_progress
from app.export import Request, export_request
from app.runs.opening import open_run
from app.runs.run import Run
from app.session import moves


def export(arguments: argparse.Namespace) -> int:
    """Write a metric to a file."""
    request = _request(arguments)
    with shown_progress(f"wrote {arguments.output}") as progress:
        run = open_run(1, arguments.recording, None, {}, progress).run
        request = _placed(run, request, arguments.whole)
        written = export_request(run, request, Path(arguments.output), progress)
    for remark in run.remarks:
        print(f"note: {remark}", file=sys.stderr)
    print(written)
    return OK


def _request(arguments: argparse.Namespace) -> Request:
    what, steps = "step", (0, 1)
    for name in ("peak", "max", "total"):
        if getattr(arguments, name):
            what = name
    if arguments.steps is not None:
        match = re.fullmatch(r"(\d{1,12}):(\d{1,12})", arguments.steps)
        if not match:
            raise UsageError(f"--steps {arguments.steps}: must be A:B, such as 0:20")
        what, steps = "steps", (int(match[1]), int(match[2]))
    return Request(
        metric=arguments.metric, what=what, step=arguments.step or 0, steps=steps,
        log=arguments.log, theme=arguments.theme,
    )  # fmt: skip


def _placed(run: Run, request: Request, whole: bool) -> Request:
    return request if whole else replace(request, viewport=moves.start(run).viewport)
