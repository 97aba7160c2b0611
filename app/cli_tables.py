"""`machines`, `knobs`, `ops`: what there is, with units and sources."""

from __future__ import annotations

import argparse
import json
import textwrap

from app.cli import OK
from app.views.base import to_plain
from engine.machine import PRESETS, MachineSpec
from lowering.config import KNOBS, CompileConfig, knob_value


def machines(arguments: argparse.Namespace) -> int:
    """List the machines, each figure with its source."""
    if arguments.json:
        print(json.dumps([to_plain(machine) for machine in PRESETS.values()], indent=1))
        return OK
    for machine in PRESETS.values():
        print("\n".join(_machine_lines(machine)) + "\n")
    print("mesh-ROWSxCOLS: a generic mesh of any size, or --machine FILE.yaml")
    return OK


def _machine_lines(machine: MachineSpec) -> list[str]:
    rates = ", ".join(
        f"{rate.dtype} {rate.elements_per_cycle:.3g} FMA/cycle after {rate.setup_cycles:g} cycles"
        for rate in machine.simd
    )
    lines = [
        f"{machine.name}: {machine.rows} rows x {machine.cols} cols usable "
        f"({machine.fabric_rows} x {machine.fabric_cols} fabric), {machine.working_pes:,} PEs, "
        f"{machine.sram_bytes / 1024:g} KB SRAM each, {machine.clock_hz / 1e9:.3g} GHz",
        f"  vectors: {rates}",
        f"  network: {machine.link_bits} bit links, hop {machine.hop_cycles}, ramp "
        f"{machine.ramp_cycles}, turn {machine.turn_cycles} cycles; "
        f"{machine.colors - machine.reserved_colors} of {machine.colors} colors free; host "
        f"{machine.host_wavelets_per_cycle:g} wavelets/cycle",
    ]
    for name, source in machine.sources:
        lines += textwrap.wrap(f"{name}: {source}", 96, initial_indent="    ",
                               subsequent_indent="        ")  # fmt: skip
    return lines


def knobs(arguments: argparse.Namespace) -> int:
    """List the knobs."""
    if arguments.json:
        print(json.dumps([to_plain(knob) for knob in KNOBS.values()], indent=1))
        return OK
    default = CompileConfig()
    for knob in KNOBS.values():
        scope = "@KERNEL" if knob.per_kernel else ""
        unit = f" {knob.unit}" if knob.unit else ""
        print(f"{knob.name + scope:<16} {knob.describe_range()}{unit} "
              f"(default {knob_value(default, knob.name)})")  # fmt: skip
        print(f"{'':<16} {knob.help}; compiles again from {knob.stage}")
    return OK


def ops(arguments: argparse.Namespace) -> int:
    """List the ONNX operators that can be read."""
    from lowering.frontends.onnx import supported_operators

    names = supported_operators()
    if arguments.json:
        print(json.dumps(list(names)))
        return OK
    print(textwrap.fill(", ".join(names), 96))
    print(f"\n{len(names)} ONNX operators")
    return OK
