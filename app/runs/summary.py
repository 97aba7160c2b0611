"""The fields of `run --json` and `check --json`, in one place. Knows no screen."""

from __future__ import annotations

from typing import Any

from app.runs.figures import figures
from app.runs.run import Run
from app.runs.values import values_plain, values_standing
from lowering.compiler import Compiled
from lowering.report import KernelRow, Overflow

FORMAT = 1
"""grows when a field changes its meaning"""


def run_summary(run: Run) -> dict[str, Any]:
    """Return everything a script wants to know about a run."""
    figure = figures(run)
    ledger, bottleneck = run.execution.ledger, run.execution.bottleneck
    summary = _frame(run.compiled)
    summary.update(
        makespan_cycles=figure.makespan, steps=figure.steps, samples=figure.samples,
        throughput_samples_per_mcycle=figure.throughput, pes_used=figure.pes_used,
        utilization=figure.utilization, efficiency=figure.efficiency,
        links={
            "peak_wavelets_per_cycle": figure.peak_link,
            "hottest": list(figure.hottest) if figure.hottest else None,
        },
        causes=dict(figure.causes),
        ledger={
            "ok": ledger.ok,
            "checks": [{"name": c.name, "ok": c.ok, "detail": c.detail} for c in ledger.checks],
        },
        bottleneck={
            "kind": bottleneck.kind, "kernel": bottleneck.kernel,
            "sentence": bottleneck.sentence,
        },
    )  # fmt: skip
    summary["sram"].update(
        peak_allocated_bytes=figure.peak_allocated, peak_live_bytes=figure.peak_live
    )
    if run.computed is not None:
        summary["values"] = values_plain(run.computed)
    summary["standing"] = _standing(run)
    return summary


def compile_summary(compiled: Compiled) -> dict[str, Any]:
    """Return the same fields for a model that was only compiled: what was not run is null."""
    summary = _frame(compiled)
    mark = "model" if compiled.fits else "would not run"
    summary["standing"] = dict.fromkeys(("kernels", "sram", "pes_used"), mark)
    return summary


def _frame(compiled: Compiled) -> dict[str, Any]:
    report, machine = compiled.report, compiled.program.machine
    return {
        "format": FORMAT,
        "model": compiled.graph.name,
        "parameters": report.parameters,
        "macs": report.macs,
        "machine": machine.name,
        "mode": compiled.program.mode,
        "fits": compiled.fits,
        "makespan_cycles": None,
        "steps": None,
        "samples": compiled.program.samples,
        "throughput_samples_per_mcycle": None,
        "pes_used": report.pes_used,
        "utilization": None,
        "efficiency": None,
        "kernels": [_kernel(row) for row in report.rows],
        "sram": {
            "capacity_bytes": machine.sram_bytes,
            "peak_allocated_bytes": max((row.sram_bytes for row in report.rows), default=0),
            "peak_live_bytes": None,
            "overflows": [_overflow(item) for item in report.overflows],
            "smallest_machine": report.smallest_machine,
            "wafers": report.wafers.to_json() if report.wafers else None,
        },
        "links": None,
        "causes": None,
        "ledger": None,
        "bottleneck": None,
        "values": None,
    }


def _kernel(row: KernelRow) -> dict[str, Any]:
    region = row.region
    return {
        "name": row.name,
        "kind": row.kind,
        "ops": row.ops,
        "source_nodes": list(row.source_nodes),
        "region": [region.row, region.col, region.rows, region.cols],
        "cycles": row.cycles,
        "utilization": row.utilization,
        "sram_bytes": row.sram_bytes,
    }


def _overflow(item: Overflow) -> dict[str, Any]:
    return {
        "resource": item.resource, "where": item.where, "demand": item.demand,
        "bound": item.bound, "gap": item.gap, "unit": item.unit,
        "holders": [list(holder) for holder in item.holders], "levers": list(item.levers),
        "sentence": item.sentence(),
    }  # fmt: skip


def _standing(run: Run) -> dict[str, str]:
    cycles = ("makespan_cycles", "throughput_samples_per_mcycle", "utilization", "efficiency",
              "causes", "kernels", "bottleneck")  # fmt: skip
    counted = ("pes_used", "sram", "links")
    standing = {name: run.standing_of("model: cycles from kernel profiles") for name in cycles}
    standing.update({name: run.standing_of("exact for this program") for name in counted})
    if run.computed is not None:
        standing["values"] = run.standing_of(values_standing(run, run.computed))
    return standing
