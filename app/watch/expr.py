"""The language of conditions, such as `sram > 46KB and kernel == "ffn1"`: text to a checked tree.

A grammar of its own, parsed by recursive descent: or, and, not, comparisons, parentheses, names of
one table with places in brackets. Nothing is ever run as Python. Knows no run and no screen.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from app.watch.expr_tree import (
    PLACES,
    UNITS,
    Both,
    Compare,
    ExpressionError,
    Flag,
    Literal,
    Name,
    Node,
    Not,
    Quantity,
    misfit,
    place_kind,
)

LONGEST = 400
"""characters of a condition"""
DEEPEST = 40
"""brackets and `not` inside each other"""
_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?(?:\d[\d_]*)(?:\.\d+)?(?:e[+-]?\d+)?)\s*(?P<unit>%|[A-Za-z]+)?"
    r"|(?P<text>\"[^\"]*\"|'[^']*')|(?P<op>==|!=|<=|>=|<|>|=)|(?P<mark>[(),])"
    r"|(?P<word>[A-Za-z_][\w./:@-]*))"
)
_WORDS = ("and", "or", "not")


_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    """number | text | op | mark | word | end"""
    text: str
    column: int
    unit: str = ""


def parse_expression(text: str, names: Mapping[str, Name]) -> Node:
    """Read a condition over the names of a table.

    Raises:
        ExpressionError: it cannot be read; says where and what would be right.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"the condition has {len(text)} characters, at most {LONGEST} fit")
    parser = _Parser(text, _tokens(text), names)
    node = parser.alternatives()
    if parser.now.kind != "end":
        parser.fail(parser.now, "expected 'and', 'or' or the end")
    return node


def _tokens(text: str) -> tuple[_Token, ...]:
    found = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            hint = "a quote is never closed" if text[at] in "\"'" else f"'{text[at]}' means nothing"
            _fail(text, at + 1, hint)
        kind = str(match.lastgroup if match["number"] is None else "number")
        unit = match["unit"] or ""
        stop = match.end()
        if unit.lower() in _WORDS:  # "5 and" is a number and a word
            unit, stop = "", match.end("number")
        found.append(_Token(kind, match[kind], match.start(kind) + 1, unit))
        at = stop
    return (*found, _Token("end", "", end + 1))


def _fail(text: str, column: int, why: str) -> NoReturn:
    raise ExpressionError(f"column {column} of '{text}': {why}")


class _Parser:
    """Reads tokens from left to right; one token ahead."""

    def __init__(self, text: str, tokens: tuple[_Token, ...], names: Mapping[str, Name]) -> None:
        self._text, self._tokens, self._names = text, tokens, names
        self._at = self._depth = 0

    @property
    def now(self) -> _Token:
        """the token to read next"""
        return self._tokens[self._at]

    def fail(self, token: _Token, why: str) -> NoReturn:
        """Raise the error that points at a token."""
        shown = f"'{token.text}'" if token.text else "the end"
        _fail(self._text, token.column, f"{why}, found {shown}")

    def _take(self) -> _Token:
        token = self.now
        self._at += token.kind != "end"
        return token

    def _word(self, word: str) -> bool:
        found = self.now.kind == "word" and self.now.text.lower() == word
        self._at += found
        return found

    def _mark(self, mark: str) -> bool:
        found = self.now.kind == "mark" and self.now.text == mark
        self._at += found
        return found

    def alternatives(self) -> Node:
        """Read terms joined by `or`."""
        left = self._terms()
        while self._word("or"):
            left = Both("or", left, self._terms())
        return left

    def _terms(self) -> Node:
        left = self._factor()
        while self._word("and"):
            left = Both("and", left, self._factor())
        return left

    def _factor(self) -> Node:
        if self._depth >= DEEPEST:
            self.fail(self.now, f"more than {DEEPEST} brackets inside each other")
        self._depth += 1
        try:
            if self._word("not"):
                return Not(self._factor())
            if self._mark("("):
                inner = self.alternatives()
                if not self._mark(")"):
                    self.fail(self.now, "a bracket is never closed")
                return inner
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> Node:
        first = self.now
        left = self._operand(None)
        if self.now.kind != "op":
            if isinstance(left, Quantity) and self._names[left.name].kind == "flag":
                return Flag(left)
            self.fail(self.now, f"'{first.text}' must be compared (== != < <= > >=)")
        mark = self._take()
        op = "==" if mark.text == "=" else mark.text
        other = self._names[left.name] if isinstance(left, Quantity) else None
        right = self._operand(other)
        if isinstance(left, Literal):
            if isinstance(right, Literal):
                self.fail(first, "one side of a comparison must be a name")
            left, right, op = right, left, _FLIPPED[op]
        return self._checked(op, mark, left, right)

    def _operand(self, other: Name | None) -> Quantity | Literal:
        token = self._take()
        if token.kind == "number":
            return self._number(token)
        if token.kind == "text":
            return Literal(token.text[1:-1], token.column)
        if token.kind != "word" or token.text.lower() in _WORDS:
            self.fail(token, "expected a name or a number")
        name = token.text.lower()
        if name in self._names:
            return Quantity(name, token.column, self._place(self._names[name], token))
        if other is not None and other.kind == "text":
            return Literal(token.text, token.column)
        near = difflib.get_close_matches(name, self._names, n=1, cutoff=0.4)
        hint = f"did you mean '{near[0]}'?" if near else "'breaks' lists the names"
        _fail(self._text, token.column, f"there is no '{token.text}'; {hint}")

    def _number(self, token: _Token) -> Literal:
        if token.unit and token.unit.lower() not in UNITS:
            _fail(self._text, token.column, f"'{token.unit}' is no unit (B, KB, MB, %, cycles)")
        factor = UNITS[token.unit.lower()][1] if token.unit else 1.0
        return Literal(float(token.text.replace("_", "")) * factor, token.column, token.unit)

    def _place(self, name: Name, token: _Token) -> tuple[int | str, ...]:
        if not self._mark("("):
            return ()
        items: list[int | str] = []
        while True:
            item = self._take()
            if item.kind == "number" and item.text.isdecimal() and not item.unit:
                items.append(int(item.text))
            elif item.kind in ("text", "word"):
                items.append(item.text.strip("\"'"))
            else:
                self.fail(item, "a place is made of whole numbers and names")
            if self._mark(")"):
                break
            if not self._mark(","):
                self.fail(self.now, "a bracket is never closed")
        place = tuple(items)
        if place_kind(place) not in name.places:
            allowed = " or ".join(PLACES[kind] for kind in name.places) or "no place at all"
            _fail(self._text, token.column, f"'{name.id}' takes {allowed}")
        return place

    def _checked(self, op: str, mark: _Token, left: Quantity, right: Quantity | Literal) -> Compare:
        name = self._names[left.name]
        if isinstance(right, Quantity):
            other = self._names[right.name]
            if name.is_bounded or other.is_bounded:
                self.fail(mark, f"'{left.name}' can only be compared with a number")
            if name.kind == other.kind == "text":
                self.fail(mark, f"'{left.name}' is compared with a text in quotes")
            if name.kind != other.kind or name.kind == "flag":
                self.fail(mark, f"{name.kind} cannot be compared with {other.kind}")
        elif why := misfit(name, op, right):
            self.fail(mark, why)
        return Compare(op, left, right)
