"""How many bytes a session holds. Counts arrays and bytes, wherever they hang; knows no screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import ModuleType
from typing import Any

import numpy as np

_PLAIN = (int, float, str, bool, complex, type, ModuleType, type(None))


def weigh(thing: object, seen: set[int] | None = None) -> int:
    """Return the bytes of all arrays and byte strings that hang from a thing, each counted once.

    `seen` holds the ids of what was counted already; share it to count what sessions share once.
    """
    seen = set() if seen is None else seen
    total, waiting = 0, [thing]
    while waiting:
        item = waiting.pop()
        if isinstance(item, _PLAIN) or callable(item) or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, np.ndarray):
            if item.base is None:
                total += item.nbytes
            else:
                waiting.append(item.base)
        elif isinstance(item, (bytes, bytearray)):
            total += len(item)
        else:
            waiting.extend(_parts(item))
    return total


def _parts(item: Any) -> Iterator[object]:
    if isinstance(item, Mapping):
        yield from list(item.values())
    elif isinstance(item, (list, tuple, set, frozenset)):
        yield from item
    elif is_dataclass(item):
        yield from (getattr(item, part.name, None) for part in fields(item))
        yield from list(getattr(item, "__dict__", {}).values())
    elif type(item).__module__.split(".")[0] in ("app", "engine", "lowering", "collections"):
        yield from list(getattr(item, "__dict__", {}).values())
        for kind in type(item).__mro__:
            names = getattr(kind, "__slots__", ())
            yield from (getattr(item, name, None) for name in names if isinstance(name, str))
