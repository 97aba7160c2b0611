"""The tensors of a run, computed kernel by kernel in mesh order, and how far they are off.

Knows no graph: the float64 reference comes from outside, by tensor id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.dtypes import rounded
from engine.geometry import Split
from engine.kernels.conv.spec import Conv
from engine.kernels.cost import KernelModel
from engine.kernels.dequantize.spec import Dequantize
from engine.kernels.evaluate import evaluate
from engine.kernels.moe.spec import Moe
from engine.kernels.moe.values import routing
from engine.kernels.spec import Operation
from engine.kernels.window.spec import Window
from engine.mesh_order import keeper_rows, mesh_evaluate
from engine.models import program_models
from engine.program import Kernel, Outside, Program
from engine.progress import NO_PROGRESS, Progress
from engine.store import TensorStore

KEPT_BYTES = 512 << 20
"""tensors kept of one sample; beyond it the oldest are dropped and computed anew when asked for"""
MAIN_BYTES = 256 << 20
"""kernels' main results kept of sample 0, so that a tile is only cut; others are computed anew"""


@dataclass(frozen=True, slots=True)
class TensorError:
    """How far a tensor is off its float64 reference."""

    tensor: str
    ratio: float
    """max |ours - reference| / max |reference|"""
    mean: float
    """mean |ours - reference| / max |reference|"""
    where: tuple[int, ...]
    """index of the largest error"""


@dataclass(frozen=True, slots=True)
class NonFinite:
    """The first NaN or infinity of a run."""

    kernel: str
    sample: int
    tensor: str
    index: tuple[int, ...]
    value: str
    """nan | inf | -inf"""
    pe: tuple[int, int] | None
    """(row, col) of the PE that made it, None where only the epilogue shows it"""


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """What one PE keeps of its kernel's main result."""

    tensor: str
    rows: tuple[int, int]
    """first and last position (M) it takes part in, -1 for none"""
    cols: tuple[int, int]
    """first and last result (N) of its column"""
    values: np.ndarray
    """kept results in row-major order, float32 (kept,)"""


@dataclass(slots=True, eq=False)
class ValueRun:
    """Tensors of the samples that were computed."""

    program: Program
    store: TensorStore
    samples: int
    tensors: dict[tuple[str, int], np.ndarray] = field(default_factory=dict)
    """(tensor, sample) -> values as stored on the mesh"""
    first_nonfinite: NonFinite | None = None
    errors: dict[str, TensorError] = field(default_factory=dict)
    """of sample 0, by tensor"""
    routing: dict[str, np.ndarray] = field(default_factory=dict)
    """kernel of a mixture -> experts that each token of sample 0 takes, int64 (tokens, active)"""
    mains: dict[str, np.ndarray] = field(default_factory=dict)
    """kernel -> its main result of sample 0 before the epilogue, as far as kept"""

    def outputs(self) -> dict[str, np.ndarray]:
        """Return the program's outputs; a leading samples axis when there are several."""
        given = {t.id: t.dtype for t in self.program.tensors if t.role == "output"}
        if self.samples == 1:
            return {name: _declared(self.tensors[name, 0], to) for name, to in given.items()}
        return {
            name: _declared(np.stack([self.tensors[name, s] for s in range(self.samples)]), to)
            for name, to in given.items()
        }

    def tile(self, kernel_id: str, row: int, col: int) -> Tile:
        """Return what the PE at (row, col) of the fabric keeps of sample 0's main result."""
        kernel = self.program.kernel(kernel_id)
        model = program_models(self.program)[kernel_id]
        return cut_tile(kernel, model, self.kernel_result(kernel, model), row, col)

    def kernel_result(self, kernel: Kernel, model: KernelModel) -> np.ndarray:
        """Return sample 0's main result of a kernel, as kept or from what it reads."""
        if kernel.id in self.mains:
            return self.mains[kernel.id]
        return main_result(kernel, model, self._inputs_of(kernel), self.program.storage)

    def _inputs_of(self, kernel: Kernel) -> dict[str, np.ndarray]:
        return _read_by(self, kernel, 0)


