"""From a run to its hottest links. A pure function; the rule itself is in app.finding.hot_links."""

from __future__ import annotations

from app.finding.hot_links import HOT_LINK, HotLink, hot_links
from app.runs.run import Run
from app.views.hot import HotRow, HotView, SenderRow


def view_hot(run: Run, step: int | None) -> HotView:
    """Return the ten hottest links and ramps of a step, or of the run when `step` is None."""
    rows = tuple(_row(hot) for hot in hot_links(run, step))
    start, end = (0, run.timeline.makespan) if step is None else run.step_bounds(step)
    scope = "the run" if step is None else f"step {step}"
    sentence = f"hottest of {scope}: {rows[0].sentence}" if rows else f"nothing moves in {scope}"
    return HotView(
        scope="run" if step is None else "step", step=step, cycles=end - start, rows=rows,
        standing=run.standing_of("exact for this program"), sentence=sentence,
    )  # fmt: skip


def _row(hot: HotLink) -> HotRow:
    return HotRow(
        row=hot.row, col=hot.col, plane=hot.plane, words=hot.words, load=hot.load,
        senders=tuple(SenderRow(s.flow, s.ends, s.load, s.share) for s in hot.senders),
        severity="warn" if hot.load >= HOT_LINK else "ok", sentence=hot.sentence,
    )  # fmt: skip
