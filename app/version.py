"""The version of the tool, from the installed package."""

from __future__ import annotations

from importlib import metadata


def _installed() -> str:
    try:
        return metadata.version("waferscope")
    except metadata.PackageNotFoundError:
        return "0+source"


VERSION = _installed()
"""such as '0.1.0'; '0+source' when run from a source tree that is not installed"""
