"""`machines`, `knobs`, `ops`: what there is, with units and sources, for 80 columns."""

from __future__ import annotations

import argparse
import json
import textwrap

from app.cli.main import OK
from app.views.base import to_plain
from engine.machine import PRESETS, MachineSpec
from lowering.config import KNOBS, CompileConfig, knob_value

WIDTH = 80
"""columns of a terminal that nobody has widened"""
_NAME = 16
"""columns of the names at the left"""


def _fold(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )


def machines(arguments: argparse.Namespace) -> int:
    """List the machines, each figure with its source."""
    if arguments.json:
        print(json.dumps([to_plain(machine) for machine in PRESETS.values()], indent=1))
        return OK
    for machine in PRESETS.values():
        print("\n".join(_machine_lines(machine)) + "\n")
    print("mesh-ROWSxCOLS: a generic mesh of any size; --machine FILE.yaml: your own.")
    return OK


def _machine_lines(machine: MachineSpec) -> list[str]:
    facts = (
        ("grid", f"{machine.rows} rows x {machine.cols} columns usable, of "
                 f"{machine.fabric_rows} x {machine.fabric_cols}: "
                 f"{machine.working_pes:,} PEs"),
        ("SRAM", f"{machine.sram_bytes / 1024:g} KB a PE, "
                 f"{machine.reserved_sram_bytes:,} B of it for code and runtime"),
        ("clock", f"{machine.clock_hz / 1e9:.3g} GHz"),
        *((f"{rate.dtype} vectors", f"{rate.elements_per_cycle:.3g} FMA a cycle, "
           f"{rate.setup_cycles:g} cycles set-up an operation") for rate in machine.simd),
        ("links", f"{machine.link_bits} bit a cycle each way; cycles: hop "
                  f"{machine.hop_cycles}, ramp {machine.ramp_cycles}, turn {machine.turn_cycles}"),
        ("colors", f"{machine.colors - machine.reserved_colors} free of {machine.colors}"),
        ("host", f"{machine.host_wavelets_per_cycle:g} wavelets a cycle"),
    )  # fmt: skip
    lines = [machine.name]
    for name, value in facts:
        lines += _fold(value, f"  {name:<{_NAME - 2}}", " " * _NAME)
    lines.append("  sources")
    for name, source in machine.sources:
        lines += _fold(f"{name}: {source}", "    ", "      ")
    return lines


def knobs(arguments: argparse.Namespace) -> int:
    """List the knobs."""
    if arguments.json:
        print(json.dumps([to_plain(knob) for knob in KNOBS.values()], indent=1))
        return OK
    default = CompileConfig()
    for knob in KNOBS.values():
        name = knob.name + ("@KERNEL" if knob.per_kernel else "")
        begin, indent = f"{name:<{_NAME - 1}} ", " " * _NAME
        span = f"{knob.describe_range()} (default {knob_value(default, knob.name)})"
        print("\n".join(_fold(span, begin, indent)))
        print("\n".join(_fold(knob.help, indent, indent)))
        print(f"{indent}a change compiles again from: {knob.stage}\n")
    print("Set one with --set KNOB=VALUE, one kernel's with --set KNOB@KERNEL=VALUE.")
    return OK


def ops(arguments: argparse.Namespace) -> int:
    """List the ONNX operators that can be read."""
    from lowering.frontends.onnx import supported_operators

    names = supported_operators()
    if arguments.json:
        print(json.dumps(list(names)))
        return OK
    print(textwrap.fill(", ".join(names), WIDTH))
    print(f"\n{len(names)} ONNX operators")
    return OK
