"""Every violation of a Program's contract is listed, each with its place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.geometry import Rect
from engine.program import HOST, Conflict, ConflictTerm, Program
from engine.validate import ProgramError, require_valid, validate
from tests.factories.graphs import compiled_model
from tests.factories.programs import three_kernels


def program() -> Program:
    return three_kernels().program


@pytest.mark.parametrize("name", ["mlp", "bert", "demo-cnn"])
def test_compiled_programs_are_well_formed(name: str) -> None:
    assert validate(compiled_model(name, "mesh-64x64").program) == ()


def test_hand_written_program_is_well_formed() -> None:
    assert validate(program()) == ()
    require_valid(program())


def test_region_outside_the_grid_is_named() -> None:
    kernels = list(program().kernels)
    kernels[0] = replace(kernels[0], region=Rect(7, 7, 2, 2))
    assert any(
        "outside the 8x8 grid" in text
        for text in validate(replace(program(), kernels=tuple(kernels)))
    )


def test_unknown_names_are_listed_all_at_once() -> None:
    transfers = list(program().transfers)
    transfers[0] = replace(transfers[0], tensor="nothing", consumers=("nobody",))
    ghost = Conflict("east", 0, 0, (ConflictTerm("ghost", 1),))
    found = validate(replace(program(), transfers=tuple(transfers), conflicts=(ghost,)))
    assert [text.split(": ")[-1] for text in found] == [
        "tensor 'nothing' does not exist",
        "kernel 'nobody' does not exist",
        "a conflict names 'ghost', which does not exist",
    ]


def test_what_comes_back_must_wait_for_a_kernel() -> None:
    first, *others = program().transfers
    back = replace(first, producer=HOST, port="weights")
    assert validate(replace(program(), transfers=(back, *others))) == (
        f"transfer '{first.id}': it comes back through the weight ports and waits for no kernel",
    )
    again = replace(back, after="up")
    assert validate(replace(program(), transfers=(again, *others))) == ()


def test_order_must_hold_every_kernel_once() -> None:
    found = validate(replace(program(), order=(("up",), ("up",), ("down",))))
    assert "kernel 'act' is in no region's order" in found
    assert any("'up' once too often" in text for text in found)


def test_slots_and_overlaps_are_found() -> None:
    transfers = list(program().transfers)
    transfers[1] = replace(transfers[1], out_slots=0)
    kernels = list(program().kernels)
    kernels[1] = replace(kernels[1], region=kernels[0].region)
    found = validate(replace(program(), transfers=tuple(transfers), kernels=tuple(kernels)))
    assert any("chunks and slots must be >= 1" in text for text in found)
    assert any("overlaps another one" in text for text in found)


def test_error_shows_three_and_counts_the_rest() -> None:
    empty = replace(program(), tensors=())
    with pytest.raises(ProgramError, match=r"not well formed: .*\(and \d+ more\)"):
        require_valid(empty)
