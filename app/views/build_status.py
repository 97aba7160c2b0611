"""From a session's parts to its status line. A pure function; no screen."""

from __future__ import annotations

from app.runs.run import Run
from app.runs.values import why_no_values
from app.session.cursor import Cursor
from app.session.jobs import JobState
from app.session.moves import first_busy_step
from app.units import count, percent
from app.views.status import DeltaView, JobView, StatusView


def view_status(
    run: Run,
    cursor: Cursor,
    job: JobState | None,
    delta: DeltaView | None,
    revision: int,
    message: str,
) -> StatusView:
    """Return where the session is."""
    start, end = run.step_bounds(cursor.step)
    ledger_ok = run.execution.ledger.ok
    would_run = run.program.would_run
    label = run.label(cursor.step)
    return StatusView(
        revision=revision, run_id=run.id, model=run.compiled.graph.name,
        machine=run.machine.name, step=cursor.step, steps=run.timeline.steps, step_label=label,
        cycle_start=start, cycle_end=end, makespan=run.timeline.makespan, sample=cursor.sample,
        samples=run.program.samples, stride=cursor.stride, metric=cursor.metric,
        ledger_ok=ledger_ok, would_run=would_run, standing=run.standing,
        sentence=_sentence(run, cursor, label, start, end), message=message,
        severity="ok" if ledger_ok and would_run else "alert",
        values=values_state(run), job=job_view(job) if job else None, delta=delta,
    )  # fmt: skip


def values_state(run: Run) -> str:
    """Return none | ready | unavailable."""
    if run.computed is not None or run.values:
        return "ready"
    return "unavailable" if why_no_values(run) else "none"


def _sentence(run: Run, cursor: Cursor, label: str, start: int, end: int) -> str:
    busy = float(run.execution.fields.sums("utilization")[cursor.step])
    share = busy / max(1, (end - start) * run.machine.working_pes)
    text = (
        f"step {cursor.step} of {run.timeline.steps}, cycles {count(start)}..{count(end - 1)}: "
        f"{label}; {percent(share)} of the PEs' cycles compute"
    )
    if busy and cursor.step == first_busy_step(run):
        text += ", the first step in which any does"
    return text if run.program.would_run else f"would not run (what-if): {text}"


def job_view(job: JobState) -> JobView:
    """Return a job as screens show it."""
    progress = job.progress
    return JobView(
        job.id, job.state, job.what, progress.stage, progress.done, progress.total, progress.unit,
        1.0 if job.state == "done" else progress.fraction, job.message,
    )  # fmt: skip