def run_values(
    program: Program,
    store: TensorStore,
    inputs: Mapping[str, np.ndarray],
    samples: int = 1,
    progress: Progress = NO_PROGRESS,
) -> ValueRun:
    """Compute every tensor that leaves a kernel, for `samples` samples.

    Inputs with a leading axis of `samples` give each its own; others are shared.
    """
    run = ValueRun(program, store, samples)
    models = program_models(program)
    shapes = {t.id: t.shape for t in program.tensors}
    progress.stage("values", samples * len(program.kernels), "kernels")
    for sample in range(samples):
        for name, array in inputs.items():
            own = array[sample] if array.ndim == len(shapes.get(name, array.shape)) + 1 else array
            run.tensors[name, sample] = rounded(own, program.storage)
        for work in (each for each in program.outside if each.before):
            _run_outside(run, work, sample)
        for index, kernel in enumerate(program.kernels):
            _run_kernel(run, kernel, models[kernel.id], sample)
            progress.advance(sample * len(program.kernels) + index + 1)
        for work in (each for each in program.outside if not each.before):
            _run_outside(run, work, sample)
    return run


def _run_kernel(run: ValueRun, kernel: Kernel, model: KernelModel, sample: int) -> None:
    known = _read_by(run, kernel, sample)
    for index, op in enumerate(kernel.spec.ops):
        made = _made(op, known, kernel, model, run.program.storage)
        known.update(zip(op.outputs, made, strict=True))
        if index == kernel.spec.main:
            if run.first_nonfinite is None:
                run.first_nonfinite = _main_nonfinite(kernel, model, made[0], sample)
            if sample == 0:
                _keep_main(run, kernel.id, made[0])
                if isinstance(op, Moe):
                    run.routing[kernel.id] = routing(op, [known[name] for name in op.inputs])
    for name in kernel.writes:
        stored = rounded(known[name], run.program.storage)
        run.tensors[name, sample] = stored
        if run.first_nonfinite is None:
            run.first_nonfinite = _nonfinite(kernel.id, name, stored, sample, None)


def _run_outside(run: ValueRun, work: Outside, sample: int) -> None:
    known = _read_by(run, work, sample)
    for op in work.spec.ops:
        known.update(zip(op.outputs, evaluate(op, [known[n] for n in op.inputs]), strict=True))
    for name in work.writes:
        run.tensors[name, sample] = rounded(known[name], run.program.storage)


def _made(
    op: Operation, known: Mapping[str, np.ndarray], kernel: Kernel, model: KernelModel, storage: str
) -> tuple[np.ndarray, ...]:
    """Return what an operation gives; dequantised weights are rounded as all weights are."""
    made = mesh_evaluate(op, [known[n] for n in op.inputs], model.problem, kernel.tiling)
    if isinstance(op, Dequantize):
        return tuple(rounded(array, storage) for array in made)
    return made


def _keep_main(run: ValueRun, kernel: str, result: np.ndarray) -> None:
    if sum(array.nbytes for array in run.mains.values()) + result.nbytes <= MAIN_BYTES:
        run.mains[kernel] = result


def _read_by(run: ValueRun, kernel: Kernel | Outside, sample: int) -> dict[str, np.ndarray]:
    """Return what a kernel reads; state that a training step replaces is fed, not stored."""
    found = {name: run.tensors[name, sample] for name in kernel.reads}
    fed = {n: run.tensors[n, sample] for n in kernel.weights if (n, sample) in run.tensors}
    return found | fed | _weights(kernel, run.program, run.store, set(fed))


def _weights(
    kernel: Kernel | Outside, program: Program, store: TensorStore, fed: set[str]
) -> dict[str, np.ndarray]:
    found = {}
    for name in kernel.weights:
        if name in fed:
            continue
        content = program.tensor(name).content
        if content is None:
            raise ValueError(
                f"kernel '{kernel.id}': weight '{name}' has no numbers; this model can be timed, "
                "not evaluated (values: none)"
            )
        found[name] = rounded(store.get(content), program.storage)
    return found


def _declared(array: np.ndarray, dtype: str) -> np.ndarray:
    """Return an array in the dtype that the model declares for it."""
    with np.errstate(over="ignore"):
        return array.astype(dtype, copy=False)


