"""Machines from YAML files: figures over a preset, nonsense in a sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.machine import PRESETS, MachineError, parse_machine
from lowering.machine_file import find_machine, machine_of, machine_plain


def _file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "my.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_file_changes_a_preset_and_keeps_the_rest(tmp_path: Path) -> None:
    text = "base: wse3\nrows: 64\ncols: 32\nclock_hz: 1e9\ndefects: [[1, 2]]\n"
    machine = find_machine(_file(tmp_path, text.replace("1e9", "1.0e+9")))
    assert (machine.name, machine.rows, machine.cols) == ("my", 64, 32)
    assert (machine.fabric_rows, machine.clock_hz, machine.defects) == (64, 1e9, ((1, 2),))
    assert machine.hop_cycles == PRESETS["wse3"].hop_cycles
    assert ("rows", "my.yaml") in machine.sources


def test_one_rate_can_be_changed(tmp_path: Path) -> None:
    machine = find_machine(_file(tmp_path, "simd: {fp16: {elements_per_cycle: 8}}"))
    assert machine.rate("fp16").elements_per_cycle == 8
    assert machine.rate("fp32") == PRESETS["wse2"].rate("fp32")


def test_preset_and_mesh_need_no_file() -> None:
    assert find_machine("wse2") is PRESETS["wse2"]
    assert find_machine("mesh-3x5").cols == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rowz: 3", "did you mean 'rows'"),
        ("rows: many", "rows is 'many', must be a number"),
        ("rows: 2.5", "must be a whole number"),
        ("rows: true", "must be a number"),
        ("rows: 99999", r"rows is 99999, must be 1\.\.4096"),
        ("sram_bytes: -4", "sram_bytes is -4, must be > 0"),
        ("defects: [[1]]", r"defect \[1\] must be \[row, col\]"),
        ("defects: 7", "must be a list"),
        ("simd: 3", "simd must name dtypes"),
        ("simd: {fp32: {speed: 3}}", "takes elements_per_cycle"),
        ("simd: {fp32: {setup_cycles: no}}", "must be a number"),
        ("base: wse9", "unknown machine 'wse9'"),
        ("- 1\n- 2", "'name: value' lines"),
        ("rows: [1", "line 1"),
        ("a: &x [1]\nb: *x", "aliases"),
        ("when: 2020-99-99", "makes no sense"),
        ("x: !!python/object/apply:os.system [ls]", "not YAML"),
    ],
)
def test_nonsense_is_a_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MachineError, match=message):
        find_machine(_file(tmp_path, text))


def test_missing_huge_and_binary_files_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="cannot read"):
        find_machine(str(tmp_path / "none.yaml"))
    with pytest.raises(MachineError, match="larger than"):
        find_machine(_file(tmp_path, "#" * (1 << 20) + "\n#"))
    path = tmp_path / "bin.yaml"
    path.write_bytes(b"\xff\xfe\x00rows")
    with pytest.raises(MachineError, match="not text"):
        find_machine(str(path))


def test_machine_is_written_as_it_is_read(tmp_path: Path) -> None:
    for name in ("wse1", "wse2", "wse3", "mesh-9x8"):
        machine = replace(parse_machine(name), defects=((1, 2), (3, 4)))
        again = machine_of(machine_plain(machine), tmp_path / "x.yaml")
        assert replace(again, sources=()) == replace(machine, sources=())


def test_switch_of_a_machine_takes_a_switch(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    assert machine_of({"harvests_sparsity": False}, path).harvests_sparsity is False
    with pytest.raises(MachineError, match="harvests_sparsity is 1, must be true or false"):
        machine_of({"harvests_sparsity": 1}, path)
