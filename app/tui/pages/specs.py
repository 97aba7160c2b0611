"""From views to the rows of table pages and the texts of text pages. Pure functions."""

from __future__ import annotations

from rich.text import Text

from app.runs.map_metrics import MAP_METRICS
from app.tui.lines import SEVERITY
from app.tui.pages.table import TableSpec
from app.units import count, percent, size
from app.views.help import HelpView
from app.views.idle import IdleView
from app.views.knobs import KnobRow, KnobsView
from app.views.report import ReportView

_OVERFLOWS = 12
"""overflows listed, the worst first"""
_HOLDERS = 6
"""of each, the largest buffers"""


def idle_spec(view: IdleView) -> TableSpec:
    """Return the table of idle regions."""
    rows = tuple(
        (region.cause, percent(region.share), count(region.pe_cycles), count(region.pes),
         "row {}, col {}, {}x{}".format(*region.rect), _cut(", ".join(region.kernels) or "none"))
        for region in view.regions
    )  # fmt: skip
    details = tuple(
        region.sentence
        + ("\nwould help: " + "; ".join(region.levers) if region.levers else "")
        + "".join(f"\n{gain}" for gain in region.gains)
        for region in view.regions
    )
    columns = ("cause", "share", "PE-cycles lost", "PEs", "where", "kernels")
    return TableSpec(
        f"Idle regions of the {view.scope}: {view.sentence}  [{view.standing}]",
        columns, rows, details, "Enter goes there, Escape closes",
    )  # fmt: skip


def knobs_spec(view: KnobsView) -> TableSpec:
    """Return the table of knobs."""
    rows = tuple(
        (knob.label, f"{knob.value}{' *' if knob.changed else ''}", str(knob.default),
         knob.unit, "selected kernel" if knob.per_kernel else "model", _cut(knob.range))
        for knob in view.rows
    )  # fmt: skip
    details = tuple(f"{knob.help}; {knob.range}; a change compiles again from: {knob.stage}"
                    for knob in view.rows)  # fmt: skip
    made = " -> ".join(view.history) if view.history else "none yet"
    return TableSpec(
        f"Knobs (* differs from the default). Changes: {made}",
        ("knob", "value", "default", "unit", "acts on", "range"), rows, details,
        "Enter changes, u undoes the last change, U does it again, Escape closes",
        keys=("u", "U"),
    )  # fmt: skip


def _cut(text: str, width: int = 36) -> str:
    return text if len(text) <= width else text[: width - 1] + "~"


def choices_spec(knob: KnobRow) -> TableSpec:
    """Return the table of a knob's choices."""
    rows = tuple((choice,) for choice in knob.choices)
    now = knob.choices.index(str(knob.value)) if str(knob.value) in knob.choices else 0
    return TableSpec(
        f"{knob.label}: {knob.help}", ("value",), rows, (), "Enter sets, Escape closes", now
    )


def kernels_spec(view: ReportView) -> TableSpec:
    """Return the table of kernels."""
    rows = tuple(
        (("! " if row.is_bottleneck else "") + row.name, row.kind,
         "{},{} {}x{}".format(*row.region), count(row.active_pes), count(row.cycles),
         percent(row.utilization), count(round(row.samples_per_mcycle, 2)),
         size(row.sram_bytes), count(row.ops))
        for row in view.rows
    )  # fmt: skip
    details = tuple(
        f"{row.name}: source nodes {', '.join(row.source_nodes) or 'none'}; attainable by compute "
        f"{count(round(row.compute_samples_per_mcycle, 2))}, by transmission "
        f"{count(round(row.transmission_samples_per_mcycle, 2))} samples/Mcycle"
        for row in view.rows
    )
    return TableSpec(
        f"Kernels of {view.model} on {view.machine} (! = bottleneck)  [{view.standing}]",
        ("kernel", "kind", "region", "PEs", "cycles", "utilization", "samples/Mcycle", "SRAM",
         "operations"), rows, details, "Enter selects and shows it, Escape closes",
    )  # fmt: skip


def metrics_spec(now: str) -> tuple[TableSpec, tuple[str, ...]]:
    """Return the table of metrics and their ids."""
    names = tuple(MAP_METRICS)
    rows = tuple((m.label, m.unit, m.pool, m.standing) for m in MAP_METRICS.values())
    details = tuple(m.help for m in MAP_METRICS.values())
    spec = TableSpec(
        "Metrics: what the map shows", ("metric", "unit", "pooled by", "standing"), rows, details,
        "Enter shows it, Escape closes", names.index(now) if now in names else 0,
    )  # fmt: skip
    return spec, names


def report_text(view: ReportView) -> Text:
    """Return the compile report; what does not fit comes first."""
    text = Text()
    if view.overflows:
        text.append("DOES NOT FIT\n", SEVERITY["alert"])
        for item in view.overflows[:_OVERFLOWS]:
            text.append(f"{item.sentence}\n", SEVERITY["alert"])
            for name, held in item.holders[:_HOLDERS]:
                text.append(f"    {count(held):>12} {item.unit} {name}\n")
        if len(view.overflows) > _OVERFLOWS:
            text.append(f"and {len(view.overflows) - _OVERFLOWS:,} more\n")
        if view.smallest_machine:
            text.append(f"it would fit on {view.smallest_machine}\n", "bold")
        if view.wafers:
            text.append(f"{view.wafers}\n", "bold")
        text.append("\n")
    for label, value in view.headline:
        text.append(f"{label:<14}", "dim")
        text.append(f"{value}\n")
    text.append("bottleneck    ", "dim")
    text.append(f"{view.bottleneck}\n")
    text.append("standing      ", "dim")
    text.append(f"{view.standing}\n\n")
    text.append("Ledger\n", "bold")
    for check in view.checks:
        text.append("  ok      " if check.ok else "  BROKEN  ",
                    "" if check.ok else SEVERITY["alert"])  # fmt: skip
        text.append(f"{check.name}: {check.detail}\n")
    for note in view.notes:
        text.append(f"note: {note}\n")
    return text.append("\n" + view.text)


def help_text(view: HelpView) -> Text:
    """Return the help page, by group."""
    text = Text()
    for group in dict.fromkeys(row.group for row in view.rows):
        text.append(f"{group}\n", "bold underline")
        for row in (row for row in view.rows if row.group == group):
            text.append(f"  {' '.join(row.keys):<10}", "bold")
            text.append(f"{row.usage:<32} ")
            text.append(f"{row.help}\n", "dim")
        text.append("\n")
    return text
