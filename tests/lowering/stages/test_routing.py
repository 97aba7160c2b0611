"""Routing: legs by hand for every way to arrive, traffic inside kernels, colors at routers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.geometry import Rect
from engine.kernels.cost import kernel_model
from engine.kernels.dot.spec import Dot
from engine.kernels.reduce.spec import Softmax
from engine.kernels.spec import KernelSpec
from engine.machine import parse_machine
from engine.program import Leg, Tiling
from engine.transfers import leg_patterns
from lowering.stages.routing import (
    Arrival,
    End,
    assign_colors,
    host_in_legs,
    host_out_legs,
    kernel_legs,
    transfer_legs,
)
from lowering.stages.turn_colors import host_color
from tests.factories.graphs import DEMO_NAMES, MODEL_NAMES, compiled_model

SOURCE = End(Rect(0, 0, 2, 3), Tiling(2, 1, 3))
TARGET = End(Rect(4, 5, 6, 2), Tiling(3, 2, 2))


def test_rows_go_down_in_groups_then_are_copied_along() -> None:
    down, along = transfer_legs(SOURCE, TARGET, Arrival("rows", True), 60)
    assert down == Leg("exchange", "y", 0, 3, 0, 2, 4, 6, 60, groups=3)
    assert along == Leg("broadcast", "x", 4, 6, 0, 3, 5, 2, 60)


def test_rows_without_a_cut_of_k_keep_their_order() -> None:
    target = replace(TARGET, tiling=Tiling(6, 1, 2))
    down, _ = transfer_legs(SOURCE, target, Arrival("rows", True), 60)
    assert down.groups == 0
    down, _ = transfer_legs(SOURCE, target, Arrival("rows", False), 60)
    assert down.groups == 1


def test_heads_filter_their_share_of_a_row() -> None:
    _, along = transfer_legs(SOURCE, TARGET, Arrival("rows", True, batch=4), 60)
    assert along.share == 4


def test_grid_is_shifted_cell_by_cell() -> None:
    down, along = transfer_legs(SOURCE, TARGET, Arrival("grid", True), 60)
    assert (down.kind, down.groups, along.kind, along.groups) == ("shift", 0, "shift", 0)
    down, along = transfer_legs(SOURCE, TARGET, Arrival("cells", False), 60)
    assert (down.kind, down.groups, along.kind, along.groups) == ("exchange", 1, "exchange", 1)


def test_neighbour_on_the_same_rows_needs_one_leg() -> None:
    beside = End(Rect(0, 3, 2, 4), Tiling(2, 1, 4))
    (along,) = transfer_legs(SOURCE, beside, Arrival("grid", True), 60)
    assert along.axis == "x"


def test_held_operand_travels_once_and_every_group_keeps_it() -> None:
    tree, along = transfer_legs(SOURCE, TARGET, Arrival("held", False, copies=3), 60)
    assert (tree.kind, tree.axis, tree.words, tree.share) == ("broadcast", "y", 60, 2)
    assert (along.kind, along.words) == ("exchange", 180)


def test_halo_is_sent_in_addition() -> None:
    down, along = transfer_legs(SOURCE, TARGET, Arrival("rows", True, halo=0.25), 60)
    assert (down.words, along.words) == (75, 75)


def test_host_enters_from_the_west_and_leaves_by_the_nearer_border() -> None:
    machine = parse_machine("mesh-16x16")
    (leg,) = host_in_legs(TARGET, Arrival("rows", True), 60)
    assert leg == Leg("host broadcast", "x", 4, 6, 0, 1, 5, 2, 60)
    (leg,) = host_in_legs(TARGET, Arrival("grid", True), 60)
    assert (leg.kind, leg.groups) == ("host", 0)
    (leg,) = host_out_legs(TARGET, machine, 60)
    assert leg == Leg("host", "x", 4, 6, 5, 2, 0, 1, 60, groups=0)
    (leg,) = host_out_legs(replace(TARGET, region=Rect(4, 10, 6, 2)), machine, 60)
    assert leg.dst_start == 15


def test_partial_sums_and_row_statistics_stay_inside_the_region() -> None:
    shapes = {"x": (9, 4), "w": (4, 8), "d": (9, 8), "y": (9, 8)}
    spec = KernelSpec((Dot(inputs=("x", "w"), outputs=("d",)),
                       Softmax(inputs=("d",), outputs=("y",), axis=1)), 0)  # fmt: skip
    model = kernel_model(spec, shapes, frozenset({"w"}))
    machine = parse_machine("wse2")
    sums, statistics, back = kernel_legs(model, TARGET, machine)
    assert sums == Leg("reduce", "y", 5, 2, 4, 6, 4, 6, 72, groups=3)
    assert statistics == Leg("reduce", "x", 4, 6, 5, 2, 5, 2, 18)
    assert back == replace(statistics, kind="broadcast")
    assert kernel_legs(model, End(Rect(0, 0, 3, 1), Tiling(3, 1, 1)), machine) == ()


def test_crossing_flows_get_different_colors_and_distant_ones_the_same() -> None:
    row = Leg("shift", "x", 2, 1, 0, 1, 5, 1, 4)
    column = Leg("shift", "y", 3, 1, 0, 1, 5, 1, 4)
    far = Leg("shift", "x", 9, 1, 0, 1, 5, 1, 4)
    plan = assign_colors([[row], [column], [far]])
    assert plan.colors == (0, 1, 0)
    assert (plan.used, plan.crowded) == (2, (0, 3))
    assert assign_colors([]).used == 0


def routers(leg: Leg) -> set[tuple[int, int]]:
    """Routers that words of a leg pass, from its patterns link by link."""
    ahead = {"east": (0, 1), "west": (0, -1), "south": (1, 0), "north": (-1, 0)}
    found: set[tuple[int, int]] = set()
    for pattern in leg_patterns(leg):
        row, col, end_row, end_col = pattern.rect
        down, along = ahead.get(pattern.plane, (0, 0))
        for r in range(row, end_row):
            for c in range(col, end_col):
                found |= {(r, c), (r + down, c + along)}
    return found


@pytest.mark.parametrize("name", ["mlp", "bert", "demo-cnn", "demo-transformer"])
def test_no_router_sees_one_color_of_two_flows_but_the_hosts(name: str) -> None:
    program = compiled_model(name, "mesh-64x64").program
    owner: dict[tuple[int, int, int], str] = {}
    names = {t.id: {21: "in", 22: "out"}.get(t.legs[0].color, t.id) for t in program.transfers}
    assert {"in", "out"} <= set(names.values())
    flows = [(names[t.id], t.legs) for t in program.transfers]
    flows += [(k.id, k.legs) for k in program.kernels]
    for flow, legs in flows:
        for leg in legs:
            assert leg.color >= 0
            for row, col in routers(leg):
                assert owner.setdefault((row, col, leg.color), flow) == flow


@pytest.mark.parametrize("name", [*MODEL_NAMES, *(f"demo-{name}" for name in DEMO_NAMES)])
def test_models_stay_within_the_colors_and_the_mesh(name: str) -> None:
    compiled = compiled_model(name, "wse2")
    machine = compiled.program.machine
    carried = [t for t in compiled.program.transfers if host_color(t, machine) is None]
    assert len(carried) < len(compiled.program.transfers)
    legs = [leg for t in carried for leg in t.legs]
    legs += [leg for k in compiled.program.kernels for leg in k.legs]
    assert max(leg.color for leg in legs) + 1 == compiled.report.colors_used
    assert compiled.report.colors_used <= machine.colors - machine.reserved_colors
    for leg in legs:
        along, across = (machine.cols, machine.rows)[:: 1 if leg.axis == "x" else -1]
        assert 0 <= leg.lines_start <= leg.lines_start + leg.lines <= across
        assert max(leg.src_start + leg.src, leg.dst_start + leg.dst) <= along


def test_rows_first_goes_along_then_down_then_is_copied() -> None:
    along, down, copy = transfer_legs(SOURCE, TARGET, Arrival("rows", True), 60, "xy")
    assert along == Leg("exchange", "x", 0, 2, 0, 3, 5, 2, 60)
    assert down == Leg("exchange", "y", 5, 2, 0, 2, 4, 6, 60, groups=3)
    assert copy == Leg("broadcast", "x", 4, 6, 5, 2, 5, 2, 60)


def test_rows_first_keeps_the_order_of_a_grid() -> None:
    along, down = transfer_legs(SOURCE, TARGET, Arrival("grid", True), 60, "xy")
    assert (along.kind, along.groups, down.kind, down.groups) == ("shift", 0, "shift", 0)
    beside = End(Rect(0, 3, 2, 4), Tiling(2, 1, 4))
    (only,) = transfer_legs(SOURCE, beside, Arrival("grid", True), 60, "xy")
    assert only.axis == "x"
    below = End(Rect(7, 0, 2, 3), Tiling(2, 1, 3))
    (only,) = transfer_legs(SOURCE, below, Arrival("grid", True), 60, "xy")
    assert only.axis == "y"


def test_rows_first_sends_a_held_operand_once_along_and_copies_it_down() -> None:
    along, tree = transfer_legs(SOURCE, TARGET, Arrival("held", False, copies=3), 60, "xy")
    assert (along.kind, along.axis, along.words) == ("exchange", "x", 60)
    assert tree == Leg("broadcast", "y", 5, 2, 0, 2, 4, 6, 60, share=2)


def test_both_orders_start_and_end_at_the_same_pes() -> None:
    for arrival in (Arrival("rows", True), Arrival("grid", False), Arrival("cells", True),
                    Arrival("copied", False), Arrival("held", False, copies=3)):  # fmt: skip
        for order in ("yx", "xy"):
            legs = transfer_legs(SOURCE, TARGET, arrival, 60, order)
            first, last = leg_patterns(legs[0]), leg_patterns(legs[-1])
            inject = [p.rect for p in first if p.plane == "inject"]
            deliver = [p.rect for p in last if p.plane == "deliver"]
            assert min(r[:2] for r in inject) == (0, 0)
            assert max(r[2:] for r in inject) == (2, 3)
            assert min(r[:2] for r in deliver) == (4, 5), (arrival, order)
            assert max(r[2:] for r in deliver) == (10, 7), (arrival, order)
