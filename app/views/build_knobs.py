"""From a configuration to the rows of the knobs. A pure function; no screen."""

from __future__ import annotations

from app.session.history import History
from app.views.knobs import KnobRow, KnobsView
from lowering.config import KNOBS, CompileConfig, Knob, knob_value

_DEFAULT = CompileConfig()


def view_knobs(config: CompileConfig, history: History, kernel: str | None) -> KnobsView:
    """Return every knob as it stands (for `kernel` where it acts on one) and what can be undone."""
    rows = tuple(_row(knob, config, kernel) for knob in KNOBS.values())
    return KnobsView(rows, history.changes, history.can_undo, history.can_redo)


def _row(knob: Knob, config: CompileConfig, kernel: str | None) -> KnobRow:
    value = knob_value(config, knob.name, kernel)
    default = knob_value(_DEFAULT, knob.name, kernel)
    is_number = knob.kind in ("integer", "number")
    return KnobRow(
        name=knob.name, label=knob.label, type=knob.kind, value=value, default=default,
        changed=value != default, choices=knob.choices, low=knob.low if is_number else None,
        high=knob.high if is_number else None, auto=knob.auto, per_kernel=knob.per_kernel,
        unit=knob.unit, help=knob.help, stage=knob.stage,
        range=knob.describe_range(),
    )  # fmt: skip
