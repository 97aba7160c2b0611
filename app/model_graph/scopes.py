"""The name scopes of a model's nodes as a tree, and which boxes of it are seen. Knows no layout.

A scope is what stands before a '/' in a node's name. Where a scope holds too many parts to be
looked at, consecutive ones are put together under a scope of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

MOST_PARTS = 40
"""parts of a scope that are shown one by one"""


@dataclass(frozen=True, slots=True)
class Scope:
    """A scope, or a node when it has no parts."""

    id: str
    """unique; of a node its name"""
    label: str
    """name without the scopes around it"""
    first: int
    """place in program order of its first node"""
    nodes: tuple[int, ...]
    """places in program order of all its nodes, rising"""
    parts: tuple[Scope, ...] = ()
    """scopes and nodes inside, in program order; empty for a node"""


def scope_tree(names: Sequence[str]) -> Scope:
    """Return the root over all nodes, named in program order."""
    paths = [(tuple(name.strip("/").split("/")), place) for place, name in enumerate(names)]
    return _scope("", "", paths, names)


def _scope(
    path: str, label: str, inside: list[tuple[tuple[str, ...], int]], names: Sequence[str]
) -> Scope:
    groups: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for words, place in inside:
        groups.setdefault(words[0] if words else "", []).append((words[1:], place))
    parts = []
    for word, members in groups.items():
        name = f"{path}/{word}" if path else word
        if len(members) == 1:
            place = members[0][1]
            rest = "/".join((word, *members[0][0])) or names[place].rsplit("/", 1)[-1]
            parts.append(Scope(names[place], rest, place, (place,)))
        elif not word:
            parts += [Scope(names[p], names[p].rsplit("/", 1)[-1], p, (p,)) for _, p in members]
        else:
            parts.append(_scope(name, word, members, names))
    parts = _gathered(path, sorted(parts, key=lambda part: part.first))
    while len(parts) == 1 and parts[0].parts:
        label = f"{label}/{parts[0].label}".strip("/")
        path, parts = parts[0].id, list(parts[0].parts)
    nodes = tuple(place for _, place in inside)
    return Scope(path, label, nodes[0] if nodes else 0, nodes, tuple(parts))


def _gathered(path: str, parts: list[Scope]) -> list[Scope]:
    """Return the parts, consecutive ones put together where there are too many."""
    if len(parts) <= MOST_PARTS:
        return parts
    count = -(-len(parts) // (isqrt(len(parts) - 1) + 1))
    size = -(-len(parts) // count)
    found = []
    for begin in range(0, len(parts), size):
        some = parts[begin : begin + size]
        label = f"{some[0].label} ... {some[-1].label}" if len(some) > 1 else some[0].label
        nodes = tuple(sorted(place for part in some for place in part.nodes))
        name = f"{path}/{some[0].first}-{some[-1].nodes[-1]}".strip("/")
        found.append(some[0] if len(some) == 1
                     else Scope(name, label, nodes[0], nodes, tuple(some)))  # fmt: skip
    return found


def boxes(root: Scope, is_open: Iterable[str]) -> tuple[Scope, ...]:
    """Return the boxes seen when some scopes are open, in program order."""
    opened = frozenset(is_open)

    def seen(scope: Scope) -> list[Scope]:
        if scope is not root and (not scope.parts or scope.id not in opened):
            return [scope]
        return [box for part in scope.parts for box in seen(part)]

    return tuple(sorted(seen(root), key=lambda box: (box.first, box.id)))


def by_id(root: Scope) -> Mapping[str, Scope]:
    """Return every scope that can be opened, by its id."""
    found: dict[str, Scope] = {}

    def visit(scope: Scope) -> None:
        for part in scope.parts:
            if part.parts:
                found[part.id] = part
                visit(part)

    visit(root)
    return found


def around(root: Scope, place: int) -> tuple[str, ...]:
    """Return the ids of the scopes that hold a node, outermost first."""
    found: list[str] = []
    scope = root
    while scope.parts:
        scope = next(part for part in scope.parts if place in part.nodes)
        if scope.parts:
            found.append(scope.id)
    return tuple(found)
