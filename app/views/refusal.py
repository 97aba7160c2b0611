"""A model or recording that could not be opened: why, and what would help. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class RefusedOpRow:
    """An operator without a mesh operation."""

    op: str
    """with its domain where that is not the default one"""
    count: int
    """nodes that use it"""
    nodes: tuple[str, ...]
    """names of the first of them"""
    reason: str
    blocked_outputs: int
    """outputs of the model that cannot be computed without it"""
    rewrite: str
    """what to use in its place, empty where nothing is known"""


@dataclass(frozen=True, slots=True)
class RefusalView(View):
    """Why something was not opened."""

    what: str
    """name of the model or recording"""
    sentence: str
    """what is wrong"""
    ops: tuple[RefusedOpRow, ...]
    """operators at fault, those that block most first; empty: it is something else"""
    ops_left_off: int
    """operators at fault that are not in `ops`"""
    helps: tuple[str, ...]
    """what would help, most likely first"""
    text: str
    """all of it as lines of text"""
