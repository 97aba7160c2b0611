"""Knobs: one table, ranges kept, errors that help."""

from __future__ import annotations

import pytest

from engine.geometry import Rect
from lowering.config import KNOBS, CompileConfig, KnobError, apply_knob, find_knob, knob_value


def test_every_knob_has_a_value_a_range_and_a_help() -> None:
    config = CompileConfig()
    for name, knob in KNOBS.items():
        assert knob.name == name
        assert knob.help
        assert knob.describe_range()
        assert knob_value(config, name, "k")
        assert (knob.kind == "choice") == bool(knob.choices)


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("machine", "wse3", "wse3"), ("machine", "mesh-9x8", "mesh-9x8"), ("samples", 12, "12"),
        ("samples", "auto", "auto"), ("slots", "1", "1"), ("slots", " 64 ", "64"),
        ("fusion", "views+bias", "bias+views"), ("fusion", "all", "all"),
        ("fusion", "none", "none"), ("global_pool", "off", "off"), ("aspect", "3", "3"),
        ("hop_cycles", 4, "4"), ("harvests_sparsity", "on", "on"),
        ("clock_hz", "1.1e9", "1100000000"), ("link_bits", "64", "64"),
        ("fp16_rate", 2.92, "2.92"), ("square_weight", "12.5", "12.5"), ("block_loss", 0, "0"),
        ("sram_bytes", "auto", "auto"), ("route_order", "xy", "xy"),
        ("dtype", "fp16", "fp16"), ("max_chunks", 1, "1"), ("max_chunks", 8, "8"),
    ],
)  # fmt: skip
def test_value_set_is_the_value_shown(name: str, value: str | int, shown: str) -> None:
    assert knob_value(apply_knob(CompileConfig(), name, value), name) == shown


def test_slots_knob_turns_both_ends() -> None:
    config = apply_knob(CompileConfig(), "slots", 3)
    assert (config.in_slots, config.out_slots) == (3, 3)
    assert apply_knob(config, "slots", "auto") == CompileConfig()


def test_cap_belongs_to_a_kernel() -> None:
    config = apply_knob(CompileConfig(), "pe_cap", 40, kernel="fc2")
    config = apply_knob(config, "pe_cap", 9, kernel="fc1")
    assert config.pe_caps == (("fc1", 9), ("fc2", 40))
    assert knob_value(config, "pe_cap", "fc2") == "40"
    assert knob_value(config, "pe_cap", "fc3") == "auto"
    assert apply_knob(config, "pe_cap", "auto", kernel="fc2").pe_caps == (("fc1", 9),)
    with pytest.raises(KnobError, match="needs a kernel: select one first, or say pe_cap@KERNEL"):
        apply_knob(config, "pe_cap", 4)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("samples", 0, "knob 'samples' is '0', must be 1..4,096 samples or auto"),
        ("samples", "many", "knob 'samples' is 'many', must be 1..4,096 samples or auto"),
        ("slots", 65, "knob 'slots' is '65', must be 1..64 chunks or auto"),
        ("max_chunks", "auto", "knob 'max_chunks' is 'auto', must be 1..8"),
        ("max_chunks", 2.5, "knob 'max_chunks' is '2.5', must be 1..8"),
        ("dtype", "fp8", "knob 'dtype' is 'fp8', must be one of fp32, fp16"),
        ("machine", "wse22", "did you mean 'wse2'?"),
        ("fusion", "bias+gelu", "must be one of all, none, bias, activation"),
        ("link_bits", "12", "must be one of auto, 16, 32"),
        (
            "fp32_rate",
            "fast",
            "knob 'fp32_rate' is 'fast', must be 0.001..4,096 elements/cycle or auto",
        ),
        ("fp32_rate", "nan", "must be 0.001..4,096 elements/cycle or auto"),
        ("sram_bytes", 4_100, "reserved_sram_bytes 4176 leaves nothing of 4100"),
    ],
)
def test_value_out_of_range_is_refused_with_the_range(name: str, value: str, text: str) -> None:
    with pytest.raises(KnobError) as caught:
        apply_knob(CompileConfig(), name, value)
    assert text in str(caught.value)


def test_unknown_knob_gets_the_nearest() -> None:
    with pytest.raises(KnobError, match="unknown knob 'slot'; did you mean 'slots'"):
        find_knob("slot")
    with pytest.raises(KnobError, match="Knobs: machine, samples, slots"):
        find_knob("zzz")


def test_pin_is_a_place_of_a_kernel() -> None:
    config = apply_knob(CompileConfig(), "pin", "40x60 at 10,20", kernel="ffn1")
    assert config.pins == (("ffn1", Rect(10, 20, 40, 60)),)
    assert knob_value(config, "pin", "ffn1") == "40x60 at 10,20"
    assert knob_value(config, "pin", "ffn2") == "auto"
    assert apply_knob(config, "pin", "auto", kernel="ffn1") == CompileConfig()
    for text in ("40x60", "40 at 3", "0x6 at 1,1", "4x4 at -1,2"):
        with pytest.raises(KnobError, match=r"must be ROWSxCOLS at ROW,COL, such as 40x60"):
            apply_knob(config, "pin", text, kernel="ffn1")


def test_knob_of_the_model_takes_no_kernel() -> None:
    with pytest.raises(KnobError, match="knob 'samples' acts on the whole model"):
        apply_knob(CompileConfig(), "samples", 3, kernel="fc1")
