"""Progress of long work on stderr: bars by rich, only on a terminal and after a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.session.warming import COMPILING
from engine.progress import Progress, ProgressState

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

PATIENCE_SECONDS = 1.0
"""work that is done sooner shows no bar"""


class _Display:
    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._bars: Bars | None = None
        self._task: TaskID | None = None
        self._stage = ""
        self._said = False

    def report(self, state: ProgressState) -> None:
        if state.stage == COMPILING and not self._said and self._bars is None:
            self._said = True
            print(COMPILING, file=sys.stderr)
        if time.monotonic() - self._begin < PATIENCE_SECONDS or not sys.stderr.isatty():
            return
        if self._bars is None:
            from rich.console import Console
            from rich.progress import Progress as RichProgress

            self._bars = RichProgress(console=Console(stderr=True), transient=True)
            self._bars.start()
        if self._task is None or state.stage != self._stage:
            self._stage = state.stage
            self._task = self._bars.add_task(state.stage, total=None)
        total = state.total or None
        self._bars.update(self._task, completed=state.done, total=total)

    def close(self) -> None:
        if self._bars is not None:
            self._bars.stop()


@contextmanager
def shown_progress(what: str) -> Iterator[Progress]:
    """Give a progress that shows bars; says on stderr how long `what` took."""
    begin, display = time.monotonic(), _Display()
    try:
        yield Progress(display.report)
    finally:
        display.close()
    print(f"{what} in {time.monotonic() - begin:.2f} s", file=sys.stderr)
