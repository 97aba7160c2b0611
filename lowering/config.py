"""What a user may choose about a compile, and the one table of knobs that all faces show."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace

from engine.machine import PRESETS, MachineError, MachineSpec, parse_machine


class KnobError(ValueError):
    """A knob that does not exist, or a value out of its range."""


@dataclass(frozen=True, slots=True)
class CompileConfig:
    """Choices of one compile; None means that the compiler decides."""

    machine: MachineSpec = PRESETS["wse2"]
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
    mode: str = "auto"
    """auto | pipeline | streaming"""
    prefetch: int = 1
    """kernels whose weights arrive ahead of the one that runs (streaming)"""

    def cap(self, kernel: str) -> int | None:
        """Return the PE cap of a kernel, None if it has none."""
        return dict(self.pe_caps).get(kernel)


@dataclass(frozen=True, slots=True)
class Knob:
    """One thing a user can turn."""

    name: str
    label: str
    kind: str
    """choice | integer"""
    help: str
    stage: str
    """first compile stage that a change makes anew"""
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 0
    unit: str = ""
    auto: bool = False
    """the value `auto` leaves it to the compiler"""
    per_kernel: bool = False
    """applies to the selected kernel"""

    def describe_range(self) -> str:
        """Return the allowed values in words."""
        if self.kind == "choice":
            return ", ".join(self.choices)
        span = f"{self.low}..{self.high}"
        return f"{span} or auto" if self.auto else span


KNOBS: dict[str, Knob] = {
    knob.name: knob
    for knob in (
        Knob("machine", "machine", "choice",
             "the machine to compile for: a preset or mesh-ROWSxCOLS", "sizing",
             choices=(*PRESETS, "mesh-64x64", "mesh-128x128", "mesh-256x256")),
        Knob("samples", "samples", "integer", "samples sent through the pipeline",
             "timing", low=1, high=4096, unit="samples", auto=True),
        Knob("slots", "slots", "integer",
             "chunks that fit at either end of an edge; more hides latency and costs SRAM",
             "memory", low=1, high=64, unit="chunks", auto=True),
        Knob("pe_cap", "PE cap", "integer", "most PEs the selected kernel may take",
             "sizing", low=1, high=4_000_000, unit="PEs", auto=True, per_kernel=True),
        Knob("dtype", "storage dtype", "choice",
             "dtype of weights and activations in SRAM and on links", "sizing",
             choices=("fp32", "fp16")),
        Knob("max_chunks", "chunks", "integer",
             "most chunks a sample is cut into on an edge; more overlaps kernels and adds steps",
             "routing", low=1, high=8, unit="chunks"),
        Knob("mode", "mode", "choice",
             "pipeline: every layer on PEs of its own; streaming: layers take turns on the whole "
             "wafer and their weights stream in; auto: pipeline where it fits", "mode",
             choices=("auto", "pipeline", "streaming")),
        Knob("prefetch", "prefetch", "integer",
             "layers whose weights arrive ahead of the one that runs, in streaming mode",
             "memory", low=0, high=8, unit="layers"),
    )
}  # fmt: skip
"""every knob whose mechanism exists, in the order they are shown"""


def find_knob(name: str) -> Knob:
    """Return the knob called `name`.

    Raises:
        KnobError: there is none; the message gives the nearest.
    """
    if name in KNOBS:
        return KNOBS[name]
    near = difflib.get_close_matches(name, KNOBS, n=1, cutoff=0.4)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise KnobError(f"unknown knob '{name}'{hint} Knobs: {', '.join(KNOBS)}")


def knob_value(config: CompileConfig, name: str, kernel: str | None = None) -> str:
    """Return the value of a knob as text, `auto` where the compiler decides."""
    values = {
        "machine": config.machine.name,
        "samples": config.samples,
        "slots": config.in_slots,
        "pe_cap": config.cap(kernel) if kernel else None,
        "dtype": config.storage,
        "max_chunks": config.max_chunks,
        "mode": config.mode,
        "prefetch": config.prefetch,
    }
    value = values[find_knob(name).name]
    return "auto" if value is None else str(value)


def apply_knob(
    config: CompileConfig, name: str, value: str | int, *, kernel: str | None = None
) -> CompileConfig:
    """Return the config with one knob set.

    Raises:
        KnobError: no such knob, a value out of range, or no kernel for a knob of a kernel.
    """
    knob = find_knob(name)
    text = str(value).strip()
    if knob.kind == "choice":
        return _apply_choice(config, knob, text)
    number = _integer(knob, text)
    if knob.per_kernel:
        if kernel is None:
            raise KnobError(f"knob '{name}' needs a kernel: select one first, or say {name}@KERNEL")
        caps = {k: v for k, v in config.pe_caps if k != kernel}
        if number is not None:
            caps[kernel] = number
        return replace(config, pe_caps=tuple(sorted(caps.items())))
    if name == "samples":
        return replace(config, samples=number)
    if name == "slots":
        return replace(config, in_slots=number, out_slots=number)
    assert number is not None
    if name == "prefetch":
        return replace(config, prefetch=number)
    return replace(config, max_chunks=number)


def _apply_choice(config: CompileConfig, knob: Knob, text: str) -> CompileConfig:
    if knob.name == "machine":
        try:
            return replace(config, machine=parse_machine(text))
        except MachineError as error:
            raise KnobError(str(error)) from None
    if text not in knob.choices:
        raise KnobError(f"knob '{knob.name}' is '{text}', must be one of {knob.describe_range()}")
    return replace(config, mode=text) if knob.name == "mode" else replace(config, storage=text)


def _integer(knob: Knob, text: str) -> int | None:
    if text == "auto" and knob.auto:
        return None
    try:
        number = int(text)
    except ValueError:
        number = knob.low - 1
    if not knob.low <= number <= knob.high:
        raise KnobError(f"knob '{knob.name}' is '{text}', must be {knob.describe_range()}")
    return number
