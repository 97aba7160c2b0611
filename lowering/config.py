"""What a user may choose about a compile: the values of the knobs, set and shown as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from engine.geometry import Rect
from engine.machine import PRESETS, MachineError, MachineSpec, parse_machine
from lowering.knobs import KNOBS, Knob, KnobError, find_knob
from lowering.machine_change import changed_machine
from lowering.passes import OPTIONAL
from lowering.passes.fuse import FUSABLE
from lowering.stages.objective import DEFAULT_OBJECTIVE, Objective

__all__ = [
    "KNOBS", "CompileConfig", "Knob", "KnobError", "apply_knob", "find_knob", "knob_value",
    "parse_pin", "pin_text", "with_machine",
]  # fmt: skip

T = TypeVar("T")

_OBJECTIVE = {
    "square_weight": "square", "aspect_loss": "aspect_loss", "block_loss": "block_loss",
}  # fmt: skip
"""knobs of the placement's objective and the part that each sets"""


@dataclass(frozen=True, slots=True)
class CompileConfig:
    """Choices of one compile; None means that the compiler decides."""

    machine: MachineSpec = PRESETS["wse2"]
    """the machine compiled for, figures changed by knobs included"""
    samples: int | None = None
    """samples sent through; None: 4, or as many as fill the pipeline twice if fewer"""
    out_slots: int | None = None
    """chunks that fit at a producer; None: 2"""
    in_slots: int | None = None
    """chunks that fit at a consumer; None: what an uncontended run holds, at least 2"""
    storage: str = "fp32"
    """dtype of weights and activations in SRAM and on links"""
    max_chunks: int = 8
    """most chunks a sample is cut into on an edge"""
    pe_caps: tuple[tuple[str, int], ...] = ()
    """(kernel, most PEs it may take)"""
    values: str = "first"
    """samples whose tensors are computed: none | first | all"""
    seed: int = 0
    """seed of generated inputs"""
    base: MachineSpec | None = None
    """the machine before knobs changed its figures; None: none did"""
    figures: tuple[tuple[str, float], ...] = ()
    """(figure, value) that knobs changed, by name"""
    pins: tuple[tuple[str, Rect], ...] = ()
    """(kernel, place it may take), by name"""
    fusion: tuple[str, ...] = FUSABLE
    """classes of operations that join the kernel that feeds them"""
    passes_off: tuple[str, ...] = ()
    """optional graph passes that do not run, by name"""
    aspect: int | None = None
    """most that the sides of a place may differ by as a factor; None: the compiler's choice"""
    objective: Objective = DEFAULT_OBJECTIVE
    """what counts beside the bottleneck in a placement"""
    route_order: str = "yx"
    """first axis of a way between kernels: yx | xy"""
    values_mb: int = 64
    """MB of tensors that a run keeps"""
    mode: str = "auto"
    """auto | pipeline | streaming"""
    accumulate: str = "fp32"
    """dtype of partial sums: fp32 | fp16"""
    embedding: str = "wafer"
    """where tables are that rows are looked up in: wafer | host"""
    optimizer: str = "wafer"
    """where a training step updates its weights in streaming mode: wafer | host"""
    micro_batches: int = 1
    """times a training step's forward and backward work runs before one update"""
    activation_mb: float | None = None
    """MB of activations that may live at once over the wafer; None: no limit"""
    spill_mb: float | None = None
    """MB of activations that may live at once before others wait outside (streaming); None: only
    where nothing fits otherwise"""
    tile_loops: str = "auto"
    """auto | off: whether work on the largest tensors runs a part at a time where all would not fit
    (streaming)"""
    decode_rate: float | None = None
    """samples that a loader's worker decodes a second; None: all are there from cycle 0"""
    loader_workers: int = 1
    """samples the host decodes at once"""
    loader_prefetch: int = 2
    """samples of one worker in decoding or waiting"""
    host_channels: int | None = None
    """ways between host and wafer; None: as many as the host rate fills"""
    weights: str = "stored"
    """how constant weights of products are kept: stored | int8"""
    prefetch: int = 1
    """kernels whose weights arrive ahead of the one that runs (streaming)"""

    @property
    def outside_phase(self) -> str:
        """phase of a training step whose kernels run off the wafer, empty for none"""
        return "optimizer" if self.optimizer == "host" else ""

    def cap(self, kernel: str) -> int | None:
        """Return the PE cap of a kernel, None if it has none."""
        return dict(self.pe_caps).get(kernel)


