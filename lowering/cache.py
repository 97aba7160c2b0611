"""A memory of compile stages: what was made from the same inputs is not made again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

T = TypeVar("T")

DEFAULT_ENTRIES = 96
"""results kept; a knob's history of a session stays well below it"""


class StageCache:
    """Least-recently-used results by (stage, inputs); safe to share between threads."""

    __slots__ = ("_entries", "_lock", "_most", "hits", "misses")

    def __init__(self, most: int = DEFAULT_ENTRIES) -> None:
        self._entries: OrderedDict[Hashable, object] = OrderedDict()
        self._lock = threading.Lock()
        self._most = most
        self.hits = 0
        self.misses = 0

    def get(self, stage: str, inputs: Hashable, make: Callable[[], T]) -> T:
        """Return the stage's result for these inputs, made now if it is not kept."""
        key = (stage, inputs)
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                self.hits += 1
                return cast(T, self._entries[key])
        made = make()
        with self._lock:
            self.misses += 1
            self._entries[key] = made
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
        return made
