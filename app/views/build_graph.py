"""From a model to its graph of boxes. Pure functions; no screen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.model_graph.layered import BOX_HEIGHT, Layout, lay_out
from app.model_graph.node_kernels import kernels_of_nodes
from app.model_graph.scopes import Scope, around, boxes, by_id, scope_tree
from app.runs.run import Run
from app.units import count
from app.views.graph import GraphBox, GraphEdge, GraphView, OpenScope
from lowering.graph import Graph

MOST_BOXES = 300
"""boxes seen at once"""
_NARROW, _WIDE, _LETTER = 76, 200, 8
"""pixels of a box: at least, at most, for a letter"""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is looked at."""

    run: Run
    boxes: tuple[Scope, ...]
    box_of: dict[int, int]
    """node -> box"""
    kernels: tuple[str, ...]
    """of each node, empty for none"""
    opened: tuple[Scope, ...]
    """the open scopes, outer ones first"""


def view_graph(run: Run, opened: Iterable[str] = (), selected: str | None = None) -> GraphView:
    """Return the model's boxes when some scopes are open; unknown scopes are passed over."""
    graph = run.compiled.graph
    root = scope_tree([node.name for node in graph.nodes])
    known = by_id(root)
    wanted = set(opened)
    is_open = tuple(scope for name, scope in known.items() if name in wanted)
    seen = _see(run, root, is_open)
    tensors = _tensors(graph, seen)
    widths = [_width(graph, box) for box in seen.boxes]
    layout = lay_out(widths, [*tensors])
    made = [_box(seen, index, layout, widths[index], selected) for index in range(len(seen.boxes))]
    edges = tuple(
        _edge(graph, seen, pair, names, way)
        for (pair, names), way in zip(tensors.items(), layout.ways, strict=True)
    )
    is_seen = all(not box.is_scope for box in made if box.is_selected)
    return GraphView(
        boxes=tuple(sorted(made, key=lambda box: (box.layer, box.left))), edges=edges,
        opened=tuple(OpenScope(scope.id, len(scope.nodes)) for scope in is_open),
        width=layout.width, height=layout.height, nodes=len(graph.nodes), selected=selected,
        is_seen=is_seen, standing="exact: the graph that was compiled",
        sentence=_sentence(graph, made, selected),
    )  # fmt: skip


def seen_boxes(run: Run, opened: Iterable[str]) -> int:
    """Return how many boxes are seen when some scopes are open."""
    return len(boxes(_root(run), opened))


def scopes_of(run: Run) -> tuple[str, ...]:
    """Return the ids of all scopes that can be opened."""
    return tuple(by_id(_root(run)))


def scopes_around(run: Run, kernel: str) -> tuple[str, ...]:
    """Return the ids of the scopes that hold the nodes of a kernel."""
    owners = kernels_of_nodes(run)
    mine = [place for place, name in enumerate(owners) if name == kernel]
    root = _root(run)
    return tuple(dict.fromkeys(name for place in mine for name in around(root, place)))


def _root(run: Run) -> Scope:
    return scope_tree([node.name for node in run.compiled.graph.nodes])


def _see(run: Run, root: Scope, opened: tuple[Scope, ...]) -> _Seen:
    found = boxes(root, [scope.id for scope in opened])
    box_of = {place: index for index, box in enumerate(found) for place in box.nodes}
    return _Seen(run, found, box_of, kernels_of_nodes(run), opened)


def _tensors(graph: Graph, seen: _Seen) -> dict[tuple[int, int], list[str]]:
    """Return the tensors between different boxes, by (source box, target box)."""
    made = {name: place for place, node in enumerate(graph.nodes) for name in node.op.outputs}
    found: dict[tuple[int, int], list[str]] = {}
    for place, node in enumerate(graph.nodes):
        for name in dict.fromkeys(node.op.inputs):
            if name in made:
                pair = seen.box_of[made[name]], seen.box_of[place]
                if pair[0] != pair[1] and name not in found.setdefault(pair, []):
                    found[pair].append(name)
    return dict(sorted(found.items()))


def _width(graph: Graph, box: Scope) -> int:
    letters = max(len(box.label), len(_kind(graph, box)))
    return min(_WIDE, max(_NARROW, 16 + _LETTER * letters)) + (24 if box.parts else 0)


def _kind(graph: Graph, box: Scope) -> str:
    return f"{count(len(box.nodes))} nodes" if box.parts else graph.nodes[box.nodes[0]].kind


def _box(seen: _Seen, index: int, layout: Layout, width: int, selected: str | None) -> GraphBox:
    run, box = seen.run, seen.boxes[index]
    graph = run.compiled.graph
    mine = {seen.kernels[place] for place in box.nodes} - {""}
    kernels = tuple(kernel.id for kernel in run.program.kernels if kernel.id in mine)
    kind, (left, top) = _kind(graph, box), layout.places[index]
    where = f"on {count(len(kernels))} kernels" if len(kernels) != 1 else f"on kernel {kernels[0]}"
    inside = [scope for scope in seen.opened if box.first in scope.nodes]
    return GraphBox(
        id=box.id, label=box.label, kind=kind, is_scope=bool(box.parts),
        scope=inside[-1].id if inside else "", nodes=len(box.nodes), kernels=kernels,
        place=_around(run, kernels), is_selected=selected in kernels, layer=layout.layers[index],
        left=left, top=top, width=width, height=BOX_HEIGHT,
        sentence=f"{box.id} ({kind}) {where}" if kernels else f"{box.id} ({kind}) runs nowhere",
    )  # fmt: skip


def _around(run: Run, kernels: tuple[str, ...]) -> tuple[int, int, int, int] | None:
    rects = [run.region(name) for name in kernels]
    if not rects:
        return None
    row, col = min(r.row for r in rects), min(r.col for r in rects)
    return row, col, max(r.end_row for r in rects) - row, max(r.end_col for r in rects) - col


def _edge(
    graph: Graph, seen: _Seen, pair: tuple[int, int], names: list[str],
    way: tuple[tuple[float, float], ...],
) -> GraphEdge:  # fmt: skip
    shape = "x".join(map(str, graph.values[names[0]].shape)) or "scalar"
    more = f" and {count(len(names) - 1)} more" if len(names) > 1 else ""
    source, target = (seen.boxes[box].id for box in pair)
    return GraphEdge(source, target, len(names), f"{names[0]} {shape}{more}", way,
                     pair[0] > pair[1])  # fmt: skip


def _sentence(graph: Graph, made: list[GraphBox], selected: str | None) -> str:
    scopes = sum(box.is_scope for box in made)
    text = f"{graph.name}: {count(len(graph.nodes))} nodes in {count(len(made))} boxes"
    text += f", {count(scopes)} of them closed scopes" if scopes else ""
    if selected is None:
        return text
    holding = sum(box.is_selected for box in made)
    return f"{text}; {count(holding)} {'hold' if holding != 1 else 'holds'} kernel {selected}"
