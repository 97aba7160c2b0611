"""The tensors of a run: inputs read or made, values in mesh order, errors, outputs written.

Knows no screen; how values come about is the engine's, what is right the float64 reference's.
"""

from __future__ import annotations

import difflib
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from app.runs.computed import REFERENCE_BYTES, Computed
from app.runs.run import Run
from engine import archive
from engine.kernels.dequantize.spec import stored_as
from engine.kernels.spec import Operation
from engine.program import Program
from engine.progress import NO_PROGRESS, Progress
from engine.values import NonFinite, ValueRun, compare, run_values
from engine.whole_file import whole_file
from lowering.evaluate import default_inputs, follow, reference
from lowering.graph import Graph

KEPT_BYTES = 64 << 20
"""tensors of sample 0 that a recording carries; beyond it only the outputs"""
MAX_INPUT_BYTES = 4 << 30


class ValuesError(ValueError):
    """Inputs that do not fit the model, or a model without numbers; one sentence."""


def why_no_values(run: Run) -> str:
    """Return why a run's values cannot be computed, empty when they can."""
    graph, store = run.compiled.graph, run.compiled.store
    contents = (tensor.content for tensor in run.program.tensors)
    if any(content is not None and content not in store for content in contents):
        return (
            f"'{run.source}' carries no weights, only what was recorded; "
            "open the model itself to compute values"
        )
    if graph.unknown:
        return (
            f"'{graph.name}' has {len(graph.unknown)} weights without numbers (such as "
            f"'{min(graph.unknown)}'); it can be timed, not evaluated"
        )
    return ""


def compute_values(
    run: Run,
    inputs: Mapping[str, np.ndarray] | None,
    samples: int,
    progress: Progress = NO_PROGRESS,
) -> Computed:
    """Compute `samples` samples; compare sample 0's tensors with the float64 reference.

    Without inputs, seeded ones are made and shared by all samples.

    Raises:
        ValuesError: the model has no numbers, or an input does not fit.
        Cancelled: the progress was asked to stop.
    """
    if why := why_no_values(run):
        raise ValuesError(why)
    graph = run.compiled.fed
    given = default_inputs(graph, run.config.seed) if inputs is None else _open(graph, inputs)
    check_inputs(graph, given, samples)
    with np.errstate(all="ignore"):  # what overflows is located, not warned of
        values = run_values(run.program, run.compiled.store, given, samples, progress)
        progress.stage("float64 reference", 1, "sample")
        right = _right(run, _first_sample(graph, given))
    compare(values, right)
    progress.advance(1)
    source = f"seeded inputs (seed {run.config.seed})" if inputs is None else "given inputs"
    return Computed(values, source, _within_budget(graph, right))


