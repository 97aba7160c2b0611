"""From views of kernels that take turns to pages: whose turn, activations. Pure functions."""

from __future__ import annotations

from rich.text import Text

from app.tui.pages.table import TableSpec
from app.units import count, percent, size
from app.views.activations import ActivationsView
from app.views.streaming import ArrivalRow, LeavingRow, StreamingView, TurnPhase

_BAR = 30
_CELLS = 10
"""of a bar in a table"""


def turn_spec(view: StreamingView) -> TableSpec:
    """Return the table of the phases of a turn, then what arrives, then what leaves."""
    rows = [_phase_cells(row) for row in view.phases]
    rows += [_arrival_cells(row) for row in view.arriving]
    rows += [_leaving_cells(row) for row in view.leaving]
    details = [row.sentence for row in view.phases]
    details += [_arrival_detail(row) for row in view.arriving]
    details += [f"{row.sentence}; made by {row.kernel}" for row in view.leaving]
    return TableSpec(
        f"Whose turn: {view.sentence}  [{view.standing}]",
        ("kernel", "what", "done", "of", "cycles left", ""),
        tuple(rows), tuple(details), "Enter goes to its kernel, Escape closes",
    )  # fmt: skip


def turn_kernels(view: StreamingView) -> tuple[str, ...]:
    """Return the kernel of each row of the table, the first where several read what arrives."""
    moving: tuple[ArrivalRow | LeavingRow, ...] = (*view.arriving, *view.leaving)
    names = [row.kernel.split(", ")[0] for row in moving]
    return (*(row.kernel for row in view.phases), *names)


def _bar(share: float) -> str:
    return f"[{'#' * round(share * _CELLS):<{_CELLS}}]"


def _phase_cells(row: TurnPhase) -> tuple[str, ...]:
    left = f"{row.cycles_left:,}" if row.state == "now" else ""
    name, done = f"{row.kernel}, sample {row.sample}", percent(row.share)
    state = done if row.state == "now" else row.state
    return name, row.label, state, row.detail, left, _bar(row.share)


def _arrival_cells(row: ArrivalRow) -> tuple[str, ...]:
    return (
        f"{row.kernel}, sample {row.sample}", f"{row.what} arrive", percent(row.share),
        f"{size(row.sent_bytes)} of {size(row.bytes)}", f"{row.cycles_left:,}", _bar(row.share),
    )  # fmt: skip


def _arrival_detail(row: ArrivalRow) -> str:
    return f"{row.sentence}; the last one passes the border in cycle {count(row.until_cycle)}"


def _leaving_cells(row: LeavingRow) -> tuple[str, ...]:
    return (
        f"{row.kernel}, sample {row.sample}", f"{row.what} leaves: {row.tensor}",
        percent(row.share), f"{size(row.sent_bytes)} of {size(row.bytes)}",
        f"{row.cycles_left:,}", _bar(row.share),
    )  # fmt: skip


def activations_spec(view: ActivationsView) -> TableSpec:
    """Return the table of activations, the most expensive first."""
    rows = tuple(
        (("* " if row.at_peak else "  ") + row.tensor, row.made_by, row.last_read_by,
         count(row.turns), size(row.bytes), size(row.pe_bytes), count(row.byte_turns),
         percent(row.share), row.fate)
        for row in view.rows
    )  # fmt: skip
    title = f"Activations (* alive at the peak): {view.sentence}  [{view.standing}]"
    title += f"\nand {view.more:,} cheaper ones" if view.more else ""
    title += f"\n{view.traffic}" if view.traffic else ""
    title += f"\n{view.remedy}" if view.remedy else ""
    sets = f", s sets activation_mb to {view.budget_mb}" if view.budget_mb else ""
    return TableSpec(
        title,
        ("activation", "made by", "read last by", "turns", "bytes", "a PE", "byte-turns", "share",
         "fate"),
        rows, tuple(row.sentence for row in view.rows),
        f"Enter goes to its maker, o shows all turns{sets}, Escape closes",
        keys=("o", "s") if view.budget_mb else ("o",),
    )  # fmt: skip


def alive_text(view: ActivationsView) -> Text:
    """Return the bytes alive turn by turn as a text page."""
    text = Text(f"{view.sentence}\n\n")
    for index, point in enumerate(view.points):
        bar = "#" * round(_BAR * point.bytes / max(1, view.peak_bytes))
        text.append(f"{size(point.bytes):>10} {bar:<{_BAR}} turn {point.turn:,}, {point.kernel}")
        text.append("  <- peak\n" if index == view.peak else "\n", "bold")
    return text.append(f"\nstanding     {view.standing}", "dim")
