"""Watchpoints, explanations, hot links on a full wafer: `python -m benchmarks.bench_debugger`."""

from __future__ import annotations

from dataclasses import replace

from app.debugger import Debugger
from app.runs.opening import open_run
from app.runs.run import Run
from app.watch.conditions import Condition, turns_true
from benchmarks.measure import least, line
from lowering.config import CompileConfig

WATCHED = (
    ("sram > 46KB", 0.05), ("waiting > 1000", 0.05), ("utilization < 10%", 0.2),
    ("utilization(0, 0, 80, 80) > 10%", 0.05), ("link > 90%", 1.0), ("ramp > 50%", 1.0),
)  # fmt: skip
"""(condition, seconds over all steps)"""


def main() -> None:
    """Print the figures of GPT-2 small on wse2."""
    run = open_run(1, "gpt2-small", CompileConfig(values="none"), {}).run
    print(f"{run.timeline.steps:,} steps, {len(run.program.transfers)} transfers, wse2")
    for text, budget in WATCHED:
        spent = least(lambda text=text: _cold(run, text), 3)  # type: ignore[misc]
        print(line(f"every step of '{text}', nothing kept", spent, budget))
    session = Debugger(run)
    session.add_watch("link > 90%")
    print(line("continue to the next stop", least(session.run_until, 5), 0.05))
    print(line("explain a step", least(lambda: session.explain("step 500"), 3), 0.05))
    print(line("hot links of the run", least(session.find_hot, 3), 0.5))
    print(line("advice, nothing tried", least(session.view_advice, 3), 0.6))
    print(line("bottleneck", least(session.view_bottleneck, 3), 0.05))


def _cold(run: Run, text: str) -> None:
    """Judge a condition on a copy of the run, for which nothing is kept."""
    turns_true(replace(run), Condition.parse(text))


if __name__ == "__main__":
    main()
