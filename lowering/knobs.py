"""The one table of knobs: names, ranges, units, and the compile stage each makes anew.

A knob is listed only when its mechanism exists. Knows no values; `config` holds those.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from engine.dtypes import DTYPES
from engine.machine import PRESETS
from lowering.passes import WEIGHTS
from lowering.passes.fuse import FUSABLE


class KnobError(ValueError):
    """A knob that does not exist, or a value out of its range."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One thing a user can turn."""

    name: str
    label: str
    kind: str
    """choice | integer | number | text"""
    help: str
    stage: str
    """first compile stage that a change makes anew: passes, kernels, sizing, placement, routing,
    memory, timing, values, or print where only figures are printed otherwise"""
    choices: tuple[str, ...] = ()
    low: float = 0
    high: float = 0
    unit: str = ""
    auto: bool = False
    """the value `auto` leaves it to the compiler, or to the machine"""
    per_kernel: bool = False
    """applies to the selected kernel"""
    figure: str = ""
    """figure of the machine that it replaces, empty for none"""
    form: str = ""
    """how a text is written, or what else a choice may be; empty when there is nothing to add"""

    def describe_range(self) -> str:
        """Return the allowed values in words, with their unit."""
        if self.kind == "choice":
            return ", ".join(self.choices) + (f", or {self.form}" if self.form else "")
        numbers = f"{self.low:,.10g}..{self.high:,.10g} {self.unit}".rstrip()
        span = self.form if self.kind == "text" else numbers
        return f"{span} or auto" if self.auto else span


def _figure(
    name: str, label: str, help: str, low: float, high: float, unit: str, *,  # noqa: A002
    kind: str = "number", stage: str = "sizing",
) -> Knob:  # fmt: skip
    return Knob(
        name, label, kind, f"{help}; auto: the machine's own", stage, low=low, high=high,
        unit=unit, auto=True, figure=name,
    )  # fmt: skip


def _switch(name: str, label: str, help: str) -> Knob:  # noqa: A002
    return Knob(name, label, "choice", help, "passes", choices=("on", "off"))