def with_machine(config: CompileConfig, machine: MachineSpec) -> CompileConfig:
    """Return the config for another machine, on which the figures set by knobs hold too.

    Raises:
        MachineError: the machine makes no sense with these figures.
    """
    base = machine if config.figures else None
    return replace(config, machine=changed_machine(machine, config.figures), base=base)


def knob_value(config: CompileConfig, name: str, kernel: str | None = None) -> str:
    """Return the value of a knob as text, `auto` where the compiler decides."""
    knob = find_knob(name)
    if knob.figure:
        figure = dict(config.figures).get(name)
        if figure is not None and "on" in knob.choices:
            return "on" if figure else "off"
        return "auto" if figure is None else f"{figure:.15g}"
    if name in OPTIONAL:
        return "off" if name in config.passes_off else "on"
    pin = dict(config.pins).get(kernel or "")
    values = {
        "machine": (config.base or config.machine).name,
        "samples": config.samples,
        "slots": config.in_slots,
        "pe_cap": config.cap(kernel) if kernel else None,
        "pin": pin_text(pin) if pin else None,
        "dtype": config.storage,
        "accumulate": config.accumulate,
        "weights": config.weights,
        "max_chunks": config.max_chunks,
        "fusion": _fusion_text(config.fusion),
        "aspect": config.aspect,
        **{name: f"{getattr(config.objective, part):.15g}" for name, part in _OBJECTIVE.items()},
        "route_order": config.route_order,
        "values_mb": config.values_mb,
        "seed": config.seed,
        "mode": config.mode,
        "prefetch": config.prefetch,
        "embedding": config.embedding,
        "optimizer": config.optimizer,
        "micro_batches": config.micro_batches,
        "activation_mb": config.activation_mb,
        "spill_mb": config.spill_mb,
        "tile_loops": config.tile_loops,
        "decode_rate": config.decode_rate,
        "loader_workers": config.loader_workers,
        "loader_prefetch": config.loader_prefetch,
        "host_channels": config.host_channels,
    }
    value = values[name]
    if isinstance(value, float):
        return f"{value:.15g}"
    return "auto" if value is None else str(value)


def apply_knob(
    config: CompileConfig, name: str, value: str | float, *, kernel: str | None = None
) -> CompileConfig:
    """Return the config with one knob set.

    Raises:
        KnobError: no such knob, a value out of range, or no kernel for a knob of a kernel.
    """
    knob = find_knob(name)
    text = str(value).strip()
    if knob.per_kernel and kernel is None:
        raise KnobError(f"knob '{name}' needs a kernel: select one first, or say {name}@KERNEL")
    if not knob.per_kernel and kernel is not None:
        raise KnobError(f"knob '{name}' acts on the whole model: leave '@{kernel}' out")
    if knob.figure:
        return _apply_figure(config, knob, text)
    if knob.kind == "choice":
        return _apply_choice(config, knob, text)
    if knob.kind == "text":
        return replace(config, pins=_of_kernel(config.pins, kernel, parse_pin(text)))
    if name in _OBJECTIVE:
        part = {_OBJECTIVE[name]: _number(knob, text)}
        return replace(config, objective=replace(config.objective, **part))
    if knob.kind == "number":
        return _changed(config, name, None if text == "auto" else _number(knob, text))
    number = _integer(knob, text)
    if name == "pe_cap":
        return replace(config, pe_caps=_of_kernel(config.pe_caps, kernel, number))
    if name == "slots":
        return replace(config, in_slots=number, out_slots=number)
    return _changed(config, name, number)


