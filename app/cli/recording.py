"""`show` and `verify`: what a recording says, and whether this version agrees."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

from app.cli.faults import UsageError
from app.cli.main import GATE, OK
from app.cli.progress import shown_progress
from app.runs.run import Run
from app.runs.saving import load_run, verify_recording
from app.runs.summary import run_summary
from app.session import moves, places
from app.units import count, percent, size
from app.views.base import View
from app.views.build_kernel import view_kernel
from app.views.build_pe import view_pe
from app.views.build_report import view_report
from app.views.build_status import view_status
from app.views.kernel import KernelView
from app.views.pe import PEView


def verify(arguments: argparse.Namespace) -> int:
    """Compute a recording anew and compare everything."""
    with shown_progress("verified") as progress:
        checks = verify_recording(Path(arguments.recording), progress)
    for item in checks:
        print(f"{'ok  ' if item.ok else 'FAIL'} {item.name}: {item.detail}")
    failed = sum(not item.ok for item in checks)
    print(f"{len(checks)} checks, {failed} failed")
    return GATE if failed else OK


def show(arguments: argparse.Namespace) -> int:
    """Print a step, a PE or a kernel; without options the whole run."""
    with shown_progress("opened") as progress:
        run = load_run(1, Path(arguments.recording), progress).run
    step = 0
    if arguments.step is not None:
        step = moves.seek(run, moves.start(run), arguments.step).cursor.step
    if arguments.pe:
        pe = view_pe(run, step, *_place(run, arguments.pe))
        return _print(pe, _pe_lines(pe), arguments.json)
    if arguments.kernel:
        name = places.select_kernel(run, moves.start(run), arguments.kernel).cursor.selection.kernel
        kernel = view_kernel(run, str(name))
        return _print(kernel, _kernel_lines(kernel), arguments.json)
    if arguments.step is not None:
        status = view_status(run, moves.start(run).at(step), None, None, 0, "")
        return _print(status, [status.sentence], arguments.json)
    if arguments.json:
        print(json.dumps(run_summary(run), indent=1))
        return OK
    report = view_report(run)
    headline = [f"{label:<13} {value}" for label, value in report.headline]
    print("\n".join([report.text, "", *headline, *run.remarks]))
    return OK


def _place(run: Run, text: str) -> tuple[int, int]:
    match = re.fullmatch(r"\s*(\d{1,6})\s*,\s*(\d{1,6})\s*", text)
    if not match:
        raise UsageError(f"--pe {text}: must be ROW,COL, such as 3,4")
    place = int(match[1]), int(match[2])
    places.select_pe(run, moves.start(run), *place)
    return place


def _print(view: View, lines: list[str], as_json: bool) -> int:
    print(json.dumps(view.to_json(), indent=1) if as_json else "\n".join(lines))
    return OK


def _pe_lines(view: PEView) -> list[str]:
    lines = [view.sentence]
    if view.tile:
        lines.append(view.tile)
    lines.append(f"\n{'cause':<14} {'step':>12} {'':>8} {'run':>14}")
    lines += [
        f"{row.cause:<14} {count(row.step_cycles):>12} {percent(row.step_share):>8} "
        f"{count(row.run_cycles):>14} {percent(row.run_share):>8}"
        for row in view.causes
    ]
    lines.append(f"\n{'SRAM buffer':<40} {'role':<9} {'offset':>7} {'bytes':>7} {'live':>7}")
    lines += [
        f"{row.name[:40]:<40} {row.role:<9} {row.offset:>7} {row.size:>7} {row.live_bytes:>7}"
        + ("" if row.fits else "  beyond the SRAM")
        for row in view.sram
    ]
    lines.append(f"allocated {size(view.sram_allocated)} of {size(view.sram_capacity)}")
    lines.append("\n" + ", ".join(f"{row.plane} {count(row.words)}" for row in view.links))
    return [*lines, f"standing: {view.standing}"]


def _kernel_lines(view: KernelView) -> list[str]:
    lines = [view.sentence, "operations: " + ", ".join(view.ops)]
    lines.append("source nodes: " + ", ".join(view.source_nodes))
    lines += [
        f"{edge.direction:<3} {edge.tensor} ({edge.other}): {edge.chunks} chunks, "
        f"slots {edge.out_slots} out, {edge.in_slots} in, {count(edge.words)} wavelets"
        for edge in view.edges
    ]
    lines += [
        f"sample {row.sample}: cycles {count(row.start)}..{count(row.end - 1)}, "
        f"stalled {count(row.stalled)}"
        for row in view.instances
    ]
    return [*lines, f"standing: {view.standing}"]
