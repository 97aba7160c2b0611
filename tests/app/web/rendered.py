"""Read rendered Dash components as a person would: their words, their titles, their commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dash.development.base_component import Component

from app.web.svg import Shape


def walk(node: Any) -> Iterator[Any]:
    """Yield every component and text below `node`, in order."""
    if isinstance(node, (list, tuple)):
        for child in node:
            yield from walk(child)
        return
    if node is None:
        return
    yield node
    if isinstance(node, (Component, Shape)):
        yield from walk(getattr(node, "children", None))


def text(node: Any) -> str:
    """Return the words of a component, joined by spaces."""
    return " ".join(str(part) for part in walk(node) if not isinstance(part, (Component, Shape)))


def with_class(node: Any, name: str) -> list[Component | Shape]:
    """Return the components of a class."""
    parts = [part for part in walk(node) if isinstance(part, (Component, Shape))]
    return [part for part in parts if name in str(getattr(part, "className", "")).split()]


def prop(node: Component | Shape, name: str) -> Any:
    """Return a property, None when it is not set; names with a dash included."""
    return node.to_plotly_json()["props"].get(name)
