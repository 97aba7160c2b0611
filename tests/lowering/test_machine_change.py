"""Machines with figures changed by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.machine import MachineError, parse_machine
from lowering.machine_change import changed_machine, timeless

WSE2 = parse_machine("wse2")


def test_no_figures_leave_the_machine_itself() -> None:
    assert changed_machine(WSE2, ()) is WSE2


def test_name_and_sources_tell_what_was_changed() -> None:
    machine = changed_machine(WSE2, (("clock_hz", 1.1e9), ("hop_cycles", 2)))
    assert machine.name == "wse2[clock_hz=1100000000,hop_cycles=2]"
    assert machine.sources[:2] == (
        ("clock_hz", "set by hand, no source"), ("hop_cycles", "set by hand, no source"),
    )  # fmt: skip
    assert isinstance(machine.hop_cycles, int)
    assert replace(machine, name="", sources=(), clock_hz=WSE2.clock_hz, hop_cycles=1) == replace(
        WSE2, name="", sources=()
    )


def test_rate_keeps_its_set_up_and_may_be_new() -> None:
    machine = changed_machine(WSE2, (("fp16_rate", 8.0),))
    assert machine.rate("fp16").elements_per_cycle == 8.0
    assert machine.rate("fp16").setup_cycles == WSE2.rate("fp16").setup_cycles
    assert machine.rate("fp32") == WSE2.rate("fp32")
    single = replace(WSE2, simd=WSE2.simd[:1])
    assert changed_machine(single, (("fp16_rate", 3.0),)).rate("fp16").elements_per_cycle == 3.0


def test_figures_that_make_no_sense_are_refused() -> None:
    with pytest.raises(MachineError, match="leaves nothing of 4000"):
        changed_machine(WSE2, (("sram_bytes", 4000),))


def test_clock_and_host_rate_do_not_move_anything() -> None:
    other = changed_machine(WSE2, (("clock_hz", 1e9), ("host_wavelets_per_cycle", 3)))
    assert timeless(other) == timeless(WSE2)
    assert timeless(changed_machine(WSE2, (("hop_cycles", 3),))) != timeless(WSE2)
