"""The tensors of a run: inputs read or made, values in mesh order, errors, outputs written.

Knows no screen; how values come about is the engine's, what is right the float64 reference's.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from app.run import Run
from engine import archive
from engine.program import Program
from engine.progress import NO_PROGRESS, Progress
from engine.values import ValueRun, compare, run_values
from lowering.evaluate import default_inputs, reference
from lowering.graph import Graph

KEPT_BYTES = 64 << 20
"""tensors of sample 0 that a recording carries; beyond it only the outputs"""
MAX_INPUT_BYTES = 4 << 30


class ValuesError(ValueError):
    """Inputs that do not fit the model, or a model without numbers; one sentence."""


def compute_values(
    run: Run,
    inputs: Mapping[str, np.ndarray] | None,
    samples: int,
    progress: Progress = NO_PROGRESS,
) -> ValueRun:
    """Compute `samples` samples and compare sample 0 with the float64 reference.

    Without inputs, seeded ones are made and shared by all samples.

    Raises:
        ValuesError: the model has no numbers, or an input does not fit.
    """
    graph = run.compiled.graph
    if graph.unknown:
        some = min(graph.unknown)
        raise ValuesError(
            f"'{graph.name}' has {len(graph.unknown)} weights without numbers (such as '{some}'); "
            "it can be timed, not evaluated: use --values none"
        )
    given = default_inputs(graph, run.config.seed) if inputs is None else inputs
    check_inputs(graph, given, samples)
    found = run_values(run.program, run.compiled.store, given, samples, progress)
    progress.stage("reference", 1, "sample")
    first = {
        name: array[0] if array.ndim > len(graph.values[name].shape) else array
        for name, array in given.items()
    }
    compare(found, reference(graph, first))
    return found


def check_inputs(graph: Graph, inputs: Mapping[str, np.ndarray], samples: int) -> None:
    """Raise ValuesError unless every input is there with its shape (or samples of it)."""
    missing = [name for name in graph.inputs if name not in inputs]
    extra = [name for name in inputs if name not in graph.inputs]
    if missing or extra:
        what = f"'{missing[0]}' is missing" if missing else f"there is no input '{extra[0]}'"
        raise ValuesError(f"{what}; the model's inputs are {', '.join(graph.inputs)}")
    for name, array in inputs.items():
        value = graph.values[name]
        if array.shape not in (value.shape, (samples, *value.shape)):
            raise ValuesError(
                f"input '{name}' has shape {array.shape}, the model takes {value.shape} "
                f"or, a sample each, {(samples, *value.shape)}"
            )
        if not np.can_cast(array.dtype, value.dtype, casting="same_kind"):
            raise ValuesError(f"input '{name}' is {array.dtype}, the model takes {value.dtype}")


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
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as bundle:
        for name, array in sorted(outputs.items()):
            archive.add(bundle, f"{name}.npy", archive.npy_bytes(array))
    try:
        path.write_bytes(stream.getvalue())
    except OSError as error:
        raise ValuesError(f"cannot write {path}: {error.strerror or error}") from error


def kept_values(values: ValueRun, program: Program) -> dict[str, np.ndarray]:
    """Return what a recording carries: all tensors of sample 0, or the outputs if too many."""
    first = {name: array for (name, sample), array in values.tensors.items() if sample == 0}
    if sum(array.nbytes for array in first.values()) <= KEPT_BYTES:
        return first
    outputs = {tensor.id for tensor in program.tensors if tensor.role == "output"}
    return {name: array for name, array in first.items() if name in outputs}


def values_plain(values: ValueRun) -> dict[str, object]:
    """Return errors and the first NaN or infinity in JSON's types."""
    bad = values.first_nonfinite
    return {
        "samples": values.samples,
        "errors": {name: float(e.ratio) for name, e in sorted(values.errors.items())},
        "first_nonfinite": None
        if bad is None
        else {
            "kernel": bad.kernel, "sample": bad.sample, "tensor": bad.tensor,
            "index": [int(i) for i in bad.index], "value": bad.value,
            "pe": None if bad.pe is None else [int(i) for i in bad.pe],
        },
    }  # fmt: skip


def values_sentence(values: ValueRun) -> str:
    """Return how good the values are, in one sentence."""
    bad = values.first_nonfinite
    if bad is not None:
        place = f" at PE {bad.pe}" if bad.pe else ""
        where = f"'{bad.tensor}' of kernel {bad.kernel}, sample {bad.sample}{place}"
        return f"{bad.value} first in {where}"
    if not values.errors:
        return f"{values.samples} sample(s) computed"
    worst = max(values.errors.values(), key=lambda error: error.ratio)
    return (
        f"{values.samples} sample(s) computed; largest error {worst.ratio:.2g} of the float64 "
        f"reference's maximum, in '{worst.tensor}'"
    )
