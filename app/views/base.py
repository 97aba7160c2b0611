"""What all views share: frozen data with a JSON form. Knows no screen."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def _nothing(value: float) -> None:
    """Stand for a float that JSON cannot hold."""


def to_plain(value: Any, odd: Callable[[float], Any] = _nothing) -> Any:
    """Return `value` in JSON's own types; arrays as dtype, shape and base64 data.

    A float that JSON cannot hold becomes what `odd` makes of it, None by default.
    """
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value)
        return {
            "dtype": data.dtype.str,
            "shape": list(data.shape),
            "data": base64.b64encode(data.tobytes()).decode("ascii"),
        }
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name), odd) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item, odd) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item, odd) for item in value]
    if isinstance(value, np.generic):
        return to_plain(value.item(), odd)
    if isinstance(value, float) and not math.isfinite(value):
        return odd(value)
    return value


class View:
    """A frozen picture of one moment, ready for any screen."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return the view in JSON's own types."""
        plain: dict[str, Any] = to_plain(self)
        return plain


SEVERITIES = ("ok", "warn", "alert")
"""how urgent a view or a row is: nothing to do, worth a look, does not work"""
