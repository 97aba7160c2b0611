"""Runs to .wscope files and back, and the check of a file against this version. No screen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.runs import sections
from app.runs.routing import recorded_routing
from app.runs.run import Run
from app.session.cursor import Cursor
from app.session.warming import compile_if_needed
from app.version import VERSION
from app.views.report import CheckRow
from engine.codec import CodecError
from engine.metrics import METRICS
from engine.progress import NO_PROGRESS, Progress
from engine.recording import Recording, RecordingError, read_recording, write_recording
from engine.run import Execution, execute
from engine.store import TensorStore
from lowering.compiler import Compiled, compile_graph

SPOT_STEPS = 3
"""steps compared when a file is opened; `verify` compares all"""


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A run and where to begin."""

    run: Run
    cursor: Cursor | None = None
    """None: at the start"""


def save_run(
    run: Run, path: Path, cursor: Cursor | None = None, progress: Progress = NO_PROGRESS
) -> str:
    """Write a run to a .wscope file and return its digest.

    Raises:
        RecordingError: the file cannot be written.
    """
    compiled = run.compiled
    recording = Recording(
        program=run.program,
        timeline=run.timeline.to_arrays(),
        sums=all_sums(run.execution, progress),
        values=dict(run.values),
        nonzeros=run.execution.nonzeros,
        foreign=sections.pack(compiled.graph, compiled.report, compiled.config, cursor),
        tool=VERSION,
        source_hash=compiled.graph.source_hash,
    )
    return write_recording(path, recording, progress)


def all_sums(execution: Execution, progress: Progress = NO_PROGRESS) -> dict[str, np.ndarray]:
    """Return the sum over PEs of each metric that adds up, in every step, by metric id."""
    names = [metric.id for metric in METRICS.values() if metric.kind != "category"]
    progress.stage("summing", len(names), "metrics")
    sums = {}
    for index, name in enumerate(names):
        sums[name] = np.asarray(execution.fields.sums(name), np.float64)
        progress.advance(index + 1)
    return sums


def load_run(run_id: int, path: Path, progress: Progress = NO_PROGRESS) -> Opened:
    """Open a recording: its program is executed again and spot-checked against the file.

    Raises:
        RecordingError: not a recording, damaged, too new, or it makes no sense.
    """
    recording = read_recording(path, progress)
    execution = _execute(recording, path, progress)
    try:
        graph, report = sections.unpack_graph(recording), sections.unpack_report(recording)
        config, cursor = sections.unpack_config(recording), sections.unpack_cursor(recording)
    except (CodecError, KeyError, TypeError, ValueError) as error:
        raise RecordingError(f"{path} holds a section that makes no sense: {error}") from error
    compiled = Compiled(graph, recording.program, TensorStore(), report, config)
    remarks = [check.detail for check in _spot_checks(recording, execution) if not check.ok]
    if recording.tool != VERSION:
        remarks.append(f"recorded by version {recording.tool}, this is {VERSION}")
    run = Run(run_id, compiled, execution, path.name, tuple(remarks), dict(recording.values))
    return Opened(run, cursor)


def _execute(recording: Recording, path: Path, progress: Progress) -> Execution:
    compile_if_needed(recording.program, progress)
    try:
        return execute(recording.program, TensorStore(), progress, nonzeros=recording.nonzeros)
    except (ValueError, KeyError, IndexError) as error:
        raise RecordingError(f"the program in {path} cannot be executed: {error}") from error


def _spot_checks(recording: Recording, execution: Execution) -> list[CheckRow]:
    checks = [_timeline_check(recording, execution)]
    recorded = recording.sums.get("utilization")
    if recorded is not None and recorded.shape == (execution.timeline.steps,):
        now = np.asarray(execution.fields.sums("utilization"), np.float64)
        steps = np.linspace(0, len(now) - 1, SPOT_STEPS).astype(int)
        checks.append(_sums_check("utilization", recorded, now, steps))
    return checks


def verify_recording(path: Path, progress: Progress = NO_PROGRESS) -> tuple[CheckRow, ...]:
    """Compute everything a file holds anew and compare.

    Raises:
        RecordingError: the file cannot be read at all.
    """
    recording = read_recording(path, progress)
    checks = [CheckRow("digest", True, f"sha256 {recording.digest[:16]}... of all sections")]
    execution = _execute(recording, path, progress)
    checks.append(_timeline_check(recording, execution))
    sums = all_sums(execution, progress)
    for name in sorted(sums.keys() | recording.sums.keys()):
        checks.append(_metric_check(name, recording.sums.get(name), sums.get(name)))
    checks += [
        CheckRow(f"ledger: {item.name}", item.ok, item.detail) for item in execution.ledger.checks
    ]
    checks.append(_compiler_check(recording, progress))
    return tuple(checks)


def _timeline_check(recording: Recording, execution: Execution) -> CheckRow:
    ours, theirs = execution.timeline.to_arrays(), recording.timeline
    for name in sorted(ours.keys() | theirs.keys()):
        if name not in ours or name not in theirs:
            where = "missing in the file" if name in ours else "unknown to this version"
            return CheckRow("timeline", False, f"the timeline's '{name}' is {where}")
        if not np.array_equal(ours[name], theirs[name]):
            return CheckRow(
                "timeline", False, f"the timeline's '{name}' is not what this version computes"
            )
    return CheckRow("timeline", True, f"{execution.timeline.steps:,} steps are equal")


def _metric_check(name: str, recorded: np.ndarray | None, now: np.ndarray | None) -> CheckRow:
    if recorded is None or now is None:
        where = "missing in the file" if recorded is None else "unknown to this version"
        return CheckRow(f"sums of {name}", False, f"the sums of {name} are {where}")
    if recorded.shape != now.shape:
        return CheckRow(
            f"sums of {name}", False,
            f"{name}: {recorded.shape[0]} steps recorded, {now.shape[0]} computed",
        )  # fmt: skip
    return _sums_check(name, recorded, now, np.arange(len(now)))


def _sums_check(name: str, recorded: np.ndarray, now: np.ndarray, steps: np.ndarray) -> CheckRow:
    different = steps[~np.isclose(recorded[steps], now[steps], rtol=1e-9, atol=1e-6)]
    if len(different):
        step = int(different[0])
        return CheckRow(
            f"sums of {name}", False,
            f"{name} in step {step}: {recorded[step]:,.6g} recorded, {now[step]:,.6g} computed; "
            f"{len(different)} step(s) differ",
        )  # fmt: skip
    return CheckRow(f"sums of {name}", True, f"{len(steps):,} steps are equal")


def _compiler_check(recording: Recording, progress: Progress) -> CheckRow:
    try:
        graph, config = sections.unpack_graph(recording), sections.unpack_config(recording)
        if recording.nonzeros and graph.unknown:
            return CheckRow("compiler", True, "not compared: cycles depend on zeros in weights "
                            "that the file does not carry")  # fmt: skip
        routing = recorded_routing(recording.program)
        program = compile_graph(graph, config, progress, routing=routing).program
    except (CodecError, KeyError, TypeError, ValueError) as error:
        return CheckRow("compiler", False, f"the graph cannot be compiled again: {error}")
    same = program == recording.program
    detail = "gives the same program" if same else "this version compiles another program"
    return CheckRow("compiler", same, detail)
