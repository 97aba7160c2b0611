"""Profiles: cycles by cause of the hand-written kernels, and what they sum to."""

from __future__ import annotations

import numpy as np
import pytest

from engine.geometry import Split
from engine.kernels.cost import kernel_model, row_tiles
from engine.kernels.dot.spec import Dot
from engine.kernels.spec import KernelSpec
from engine.models import program_models, program_profiles
from engine.profile import BUSY_CAUSES, _classes, _even_classes
from engine.program import Tiling
from tests.factories.graphs import compiled_model
from tests.factories.programs import ACT, DOWN, UP, three_kernels


def test_profiles_have_the_cycles_of_the_paper() -> None:
    found = program_profiles(three_kernels().program)
    assert {name: p.length for name, p in found.items()} == {"up": UP, "act": ACT, "down": DOWN}
    assert found["up"].pe(0, 1).tolist() == [48, 51, 0, 32]
    assert found["act"].pe(1, 0).tolist() == [4, 7, 0, 8]
    assert found["down"].pe(1, 0).tolist() == [16, 19, 0, 28]


def test_profile_counts_and_totals_cover_the_region_cover_the_region() -> None:
    small = three_kernels()
    found = program_profiles(small.program)["act"]
    assert found.counts().sum() == 4
    assert found.total("compute") == 4 * 4
    assert found.total("imbalance") == 0
    down = program_profiles(small.program)["down"]
    assert down.total("imbalance") == 2 * 5


def test_every_pe_of_a_model_is_counted_once_and_busy_within_the_length() -> None:
    program = compiled_model("bert", "mesh-64x64").program
    profiles = program_profiles(program)
    for kernel in program.kernels:
        found = profiles[kernel.id]
        assert found.counts().sum() == kernel.region.area
        assert found.pe_class.shape == (kernel.region.rows, kernel.region.cols)
        assert (found.cycles >= 0).all()
        assert found.cycles.sum(axis=-1).max() <= found.length
        whole = sum(found.total(cause) for cause in (*BUSY_CAUSES, "imbalance"))
        assert whole == found.length * kernel.region.area


def test_models_are_named_like_kernels() -> None:
    program = three_kernels().program
    models = program_models(program)
    assert list(models) == ["up", "act", "down"]
    assert models["up"].weights == 24
    assert models["act"].epilogue.vector_ops == 1


@pytest.mark.parametrize("parts", [(1, 1, 1), (5, 1, 4), (3, 2, 7), (8, 3, 16)])
def test_rows_and_columns_give_the_classes_that_all_pes_give(parts: tuple[int, int, int]) -> None:
    shapes = {"x": (13, 11), "w": (11, 18), "y": (13, 18)}
    spec = KernelSpec((Dot(inputs=("x", "w"), outputs=("y",)),), 0)
    model = kernel_model(spec, shapes, frozenset({"w"}))
    tiling = Tiling(*parts)
    m, k = row_tiles(model.problem, tiling)
    n = Split(18, tiling.n_parts).sizes()
    grid = np.broadcast_arrays(m[:, None], k[:, None], n[None, :])
    values, pe_class = _classes(grid)
    found, same = _even_classes(m, k, n)
    np.testing.assert_array_equal(found, values)
    np.testing.assert_array_equal(same, pe_class)
    assert same.dtype == pe_class.dtype
