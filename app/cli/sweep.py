"""`sweep`: a model under many settings, a table on disk, the best trade-offs on screen."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from app.cli.faults import UsageError
from app.cli.main import OK
from app.cli.options import config_of, dims_of, shape_of, tell_user
from app.cli.progress import shown_progress
from app.runs.opening import load_graph
from app.sweep.pool import run_points
from app.sweep.sweep import FIGURES, Point, Row, pareto, plan_points
from app.sweep.table import read_table, write_table

MAX_JOBS = 1024


def sweep(arguments: argparse.Namespace) -> int:
    """Run every combination, keep the table, print what no other setting beats."""
    path = Path(arguments.output)
    if path.suffix.lower() != ".csv":
        raise UsageError(f"-o {arguments.output}: a sweep's table is a .csv")
    jobs = arguments.jobs or 0
    if arguments.jobs is not None and not 1 <= jobs <= MAX_JOBS:
        raise UsageError(f"--jobs {arguments.jobs}: must be 1..{MAX_JOBS}")
    config, dims = config_of(arguments), dims_of(arguments)
    shape = shape_of(arguments)
    graph = load_graph(arguments.model, dims, shape_only=True, shape=shape, tell=tell_user)
    points = plan_points(graph, config, arguments.vary)
    if any(point.config.machine.harvests_sparsity for point in points):
        graph = load_graph(arguments.model, dims, shape=shape)  # their zeros count
    rows = read_table(path, points) if arguments.resume else {}
    left = [point for point in points if point.key not in rows]
    write_table(path, points, rows)
    with shown_progress(f"ran {len(left)} of {len(points)} points") as progress:
        progress.stage("sweep", len(points), "points")
        progress.advance(len(rows))
        try:
            with closing(run_points(graph, left, jobs, arguments.scheduler or "")) as found:
                for row in found:
                    rows[row.key] = row
                    write_table(path, points, rows)
                    progress.advance(len(rows))
        except KeyboardInterrupt:
            print(f"\n{len(rows)} of {len(points)} points are in {path}; --resume goes on",
                  file=sys.stderr)  # fmt: skip
            raise
    _print(points, [rows[point.key] for point in points], arguments.json, path)
    return OK


def _print(points: Sequence[Point], rows: Sequence[Row], as_json: bool, path: Path) -> None:
    names = [name for name, _ in points[0].settings]
    best = pareto(rows)
    if as_json:
        plain = [_plain(names, row, row in best) for row in rows]
        print(json.dumps({"table": str(path), "rows": plain}, indent=1))
        return
    print("\n".join(pareto_lines(names, rows, best)))
    print(f"{len(rows)} rows in {path}")


def _plain(names: Sequence[str], row: Row, is_best: bool) -> dict[str, object]:
    numbers: list[float | None] = [float(text) for text in row.figures]
    return {
        "settings": dict(zip(names, row.settings, strict=True)), "status": row.status,
        **dict(zip(FIGURES, numbers or [None] * len(FIGURES), strict=True)), "pareto": is_best,
    }  # fmt: skip


def pareto_lines(names: Sequence[str], rows: Sequence[Row], best: Sequence[Row]) -> list[str]:
    """Return the settings that no other beats as a table."""
    runs = [row for row in rows if row.status == "ok"]
    lines = []
    if best:
        lines = [f"{len(best)} of {len(rows)} settings that no other beats in throughput, SRAM "
                 "peak and PEs at once:"]  # fmt: skip
        table = [[*names, "samples/Mcycle", "SRAM peak B", "PEs"]]
        table += [
            [*row.settings, f"{row.figure('throughput_samples_per_mcycle'):,.2f}",
             f"{row.figure('sram_peak_bytes'):,.0f}", f"{row.figure('pes_used'):,.0f}"]
            for row in best
        ]  # fmt: skip
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines += [
            "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True))
            for line in table
        ]
    if len(runs) < len(rows):
        what_if = sum(row.status == "what-if" for row in rows)
        failed = [row for row in rows if row.status not in ("ok", "what-if")]
        lines.append(f"{what_if} do not fit and are a what-if, {len(failed)} gave no run")
        lines += [f"  {', '.join(row.settings)}: {row.status}" for row in failed[:5]]
    return lines
