"""Gates: conditions on the figures of a run, for use in CI. A tiny grammar, never `eval`.

    makespan <= 2000 and (utilization < 40 % or sram > 46 KB)

A comparison is NAME OP NUMBER with an optional unit (% of the value 1, KB, MB, k, M); NAME is a
figure of `run --json`, by its path or a short name. Beside a run to compare with, a signed number
is a change: `makespan > +5%` is more than 5 % over the other run's, `pes > +10` ten PEs more.
Knows plain mappings, no run and no screen.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.commands import CommandError

SHORT = {
    "makespan": "makespan_cycles",
    "throughput": "throughput_samples_per_mcycle",
    "pes": "pes_used",
    "sram": "sram.peak_allocated_bytes",
    "sram_live": "sram.peak_live_bytes",
    "link": "links.peak_wavelets_per_cycle",
    "error": "values.max_error",
}
"""short names of figures"""
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
    ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_UNITS = {"%": 0.01, "": 1.0, "b": 1.0, "kb": 1024.0, "mb": 1048576.0, "k": 1e3, "m": 1e6,
          "cycles": 1.0, "pes": 1.0}  # fmt: skip
_TOKEN = re.compile(
    r"\s*(?:(?P<op>>=|<=|==|!=|>|<)|(?P<mark>[()])"
    r"|(?P<number>[+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(?P<unit>%|(?!(?:and|or)\b)[A-Za-z]+\b)?"
    r"|(?P<name>[A-Za-z_][\w.:-]*))"
)
MAX_LENGTH = 500


class GateError(CommandError):
    """An expression that makes no sense; the message points at the column."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison and how it came out."""

    text: str
    """as written"""
    name: str
    """path of the figure"""
    value: float
    """what the run has"""
    limit: float
    """what it was compared with, in the figure's unit"""
    holds: bool

    def sentence(self) -> str:
        """Return both sides in numbers."""
        verdict = "holds" if self.holds else "does not hold"
        return f"{self.text} {verdict}: {self.name} is {self.value:,.6g}, limit {self.limit:,.6g}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an expression came out."""

    text: str
    holds: bool
    """True: the gate has something to report"""
    conditions: tuple[Condition, ...]

    def sentence(self) -> str:
        """Return the outcome with every condition in numbers."""
        return "; ".join(condition.sentence() for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    unit: str
    column: int


def figures_of(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return every number of a summary by its path; true is 1, a list its length."""
    found: dict[str, float] = {}

    def walk(prefix: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, item in value.items():
                walk(f"{prefix}.{key}" if prefix else str(key), item)
        elif isinstance(value, (bool, int, float)):
            found[prefix] = float(value)
        elif isinstance(value, (list, tuple)):
            found[prefix] = float(len(value))

    walk("", summary)
    return found


def judge(
    text: str, summary: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> Verdict:
    """Evaluate an expression on a summary; changes are measured against `before`.

    Raises:
        GateError: a syntax error, an unknown figure, or a change without a run to compare with.
    """
    old = figures_of(before) if before is not None else None
    reader = _Reader(text, figures_of(summary), old)
    holds = reader.either()
    reader.finish()
    return Verdict(text.strip(), holds, tuple(reader.conditions))


def check_condition(text: str, *, changes: bool = False) -> None:
    """Raise GateError where an expression cannot be read; `changes`: two runs are compared."""
    reader = _Reader(text, _Anything(), _Anything() if changes else None)
    reader.either()
    reader.finish()


class _Anything(dict[str, float]):
    """Figures of which every name is one, for reading an expression before there is a run."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> float:
        return 0.0


class _Reader:
    def __init__(
        self, text: str, figures: Mapping[str, float], before: Mapping[str, float] | None
    ) -> None:
        if len(text) > MAX_LENGTH:
            raise GateError(f"a condition of {len(text)} characters: at most {MAX_LENGTH} are read")
        self._text = text
        self._figures = figures
        self._before = before
        self._tokens = self._split()
        self._at = 0
        self.conditions: list[Condition] = []

    def _split(self) -> list[_Token]:
        tokens, at = [], 0
        end = len(self._text.rstrip())
        while at < end:
            match = _TOKEN.match(self._text, at)
            if match is None:
                start = at + len(self._text[at:]) - len(self._text[at:].lstrip())
                raise self._error(start, f"'{self._text[start]}' is not expected")
            kind = str(match.lastgroup if match.lastgroup != "unit" else "number")
            tokens.append(_Token(kind, match[kind], match["unit"] or "", match.start(kind)))
            at = match.end()
        return [*tokens, _Token("end", "the end", "", end)]

    def _error(self, column: int, what: str) -> GateError:
        pointer = " " * column + "^"
        return GateError(f"column {column + 1}: {what}\n    {self._text}\n    {pointer}")

    def _take(self, kind: str, wanted: str) -> _Token:
        token = self._tokens[self._at]
        if token.kind != kind:
            raise self._error(token.column, f"{wanted} is expected, not {token.text}")
        self._at += 1
        return token

    def _word(self, word: str) -> bool:
        token = self._tokens[self._at]
        if token.text.lower() != word or token.kind not in ("name", "mark"):
            return False
        self._at += 1
        return True

    def finish(self) -> None:
        """Raise unless everything was read."""
        self._take("end", "'and' or 'or'")

    def either(self) -> bool:
        """Read conditions joined by `or`; every one is evaluated."""
        holds = self._both()
        while self._word("or"):
            holds = self._both() or holds
        return holds

    def _both(self) -> bool:
        holds = self._one()
        while self._word("and"):
            holds = self._one() and holds
        return holds

    def _one(self) -> bool:
        if self._word("("):
            holds = self.either()
            if not self._word(")"):
                token = self._tokens[self._at]
                raise self._error(token.column, f"')' is expected, not {token.text}")
            return holds
        name = self._take("name", "a figure's name")
        sign = self._take("op", "a comparison such as > or <=")
        number = self._take("number", "a number")
        path, value = self._figure(name, self._figures)
        limit = self._limit(name, number)
        holds = _COMPARE[sign.text](value, limit)
        text = self._text[name.column : self._tokens[self._at].column].strip(" ()")
        text = re.sub(r"\s+(and|or)$", "", text)
        self.conditions.append(Condition(text, path, value, limit, holds))
        return holds

    def _figure(self, name: _Token, figures: Mapping[str, float]) -> tuple[str, float]:
        path = SHORT.get(name.text, name.text)
        if path not in figures:
            known = [*(short for short, full in SHORT.items() if full in figures), *figures]
            near = difflib.get_close_matches(name.text.lower(), known, n=1, cutoff=0.5)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            have = f"there is no figure '{name.text}' here{hint}"
            if "makespan_cycles" not in figures:
                have += "; a compile alone has no figures of an execution"
            raise self._error(name.column, have)
        return path, figures[path]

    def _limit(self, name: _Token, number: _Token) -> float:
        factor = _UNITS.get(number.unit.lower())
        if factor is None:
            known = ", ".join(unit for unit in _UNITS if unit)
            raise self._error(number.column, f"unit '{number.unit}' is not known; units: {known}")
        amount = float(number.text.replace(",", ""))
        if number.text[0] not in "+-":
            return amount * factor
        if self._before is None:
            raise self._error(
                number.column,
                f"{number.text}{number.unit} is a change: it needs two runs (compare)",
            )
        old = self._figure(name, self._before)[1]
        return old * (1 + amount / 100) if number.unit == "%" else old + amount * factor