_COMPILE = (
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
    Knob("pin", "pin", "text",
         "place of the selected kernel: at most so many rows and columns of PEs from a "
         "north-west corner on (or 40x60@10,20); the others are placed around it",
         "placement", auto=True, per_kernel=True, form="ROWSxCOLS at ROW,COL"),
    Knob("dtype", "storage dtype", "choice",
         "dtype of weights and activations in SRAM and on links", "sizing",
         choices=tuple(DTYPES)),
    Knob("accumulate", "accumulation", "choice",
         "dtype of partial sums: rounded to it on each PE and after each step on their way; fp16 "
         "halves their words and bytes", "kernels",
         choices=("fp32", "fp16")),
    Knob("weights", "weights", "choice",
         "constant weights of products: as the model stores them (int8 stays int8), or quantised "
         "to int8, symmetric, a scale a column; each PE makes floats of them as it uses them",
         "passes", choices=WEIGHTS),
    Knob("max_chunks", "chunks", "integer",
         "most chunks a sample is cut into on an edge; more overlaps kernels and adds steps",
         "routing", low=1, high=8, unit="chunks"),
    Knob("mode", "mode", "choice",
         "pipeline: every layer on PEs of its own; streaming: layers take turns on the whole "
         "wafer and their weights stream in; auto: pipeline where it fits", "placement",
         choices=("auto", "pipeline", "streaming")),
    Knob("prefetch", "prefetch", "integer",
         "layers whose weights arrive ahead of the one that runs, in streaming mode",
         "routing", low=0, high=8, unit="layers"),
    Knob("embedding", "embedding", "choice",
         "where tables are in which rows are looked up: on the wafer, or on the host, which sends "
         "the rows of each sample", "kernels", choices=("wafer", "host")),
    Knob("optimizer", "optimizer", "choice",
         "where a training step's weights are updated in streaming mode: on the wafer, whose ports "
         "then carry moments too, or on the host, to which gradients leave", "placement",
         choices=("wafer", "host")),
    Knob("micro_batches", "micro-batches", "integer",
         "times a training step runs forward and backward before it updates weights with the mean "
         "gradient; its data get a leading axis of as many", "passes", low=1, high=64),
    Knob("activation_mb", "activation budget", "number",
         "most MB of activations alive at once over the wafer in a training step; beyond it parts "
         "of the forward pass drop what they made and run again in the backward pass; auto: no "
         "limit", "kernels", low=1e-6, high=1e9, unit="MB", auto=True),
    Knob("spill_mb", "spill above", "number",
         "MB of activations that may be alive at once over the wafer in streaming mode; beyond it "
         "those read latest leave through the weight ports and come back before their readers; "
         "auto: only where the SRAM would be overfilled", "routing", low=0, high=1e9, unit="MB",
         auto=True),
    Knob("tile_loops", "tile loops", "choice",
         "in streaming mode: auto runs what makes and reads the largest tensors, such as scores of "
         "attention, for some heads after the other where nothing fits otherwise; off: never",
         "kernels", choices=("auto", "off")),
    Knob("decode_rate", "decode rate", "number",
         "samples that one worker of the host's loader reads and decodes a second of the machine's "
         "clock; auto: samples wait decoded, all there from cycle 0", "timing",
         low=1e-3, high=1e9, unit="samples/s", auto=True),
    Knob("loader_workers", "loader workers", "integer",
         "workers of the host's loader, each decodes a sample of its own; acts where decode_rate "
         "is set", "timing", low=1, high=4096, unit="workers"),
    Knob("loader_prefetch", "loader prefetch", "integer",
         "samples a worker may hold, the one in decoding included: 1 decodes the next only when "
         "the last has left the host", "timing", low=1, high=4096, unit="samples"),
    Knob("host_channels", "I/O channels", "integer",
         "ways between host and wafer that input, or output, is shared over, each a wavelet a "
         "cycle at most; auto: as many as the host rate fills", "timing", low=1, high=4096,
         unit="channels", auto=True),
    Knob("fusion", "fusion", "choice",
         "what joins the kernel that feeds it: bias (sums with a constant), activation (other "
         "elementwise operations, residual sums too), normalisation (softmax, row statistics), "
         "views (reshapes, transposes, cuts)",
         "kernels", choices=("all", "none", *FUSABLE), form="several joined by '+'"),
    _switch("fold_batch_norm", "fold batch norm",
            "move a batch normalisation's factors into the convolution before it"),
    _switch("global_pool", "global pooling",
            "turn a pooling window over the whole map into a reduction that rows share"),
    _switch("join_experts", "join experts",
            "keep the weights of a mixture's experts in place where the model looks them up for "
            "each token: the tokens travel"),
    Knob("aspect", "aspect limit", "integer",
         "most that the sides of a kernel's place may differ by as a factor; auto: the "
         "strictest of 4, 8, 16, 32 that costs hardly anything",
         "placement", low=1, high=4096, auto=True),
    Knob("square_weight", "square weight", "number",
         "how much of a place's price is being far from square, the rest is its PEs; more gives "
         "shorter trees inside kernels, less a tighter placement", "placement", low=0, high=100,
         unit="%"),
    Knob("aspect_loss", "loss for squares", "number",
         "how much slower the slowest kernel may get so that places are less thin; counts where "
         "the aspect limit is auto", "placement", low=0, high=100, unit="%"),
    Knob("block_loss", "loss for equal blocks", "number",
         "how much slower the slowest kernel may get so that repeated blocks are placed alike",
         "placement", low=0, high=100, unit="%"),
    Knob("route_order", "route order", "choice",
         "way of a tensor between kernels: yx runs down the producer's columns first, xy along "
         "its rows first", "routing", choices=("yx", "xy")),
    Knob("values_mb", "values budget", "integer",
         "tensors of sample 0 that a run keeps and a recording carries; beyond it only the "
         "outputs", "values", low=1, high=4096, unit="MB"),
    Knob("seed", "seed", "integer", "seed of the inputs that are made when none are given",
         "values", low=0, high=(1 << 31) - 1),
)  # fmt: skip

_MACHINE = (
    _figure("hop_cycles", "hop", "router to neighbouring router", 0, 1000, "cycles",
            kind="integer"),
    Knob("link_bits", "link width", "choice",
         "payload of one wavelet; auto: the machine's own", "sizing", unit="bits",
         choices=("auto", "16", "32", "64", "128", "256"), auto=True, figure="link_bits"),
    _figure("sram_bytes", "SRAM", "SRAM of one PE, program code included", 4_096, 1 << 28,
            "bytes", kind="integer"),
    _figure("fp32_rate", "fp32 rate", "multiply-adds a cycle of one PE in fp32", 0.001, 4096,
            "elements/cycle"),
    _figure("fp16_rate", "fp16 rate", "multiply-adds a cycle of one PE in fp16", 0.001, 4096,
            "elements/cycle"),
    Knob("harvests_sparsity", "sparsity harvest", "choice",
         "skip products with a zero weight; auto: the machine's own", "placement",
         choices=("auto", "on", "off"), auto=True, figure="harvests_sparsity"),
    _figure("weight_wavelets_per_cycle", "weight port", "weights a cycle through the border",
            0.01, 100_000, "wavelets a cycle", stage="routing"),
    _figure("host_wavelets_per_cycle", "host rate",
            "host input, and host output, of the whole wafer", 0.001, 100_000,
            "wavelets/cycle", stage="timing"),
    _figure("clock_hz", "clock", "clock at which seconds are printed, and a decode_rate is turned "
            "into cycles; other cycles stay as they are", 1e6, 1e11, "Hz", stage="print"),
)  # fmt: skip

KNOBS: dict[str, Knob] = {knob.name: knob for knob in (*_COMPILE, *_MACHINE)}
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
