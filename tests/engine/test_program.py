"""A Program is frozen data: hashable, compared by value, asked by name."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from tests.factories.programs import three_kernels


def test_equal_programs_have_equal_hashes() -> None:
    one, other = three_kernels().program, three_kernels().program
    assert one == other
    assert hash(one) == hash(other)
    assert replace(one, samples=4) != other


def test_kernels_and_tensors_are_found_by_name() -> None:
    program = three_kernels().program
    assert program.kernel("act").family == "pointwise"
    assert program.tensor("x").elements == 24
    with pytest.raises(KeyError, match="nobody"):
        program.kernel("nobody")
    with pytest.raises(KeyError, match="nothing"):
        program.tensor("nothing")


def test_program_cannot_be_changed() -> None:
    program = three_kernels().program
    with pytest.raises(FrozenInstanceError):
        program.samples = 9  # type: ignore[misc]
