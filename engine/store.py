"""Arrays beside a Program, by content hash: weights and constants."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np


def content_hash(array: np.ndarray) -> str:
    """Return a hash of an array's dtype, shape and bytes.

    An array of one repeated value (all strides 0) is hashed as that value, never written out.
    """
    digest = hashlib.blake2b(f"{array.dtype.str}{array.shape}".encode(), digest_size=16)
    if array.size and not any(array.strides):
        digest.update(b"constant" + array.flat[0].tobytes())
    else:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


class TensorStore:
    """Read-only arrays by content; equal arrays are kept once."""

    __slots__ = ("_arrays",)

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def put(self, array: np.ndarray) -> str:
        """Keep an array and return its content hash."""
        key = content_hash(array)
        if key not in self._arrays:
            kept = array.view()
            kept.flags.writeable = False
            self._arrays[key] = kept
        return key

    def get(self, key: str) -> np.ndarray:
        """Return the array with this hash; KeyError if it is not kept here."""
        return self._arrays[key]

    def __contains__(self, key: str) -> bool:
        return key in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)
