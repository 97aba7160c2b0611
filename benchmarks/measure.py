"""Shared by the benchmarks: the least of several runs, and how a figure is printed."""

from __future__ import annotations

import time
from collections.abc import Callable


def least(run: Callable[[], object], times: int = 5) -> float:
    """Return the least seconds of `times` runs."""
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - began)
    return best


def line(what: str, seconds: float, budget: float, baseline: float | None = None) -> str:
    """Return one line: the figure, its budget, and the ratio to a baseline of the same run."""
    ratio = f"  {seconds / baseline:5.2f}x baseline" if baseline else ""
    mark = "ok" if seconds <= budget else "OVER"
    return f"{what:<58} {seconds * 1e3:9.1f} ms  budget {budget * 1e3:8.1f} ms  {mark}{ratio}"
