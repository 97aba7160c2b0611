"""Products through the mesh against numpy: `python -m benchmarks.bench_values`."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import least
from engine.kernels.problem import Problem
from engine.mesh_order import mesh_product
from engine.program import Tiling

BUDGET = 2.5


def main() -> None:
    """Print the ratio to `A @ B` for square products on square grids."""
    rng = np.random.default_rng(0)
    for size, grid in ((512, 16), (1024, 32), (1024, 8), (2048, 64)):
        left = rng.standard_normal((1, size, size)).astype(np.float32)
        right = rng.standard_normal((1, size, size)).astype(np.float32)
        problem = Problem(size, 1, size, 1, size, work="mac", in_units=size)
        tiling = Tiling(1, grid, grid)
        plain = least(lambda: left @ right, 5)  # noqa: B023
        mesh = least(lambda: mesh_product(left, right, problem, tiling), 5)  # noqa: B023
        mark = "ok" if mesh <= BUDGET * plain else "OVER"
        print(
            f"{size}^3 on {grid}x{grid} PEs (tile {size // grid}): {mesh * 1e3:8.1f} ms, "
            f"{mesh / plain:4.2f}x numpy, budget {BUDGET}x  {mark}"
        )


if __name__ == "__main__":
    main()
