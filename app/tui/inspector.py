"""The side panel as text: everything about the selected PE and kernel. Pure functions."""

from __future__ import annotations

from rich.text import Text

from app.palette import cause_colour
from app.tui.glyphs import Glyphs
from app.tui.lines import SEVERITY, bar
from app.tui.minimap import minimap
from app.units import count, percent, size
from app.views.kernel import KernelView
from app.views.map import MapView
from app.views.pe import PEView

_FIRST_VALUES = 12
"""kept values written out"""
_HINT = (
    "Nothing is selected.\n\nh j k l move a cursor over the PEs; a click selects one; "
    "/ finds a kernel; . goes to the hottest place."
)


def inspector(
    pe: PEView | None, kernel: KernelView | None, view: MapView, glyphs: Glyphs, width: int
) -> Text:
    """Return the panel for what is selected, else the map in a sentence."""
    text = Text(overflow="fold")
    text.append_text(minimap(view, glyphs, width))
    if pe is None and kernel is None:
        text.append(view.sentence + "\n\n", SEVERITY[view.severity])
        return text.append(_HINT, "dim")
    if pe is not None:
        _append_pe(text, pe, glyphs, width)
    if kernel is not None:
        _append_kernel(text, kernel, glyphs, width)
    return text


def _title(text: Text, title: str) -> None:
    text.append(f"\n{title}\n", "bold underline")


def _append_pe(text: Text, pe: PEView, glyphs: Glyphs, width: int) -> None:
    text.append(f"PE ({pe.row}, {pe.col})", "bold reverse")
    text.append(f" {pe.kernel or 'no kernel'}\n", "bold")
    text.append(pe.sentence + "\n", SEVERITY[pe.severity])
    if pe.tile:
        text.append(pe.tile + "\n", "dim")
    _append_values(text, pe)
    room = max(4, width - 37)
    _title(text, f"cycles by cause {'':<{room}}  run   step")
    for row in pe.causes:
        text.append(f"{row.cause:<13}")
        text.append(bar(row.run_share, room, glyphs), cause_colour(row.cause, glyphs.theme))
        text.append(f"{percent(row.run_share):>8} {count(row.step_cycles):>8}\n")
    _append_sram(text, pe, glyphs, width)
    _title(text, "links: wavelets in the step and a cycle")
    for index, link in enumerate(pe.links):
        text.append(f"{link.plane:<8}{count(link.words):>7} {link.load:>4.2f}/c",
                    SEVERITY[link.severity])  # fmt: skip
        text.append("\n" if index % 2 or width < 44 else "  ")
    if len(pe.links) % 2 and width >= 44:
        text.append("\n")


def _append_values(text: Text, pe: PEView) -> None:
    if pe.values is None:
        text.append(f"{pe.values_note}\n" if pe.values_note else "", "dim")
        return
    text.append(f"{pe.values_note}\n", SEVERITY[pe.values.severity])
    shown = " ".join(f"{value:.4g}" for value in pe.values.first[:_FIRST_VALUES])
    more = pe.values.kept - _FIRST_VALUES
    text.append(f"{shown}{f' and {more:,} more' if more > 0 else ''}\n" if shown else "", "dim")


def _append_sram(text: Text, pe: PEView, glyphs: Glyphs, width: int) -> None:
    _title(text, f"SRAM {size(pe.sram_allocated)} of {size(pe.sram_capacity)}, "
                 f"live {size(pe.sram_live)}")  # fmt: skip
    share = pe.sram_allocated / max(1, pe.sram_capacity)
    text.append(bar(min(1.0, share), width - 9, glyphs), SEVERITY[pe.severity])
    text.append(f"{percent(share):>8}\n")
    for use in pe.sram:
        name = _cut(f"{use.role} {use.name}", width - 16)
        mark = "live" if use.live else ""
        if not use.fits:
            mark = "OVER"
        text.append(f"{name:<{width - 16}}{size(use.size):>10} {mark:<5}\n",
                    "" if use.fits else SEVERITY["alert"])  # fmt: skip


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "~"


def _append_kernel(text: Text, kernel: KernelView, glyphs: Glyphs, width: int) -> None:
    row, col, rows, cols = kernel.region
    if text.cell_len:
        text.append("\n")
    text.append(f"kernel {kernel.name}", "bold reverse")
    text.append(f" {kernel.kind}\n", "bold")
    text.append(kernel.sentence + "\n", SEVERITY[kernel.severity])
    facts = (
        ("region", f"row {row}, col {col}, {rows}x{cols} PEs"),
        ("cycles a sample", count(kernel.cycles)),
        ("attainable", f"{count(round(kernel.samples_per_mcycle, 2))} samples/Mcycle"),
        ("utilization", f"{bar(kernel.utilization, 10, glyphs)} {percent(kernel.utilization)}"),
        ("operations", ", ".join(kernel.ops)),
        ("source nodes", ", ".join(kernel.source_nodes) or "none"),
        ("standing", kernel.standing),
    )
    for name, value in facts:
        text.append(f"{name:<16}", "dim")
        text.append(f"{value}\n")
    _title(text, "transfers")
    for edge in kernel.edges:
        text.append(f"{edge.direction:<4}{edge.other}: {count(edge.words)} wavelets, "
                    f"{edge.chunks} chunks, slots {edge.out_slots}/{edge.in_slots}\n")  # fmt: skip
    _title(text, "instances")
    for instance in kernel.instances[:8]:
        stalled = f", stalled {count(instance.stalled)}" if instance.stalled else ""
        text.append(f"sample {instance.sample}: {count(instance.start)}.."
                    f"{count(instance.end - 1)}{stalled}\n")  # fmt: skip
