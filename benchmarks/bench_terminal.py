"""The terminal view in tmux at 200x60, gpt2-small on wse2: `python -m benchmarks.bench_terminal`.

From a key to the screen that shows the next step (budget 150 ms; a look at the screen costs about
5 ms of it), and steps a second while it plays at its fastest (at least 8).
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

TMUX = ("tmux", "-L", f"waferscope-bench-{os.getpid()}", "-f", "/dev/null")
KEYS = 30
PLAY_SECONDS = 5.0
METRICS = ("1", "2", "3", "4")
"""keys of the first four metrics"""


def main() -> None:
    """Print a line for each metric."""
    run = f"{sys.executable} -m app.cli.main demo gpt2-small --tui"
    _tmux("new-session", "-d", "-x", "200", "-y", "60",
          f"env -u COLUMNS -u LINES COLORTERM=truecolor {run}")  # fmt: skip
    try:
        _until(lambda: _step() >= 0)
        _press("t")  # from the kernel stride to every step
        for metric in METRICS:
            _press(metric)
            time.sleep(1.0)
            keys = [_key_to_screen() for _ in range(KEYS)]
            print(f"metric {metric}: key to screen median {statistics.median(keys) * 1e3:.0f} ms, "
                  f"worst {max(keys) * 1e3:.0f} ms (150), "
                  f"play {_play():.1f} steps/s (>= 8)", flush=True)  # fmt: skip
    finally:
        _tmux("kill-server")


def _key_to_screen() -> float:
    before = _step()
    began = time.perf_counter()
    _press("n")
    _until(lambda: _step() != before)
    return time.perf_counter() - began


def _play() -> float:
    """Return screens with another step a second, as seen from outside."""
    _press("]", "]", "]", "]", "]", "Space")
    before, changes, began = _step(), 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < PLAY_SECONDS:
        now = _step()
        changes, before = changes + (now != before), now
    _press("Space")
    time.sleep(0.5)
    return changes / passed


def _tmux(*words: str) -> str:
    return subprocess.run([*TMUX, *words], capture_output=True, text=True, check=True).stdout


def _press(*keys: str) -> None:
    _tmux("send-keys", *keys)


def _step() -> int:
    """Return the step that the screen shows, -1 when none stands there."""
    found = re.search(r"step ([\d,]+)/", _tmux("capture-pane", "-p"))
    return int(found[1].replace(",", "")) if found else -1


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        if time.monotonic() > end:
            raise RuntimeError("the screen did not change:\n" + _tmux("capture-pane", "-p"))


if __name__ == "__main__":
    main()
