"""Einsum as products: batch, kept and summed letters of two operands at a time."""

from __future__ import annotations

from math import prod

from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Reshape, Transpose
from engine.kernels.reduce.spec import Reduce
from lowering.frontends.onnx.context import NodeContext, NotCoveredError
from lowering.frontends.onnx.table import Importer

_DOTS = "ABCDEFGH"
"""letters that stand for the axes of an ellipsis; equations use small ones"""


def _einsum(ctx: NodeContext) -> None:
    terms, result = _parsed(ctx)
    value, letters = ctx.input(0), terms[0]
    for index, other in enumerate(terms[1:], start=1):
        later = set(result).union(*terms[index + 1 :])
        value, letters = _joined(ctx, (value, letters), (ctx.input(index), other), later)
    value, letters = _summed(ctx, value, letters, set(result))
    order = tuple(letters.index(each) for each in result)
    ctx.emit(Transpose, value, output=0, perm=order)


def _parsed(ctx: NodeContext) -> tuple[list[str], str]:
    """Return the letters of each operand and of the result."""
    equation = str(ctx.attr("equation")).replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(ctx.inputs):
        raise ValueError(f"'{equation}' has {len(terms)} terms for {len(ctx.inputs)} inputs")
    terms = [_spelled(t, len(ctx.value(i).shape)) for i, t in enumerate(terms)]
    dots = max((t for t in terms), key=lambda t: sum(c in _DOTS for c in t))
    shared = "".join(c for c in dots if c in _DOTS)
    if arrow:
        result = result.replace("...", shared)
    else:
        every = "".join(terms)
        result = shared + "".join(sorted(c for c in set(every) - set(shared) if every.count(c) < 2))
    for term in (*terms, result):
        if len(set(term)) != len(term):
            raise NotCoveredError(f"'{equation}' repeats a letter within a term (a diagonal)")
    return terms, result


def _spelled(term: str, rank: int) -> str:
    """Return a term with its ellipsis as letters, counted from the last axis."""
    count = rank - len(term.replace("...", ""))
    spelled = term.replace("...", _DOTS[len(_DOTS) - count :] if count else "")
    if len(spelled) != rank:
        raise ValueError(f"the term '{term}' does not fit an operand of rank {rank}")
    return spelled


def _summed(ctx: NodeContext, value: str, letters: str, kept: set[str]) -> tuple[str, str]:
    """Sum a value over the letters that nothing needs."""
    axes = tuple(axis for axis, each in enumerate(letters) if each not in kept)
    if not axes:
        return value, letters
    total = ctx.emit(Reduce, value, fn="sum", axes=axes, keepdims=False)
    return total, "".join(each for each in letters if each in kept)


def _joined(
    ctx: NodeContext, a: tuple[str, str], b: tuple[str, str], later: set[str]
) -> tuple[str, str]:
    """Return the product of two operands, summed over what only they share."""
    left, right = (
        _summed(ctx, *own, later | set(other[1])) for own, other in ((a, b), (b, a))
    )  # fmt: skip
    batch = "".join(c for c in left[1] if c in right[1] and c in later)
    inner = "".join(c for c in left[1] if c in right[1] and c not in later)
    rows = "".join(c for c in left[1] if c not in right[1])
    cols = "".join(c for c in right[1] if c not in left[1])
    sizes = {
        c: s for name, term in (left, right) for c, s in zip(term, ctx.shape(name), strict=True)
    }
    product = ctx.emit(
        Dot,
        _ordered(ctx, left, (batch, rows, inner), sizes),
        _ordered(ctx, right, (batch, inner, cols), sizes),
    )
    letters = batch + rows + cols
    return ctx.emit(Reshape, product, shape=tuple(sizes[c] for c in letters)), letters


def _ordered(
    ctx: NodeContext, operand: tuple[str, str], groups: tuple[str, str, str], sizes: dict[str, int]
) -> str:
    """Return an operand as (batch letters..., one axis, one axis)."""
    value, letters = operand
    order = tuple(letters.index(each) for group in groups for each in group)
    moved = ctx.emit(Transpose, value, perm=order)
    ends = [prod(sizes[c] for c in group) for group in groups[1:]]
    return ctx.emit(Reshape, moved, shape=(*(sizes[c] for c in groups[0]), *ends))


OPERATORS: dict[str, Importer] = {"Einsum": _einsum}
