"""From advice to its view. Pure functions; rules and trials are in app.advice. No screen."""

from __future__ import annotations

from app.advice.advisor import Advice, Optimum, Tried, best_text
from app.advice.rule import changes_text
from app.advice.table import RULES
from app.runs.run import Run
from app.views.advice import AdviceRow, AdviceView, OptimumView, TriedRow


def view_advice(
    run: Run, advice: tuple[Advice, ...], *, is_tried: bool, optimum: Optimum | None
) -> AdviceView:
    """Return what the rules say about a run and what was tried of it."""
    rows = tuple(_row(run, item) for item in advice)
    gains = sum(row.best is not None for row in rows)
    if not rows:
        sentence = f"none of {len(RULES)} rules has anything to say"
    elif is_tried:
        sentence = (
            f"{len(rows)} of {len(RULES)} rules fire; {gains} have a change that gains, tried"
        )
    else:
        sentence = f"{len(rows)} of {len(RULES)} rules fire; nothing was tried yet ('advise' does)"
    return AdviceView(
        rows=rows, rules=len(RULES), is_tried=is_tried,
        optimum=None if optimum is None else view_optimum(optimum), standing=run.standing,
        sentence=sentence,
    )  # fmt: skip


def _row(run: Run, item: Advice) -> AdviceRow:
    finding = item.finding
    return AdviceRow(
        rule=item.rule.id, title=item.rule.title, severity=finding.severity,
        sentence=finding.sentence, evidence=finding.evidence, knobs=finding.knobs,
        kernels=finding.kernels, place=finding.place, goal=finding.goal,
        tried=tuple(_tried(t) for t in item.tried),
        best=None if item.best is None else _tried(item.best),
        untried=tuple(changes_text(changes) for changes in item.untried), standing=run.standing,
    )  # fmt: skip


def _tried(item: Tried) -> TriedRow:
    changes = tuple((c.knob, c.value, c.kernel) for c in item.changes)
    return TriedRow(changes, changes_text(item.changes), item.gain, item.sentence)


def view_optimum(optimum: Optimum) -> OptimumView:
    """Return what a search found."""
    return OptimumView(
        rows=tuple(_tried(item) for item in optimum.tried),
        best=None if optimum.best is None else _tried(optimum.best),
        makespan=optimum.before.makespan or 0, left=optimum.left, seconds=optimum.seconds,
        sentence=best_text(optimum),
    )  # fmt: skip
