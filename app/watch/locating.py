"""Which element of a tensor stands out, and which PE keeps it. Knows no conditions, no screen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.runs.run import Run
from engine.geometry import Split
from engine.mesh_order import keeper_rows
from engine.models import program_models
from engine.program import Kernel
from engine.values import result_matrix


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a tensor."""

    index: tuple[int, ...]
    value: float
    pe: tuple[int, int] | None
    """PE (row, col) that keeps it, None where the tensor is not laid out as the main result"""


def find_element(run: Run, kernel: Kernel, tensor: str, sample: int, what: str) -> Element | None:
    """Return the first 'nan' or 'inf', the 'largest' or the 'smallest' element of a tensor."""
    array = run.values.get(tensor) if sample == 0 else None
    if array is None and run.computed is not None:
        array = run.computed.values.tensors.get((tensor, sample))
    if array is None or array.size == 0:
        return None
    numbers = np.asarray(array, np.float64)
    finite = np.isfinite(numbers)
    wanted = {
        "nan": np.isnan(numbers), "inf": np.isinf(numbers),
        "largest": np.where(finite, numbers, -np.inf),
        "smallest": np.where(finite, -numbers, -np.inf),
    }[what]  # fmt: skip
    at = int(wanted.argmax())
    if what in ("nan", "inf") and not wanted.flat[at]:
        return None
    index = tuple(int(i) for i in np.unravel_index(at, numbers.shape))
    return Element(index, float(numbers.flat[at]), keeper(run, kernel, numbers.shape, at))


def keeper(run: Run, kernel: Kernel, shape: tuple[int, ...], at: int) -> tuple[int, int] | None:
    """Return the PE that keeps element `at` (in C order) of a tensor shaped as the main result."""
    main = run.program.tensor(kernel.spec.main_op.outputs[0])
    if main.shape != shape:
        return None
    model, tiling = program_models(run.program)[kernel.id], kernel.tiling
    problem = model.problem
    place = np.zeros(shape, bool)
    place.flat[at] = True
    m, n = (int(i) for i in np.argwhere(result_matrix(kernel, model, place))[0])
    units, columns = Split(problem.m_units, tiling.m_parts), Split(problem.n, tiling.n_parts)
    part, column = units.owner(m // problem.m_inner), columns.owner(n)
    rows = keeper_rows(units.size(part) * problem.m_inner, columns.size(column), tiling.k_parts)
    row = int(rows[m - units.start(part) * problem.m_inner, n - columns.start(column)])
    return kernel.region.row + part * tiling.k_parts + row, kernel.region.col + column
