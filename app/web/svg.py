"""Pictures inside panels, as shapes that go the way of components. Knows no views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Shape:
    """One SVG element."""

    type: str
    """name of the element, such as 'rect'"""
    children: Any = None
    """text, shapes or None"""
    className: str = ""  # noqa: N815 (as Dash names it)
    props: dict[str, Any] = field(default_factory=dict)
    """other attributes"""

    def to_plotly_json(self) -> dict[str, Any]:
        """Return the element as components are told to the page."""
        named = {"children": self.children, "className": self.className, **self.props}
        return {"type": self.type, "props": {k: v for k, v in named.items() if v is not None}}


def shape(kind: str, children: Any = None, look: str = "", **attributes: Any) -> Shape:
    """Return an element; numbers are cut to a tenth of a pixel, `_` in a name becomes `-`."""
    props = {name.replace("_", "-"): _short(value) for name, value in attributes.items()}
    return Shape(kind, children, look, props)


def _short(value: Any) -> Any:
    return f"{value:.1f}" if isinstance(value, float) else value


def picture(width: int, height: int, parts: Sequence[Any], name: str) -> Shape:
    """Return a picture as wide as its panel, with a name for screen readers."""
    return Shape(
        "svg", list(parts), "chart",
        {"viewBox": f"0 0 {width} {height}", "role": "img", "aria-label": name},
    )  # fmt: skip


def words(text: str, x: float, y: float, look: str = "", **attributes: Any) -> Shape:
    """Return a line of text."""
    return shape("text", text, look, x=x, y=y, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, look: str = "") -> Shape:
    """Return a straight line."""
    return shape("line", None, look, x1=x1, y1=y1, x2=x2, y2=y2)


def pressed(command: str, arguments: str, then: str = "") -> dict[str, str]:
    """Return the attributes of a shape whose click runs a command, and others after it."""
    given = "data-arg" if command == "kernel" else "data-args"
    more = {"data-then": then} if then else {}
    return {"data-do": command, given: arguments, **more}