def _open(graph: Graph, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return what is left to feed: without the inputs that are part of the program."""
    return {name: array for name, array in inputs.items() if name not in graph.fixed}


def compared_names(run: Run) -> tuple[str, ...]:
    """Return the graph's values that leave a kernel or are a kernel's main result."""
    made = {name for node in run.compiled.fed.nodes for name in node.op.outputs}
    names = dict.fromkeys(
        name
        for kernel in run.program.kernels
        for name in (*kernel.writes, *kernel.spec.main_op.outputs[:1])
    )
    return tuple(name for name in names if name in made)


def _right(run: Run, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return what the outputs and tensors of sample 0 should be.

    What the graph does not name, parts of a tile loop or work done again, follows in float64 from
    what it names.
    """
    graph, names = run.compiled.fed, compared_names(run)
    operations, read = _unnamed(run)
    made = {name for node in graph.nodes for name in node.op.outputs}
    found = reference(graph, given, (*names, *(read & made)))
    known = {name: graph.constants[name] for name in read if name in graph.constants}
    known |= {name: given[name] for name in read if name in given}
    known |= {name: found[name] for name in read & made}
    written = {name for kernel in run.program.kernels for name in kernel.writes}
    parts = {n: array for n, array in follow(operations, known).items() if n in written}
    return {name: found[name] for name in (*graph.outputs, *names)} | parts


def _unnamed(run: Run) -> tuple[list[Operation], set[str]]:
    """Return the operations, in order, behind tensors that leave a kernel and that the graph does
    not name, and what they read that it does."""
    graph = run.compiled.fed
    named = {name for node in graph.nodes for name in node.op.outputs}
    named.update(graph.inputs, graph.constants)
    kernels = run.program.kernels
    wanted = {name for kernel in kernels for name in kernel.writes} - named
    found: list[Operation] = []
    read: set[str] = set()
    for op in reversed([op for kernel in kernels for op in kernel.spec.ops]):
        if wanted.intersection(op.outputs):
            found.append(op)
            read.update(named.intersection(op.inputs))
            wanted.update(name for name in op.inputs if name not in named)
    return found[::-1], read


def _first_sample(graph: Graph, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {
        name: array[0] if array.ndim > len(graph.values[name].shape) else array
        for name, array in given.items()
    }


def _within_budget(graph: Graph, right: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    if sum(array.nbytes for array in right.values()) <= REFERENCE_BYTES:
        return right
    return {name: right[name] for name in graph.outputs}


def check_inputs(graph: Graph, inputs: Mapping[str, np.ndarray], samples: int) -> None:
    """Raise ValuesError unless every input is there with its shape (or samples of it)."""
    for name in inputs:
        if name not in graph.inputs:
            raise ValuesError(f"there is no input '{name}'{_nearest(name, graph.inputs)}")
    missing = [name for name in graph.inputs if name not in inputs]
    if missing:
        listed = ", ".join(graph.inputs)
        raise ValuesError(f"input '{missing[0]}' is missing; the model's inputs are {listed}")
    for name, array in inputs.items():
        value = graph.values[name]
        if array.shape not in (value.shape, (samples, *value.shape)):
            raise ValuesError(
                f"input '{name}' has shape {array.shape}, the model takes {value.shape} "
                f"or, a sample each, {(samples, *value.shape)}"
            )
        if not np.can_cast(array.dtype, value.dtype, casting="same_kind"):
            raise ValuesError(
                f"input '{name}' has dtype {array.dtype}, the model takes {value.dtype}; "
                f"convert it with .astype('{value.dtype}')"
            )


def _nearest(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; the model's inputs are {', '.join(known)}"


def read_inputs(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz file by name.

    Raises:
        ValuesError: no such file, not an .npz, too large, or with objects inside.
    """
    arrays = {}
    try:
        with archive.open_bundle(path) as bundle:
            for name in bundle.namelist():
                data = archive.read_bounded(bundle, name, MAX_INPUT_BYTES)
                arrays[name.removesuffix(".npy")] = archive.npy_array(data, name)
    except (archive.RecordingError, *archive.ZIP_ERRORS) as error:
        raise ValuesError(f"{path} cannot be read as .npz arrays: {error}") from error
    return arrays


def write_outputs(path: Path, outputs: Mapping[str, np.ndarray]) -> None:
    """Write arrays to an .npz file, the same bytes for the same arrays.

    Raises:
        ValuesError: the file cannot be written.
    """
    try:
        with whole_file(path) as stream, zipfile.ZipFile(stream, "w") as bundle:
            for name, array in sorted(outputs.items()):
                archive.add(bundle, f"{name}.npy", archive.npy_bytes(array))
    except OSError as error:
        raise ValuesError(f"cannot write {path}: {error.strerror or error}") from error


def kept_values(
    values: ValueRun, program: Program, budget: int = KEPT_BYTES
) -> dict[str, np.ndarray]:
    """Return what a recording carries: all tensors of sample 0, or the outputs if too many."""
    first = {name: array for (name, sample), array in values.tensors.items() if sample == 0}
    if sum(array.nbytes for array in first.values()) <= budget:
        return first
    outputs = {tensor.id for tensor in program.tensors if tensor.role == "output"}
    return {name: array for name, array in first.items() if name in outputs}


def values_plain(computed: Computed) -> dict[str, object]:
    """Return errors and the first NaN or infinity in JSON's types; no number is null."""
    values, bad = computed.values, computed.values.first_nonfinite
    return {
        "samples": values.samples,
        "inputs": computed.inputs,
        "errors": {name: _plain(e.ratio) for name, e in sorted(values.errors.items())},
        "max_error": _plain(computed.max_error),
        "first_nonfinite": None
        if bad is None
        else {
            "kernel": bad.kernel, "sample": bad.sample, "tensor": bad.tensor,
            "index": [int(i) for i in bad.index], "value": bad.value,
            "pe": None if bad.pe is None else [int(i) for i in bad.pe],
        },
    }  # fmt: skip


def _plain(number: float | None) -> float | None:
    return float(number) if number is not None and math.isfinite(number) else None


def values_standing(run: Run, computed: Computed) -> str:
    """Return what the values rest on."""
    program = run.program
    integers = sum(bool(stored_as(kernel.spec)) for kernel in program.kernels)
    weights = f" (int8 weights in {integers} kernels)" if integers else ""
    return (
        f"model: {computed.inputs}, {program.storage} storage{weights}, {program.accumulate} sums "
        "in the mesh's order between PEs and BLAS's inside a tile; errors against a float64 "
        "reference"
    )


def nonfinite_sentence(bad: NonFinite) -> str:
    """Say where the first NaN or infinity is."""
    place = f" at PE ({bad.pe[0]}, {bad.pe[1]})" if bad.pe else ""
    index = ", ".join(str(i) for i in bad.index)
    return (
        f"{bad.value} first in '{bad.tensor}'[{index}] of kernel {bad.kernel}, "
        f"sample {bad.sample}{place}"
    )


def values_sentence(computed: Computed) -> str:
    """Return how good the values are, in one sentence."""
    values, bad = computed.values, computed.values.first_nonfinite
    if bad is not None:
        return nonfinite_sentence(bad)
    many = "1 sample" if values.samples == 1 else f"{values.samples} samples"
    text = f"{many} computed from {computed.inputs}"
    if not values.errors:
        return text
    worst = max(values.errors.values(), key=lambda error: error.ratio)
    return (
        f"{text}; largest error of {len(values.errors)} tensors {worst.ratio:.2g} of the float64 "
        f"reference's maximum, in '{worst.tensor}'"
    )
