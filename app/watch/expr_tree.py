"""What conditions are made of: names, units, and the tree that a text is read to. Reads nothing."""

from __future__ import annotations

from dataclasses import dataclass

from app.commands import CommandError

UNITS = {
    "b": ("bytes", 1.0), "kb": ("bytes", 1024.0), "mb": ("bytes", 1048576.0),
    "%": ("share", 0.01), "cycles": ("cycles", 1.0), "cycle": ("cycles", 1.0),
}  # fmt: skip
"""unit in small letters -> (kind of quantity, factor)"""
PLACES = {
    "pe": "(row, col)", "region": "(row, col, rows, cols)", "link": "(row, col, plane)",
    "tensor": "(tensor)",
}  # fmt: skip
"""kind of place -> as written behind a name"""


class ExpressionError(CommandError):
    """A condition that cannot be read; the message points at the column."""


@dataclass(frozen=True, slots=True)
class Name:
    """A quantity that a condition may ask for."""

    id: str
    kind: str
    """bytes | share | cycles | count | number | text | flag"""
    help: str
    places: tuple[str, ...] = ()
    """what may stand in brackets: pe, region, link, tensor"""
    is_event: bool = False
    """True: holds at a moment, so two in a row are two"""
    is_static: bool = False
    """True: decided when the program was compiled, the same in every step"""
    is_bounded: bool = False
    """True: can only be compared by < <= > >= with a number"""


@dataclass(frozen=True, slots=True)
class Literal:
    """A number in the quantity's own unit, or a text."""

    value: float | str
    column: int
    """1-based"""
    unit: str = ""
    """as written, empty for none"""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A name with its place, if one was given."""

    name: str
    column: int
    place: tuple[int | str, ...] = ()
    """(row, col), (row, col, rows, cols), (row, col, plane) or (tensor,); empty: anywhere"""


@dataclass(frozen=True, slots=True)
class Compare:
    """left op right."""

    op: str
    """== | != | < | <= | > | >="""
    left: Quantity
    right: Quantity | Literal


@dataclass(frozen=True, slots=True)
class Flag:
    """A quantity that is true or false by itself."""

    quantity: Quantity


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    item: Node


@dataclass(frozen=True, slots=True)
class Both:
    """Two conditions joined."""

    word: str
    """and | or"""
    left: Node
    right: Node


Node = Compare | Flag | Not | Both


def quantities(node: Node) -> tuple[Quantity, ...]:
    """Return every quantity of a condition, in reading order."""
    if isinstance(node, Both):
        return (*quantities(node.left), *quantities(node.right))
    if isinstance(node, Not):
        return quantities(node.item)
    if isinstance(node, Flag):
        return (node.quantity,)
    return (node.left, node.right) if isinstance(node.right, Quantity) else (node.left,)


def comparisons(node: Node) -> dict[Quantity, str]:
    """Return the operator that each compared quantity stands left of."""
    if isinstance(node, Both):
        return {**comparisons(node.left), **comparisons(node.right)}
    if isinstance(node, Not):
        return comparisons(node.item)
    return {node.left: node.op} if isinstance(node, Compare) else {}


def place_kind(place: tuple[int | str, ...]) -> str:
    shape = "".join("n" if isinstance(item, int) else "t" for item in place)
    return {"nn": "pe", "nnnn": "region", "nnt": "link", "t": "tensor"}.get(shape, "")


def misfit(name: Name, op: str, value: Literal) -> str:
    """Return why a quantity cannot be compared with a literal, empty when it can."""
    if name.kind == "flag":
        return f"'{name.id}' is true or false by itself"
    if name.kind == "text":
        if not isinstance(value.value, str):
            return f"'{name.id}' is a text"
        return "" if op in ("==", "!=") else f"'{name.id}' is a text: use == or !="
    if isinstance(value.value, str):
        return f"'{name.id}' is a number"
    if name.is_bounded and op in ("==", "!="):
        return f"'{name.id}' is compared by < <= > >="
    kind = UNITS[value.unit.lower()][0] if value.unit else ""
    if kind and kind != name.kind:
        return f"'{name.id}' is in {name.kind}, not in {value.unit}"
    if name.kind == "share" and not kind and not 0 <= value.value <= 1:
        return f"'{name.id}' is a share: write {value.value:g}% or a number from 0 to 1"
    return ""
