"""The knobs and their values. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class KnobRow:
    """One knob as it stands."""

    name: str
    label: str
    type: str
    """choice | integer | number | text"""
    value: str
    """as text; 'auto' where the compiler chooses"""
    default: str
    changed: bool
    """True when it differs from the default"""
    choices: tuple[str, ...]
    """for a choice, else empty"""
    low: float | None
    """smallest value, None for a choice or a text"""
    high: float | None
    """largest value, None for a choice or a text"""
    auto: bool
    """True when 'auto' is a value"""
    per_kernel: bool
    """True when it acts on the selected kernel"""
    unit: str
    help: str
    stage: str
    """first compile stage that runs again"""
    range: str
    """what it may be, in words, with its unit"""


@dataclass(frozen=True, slots=True)
class KnobsView(View):
    """All knobs and what can be undone."""

    rows: tuple[KnobRow, ...]
    history: tuple[str, ...]
    """changes in the order made, such as 'samples 4 -> 8'"""
    can_undo: bool
    can_redo: bool
