"""Values of a YAML file as the text of a knob: quotes, numbers and switches as people write them.

Knows no knobs and no files.
"""

from __future__ import annotations

import math
from typing import Any

_QUOTES = "\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b\u00ab\u00bb\u2033\u2032"
"""typographic quotes that text programs put in the place of straight ones"""
_SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def unquoted(value: Any) -> Any:
    """Return a document with typographic quotes around names and texts taken off."""
    if isinstance(value, dict):
        return {unquoted(key): unquoted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [unquoted(item) for item in value]
    if isinstance(value, str):
        bare = value.strip()
        return bare.strip(_QUOTES).strip() if bare[:1] in _QUOTES else value
    return value


def plain_text(value: Any) -> str:
    """Return a value as a knob is written: on/off for switches, 1000 for 1e3 or 1000.0."""
    if value is None:
        return "empty"
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    if isinstance(value, bool):
        return "on" if value else "off"
    number = as_number(value)
    return str(value) if number is None else f"{number:.15g}"


def as_number(value: Any) -> float | None:
    """Return a number, also one that YAML reads as text, such as 1e-05; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, (float, str)):
        try:
            number = float(value)
        except ValueError:
            return None
        if math.isfinite(number) and "_" not in str(value):
            return number
    return None


def as_switch(value: Any) -> bool | None:
    """Return a switch, also one written in quotes; None for anything else."""
    if isinstance(value, bool):
        return value
    return _SWITCHES.get(value.strip().lower()) if isinstance(value, str) else None
