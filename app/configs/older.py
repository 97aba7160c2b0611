"""The older form of config files: compile_options, run_options, data_loading.

A field whose mechanism exists becomes a knob; the others are checked, and said to be understood
but not used. Knows names and types, no config.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.configs.text import as_number, as_switch, plain_text
from lowering.config import KnobError

_TRAINING = "training is not modelled"
PARALLEL_WORKERS = 8
"""workers of a parallel loader: num_workers of most training configs of the Model Zoo"""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the older form."""

    type: str
    """switch | whole | number | text"""
    why: str
    """why it is not used, empty where a knob takes it"""
    knob: str = ""
    """knob that it sets"""
    text: Callable[[Any], str] = plain_text
    """from its value to the knob's"""


def _target(value: Any) -> str:
    name = str(value).strip().lower().replace("-", "").replace("_", "").replace(" ", "")
    return name.replace("cs", "wse") if name in ("cs1", "cs2", "cs3") else name


def _precision(value: Any) -> str:
    return "fp16" if as_switch(value) else "fp32"


def _held(value: Any) -> str:
    """A loader that looks ahead by nothing still holds the sample it decodes."""
    return str(max(1, int(as_number(value) or 0)))


def _optimizer(value: Any) -> str:
    return "host" if as_switch(value) else "wafer"


def _megabytes(value: Any) -> str:
    """From GB over the wafer."""
    return f"{(as_number(value) or 0) * 1e3:.15g}"


def _workers(value: Any) -> str:
    return str(PARALLEL_WORKERS if as_switch(value) else 1)


SECTIONS: dict[str, dict[str, Field]] = {
    "compile_options": {
        "target_device": Field("text", "", "machine", _target),
        "fp16_enabled": Field("switch", "", "dtype", _precision),
        "optimizer_state_offload": Field("switch", "", "optimizer", _optimizer),
        "max_activation_memory": Field("number", "", "activation_mb", _megabytes),
    },
    "run_options": {
        "num_epochs": Field("whole", _TRAINING),
        "steps_per_epoch": Field("whole", _TRAINING),
        "checkpoint_enabled": Field("switch", _TRAINING),
        "checkpoint_dir": Field("text", _TRAINING),
        "log_level": Field("text", "progress and errors go to stderr, there are no levels"),
    },
    "data_loading": {
        "prefetch_depth": Field("whole", "", "loader_prefetch", _held),
        "use_parallel_loader": Field("switch", "", "loader_workers", _workers),
    },
}
"""section -> field -> what it means"""

_MUST = {
    "switch": "true or false", "whole": "a whole number of at least 0", "text": "a text",
    "number": "a number of at least 0",
}  # fmt: skip


def older_settings(
    path: Path, section: str, given: Any
) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Return (field, knob, value) of what is used, and a sentence on each field that is not.

    Raises:
        KnobError: an unknown field, or one of a wrong type.
    """
    known = SECTIONS[section]
    if not isinstance(given, dict):
        raise KnobError(f"{path}: '{section}' must hold fields: {', '.join(known)}")
    settings, notes = [], []
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.4)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise KnobError(f"{path}: {section} has no '{name}'{hint} Fields: {', '.join(known)}")
        field = known[name]
        if not _is_a(field.type, value):
            raise KnobError(
                f"{path}: {section}.{name} is {plain_text(value)}, must be {_MUST[field.type]}"
            )
        if field.knob:
            settings.append((str(name), field.knob, field.text(value)))
        else:
            shown = plain_text(value)
            notes.append(f"{path}: {section}.{name} = {shown}: understood, not used; {field.why}")
    return settings, notes


def _is_a(kind: str, value: Any) -> bool:
    if kind == "switch":
        return as_switch(value) is not None
    if kind == "text":
        return isinstance(value, str)
    number = as_number(value)
    return number is not None and number >= 0 and (kind == "number" or number == int(number))
