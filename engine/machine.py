"""The machine: a mesh of PEs, what each PE and link can do, and where every figure comes from.

Knows no model and no program. Presets are in `PRESETS`; `parse_machine` reads a name such as
`wse2` or `mesh-64x64`.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace

from engine.dtypes import DTYPES

DTYPE_BYTES = {name: dtype.bytes for name, dtype in DTYPES.items()}
"""storage dtypes of a PE's SRAM -> bytes an element"""

MAX_SIDE = 4096
"""largest fabric side accepted: four times the largest published wafer"""


class MachineError(ValueError):
    """A machine that does not exist or makes no sense; the message says what would help."""


@dataclass(frozen=True, slots=True)
class SimdRate:
    """Cost of one vector operation of n elements: setup_cycles + n / elements_per_cycle."""

    dtype: str
    """storage dtype the rate holds for"""
    elements_per_cycle: float
    """fused multiply-adds a cycle once running"""
    setup_cycles: float
    """cycles before the first element"""


@dataclass(frozen=True, slots=True)
class MachineSpec:
    """A 2-D mesh machine. Figures are per PE unless the name says otherwise."""

    name: str
    rows: int
    """usable PE rows"""
    cols: int
    """usable PE columns"""
    fabric_rows: int
    """physical PE rows, host plumbing included"""
    fabric_cols: int
    """physical PE columns, host plumbing included"""
    sram_bytes: int
    """SRAM of one PE"""
    reserved_sram_bytes: int
    """code, stack and runtime of a minimal program"""
    colors: int
    """routable colors"""
    reserved_colors: int
    """colors the host interface keeps for itself"""
    simd: tuple[SimdRate, ...]
    """vector rates, one a storage dtype"""
    task_start_cycles: int
    """from the arrival of a wavelet to the first instruction of the task it starts"""
    loop_cycles: int
    """taken back-edge of a loop"""
    read_bytes_per_cycle: int
    """SRAM read ports together"""
    write_bytes_per_cycle: int
    """SRAM write ports together"""
    hop_cycles: int
    """router to neighbouring router"""
    ramp_cycles: int
    """core to own router, or back"""
    turn_cycles: int
    """extra cycles where a route changes direction"""
    host_wavelets_per_cycle: float
    """host input, and host output, of the whole wafer"""
    clock_hz: float
    """used only where seconds are printed"""
    weight_wavelets_per_cycle: float = 44.0
    """streamed weights through the border of the whole wafer"""
    weight_latency_cycles: int = 0
    """from the weight store to the border"""
    harvests_sparsity: bool = False
    """True where products with a zero weight are skipped"""
    link_bits: int = 32
    """payload of one wavelet"""
    defects: tuple[tuple[int, int], ...] = ()
    """(row, col) of dead PEs inside the usable grid"""
    sources: tuple[tuple[str, str], ...] = ()
    """(field, where its figure comes from)"""

    def __post_init__(self) -> None:
        problems = list(_problems(self))
        if problems:
            raise MachineError(f"machine '{self.name}': " + "; ".join(problems))

    @property
    def pes(self) -> int:
        """usable PEs, defective ones included"""
        return self.rows * self.cols

    @property
    def working_pes(self) -> int:
        """usable PEs that are not defective"""
        return self.pes - len(self.defects)

    @property
    def data_sram_bytes(self) -> int:
        """SRAM left for weights, slots and work space"""
        return self.sram_bytes - self.reserved_sram_bytes

    @property
    def wavelet_bytes(self) -> int:
        """payload bytes of one wavelet"""
        return self.link_bits // 8

    def rate(self, dtype: str) -> SimdRate:
        """Return the vector rate of a storage dtype.

        Raises:
            MachineError: the machine has no rate for it.
        """
        for rate in self.simd:
            if rate.dtype == dtype:
                return rate
        known = ", ".join(rate.dtype for rate in self.simd)
        raise MachineError(f"machine '{self.name}' has no rate for dtype '{dtype}'; it has {known}")

    def peak_flops_per_cycle(self, dtype: str) -> float:
        """Return the FLOP of one PE in one cycle, a fused multiply-add counted as two."""
        return 2 * self.rate(dtype).elements_per_cycle

    def words(self, elements: int, dtype: str) -> int:
        """Return the wavelets that carry `elements` values of a storage dtype."""
        return -(-elements * DTYPE_BYTES[dtype] // self.wavelet_bytes)


def _problems(spec: MachineSpec) -> list[str]:
    found = []
    for name in ("rows", "cols"):
        side, fabric = getattr(spec, name), getattr(spec, f"fabric_{name}")
        if not 1 <= side <= MAX_SIDE:
            found.append(f"{name} is {side}, must be 1..{MAX_SIDE}")
        elif not side <= fabric <= MAX_SIDE:
            found.append(f"fabric_{name} is {fabric}, must be {name} ({side})..{MAX_SIDE}")
    positive = (
        "sram_bytes", "colors", "read_bytes_per_cycle", "write_bytes_per_cycle",
        "weight_wavelets_per_cycle",
        "host_wavelets_per_cycle", "clock_hz",
    )  # fmt: skip
    found += [f"{n} is {getattr(spec, n)}, must be > 0" for n in positive if getattr(spec, n) <= 0]
    natural = (
        "reserved_sram_bytes", "reserved_colors", "task_start_cycles", "loop_cycles",
        "weight_latency_cycles",
        "hop_cycles", "ramp_cycles", "turn_cycles",
    )  # fmt: skip
    found += [f"{n} is {getattr(spec, n)}, must be >= 0" for n in natural if getattr(spec, n) < 0]
    if spec.reserved_sram_bytes >= spec.sram_bytes:
        found.append(
            f"reserved_sram_bytes {spec.reserved_sram_bytes} leaves nothing of {spec.sram_bytes}"
        )
    if spec.reserved_colors >= spec.colors:
        found.append(f"reserved_colors {spec.reserved_colors} leaves none of {spec.colors} colors")
    if spec.link_bits not in (16, 32, 64, 128, 256):
        found.append(f"link_bits is {spec.link_bits}, must be 16, 32, 64, 128 or 256")
    if not spec.simd:
        found.append("no simd rate is given")
    for rate in spec.simd:
        if rate.dtype not in DTYPE_BYTES:
            found.append(f"simd dtype '{rate.dtype}' is not one of {', '.join(DTYPE_BYTES)}")
        if rate.elements_per_cycle <= 0 or rate.setup_cycles < 0:
            found.append(f"simd rate of {rate.dtype} must be > 0 with setup >= 0")
    outside = [d for d in spec.defects if not (0 <= d[0] < spec.rows and 0 <= d[1] < spec.cols)]
    if outside:
        found.append(f"defect {outside[0]} lies outside the {spec.rows}x{spec.cols} grid")
    elif spec.rows > 0 and spec.cols > 0 and len({*spec.defects}) == spec.rows * spec.cols:
        found.append(f"all {len({*spec.defects}):,} PEs are defective")
    return found


_SDK_PAPER = "Cerebras SDK Technical Overview white paper (2022)"
_HOT_CHIPS = "Hot Chips 34 (2022), S. Lie, Cerebras Architecture Deep Dive"
_GEMM_FIT = "fit to the GEMM runs published in github:pr0f3ss/SpMM_Cerebras (max error 2.0 %)"
_FABRICA = "arXiv 2608.25124 (FABRICA), WSE-3 silicon of ALCF"
_HPDC = "Luczynski et al., HPDC 2024, arXiv 2404.15888"
_ISPD = "ISPD 2020 contest, Benchmark_Description.pdf (10 Feb 2020)"
_CSL = "github:Cerebras/csl-examples v1.4.0, benchmarks/single-tile-matvec/README.rst"
_WAFERLLM = "github:MeshInfra/WaferLLM compile.py (fabric dimensions it compiles for)"
_IO = "cerebras.net glossary: 1.2 Tb/s into the wafer; / 32 bit / 0.85 GHz"
_CLOCK = "SDK benchmarks and HPDC 2024 convert at 0.85 GHz; vendor talks say 1.1 GHz"
_AS_FP16 = "our assumption: as fp16, whose width it has; no published figure"
_ASSUMED = "our assumption: as the WSE-2, no published figure"

_WSE2 = MachineSpec(
    name="wse2",
    rows=994, cols=750, fabric_rows=996, fabric_cols=757,
    sram_bytes=49_152, reserved_sram_bytes=4_176,
    colors=24, reserved_colors=3,
    simd=(
        SimdRate("fp32", 1 / 2.111, 20.88),
        SimdRate("fp16", 4.0, 20.88),
        SimdRate("bf16", 4.0, 20.88),
    ),
    task_start_cycles=12, loop_cycles=10,
    read_bytes_per_cycle=16, write_bytes_per_cycle=8,
    hop_cycles=1, ramp_cycles=2, turn_cycles=0,
    host_wavelets_per_cycle=44.0, clock_hz=0.85e9,
    weight_wavelets_per_cycle=44.0, weight_latency_cycles=4_250,
    harvests_sparsity=True,
    sources=(
        ("rows, cols", _CSL + " (largest program rectangle)"),
        ("fabric_rows, fabric_cols", _WAFERLLM),
        ("sram_bytes", _SDK_PAPER),
        ("reserved_sram_bytes", _FABRICA + ": minimal program 4,176 B (measured on WSE-3)"),
        ("colors", _SDK_PAPER),
        ("reserved_colors", "SDK: the host copy library keeps colors 21-23"),
        ("simd fp32", _GEMM_FIT),
        ("simd fp16", _HOT_CHIPS + " (4 FMAC a cycle); set-up as fp32, our assumption"),
        ("simd bf16", _AS_FP16),
        ("task_start_cycles", _FABRICA + ": 19 cycles message to task end, 7 of them dispatch"),
        ("loop_cycles", _FABRICA + ": loop back-edge 9-10 cycles"),
        ("read_bytes_per_cycle, write_bytes_per_cycle", _HOT_CHIPS + ": 2 x 64 bit and 1 x 64 bit"),
        ("hop_cycles", _SDK_PAPER + "; " + _HPDC + " (WSE-3 silicon measures 2)"),
        ("ramp_cycles", _HPDC),
        ("turn_cycles", _HPDC + " (none modelled)"),
        ("host_wavelets_per_cycle", _IO),
        ("weight_wavelets_per_cycle", _IO + " (the worst case of weight delivery)"),
        ("weight_latency_cycles", "Hot Chips 2026 slide: 5 us of I/O latency; x 0.85 GHz"),
        ("clock_hz", _CLOCK),
        ("harvests_sparsity", _HOT_CHIPS + ": dataflow scheduling skips zeros"),
    ),
)  # fmt: skip

_WSE1 = replace(
    _WSE2,
    name="wse1", rows=633, cols=633, fabric_rows=633, fabric_cols=633,
    sources=(
        ("rows, cols, fabric_rows, fabric_cols", _ISPD),
        ("sram_bytes", _ISPD + " (24,576 words of 16 bit)"),
        ("simd fp16", "The Next Platform, CS-1 article: 4 lanes; set-up as WSE-2"),
        ("simd bf16", _AS_FP16),
        ("all others", _ASSUMED),
    ),
)  # fmt: skip

_WSE3 = replace(
    _WSE2,
    name="wse3", rows=1170, cols=755, fabric_rows=1172, fabric_cols=762,
    simd=(
        SimdRate("fp32", 0.5, 17.0),
        SimdRate("fp16", 2.92, 17.0),
        SimdRate("bf16", 2.92, 17.0),
    ),
    hop_cycles=2, turn_cycles=20,
    sources=(
        ("rows, cols", "fabric less 7 columns and 2 rows, the rule of " + _CSL),
        ("fabric_rows, fabric_cols", _WAFERLLM),
        ("sram_bytes, reserved_sram_bytes", _FABRICA + ": 44,976 B data + 4,176 B program"),
        ("simd fp32", _FABRICA + ": 0.50 elements a cycle, set-up 17"),
        ("simd fp16", _FABRICA + ": 2.92 elements a cycle measured (8 lanes)"),
        ("simd bf16", _AS_FP16),
        ("task_start_cycles, loop_cycles", _FABRICA),
        ("hop_cycles, turn_cycles, ramp_cycles", _FABRICA),
        ("host_wavelets_per_cycle", "Hot Chips 2026 slide: 1.2 Tb/s; / 32 bit / 0.85 GHz"),
        ("clock_hz", "0.85 / 0.875 / 1.1 GHz are used in public; none is official"),
        ("all others", _ASSUMED),
    ),
)  # fmt: skip

PRESETS = {spec.name: spec for spec in (_WSE1, _WSE2, _WSE3)}

_MESH = re.compile(r"mesh-(\d{1,5})x(\d{1,5})")


def generic_mesh(rows: int, cols: int) -> MachineSpec:
    """Return a generic mesh whose PEs are those of the wse2 preset, without host plumbing."""
    return replace(
        _WSE2,
        name=f"mesh-{rows}x{cols}", rows=rows, cols=cols, fabric_rows=rows, fabric_cols=cols,
        host_wavelets_per_cycle=float(max(1, min(rows, 44))), harvests_sparsity=False,
        weight_wavelets_per_cycle=float(max(1, min(rows, 44))),
        sources=(
            ("rows, cols", "as named"),
            ("host_wavelets_per_cycle", "our assumption: one border link a row, at most as wse2"),
            ("all others", "the wse2 preset"),
        ),
    )  # fmt: skip


def parse_machine(name: str) -> MachineSpec:
    """Return the machine called `name`: a preset, or `mesh-ROWSxCOLS`.

    Raises:
        MachineError: no such machine; the message names the nearest.
    """
    key = name.strip().lower()
    if key in PRESETS:
        return PRESETS[key]
    match = _MESH.fullmatch(key)
    if match:
        return generic_mesh(int(match[1]), int(match[2]))
    near = difflib.get_close_matches(key, [*PRESETS, "mesh-64x64"], n=1, cutoff=0.3)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise MachineError(
        f"unknown machine '{name}'{hint} Known: {', '.join(PRESETS)}, mesh-ROWSxCOLS, "
        "or a YAML file"
    )
