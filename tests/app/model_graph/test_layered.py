"""The layered layout: a diamond by hand, larger graphs by what must hold of any picture."""

from __future__ import annotations

import random
from itertools import pairwise

from app.model_graph.layered import BOX_HEIGHT, LAYER_HEIGHT, Layout, lay_out


def test_a_diamond_has_three_layers() -> None:
    layout = lay_out([60, 60, 60, 60], [(0, 1), (0, 2), (1, 3), (2, 3)])
    assert layout.layers == (0, 1, 1, 2)
    assert [top for _, top in layout.places] == [4.0, 62.0, 62.0, 120.0]
    lefts = [left for left, _ in layout.places]
    assert lefts[0] == lefts[3] == (lefts[1] + lefts[2]) / 2
    assert layout.width == 60 + 12 + 60 + 8


def test_edge_that_leads_back_decides_no_layer() -> None:
    layout = lay_out([60, 60], [(0, 1), (1, 0)])
    assert layout.layers == (0, 1)
    assert layout.ways[1][0][1] > layout.ways[1][-1][1]


def test_long_edge_goes_around_the_boxes_between() -> None:
    layout = lay_out([60] * 4, [(0, 1), (1, 2), (2, 3), (0, 3)])
    way = layout.ways[3]
    assert len(way) == 2 + 2 * 2
    for box in (1, 2):
        left, top = layout.places[box]
        inside = [x for x, y in way if top <= y <= top + BOX_HEIGHT and left < x < left + 60]
        assert inside == []


def random_graph(seed: int, count: int) -> tuple[list[int], list[tuple[int, int]]]:
    draw = random.Random(seed)
    widths = [draw.randint(60, 200) for _ in range(count)]
    edges = {tuple(sorted(draw.sample(range(count), 2))) for _ in range(2 * count)}
    return widths, sorted((a, b) for a, b in edges)


def check(widths: list[int], edges: list[tuple[int, int]], layout: Layout) -> None:
    rows: dict[int, list[tuple[float, float]]] = {}
    for box, (left, top) in enumerate(layout.places):
        assert top == layout.layers[box] * LAYER_HEIGHT + 4.0
        assert left >= 0
        assert left + widths[box] <= layout.width
        assert top + BOX_HEIGHT <= layout.height
        rows.setdefault(layout.layers[box], []).append((left, left + widths[box]))
    for row in rows.values():
        row.sort()
        assert all(right <= left for (_, right), (left, _) in pairwise(row))
    for source, target in edges:
        assert layout.layers[source] < layout.layers[target]


def test_boxes_never_touch_and_edges_lead_down() -> None:
    for seed in range(8):
        widths, edges = random_graph(seed, 60)
        check(widths, edges, lay_out(widths, edges))


def test_same_graph_same_picture_and_nothing_is_a_picture_too() -> None:
    widths, edges = random_graph(3, 300)
    first = lay_out(widths, edges)
    check(widths, edges, first)
    assert first == lay_out(widths, edges)
    assert lay_out([], []).places == ()
