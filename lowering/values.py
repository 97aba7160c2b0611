"""Values of a compiled model: inputs checked or made, the mesh run, the float64 reference beside.

The reference is evaluated on the graph as imported, so it also checks every pass.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

import numpy as np

from engine.progress import NO_PROGRESS, Progress
from engine.values import ValueRun, compare, run_values
from lowering.compiler import Compiled
from lowering.evaluate import default_inputs, reference
from lowering.graph import Graph


class InputError(ValueError):
    """Inputs that the model does not take; the message says what it expects."""

    exit_code = 2


def compute_values(
    compiled: Compiled,
    inputs: Mapping[str, np.ndarray] | None = None,
    progress: Progress = NO_PROGRESS,
) -> ValueRun | None:
    """Compute the tensors of a compiled model, None where its config or weights ask for none.

    Without `inputs` seeded ones are made. Inputs with a leading samples axis, or the config
    `values = all`, compute every sample; otherwise sample 0.

    Raises:
        InputError: a name, shape or dtype the model does not take.
        Cancelled: the progress was asked to stop.
    """
    graph, config = compiled.graph, compiled.config
    if config.values == "none" or graph.unknown:
        return None
    fed = dict(inputs) if inputs is not None else default_inputs(graph, config.seed)
    leading = check_inputs(graph, fed, compiled.program.samples)
    samples = compiled.program.samples if leading or config.values == "all" else 1
    run = run_values(compiled.program, compiled.store, fed, samples, progress)
    first = {
        name: array[0] if array.ndim > len(graph.values[name].shape) else array
        for name, array in fed.items()
    }
    progress.stage("reference", 1, "run")
    written = [name for kernel in compiled.program.kernels for name in kernel.writes]
    known = [name for name in written if name in graph.values]
    with np.errstate(all="ignore"):
        compare(run, reference(graph, first, known))
    return run


def check_inputs(graph: Graph, inputs: Mapping[str, np.ndarray], samples: int) -> bool:
    """Check inputs against a graph; return whether any has a leading samples axis.

    Raises:
        InputError: a name, shape or dtype the model does not take.
    """
    expected = ", ".join(_wanted(graph, name) for name in graph.inputs)
    for name in inputs:
        if name not in graph.inputs:
            near = difflib.get_close_matches(name, graph.inputs, n=1, cutoff=0.4)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise InputError(f"the model has no input '{name}'{hint} It takes {expected}")
    leading = False
    for name in graph.inputs:
        if name not in inputs:
            raise InputError(f"input '{name}' is missing; the model takes {expected}")
        array, shape = inputs[name], graph.values[name].shape
        if array.shape not in (shape, (samples, *shape)):
            raise InputError(
                f"input '{name}' has shape {array.shape}, the model takes {shape}, or "
                f"{(samples, *shape)} with one for each of {samples} samples"
            )
        kind = np.dtype(graph.values[name].dtype).kind
        if array.dtype.kind != kind:
            raise InputError(f"input '{name}' is {array.dtype}, the model takes {expected}")
        leading = leading or array.shape != shape
    return leading


def _wanted(graph: Graph, name: str) -> str:
    value = graph.values[name]
    return f"'{name}' {value.dtype} {list(value.shape)}"
