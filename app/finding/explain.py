"""Explains a PE, a link, a kernel or a step: from the pixel back to the nodes of the model.

Reads causes, `because` and what the compiler decided; decides nothing about what is idle or hot.
Knows no screen.
"""

from __future__ import annotations

import re

from app.commands import CommandError
from app.finding import decisions
from app.finding.because import (
    Gap,
    Tie,
    gap_at,
    kernel_gaps,
    levers_sentence,
    region_gap,
    ties,
)
from app.finding.decisions import Decision
from app.finding.hot_links import hottest_now
from app.runs.run import Run
from app.session.cursor import Cursor
from app.session.moves import seek
from app.session.places import select_kernel, select_pe
from app.units import count
from app.views.breaks import ChainRow
from app.views.build_pe import tile_sentence, view_pe
from app.views.explain import ExplainView, TieRow
from app.watch.stops import senders
from engine.metrics import PLANES
from engine.profile import BUSY_CAUSES
from engine.program import HOST, Kernel

_PE = re.compile(r"(?:pe\s+)?(\d+)\s*[,\s]\s*(\d+)")
_LINK = re.compile(r"(?:link|ramp)\s+(\d+)\s*[,\s]\s*(\d+)\s*[,\s]\s*([a-z]+)")
_STEP = re.compile(r"step(?:\s+(-?\d+))?|(-?\d+)")


def explain(run: Run, cursor: Cursor, target: str = "") -> ExplainView:
    """Explain `pe R,C`, `link R,C PLANE`, `kernel NAME`, `step [N]`; empty: what is selected.

    Raises:
        CommandError: no such place, kernel or step.
    """
    wanted = target.strip().lower()
    if not wanted:
        return _selected(run, cursor)
    if found := _LINK.fullmatch(wanted):
        return explain_link(run, cursor, int(found[1]), int(found[2]), found[3])
    if found := _PE.fullmatch(wanted):
        return explain_pe(run, cursor, int(found[1]), int(found[2]))
    if found := _STEP.fullmatch(wanted):
        step = found[1] or found[2]
        shown = cursor if step is None else seek(run, cursor, int(step)).cursor
        return explain_step(run, shown)
    name = target.strip().removeprefix("kernel ").strip()
    kernel = select_kernel(run, cursor, name).cursor.selection.kernel
    return explain_kernel(run, cursor, run.program.kernel(str(kernel)))


def _selected(run: Run, cursor: Cursor) -> ExplainView:
    selection = cursor.selection
    if selection.pe:
        return explain_pe(run, cursor, *selection.pe)
    if selection.kernel:
        return explain_kernel(run, cursor, run.program.kernel(selection.kernel))
    return explain_step(run, cursor)


def explain_pe(run: Run, cursor: Cursor, row: int, col: int) -> ExplainView:
    """Explain what a PE does in the step shown, and what put it there."""
    select_pe(run, cursor, row, col)
    view = view_pe(run, cursor.step, row, col)
    place = (row, col, 1, 1)
    if view.kernel is None:
        text = f"no kernel was placed on PE ({row}, {col}): {_free(run)}"
        return _view(run, cursor, "pe", f"PE ({row}, {col})", place, None,
                     (Decision("pixel", "", view.sentence), Decision("placement", "", text)),
                     text)  # fmt: skip
    kernel = run.program.kernel(view.kernel)
    gap = gap_at(run, kernel.id, cursor.step)
    pixel = Decision(
        "pixel", f"PE ({row}, {col})", f"{view.sentence}; {tile_sentence(kernel, row, col)}"
    )
    chain = [pixel, *_waits(run, gap), _inside(run, kernel, row, col)]
    chain += decisions.chain(run, kernel)
    return _view(run, cursor, "pe", f"PE ({row}, {col})", place, gap, tuple(chain), view.sentence)


def _inside(run: Run, kernel: Kernel, row: int, col: int) -> Decision:
    """Say what a PE does inside an instance, and how long it waits for slower ones."""
    profile = run.execution.profiles[kernel.id]
    if not kernel.region.contains(row, col):
        text = f"in each instance of {count(profile.length)} cycles this PE has nothing to do"
        return Decision("profile", kernel.id, text)
    busy = profile.pe(row - kernel.region.row, col - kernel.region.col)
    parts = [f"{name} {count(int(n))}" for name, n in zip(BUSY_CAUSES, busy, strict=True) if n]
    rest = profile.length - int(busy.sum())
    text = f"in each instance of {count(profile.length)} cycles this PE spends {', '.join(parts)}"
    if rest:
        text += f" and waits {count(rest)} for slower PEs (imbalance)"
    return Decision("profile", kernel.id, text)


def _free(run: Run) -> str:
    used = sum(k.region.area for k in run.program.kernels)
    return (
        f"the compiler gave {count(used)} of {count(run.machine.working_pes)} PEs to kernels and "
        "left the rest free"
    )


