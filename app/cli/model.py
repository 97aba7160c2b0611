"""`run` and `check`: compile a model, execute it, print the report, write the recording."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from app.cli.faults import UsageError
from app.cli.gate import check_gate, gated
from app.cli.main import DOES_NOT_FIT, OK
from app.cli.options import config_of, dims_of, shape_of, tell_user
from app.cli.progress import shown_progress
from app.runs.opening import load_graph, open_run
from app.runs.routing import values_of
from app.runs.run import Run
from app.runs.saving import save_run
from app.runs.summary import compile_summary, run_summary
from app.runs.values import (
    ValuesError,
    read_inputs,
    why_no_values,
    write_outputs,
)
from app.views.build_report import view_report
from app.views.build_values import view_values
from app.views.report import ReportView
from lowering.compiler import Compiled, compile_graph


def check(arguments: argparse.Namespace) -> int:
    """Compile only: fits, or why not."""
    check_gate(arguments)
    config, dims = config_of(arguments), dims_of(arguments)
    with shown_progress("compiled") as progress:
        progress.stage("reading the model")
        graph = load_graph(
            arguments.model, dims, shape_only=True, shape=shape_of(arguments), tell=tell_user
        )
        compiled = compile_graph(graph, config, progress)
    code = _print_compiled(compiled, arguments.json)
    return gated(arguments, code, f"check {compiled.graph.name}", compile_summary(compiled))


def _print_compiled(compiled: Compiled, as_json: bool) -> int:
    if as_json:
        print(json.dumps(compile_summary(compiled), indent=1))
    else:
        print(compiled.report.to_text())
    return OK if compiled.fits else DOES_NOT_FIT


def run(arguments: argparse.Namespace) -> int:
    """Compile and execute a model."""
    if arguments.compile_only:
        if arguments.output:
            raise UsageError("--compile-only executes nothing, so -o has nothing to write")
        return check(arguments)
    if arguments.output and Path(arguments.output).suffix.lower() != ".wscope":
        raise UsageError(f"-o {arguments.output}: a recording's name must end in .wscope")
    if str(arguments.model).lower().endswith(".wscope"):
        raise UsageError(f"{arguments.model} is a recording already; use show, export or open")
    check_gate(arguments)
    config, dims = config_of(arguments), dims_of(arguments)
    inputs = read_inputs(Path(arguments.inputs)) if arguments.inputs else None
    with shown_progress("compiled and executed") as progress:
        done = open_run(
            1, arguments.model, config, dims, progress, shape=shape_of(arguments), tell=tell_user,
            fed=inputs,
        ).run  # fmt: skip
    done = _with_values(done, arguments, inputs)
    if arguments.output:
        with shown_progress(f"wrote {arguments.output}") as progress:
            save_run(done, Path(arguments.output), progress=progress)
    if arguments.json:
        print(json.dumps(run_summary(done), indent=1))
    else:
        _print_report(view_report(done))
        if arguments.values != "none":
            print(f"{'values':<13} {view_values(done).sentence}")
    code = OK if done.program.would_run else DOES_NOT_FIT
    return gated(arguments, code, f"run {done.compiled.graph.name}", run_summary(done))


def _with_values(
    run: Run, arguments: argparse.Namespace, inputs: dict[str, np.ndarray] | None
) -> Run:
    """Return the run with the values asked for, by default the first sample's; writes --outputs.

    Raises:
        ValuesError: values were asked for that the model cannot give.
    """
    asked = bool(arguments.inputs or arguments.outputs)
    which = arguments.values or "first"
    if which == "none":
        if asked:
            raise UsageError("--values none computes nothing, so --inputs/--outputs make no sense")
        return run
    if why := why_no_values(run):
        if asked or arguments.values:
            raise ValuesError(f"{why}: use --values none")
        return run
    samples = run.program.samples if which == "all" else 1
    with shown_progress("computed the values") as progress:
        found = values_of(run, inputs, samples, run.id, progress)
    if arguments.outputs and found.computed is not None:
        write_outputs(Path(arguments.outputs), found.computed.values.outputs())
    return found


def _print_report(view: ReportView) -> None:
    print(view.text)
    print()
    if not view.fits:
        print("WOULD NOT RUN: the figures below are a what-if")
    for label, value in view.headline:
        print(f"{label:<13} {value}")
    print(f"{'bottleneck':<13} {view.bottleneck}")
    failed = [check for check in view.checks if not check.ok]
    if failed:
        print(f"{'ledger':<13} DOES NOT BALANCE")
        for check_row in failed:
            print(f"    {check_row.name}: {check_row.detail}")
    else:
        print(f"{'ledger':<13} ok, {len(view.checks)} laws hold")