def _changed(config: CompileConfig, field: str, value: Any) -> CompileConfig:
    return replace(config, **{field: value})


def _of_kernel(
    known: Sequence[tuple[str, T]], kernel: str | None, value: T | None
) -> tuple[tuple[str, T], ...]:
    assert kernel is not None
    rest = [item for item in known if item[0] != kernel]
    if value is not None:
        rest.append((kernel, value))
    return tuple(sorted(rest, key=lambda item: item[0]))


def _apply_choice(config: CompileConfig, knob: Knob, text: str) -> CompileConfig:
    if knob.name == "machine":
        try:
            return with_machine(config, parse_machine(text))
        except MachineError as error:
            raise KnobError(str(error)) from None
    if knob.name == "fusion":
        return replace(config, fusion=_parse_fusion(knob, text))
    if text not in knob.choices:
        raise _refused(knob, text)
    if knob.name in OPTIONAL:
        off = set(config.passes_off) - {knob.name} | ({knob.name} if text == "off" else set())
        return replace(config, passes_off=tuple(sorted(off)))
    return _changed(config, "storage" if knob.name == "dtype" else knob.name, text)


def _apply_figure(config: CompileConfig, knob: Knob, text: str) -> CompileConfig:
    if knob.choices and text not in knob.choices:
        raise _refused(knob, text)
    figures = dict(config.figures)
    figures.pop(knob.name, None)
    if text != "auto":
        figures[knob.name] = _number(knob, text)
    changed = replace(config, figures=tuple(sorted(figures.items())))
    try:
        return with_machine(changed, config.base or config.machine)
    except MachineError as error:
        raise KnobError(f"knob '{knob.name}' is '{text}': {error}") from None


def _number(knob: Knob, text: str) -> float:
    if knob.choices:
        return int(text) if text.isdecimal() else int(text == "on")
    if knob.kind == "integer":
        number = _integer(knob, text)
        assert number is not None
        return number
    try:
        value = float(text)
    except ValueError:
        raise _refused(knob, text) from None
    if not knob.low <= value <= knob.high:
        raise _refused(knob, text)
    return value


def _integer(knob: Knob, text: str) -> int | None:
    if text == "auto" and knob.auto:
        return None
    try:
        number = int(text)
    except ValueError:
        raise _refused(knob, text) from None
    if not knob.low <= number <= knob.high:
        raise _refused(knob, text)
    return number


def _refused(knob: Knob, text: str) -> KnobError:
    one_of = "one of " if knob.kind == "choice" else ""
    return KnobError(f"knob '{knob.name}' is '{text}', must be {one_of}{knob.describe_range()}")


def _parse_fusion(knob: Knob, text: str) -> tuple[str, ...]:
    if text in ("all", "none"):
        return FUSABLE if text == "all" else ()
    names = [name.strip() for name in text.split("+")]
    if not set(names) <= set(FUSABLE):
        raise _refused(knob, text)
    return tuple(name for name in FUSABLE if name in names)


def _fusion_text(fusion: tuple[str, ...]) -> str:
    return "all" if fusion == FUSABLE else "+".join(fusion) or "none"


_PIN = re.compile(r"(\d{1,5})\s*x\s*(\d{1,5})\s*(?:at|@)\s*\(?(\d{1,5})\s*,\s*(\d{1,5})\)?")


def parse_pin(text: str) -> Rect | None:
    """Return the place that `40x60 at 10,20` names (rows x cols at row,col), None for `auto`.

    Raises:
        KnobError: not of this form, or empty.
    """
    if text == "auto":
        return None
    match = _PIN.fullmatch(text.lower())
    if match is None or not int(match[1]) * int(match[2]):
        raise KnobError(
            f"knob 'pin' is '{text}', must be ROWSxCOLS at ROW,COL, such as 40x60 at 10,20, or auto"
        )
    return Rect(int(match[3]), int(match[4]), int(match[1]), int(match[2]))


def pin_text(place: Rect) -> str:
    """Return a place as `parse_pin` reads it."""
    return f"{place.rows}x{place.cols} at {place.row},{place.col}"
