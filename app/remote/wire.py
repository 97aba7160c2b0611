"""Views and other frozen values as JSON and back, by the annotations of their fields.

What comes back is built from the types that this version knows, never from what the text names.
Sizes are checked before anything is allocated. Knows no protocol and no screen.
"""

from __future__ import annotations

import base64
import binascii
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from app.views.base import to_plain

MOST_ARRAY_BYTES = 64 << 20
"""largest array that is read; a whole wafer of two bytes a PE has 1.8 MB"""
_ODD_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class WireError(ValueError):
    """A text that is not what was announced."""


def encode(value: Any) -> Any:
    """Return a value in JSON's own types; NaN and infinities become their names."""
    return to_plain(value, odd=repr)


def decode(kind: Any, plain: Any, place: str = "answer") -> Any:
    """Return the value of a type that JSON's types stand for; the inverse of `encode`.

    `place` names the field in messages.

    Raises:
        WireError: something of another type or size.
    """
    if get_origin(kind) in (Union, types.UnionType):
        return _decode_union(get_args(kind), plain, place)
    if get_origin(kind) is tuple:
        return _decode_tuple(get_args(kind), plain, place)
    if kind is np.ndarray:
        return _decode_array(plain, place)
    if is_dataclass(kind) and isinstance(kind, type):
        return _decode_dataclass(kind, plain, place)
    return _decode_plain(kind, plain, place)


def _decode_plain(kind: Any, plain: Any, place: str) -> Any:
    if kind is float and isinstance(plain, str) and plain in _ODD_FLOATS:
        return _ODD_FLOATS[plain]
    if kind is float and isinstance(plain, int) and not isinstance(plain, bool):
        return float(plain)
    if kind in (int, float, str, bool) and type(plain) is kind:
        return plain
    raise WireError(f"{place} is {_shown(plain)}, not {getattr(kind, '__name__', kind)}")


def _decode_union(kinds: tuple[Any, ...], plain: Any, place: str) -> Any:
    if plain is None and type(None) in kinds:
        return None
    rest = [kind for kind in kinds if kind is not type(None)]
    for kind in rest:
        if type(plain) is kind:
            return plain
    return decode(rest[0], plain, place)


def _decode_tuple(kinds: tuple[Any, ...], plain: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(plain, list):
        raise WireError(f"{place} is {_shown(plain)}, not a list")
    if len(kinds) == 2 and kinds[1] is ...:
        return tuple(decode(kinds[0], item, f"{place}[{i}]") for i, item in enumerate(plain))
    if len(plain) != len(kinds):
        raise WireError(f"{place} has {len(plain)} items, not {len(kinds)}")
    pairs = zip(kinds, plain, strict=True)
    return tuple(decode(kind, item, f"{place}[{i}]") for i, (kind, item) in enumerate(pairs))


def _decode_dataclass(kind: type, plain: Any, place: str) -> Any:
    if not isinstance(plain, Mapping):
        raise WireError(f"{place} is {_shown(plain)}, not {kind.__name__}")
    given = {
        name: decode(hint, plain[name], f"{place}.{name}")
        for name, hint in _hints(kind).items()
        if name in plain
    }
    missing = _required(kind) - given.keys()
    if missing or given.keys() != plain.keys():
        odd = sorted(missing or plain.keys() - given.keys())
        what = "lacks" if missing else "has unknown"
        raise WireError(f"{place} ({kind.__name__}) {what} {', '.join(map(str, odd))[:200]}")
    try:
        return kind(**given)
    except ValueError as error:
        raise WireError(f"{place}: {error}") from None


def _decode_array(plain: Any, place: str) -> np.ndarray:
    if not isinstance(plain, Mapping) or plain.keys() != {"dtype", "shape", "data"}:
        raise WireError(f"{place} is {_shown(plain)}, not an array")
    dtype, data = _dtype(plain["dtype"], place), plain["data"]
    shape = decode(tuple[int, ...], plain["shape"], f"{place}.shape")
    size = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or size > MOST_ARRAY_BYTES:
        raise WireError(f"{place} has the shape {shape}; at most {MOST_ARRAY_BYTES:,} B are read")
    if not isinstance(data, str) or len(data) != 4 * math.ceil(size / 3):
        raise WireError(f"{place} does not hold the {size:,} B of its shape {shape}")
    try:
        raw = base64.b64decode(data, validate=True)
        array = np.frombuffer(raw, dtype).reshape(shape)
    except (binascii.Error, ValueError) as error:
        raise WireError(f"{place} is no array: {error}") from None
    return array


def _dtype(text: Any, place: str) -> np.dtype[Any]:
    if not isinstance(text, str) or text not in _DTYPES:
        raise WireError(f"{place} has the dtype {_shown(text)}, not one of {', '.join(_DTYPES)}")
    return np.dtype(text)


_DTYPES = ("|b1", "|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<f4", "<f8")
"""kinds of numbers that a view may hold"""


@lru_cache(maxsize=256)
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {item.name: hints[item.name] for item in fields(kind)}


@lru_cache(maxsize=256)
def _required(kind: type) -> frozenset[str]:
    return frozenset(
        item.name
        for item in fields(kind)
        if item.default is MISSING and item.default_factory is MISSING
    )


def _shown(plain: Any) -> str:
    return f"{type(plain).__name__} {str(plain)[:40]!r}"
