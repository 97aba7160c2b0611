"""Reads named fields of a config: types, ranges, two spellings of one field, what was left unread.

Shared by the config front ends; knows no models.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lowering.errors import ModelImportError

NEAR = 0.85
"""likeness (difflib) from which an unknown name is taken for a misspelt one"""
LIKE = 0.8
"""likeness from which an unknown name is told with the known one that it resembles"""
_SHOWN = 12
_MOST = 2**31 - 1
"""largest whole number of a config; more is a slip, not a size (our assumption)"""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Fields that were in the file and not needed."""

    unused: tuple[str, ...]
    """understood, but without effect on shapes or cycles here"""
    unknown: tuple[str, ...]
    """not known at all; each with the known, absent one that it resembles, if there is one"""
    assumed: tuple[str, ...] = ()
    """not in the file: `name = default`"""

    def notes(self) -> tuple[str, ...]:
        """Return the sentences for the user, none where there is nothing to say."""
        said = []
        if self.assumed:
            said.append(f"not in the file, so the usual value is taken: {_list(self.assumed)}")
        if self.unused:
            said.append(f"understood but without effect here: {_list(self.unused)}")
        if self.unknown:
            said.append(f"unknown and ignored: {_list(self.unknown)}")
        return tuple(said)


def _list(names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


class Fields:
    """The fields of one mapping, each read by any of its spellings."""

    def __init__(self, found: Mapping[str, Any], where: str) -> None:
        self._found = found
        self._where = where
        self._read: set[str] = set()
        self._asked: set[str] = set()
        self._assumed: list[str] = []
        self._inner: dict[str, Fields] = {}
        self._items: dict[str, tuple[Fields, ...]] = {}

    @property
    def where(self) -> str:
        """the file, and the place in it"""
        return self._where

    def names(self) -> tuple[str, ...]:
        """Return the names of all fields."""
        return tuple(self._found)

    def paths_read(self) -> Iterator[str]:
        """Yield what was read so far; of mappings what was read inside: `a.b`, in lists `a[].b`."""
        for name in self._found:
            if name in self._items:
                for item in self._items[name]:
                    yield from (f"{name}[].{path}" for path in item.paths_read())
            elif name in self._inner:
                yield from (f"{name}.{path}" for path in self._inner[name].paths_read())
            elif name in self._read:
                yield name

    def has(self, *names: str) -> bool:
        """Return whether a field is given and not null."""
        self._asked.update(names)
        return any(self._found.get(name) is not None for name in names)

    def raw(self, *names: str) -> Any:
        """Return a field as it is, None where it is absent or null.

        Raises ModelImportError where two spellings say different things.
        """
        self._asked.update(names)
        given = {name: self._found[name] for name in names if self._found.get(name) is not None}
        self._read.update(name for name in names if name in self._found)
        if len({repr(value) for value in given.values()}) > 1:
            said = " and ".join(f"{name} {value!r}" for name, value in given.items())
            raise ModelImportError(
                f"{self._where}: {said} contradict each other: they are two spellings of one "
                "field; keep one"
            )
        return next(iter(given.values()), None)

    def integer(self, *names: str, default: int | None = None, low: int = 1) -> int:
        """Return a whole number of at least `low`; numeric text counts."""
        value = self._or_default(names, default)
        number = _number(value)
        if number is None or number != int(number) or not low <= number <= _MOST:
            wanted = f"a whole number of at least {low} and at most {_MOST:,}"
            raise self._wrong(names, value, wanted)
        return int(number)

    def number(
        self, *names: str, default: float | None = None, above: float | None = None,
        below: float | None = None,
    ) -> float:  # fmt: skip
        """Return a number; numeric text such as 1e-05, which YAML leaves as text, counts."""
        value = self._or_default(names, default)
        number = _number(value)
        high = number is not None and (above is None or number > above)
        if number is None or not high or not (below is None or number < below):
            limits = [f"above {above:g}"] if above is not None else []
            limits += [f"below {below:g}"] if below is not None else []
            raise self._wrong(names, value, " ".join(["a number", " and ".join(limits)]).strip())
        return number

    def flag(self, *names: str, default: bool = False) -> bool:
        """Return true or false; the text of either counts."""
        value = self.raw(*names)
        if value is None:
            return default
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        if not isinstance(value, bool):
            raise self._wrong(names, value, "true or false")
        return value

    def text(self, *names: str, default: str | None = None) -> str:
        """Return a text."""
        value = self._or_default(names, default)
        if not isinstance(value, str):
            raise self._wrong(names, value, "a text")
        return value

    def mapping(self, *names: str) -> Fields | None:
        """Return a nested mapping, None where it is absent."""
        value = self.raw(*names)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._wrong(names, value, "a mapping of fields")
        said = next(name for name in names if self._found.get(name) is not None)
        if said not in self._inner:
            self._inner[said] = Fields(value, f"{self._where}: {said}")
        return self._inner[said]

    def mappings(self, name: str) -> tuple[Fields, ...]:
        """Return the items of a list of nested mappings, none where it is absent."""
        value = self.raw(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self._wrong((name,), value, "a list of mappings")
        items = tuple(Fields(item, f"{self._where}: {name}") for item in value)
        return self._items.setdefault(name, items)

    def ignore(self, *names: str) -> None:
        """Take fields as read."""
        self._read.update(names)

    def leftovers(self, understood: Collection[str], inside: Collection[str] = ()) -> Leftovers:
        """Return what was not read, of mappings that were asked for what is in them: `a.b`.

        `understood` are names that may be there without effect, `inside` those in a mapping.
        Raises ModelImportError for an unknown name so near to a known, absent one that it must be
        a slip.
        """
        rest = [name for name in self._found if name not in self._read]
        known = set(understood)
        unused = [name for name in rest if name in known]
        unknown = [self._resembling(name, known) for name in rest if name not in known]
        assumed = list(self._assumed)
        for name, inner in self._inner.items():
            deep = inner.leftovers(inside)
            unused += [f"{name}.{each}" for each in deep.unused]
            unknown += [f"{name}.{each}" for each in deep.unknown]
            assumed += [f"{name}.{each}" for each in deep.assumed]
        return Leftovers(tuple(unused), tuple(unknown), tuple(assumed))

    def _resembling(self, unknown: str, known: Collection[str]) -> str:
        """Return an unknown name with the absent one that it resembles; raise for a slip."""
        absent = [name for name in {*self._asked, *known} if self._found.get(name) is None]
        near = difflib.get_close_matches(unknown, sorted(absent), n=1, cutoff=LIKE)
        if not near:
            return unknown
        if difflib.SequenceMatcher(None, near[0], unknown).ratio() < NEAR:
            return f"{unknown} (nearest known: {near[0]})"
        raise ModelImportError(
            f"{self._where}: there is no field '{unknown}'; did you mean '{near[0]}'?"
        )

    def _or_default(self, names: tuple[str, ...], default: Any) -> Any:
        value = self.raw(*names)
        if value is not None:
            return value
        if default is None:
            raise ModelImportError(f"{self._where}: {_either(names)} is missing")
        self._assumed.append(f"{names[0]} = {default}")
        return default

    def _wrong(self, names: tuple[str, ...], value: Any, wanted: str) -> ModelImportError:
        said = next((name for name in names if self._found.get(name) is not None), names[0])
        shown = repr(value)[:60]
        return ModelImportError(f"{self._where}: {said} is {shown}, must be {wanted}")


def _either(names: tuple[str, ...]) -> str:
    first, *others = [f"'{name}'" for name in names]
    return f"field {first}" + (f" (or {', '.join(others)})" if others else "")


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float | str):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return None
        return number if abs(number) < 2.0**53 else None
    return None
