"""What a kernel may use: SRAM times a factor, less what was set aside; a pinned one spreads."""

from __future__ import annotations

from engine.geometry import Rect
from lowering.config import CompileConfig, apply_knob
from lowering.stages.room import Room


def test_spare_bytes_are_set_aside_and_a_factor_multiplies() -> None:
    config = CompileConfig()
    data = config.machine.data_sram_bytes
    assert Room(config, 1, {}).limits(3, 4, "a").sram_bytes == data
    assert Room(config, 4, {"a": 1000}).limits(3, 4, "a").sram_bytes == 4 * (data - 1000)
    assert Room(config, 1, {"a": 1 << 30}).limits(3, 4, "a").sram_bytes == data // 8
    assert Room(config, 1, {"a": 1}).limits(3, 4, "a").whole
    assert not Room(config, 1, {"a": 1}).limits(3, 4, "b").whole


def test_pinned_kernel_uses_every_pe_that_helps() -> None:
    config = apply_knob(CompileConfig(), "pin", "5x6 at 0,0", kernel="a")
    config = apply_knob(config, "pe_cap", 20, kernel="a")
    room, place = Room(config, 1, {}), Rect(0, 0, 5, 6)
    limits = room.limits_in(place, "a")
    assert (limits.rows, limits.cols, limits.cap, limits.least_gain) == (5, 6, 20, 0.0)
    assert room.limits_in(place, "b").least_gain > 0
    assert room.target == (config.machine, "fp32")