def explain_link(run: Run, cursor: Cursor, row: int, col: int, plane: str) -> ExplainView:
    """Explain who loads a link or ramp in the step shown."""
    if plane not in PLANES:
        raise CommandError(f"there is no link '{plane}'; planes are {', '.join(PLANES)}")
    select_pe(run, cursor, row, col)
    hot = hottest_now(run, cursor.step, (plane,), None, (row, col))
    assert hot is not None
    chain = [Decision("pixel", plane, hot.sentence), *senders(run, hot)]
    names = dict.fromkeys(
        name for s in hot.senders for name in decisions.flow_ends(run, s.flow) if name != HOST
    )
    for name in names:
        chain += decisions.chain(run, run.program.kernel(name))
    return _view(run, cursor, "link", f"{plane} of PE ({row}, {col})", (row, col, 1, 1), None,
                 tuple(chain), hot.sentence)  # fmt: skip


def explain_kernel(run: Run, cursor: Cursor, kernel: Kernel) -> ExplainView:
    """Explain a kernel: what it does in the step, its longest wait, and how it came about."""
    box = kernel.region
    gap = gap_at(run, kernel.id, cursor.step)
    longest = next((g for g in kernel_gaps(run, kernel.id) if g.cause != "fill"), None)
    now = f"waits: {gap.cause}" if gap else "works on a sample"
    text = f"{kernel.id} {now} in step {cursor.step}"
    if longest is not None:
        text += (
            f"; its longest wait is for sample {longest.sample}, cycles {longest.t0:,}.."
            f"{longest.t1 - 1:,}: {longest.cause}"
        )
    chosen = gap if gap is not None and gap.kernel >= 0 else longest
    moving = tuple(
        decisions.route(t) for t in run.program.transfers
        if kernel.id in (t.producer, *t.consumers)
    )  # fmt: skip
    chain = [Decision("pixel", kernel.id, text), *_waits(run, chosen), *moving,
             *decisions.chain(run, kernel)]  # fmt: skip
    place = (box.row, box.col, box.rows, box.cols)
    return _view(run, cursor, "kernel", kernel.id, place, chosen, tuple(chain), text)


def explain_step(run: Run, cursor: Cursor) -> ExplainView:
    """Explain a step: what begins it, who works, who waits for what, which link is hottest."""
    step = cursor.step
    start, end = run.step_bounds(step)
    label = run.label(step)
    text = f"step {step}, cycles {start:,}..{end - 1:,}: {label}"
    waits = [region_gap(run, region, step) for region in range(len(run.program.order))]
    working = [_active(run, region, step) for region, gap in enumerate(waits) if gap is None]
    rows = [Decision("pixel", f"step {step}", text)]
    rows.append(Decision("cause", "", f"{len(working)} of {len(run.program.kernels)} kernels work"
                         + (f": {', '.join(working[:8])}" if working else "")))  # fmt: skip
    for gap in waits:
        if gap is not None and gap.cause not in ("fill", "drain"):
            name = run.program.kernels[gap.kernel].id
            rows += [Decision("cause", name, f"{name}: {tie.cause}, {tie.sentence}")
                     for tie in ties(run, gap)]  # fmt: skip
    hot = hottest_now(run, step, PLANES)
    if hot is not None:
        rows.append(Decision("route", hot.plane, f"hottest: {hot.sentence}"))
    return _view(run, cursor, "step", f"step {step}", None, None, tuple(rows), text)


def _active(run: Run, region: int, step: int) -> str:
    """Return the kernel that works on a region in a step."""
    return run.program.kernels[int(run.execution.fields.tables.active[region, step])].id


def _waits(run: Run, gap: Gap | None) -> tuple[Decision, ...]:
    """Return the cause of a wait and the routes of what it waits for."""
    if gap is None:
        return ()
    if gap.kernel < 0:
        return (Decision("cause", gap.cause, "the region has done all samples and waits for the "
                         "end of the run"),)  # fmt: skip
    name = run.program.kernels[gap.kernel].id
    below = f" (underneath: {gap.underlying})" if gap.underlying != gap.cause else ""
    text = (
        f"{name} waits {count(gap.t1 - gap.t0)} cycles, {gap.t0:,}..{gap.t1 - 1:,}, before sample "
        f"{gap.sample} goes on: {gap.cause}{below}"
    )
    waited = dict.fromkeys(tie.transfer for tie in ties(run, gap) if tie.transfer)
    routes = (decisions.flow_route(run, name) for name in waited)
    return (Decision("cause", gap.cause, text), *routes)


def _view(
    run: Run, cursor: Cursor, kind: str, target: str, place: tuple[int, int, int, int] | None,
    gap: Gap | None, chain: tuple[Decision, ...], sentence: str,
) -> ExplainView:  # fmt: skip
    found: tuple[Tie, ...] = () if gap is None else ties(run, gap)
    note = levers_sentence(found)
    rows = dict.fromkeys(ChainRow(d.level, d.name, d.sentence) for d in chain)
    if found:
        causes = " and ".join(dict.fromkeys(tie.cause for tie in found))
        sentence += f"; waited last for {causes}" + (f" (tied): {note}" if note else "")
    return ExplainView(
        kind=kind, target=target, step=cursor.step, place=place,
        ties=tuple(TieRow(t.cause, t.transfer, t.lever, t.sentence) for t in found),
        ties_note=note, chain=tuple(rows), standing=run.standing, sentence=sentence,
    )  # fmt: skip
