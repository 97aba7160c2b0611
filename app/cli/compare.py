"""`compare`: two recordings side by side, as text, JSON or a map of what differs."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from app.cli.faults import UsageError
from app.cli.gate import check_gate, gated
from app.cli.main import DOES_NOT_FIT, OK
from app.cli.progress import shown_progress
from app.export.difference import export_difference
from app.runs.run import Run
from app.runs.saving import load_run
from app.runs.summary import run_summary
from app.views.build_compare import view_compare, view_difference
from app.views.compare import CompareRow, CompareView


def compare(arguments: argparse.Namespace) -> int:
    """Print what differs between two recordings; a gate may fail on it."""
    check_gate(arguments, changes=True)
    for name in (arguments.before, arguments.after):
        if not name.lower().endswith(".wscope"):
            raise UsageError(f"compare takes two .wscope recordings, '{name}' is none; make one "
                             f"with: waferscope run {name} -o F.wscope")  # fmt: skip
    with shown_progress("compared") as progress:
        a, b = (
            load_run(number, Path(name), progress).run
            for number, name in enumerate((arguments.before, arguments.after), 1)
        )
        view = view_compare(a, b, labels=(arguments.before, arguments.after))
    for run in (a, b):
        for remark in run.remarks:
            print(f"note: {run.source}: {remark}", file=sys.stderr)
    if arguments.json:
        print(json.dumps(view.to_json(), indent=1))
    else:
        print("\n".join(compare_lines(view)))
    if arguments.output:
        _draw(arguments, a, b)
    code = OK if b.program.would_run else DOES_NOT_FIT
    return gated(arguments, code, f"compare {a.source} {b.source}", run_summary(b), run_summary(a))


def _draw(arguments: argparse.Namespace, a: Run, b: Run) -> None:
    path = Path(arguments.output)
    written = export_difference(a, b, arguments.metric, path, arguments.theme)
    print(f"wrote {written}: {view_difference(a, b, arguments.metric, 1, 1).sentence}",
          file=sys.stderr)  # fmt: skip


def compare_lines(view: CompareView) -> list[str]:
    """Return a comparison as text of at most about 100 columns."""
    lines = [f"A  {view.label_a}", f"B  {view.label_b}", "", view.sentence, ""]
    lines.append(f"{'':<16} {'A':>16} {'B':>16}  difference")
    lines += [_row_text(row) for row in view.rows]
    lines += ["", f"{'cause':<16} {'A':>16} {'B':>16}  share of PEs x makespan"]
    lines += [_row_text(row) for row in view.causes]
    lines += ["", "kernels"]
    changed = [kernel for kernel in view.kernels if not kernel.sentence.endswith("the same")]
    lines += [f"  {kernel.sentence}" for kernel in changed]
    if len(changed) < len(view.kernels):
        lines.append(f"  {len(view.kernels) - len(changed)} the same")
    if view.knobs:
        lines += ["", "knobs"]
        lines += [f"  {name}: {before} -> {after}" for name, before, after in view.knobs]
    lines += [f"note: {note}" for note in view.notes]
    return [*lines, f"standing: {view.standing}"]


def _row_text(row: CompareRow) -> str:
    a, b, change = row.texts
    mark = f"  {row.verdict}" if row.verdict in ("better", "worse") else ""
    unit = "" if row.unit in ("fraction", "bytes", row.name) else f" {row.unit}"
    return f"{row.name:<16} {a:>16} {b:>16}  {change}{unit if row.difference else ''}{mark}"