def main_result(
    kernel: Kernel, model: KernelModel, known: Mapping[str, np.ndarray], storage: str
) -> np.ndarray:
    """Return the main result of a kernel from its inputs."""
    arrays = dict(known)
    for op in kernel.spec.ops[: kernel.spec.main + 1]:
        made = _made(op, arrays, kernel, model, storage)
        arrays.update(zip(op.outputs, made, strict=True))
    return arrays[kernel.spec.main_op.outputs[0]]


def result_matrix(kernel: Kernel, model: KernelModel, result: np.ndarray) -> np.ndarray:
    """Return a main result as (M, N)."""
    problem, op = model.problem, kernel.spec.main_op
    if isinstance(op, Conv | Window):
        return np.moveaxis(result, 1, -1).reshape(problem.m, problem.n)
    if problem.batch > 1:
        grouped = result.reshape(problem.batch, problem.m, -1)
        return grouped.transpose(1, 0, 2).reshape(problem.m, problem.n)
    if problem.n_axis not in (-1, result.ndim - 1):
        return np.moveaxis(result, problem.n_axis, -1).reshape(problem.m, problem.n)
    return result.reshape(problem.m, problem.n)


def cut_tile(kernel: Kernel, model: KernelModel, result: np.ndarray, row: int, col: int) -> Tile:
    """Return what the PE at (row, col) of the fabric keeps of a main result."""
    problem, tiling, region = model.problem, kernel.tiling, kernel.region
    part, piece = divmod(row - region.row, tiling.k_parts)
    units, columns = Split(problem.m_units, tiling.m_parts), Split(problem.n, tiling.n_parts)
    m0, m1 = (units.start(i) * problem.m_inner for i in (part, part + 1))
    n0, n1 = columns.start(col - region.col), columns.start(col - region.col + 1)
    block = result_matrix(kernel, model, result)[m0:m1, n0:n1]
    kept = block[keeper_rows(m1 - m0, n1 - n0, tiling.k_parts) == piece]
    name = kernel.spec.main_op.outputs[0]
    return Tile(name, (m0, m1 - 1), (n0, n1 - 1), np.ascontiguousarray(kept))


def _main_nonfinite(
    kernel: Kernel, model: KernelModel, result: np.ndarray, sample: int
) -> NonFinite | None:
    if result.dtype.kind != "f" or np.isfinite(result).all():
        return None
    matrix = result_matrix(kernel, model, result)
    m, n = (int(i) for i in np.argwhere(~np.isfinite(matrix))[0])
    problem, tiling = model.problem, kernel.tiling
    units, columns = Split(problem.m_units, tiling.m_parts), Split(problem.n, tiling.n_parts)
    part, column = units.owner(m // problem.m_inner), columns.owner(n)
    m0, n0 = units.start(part) * problem.m_inner, columns.start(column)
    keepers = keeper_rows(units.size(part) * problem.m_inner, columns.size(column), tiling.k_parts)
    row = kernel.region.row + part * tiling.k_parts + int(keepers[m - m0, n - n0])
    name = kernel.spec.main_op.outputs[0]
    return _nonfinite(kernel.id, name, result, sample, (row, kernel.region.col + column))


def _nonfinite(
    kernel: str, tensor: str, array: np.ndarray, sample: int, pe: tuple[int, int] | None
) -> NonFinite | None:
    if array.dtype.kind != "f":
        return None
    bad = ~np.isfinite(array)
    if not bad.any():
        return None
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    return NonFinite(kernel, sample, tensor, index, str(float(array[index])), pe)


def compare(run: ValueRun, reference: Mapping[str, np.ndarray]) -> None:
    """Fill `run.errors` for every tensor of sample 0 that has a reference."""
    for (name, sample), ours in run.tensors.items():
        if sample == 0 and name in reference and ours.dtype.kind == "f" and ours.size:
            run.errors[name] = tensor_error(name, ours, reference[name])


def tensor_error(name: str, ours: np.ndarray, reference: np.ndarray) -> TensorError:
    """Return the error of a tensor against its reference; NaN where either is not finite."""
    with np.errstate(all="ignore"):
        off = np.abs(ours.astype(np.float64) - reference)
        scale = float(np.abs(reference).max()) or 1.0
        at = np.unravel_index(int(np.argmax(off)), off.shape) if off.ndim else ()
        ratio = float(off.max()) / scale
        mean = float(off.mean()) / scale
    return TensorError(name, ratio, mean, tuple(int(i) for i in at))
