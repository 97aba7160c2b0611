"""Frozen dataclasses to JSON's types and back, strictly, by their type hints.

Knows no particular class: a base class with subclasses (an operation) is written with the name
of the subclass and found again through a registry. What does not match its hint is refused.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import pkgutil
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from engine.kernels.spec import Operation

MAX_DEPTH = 40
"""nesting of a document"""
MAX_ITEMS = 20_000_000
"""values in a document"""
MAX_TEXT = 1 << 20
"""characters of one string"""

Registry = Mapping[type, Mapping[str, type]]
"""base class -> name -> subclass"""

_INFINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class CodecError(ValueError):
    """A document that does not match the class it should become; the message says where."""


@lru_cache(maxsize=1)
def operations() -> dict[type, dict[str, type]]:
    """Return the registry of every operation of every kernel family."""
    package = importlib.import_module("engine.kernels")
    for module in pkgutil.iter_modules(package.__path__, "engine.kernels."):
        if module.ispkg and importlib.util.find_spec(f"{module.name}.spec"):
            importlib.import_module(f"{module.name}.spec")
    return {Operation: {cls.__name__: cls for cls in _descendants(Operation)}}


def _descendants(base: type[Any]) -> list[type[Any]]:
    found: list[type[Any]] = []
    for cls in base.__subclasses__():
        if "__slots__" in vars(cls):  # dataclass(slots=True) makes the class anew; skip the first
            found.append(cls)
        found.extend(_descendants(cls))
    return found


@lru_cache(maxsize=512)
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def encode(value: Any, registry: Registry | None = None) -> Any:
    """Return a frozen dataclass (or a plain value) in JSON's types."""
    known = operations() if registry is None else registry
    if is_dataclass(value) and not isinstance(value, type):
        plain = {f.name: encode(getattr(value, f.name), known) for f in fields(value)}
        if any(isinstance(value, base) for base in known):
            plain["type"] = type(value).__name__
        return plain
    if isinstance(value, (tuple, list)):
        return [encode(item, known) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise CodecError(f"a {type(value).__name__} cannot be written as JSON")


def decode(plain: Any, declared: Any, registry: Registry | None = None) -> Any:
    """Return the value of type `declared` that `encode` turned into `plain`.

    Raises:
        CodecError: anything that does not fit the type hints; the message names the path.
    """
    return _Decoder(operations() if registry is None else registry).value(plain, declared, "", 0)


class _Decoder:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._items = 0

    def value(self, plain: Any, declared: Any, path: str, depth: int) -> Any:
        self._items += 1
        if depth > MAX_DEPTH or self._items > MAX_ITEMS:
            raise CodecError(f"{path or 'document'}: too deep or too long to be one of ours")
        origin = get_origin(declared)
        if origin is tuple:
            return self._tuple(plain, get_args(declared), path, depth)
        if origin in (Union, types.UnionType):
            return self._union(plain, get_args(declared), path, depth)
        if isinstance(declared, type) and is_dataclass(declared):
            return self._dataclass(plain, declared, path, depth)
        return _scalar(plain, declared, path)

    def _tuple(self, plain: Any, args: tuple[Any, ...], path: str, depth: int) -> Any:
        if not isinstance(plain, list):
            raise CodecError(f"{path}: is {_kind(plain)}, must be a list")
        if len(args) == 2 and args[1] is Ellipsis:
            hints: tuple[Any, ...] = (args[0],) * len(plain)
        elif len(args) == len(plain):
            hints = args
        else:
            raise CodecError(f"{path}: has {len(plain)} items, must have {len(args)}")
        return tuple(
            self.value(item, hint, f"{path}[{index}]", depth + 1)
            for index, (item, hint) in enumerate(zip(plain, hints, strict=True))
        )

    def _union(self, plain: Any, args: tuple[Any, ...], path: str, depth: int) -> Any:
        if plain is None and type(None) in args:
            return None
        rest = [arg for arg in args if arg is not type(None)]
        for index, arg in enumerate(rest):
            try:
                return self.value(plain, arg, path, depth)
            except CodecError:
                if index == len(rest) - 1:
                    raise
        raise CodecError(f"{path}: is {_kind(plain)}")

    def _dataclass(self, plain: Any, declared: type, path: str, depth: int) -> Any:
        if not isinstance(plain, dict):
            raise CodecError(f"{path or 'document'}: is {_kind(plain)}, must be an object")
        cls, given = declared, dict(plain)
        if declared in self._registry:
            name = given.pop("type", None)
            cls = self._registry[declared].get(name) if isinstance(name, str) else None  # type: ignore[assignment]
            if cls is None:
                raise CodecError(f"{path}: unknown {declared.__name__} '{name}'")
        hints, values = _hints(cls), {}
        for field in fields(cls):
            place = f"{path}.{field.name}" if path else field.name
            if field.name in given:
                item = given.pop(field.name)
                values[field.name] = self.value(item, hints[field.name], place, depth + 1)
            elif field.default is MISSING and field.default_factory is MISSING:
                raise CodecError(f"{place}: is missing")
        if given:
            raise CodecError(f"{path or 'document'}: {cls.__name__} has no '{min(given)}'")
        try:
            return cls(**values)
        except ValueError as error:
            raise CodecError(f"{path or 'document'}: {error}") from error


def _scalar(plain: Any, declared: Any, path: str) -> Any:
    if declared is float:
        if isinstance(plain, str) and plain in _INFINITE:
            return _INFINITE[plain]
        if isinstance(plain, (int, float)) and not isinstance(plain, bool):
            return float(plain)
    elif declared is int:
        if isinstance(plain, int) and not isinstance(plain, bool) and abs(plain) < 1 << 63:
            return plain
    elif declared is bool:
        if isinstance(plain, bool):
            return plain
    elif declared is str and isinstance(plain, str):
        if len(plain) > MAX_TEXT:
            raise CodecError(f"{path}: a text of {len(plain):,} characters is too long")
        return plain
    name = getattr(declared, "__name__", str(declared))
    raise CodecError(f"{path or 'document'}: is {_kind(plain)}, must be {name}")


def _kind(plain: Any) -> str:
    if isinstance(plain, (list, dict)) and plain:
        return f"a {type(plain).__name__}"
    shown = repr(plain)
    return shown if len(shown) <= 40 else f"a {type(plain).__name__}"
