"""Name scopes as a tree: small trees by hand, large ones by their laws."""

from __future__ import annotations

from app.model_graph.scopes import MOST_PARTS, Scope, around, boxes, by_id, scope_tree

NAMES = ["stem", "a/x", "a/b/y", "a/b/z", "a/b", "/head/out"]


def labels(scopes: tuple[Scope, ...]) -> list[str]:
    return [scope.label for scope in scopes]


def test_scopes_are_what_stands_before_a_slash() -> None:
    root = scope_tree(NAMES)
    assert labels(root.parts) == ["stem", "a", "head/out"]
    assert list(by_id(root)) == ["a", "a/b"]
    assert labels(boxes(root, ["a"])) == ["stem", "x", "b", "head/out"]
    assert labels(boxes(root, ["a", "a/b"])) == ["stem", "x", "y", "z", "b", "head/out"]
    assert labels(boxes(root, ["a/b"])) == ["stem", "a", "head/out"]


def test_a_node_named_as_its_scope_stands_inside_it() -> None:
    assert around(scope_tree(NAMES), 4) == ("a", "a/b")
    assert around(scope_tree(NAMES), 0) == ()


def test_every_node_is_in_exactly_one_box() -> None:
    names = [f"layer{i % 7}/{'attn' if i % 3 else 'mlp'}/op{i}" for i in range(500)]
    root = scope_tree(names)
    known = list(by_id(root))
    for opened in ((), known[:3], known[::2], known):
        nodes = sorted(place for box in boxes(root, opened) for place in box.nodes)
        assert nodes == list(range(500))


def test_too_many_parts_are_put_together() -> None:
    root = scope_tree([f"node_{i}" for i in range(2000)])
    assert len(root.parts) <= MOST_PARTS + 5
    assert all(len(scope.parts) <= MOST_PARTS + 5 for scope in by_id(root).values())
    first = root.parts[0]
    assert first.label == f"node_0 ... node_{first.nodes[-1]}"
    assert len(boxes(root, by_id(root))) == 2000


def test_a_scope_with_one_part_is_passed_over() -> None:
    root = scope_tree(["model/layers/0/a", "model/layers/0/b", "model/layers/1/a"])
    assert labels(root.parts) == ["0", "1/a"]
