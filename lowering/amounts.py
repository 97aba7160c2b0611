"""Bytes in words, for sentences about whole wafers; decimal units."""

from __future__ import annotations

_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"))


def amount(count: float) -> str:
    """Return a number of bytes in the largest unit of which there is one."""
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count:.0f} B"
