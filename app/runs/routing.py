"""Timing that follows data: once values say which experts tokens take, the run is timed anew.

Knows no screen. What the values of a run say is the engine's; what it costs the compiler's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from app.runs.run import Run, make_run
from app.runs.values import compute_values, kept_values
from engine.experts import spread_out
from engine.kernels.moe.spec import Moe, MoeSides
from engine.program import Program
from engine.progress import NO_PROGRESS, Progress
from lowering.cache import StageCache
from lowering.stages.experts import Routing


def values_of(
    run: Run,
    inputs: Mapping[str, np.ndarray] | None,
    samples: int,
    run_id: int,
    progress: Progress = NO_PROGRESS,
    cache: StageCache | None = None,
) -> Run:
    """Return the run with its values; timed anew as `run_id` where they say what tokens take.

    Raises:
        ValuesError: the model has no numbers, or an input does not fit.
        Cancelled: the progress was asked to stop.
    """
    computed = compute_values(run, inputs, samples, progress)
    if computed.values.routing:
        before = _tilings(run.program)
        graph, source, known = run.compiled.graph, run.source, computed.values.routing
        run = make_run(run_id, graph, run.config, source, progress, cache, known)
        if _tilings(run.program) != before:  # `auto` chose the other mode: another order of sums
            computed = compute_values(run, inputs, samples, progress)
    kept = kept_values(computed.values, run.program, run.config.values_mb << 20)
    return replace(run, values=kept, computed=computed)


def _tilings(program: Program) -> tuple[object, ...]:
    return tuple((kernel.id, kernel.tiling) for kernel in program.kernels)


def routing_of(run: Run) -> Routing:
    """Return what a run knows of the experts that tokens take, for runs to be compared with it."""
    if run.computed is not None:
        return run.computed.values.routing
    return recorded_routing(run.program)


def recorded_routing(program: Program) -> dict[str, np.ndarray]:
    """Return a routing that gives every expert the tokens it takes in a program.

    Which of a group's tokens they are changes nothing of the timing, so any will do.
    """
    shapes = {tensor.id: tensor.shape for tensor in program.tensors}
    found = {}
    for kernel in program.kernels:
        op = kernel.spec.main_op
        if kernel.experts and isinstance(op, Moe):
            tokens = MoeSides.of(op, shapes).tokens
            found[kernel.id] = spread_out(kernel.experts, tokens, op.active)
    return found
