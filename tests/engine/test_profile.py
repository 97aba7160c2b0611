"""Profiles: cycles by cause of the hand-written kernels, and what they sum to."""

from __future__ import annotations

from engine.models import program_models, program_profiles
from engine.profile import BUSY_CAUSES
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
