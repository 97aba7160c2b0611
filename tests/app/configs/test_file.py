"""Config files: what is written is read back, older forms, and mistakes that change nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.configs.file import ConfigFileError, config_text, read_config, write_config
from engine.machine import parse_machine
from lowering.config import KNOBS, CompileConfig, apply_knob, knob_value


def saved(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "waferscope.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_knobs_of_all_kinds_are_read(tmp_path: Path) -> None:
    text = (
        "machine: wse3\nsamples: 8\ndtype: fp16\nhop_cycles: 3\nclock_hz: 1e9\n"
        "fold_batch_norm: off\nfusion: bias+views\npe_cap@fc2: 12\n"
        "kernels:\n  fc1: {pe_cap: 64, pin: '40x60 at 10,20'}\n"
    )
    config = read_config(saved(tmp_path, text)).config
    assert config.machine.name == "wse3[clock_hz=1000000000,hop_cycles=3]"
    assert (config.samples, config.storage, config.fusion) == (8, "fp16", ("bias", "views"))
    assert config.passes_off == ("fold_batch_norm",)
    assert config.pe_caps == (("fc1", 64), ("fc2", 12))
    assert knob_value(config, "pin", "fc1") == "40x60 at 10,20"


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    for _ in range(60):
        config = CompileConfig()
        for name in dice.permutation(list(KNOBS))[:6]:
            knob = KNOBS[name]
            if knob.kind == "choice":
                value = str(dice.choice(knob.choices))
            elif knob.kind == "text":
                value = f"{dice.integers(1, 9)}x{dice.integers(1, 9)} at 3,{dice.integers(9)}"
            else:
                high = min(knob.high, 10 * max(knob.low, 10))
                drawn = dice.uniform(max(knob.low, 1), high)
                value = f"{drawn:.0f}" if knob.kind == "integer" else f"{drawn:.6g}"
            if name == "sram_bytes":
                value = "20000"
            config = apply_knob(config, name, value, kernel="fc1" if knob.per_kernel else None)
        path = write_config(config, tmp_path / "c.yaml")
        assert read_config(path).config == config, config_text(config)


def test_machine_of_a_file_is_written_with_its_figures(tmp_path: Path) -> None:
    machine = replace(parse_machine("mesh-9x8"), name="mine", sram_bytes=30_000, defects=((2, 3),))
    config = apply_knob(CompileConfig(machine=machine), "hop_cycles", 4)
    again = read_config(write_config(config, tmp_path / "c.yaml")).config
    assert again.machine.name == "mine[hop_cycles=4]"
    assert replace(again.machine, sources=()) == replace(config.machine, sources=())


def test_machine_file_is_looked_for_beside_the_config(tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text("base: wse2\nrows: 30\ncols: 20\n", encoding="utf-8")
    machine = read_config(saved(tmp_path, "machine: lab.yaml\n")).config.machine
    assert (machine.name, machine.rows, machine.cols) == ("lab", 30, 20)


def test_older_form_sets_what_has_a_mechanism_and_lists_the_rest(tmp_path: Path) -> None:
    text = (
        "compile_options:\n  target_device: “WSE-2”\n  fp16_enabled: true\n"
        "  optimizer_state_offload: false\n  max_activation_memory: 1e-05\n"
        "run_options: {num_epochs: 3, steps_per_epoch: '100', checkpoint_enabled: true,\n"
        "  checkpoint_dir: ‘./out’, log_level: INFO}\n"
        "data_loading: {prefetch_depth: 4, use_parallel_loader: “true”}\n"
    )
    found = read_config(saved(tmp_path, text))
    wanted = CompileConfig(
        machine=parse_machine("wse2"), loader_workers=8, loader_prefetch=4, activation_mb=0.01
    )
    assert found.config == apply_knob(wanted, "dtype", "fp16")
    named = [note.split(": ")[1] for note in found.notes]
    assert named == [
        "run_options.num_epochs = 3",
        "run_options.steps_per_epoch = 100", "run_options.checkpoint_enabled = on",
        "run_options.checkpoint_dir = ./out", "run_options.log_level = INFO",
    ]  # fmt: skip
    assert all("understood, not used" in note for note in found.notes)


@pytest.mark.parametrize("device", ["WSE-3", "wse3", "CS-3", "cs3", "WSE_3"])
def test_device_is_known_by_its_usual_names(tmp_path: Path, device: str) -> None:
    text = f"compile_options: {{target_device: {device}}}\n"
    assert read_config(saved(tmp_path, text)).config.machine.name == "wse3"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sampels: 3", "there is no knob 'sampels'; did you mean 'samples'?"),
        ("samples: many", "samples: knob 'samples' is 'many', must be 1..4,096 samples or auto"),
        ("samples: [1, 2]", "'samples' is a list, must be one value"),
        ("samples:", "'samples' is empty, must be one value"),
        ("samples: 2.5", "knob 'samples' is '2.5'"),
        ("hop_cycles: -1", "must be 0..1,000 cycles or auto"),
        ("pe_cap: 3", "knob 'pe_cap' needs a kernel"),
        ("samples@fc1: 3", "acts on the whole model"),
        ("kernels: {fc1: {samples: 3}}", "kernels.fc1.samples: 'samples' acts on the whole model"),
        ("kernels: {fc1: 3}", "kernels.fc1 must hold knobs"),
        ("machine: wse9", "did you mean 'wse"),
        ("machine: {rows: x}", "rows is 'x', must be a number"),
        ("compile_options: {fp16: true}", "compile_options has no 'fp16'; did you mean 'fp16_en"),
        ("compile_options: {fp16_enabled: 7}", "fp16_enabled is 7, must be true or false"),
        ("compile_options: {target_device: TPU}", "unknown machine 'tpu'"),
        ("run_options: {num_epochs: few}", "run_options.num_epochs is few, must be a whole number"),
        ("run_options: 3", "'run_options' must hold fields"),
        ("trainer: {init: {}}", "'trainer' is a section of a Model Zoo file"),
        ("- a", "must hold 'name: value' lines"),
    ],
)
def test_mistake_is_named_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = saved(tmp_path, text + "\n")
    with pytest.raises(ConfigFileError) as caught:
        read_config(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_file_with_one_mistake_changes_nothing(tmp_path: Path) -> None:
    config = CompileConfig(samples=2)
    with pytest.raises(ConfigFileError):
        read_config(saved(tmp_path, "samples: 9\nslots: 99\n"), config)
    assert config == CompileConfig(samples=2)


def test_config_is_written_to_yaml_only(tmp_path: Path) -> None:
    with pytest.raises(ConfigFileError, match=r"name ends in \.yaml"):
        write_config(CompileConfig(), tmp_path / "c.json")
    with pytest.raises(ConfigFileError, match="cannot write"):
        write_config(CompileConfig(), tmp_path / "none" / "c.yaml")
