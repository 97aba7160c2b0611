"""Colors by turn: the host's own, the lowest free one, and sharing by hand where they run out."""

from __future__ import annotations

from dataclasses import replace

from engine.machine import generic_mesh
from engine.program import HOST, Conflict, ConflictTerm, Leg, Transfer
from lowering.stages.turn_colors import (
    KERNEL_COLORS,
    color_conflicts,
    host_color,
    turn_colors,
)

LEG = Leg("shift", "x", 2, 1, 0, 1, 5, 1, 4)
MACHINE = generic_mesh(8, 8)
TIGHT = replace(MACHINE, colors=7, reserved_colors=2)
"""five free colors: three for kernels, two for transfers"""


def transfer(name: str, producer: str = "a", consumer: str = "b", words: int = 4) -> Transfer:
    return Transfer(name, name, producer, (consumer,), (replace(LEG, words=words),), 1, 1, (1,))


def test_host_streams_have_the_colors_the_host_interface_keeps() -> None:
    assert host_color(transfer("x", producer=HOST), MACHINE) == 21
    assert host_color(transfer("y", consumer=HOST), MACHINE) == 22
    assert host_color(transfer("z"), MACHINE) is None
    bare = replace(MACHINE, reserved_colors=1)
    assert host_color(transfer("x", producer=HOST), bare) is None


def test_a_color_is_free_again_after_the_last_turn_of_its_transfer() -> None:
    colored = turn_colors([transfer(n) for n in "pqr"], [(0, 1), (1, 2), (2, 3)], TIGHT)
    assert colored.colors == (KERNEL_COLORS, KERNEL_COLORS + 1, KERNEL_COLORS)
    assert (colored.used, colored.sharing) == (5, ())


def test_transfers_share_the_emptiest_color_where_they_run_out() -> None:
    flows = [transfer(n) for n in "pqrs"]
    colored = turn_colors(flows, [(0, 9), (0, 9), (1, 2), (3, 9)], TIGHT)
    first, second = KERNEL_COLORS, KERNEL_COLORS + 1
    # r joins p, the first of two equally full; once r is over, s joins it too
    assert colored.colors == (first, second, first, first)
    assert colored.sharing == ((0, 2), (0, 3))
    assert colored.used == 5


def test_sharing_transfers_move_one_wavelet_a_cycle_together() -> None:
    flows = [transfer("p"), transfer("q", words=6), transfer("r", words=0)]
    terms = (ConflictTerm("p", 4), ConflictTerm("q", 6))
    assert color_conflicts(flows, [(0, 1, 2)]) == (Conflict("color", 2, 0, terms),)
    assert color_conflicts(flows, [(0, 2)]) == ()
