"""Machines: presets with their sources, names, and figures that make no sense."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.machine import (
    PRESETS,
    MachineError,
    SimdRate,
    generic_mesh,
    parse_machine,
)


@pytest.mark.parametrize(
    ("name", "usable", "fabric"),
    [
        ("wse1", (633, 633), (633, 633)),
        ("wse2", (994, 750), (996, 757)),
        ("wse3", (1170, 755), (1172, 762)),
    ],
)
def test_presets_have_their_published_grids(
    name: str, usable: tuple[int, int], fabric: tuple[int, int]
) -> None:
    machine = parse_machine(name)
    assert (machine.rows, machine.cols) == usable
    assert (machine.fabric_rows, machine.fabric_cols) == fabric
    assert machine.pes == usable[0] * usable[1]


@pytest.mark.parametrize("machine", PRESETS.values(), ids=PRESETS)
def test_every_figure_of_a_preset_has_a_source(machine: object) -> None:
    sources = dict(getattr(machine, "sources"))  # noqa: B009
    named = {word for key in sources for word in key.replace(",", " ").split()}
    figures = {"rows", "cols", "sram_bytes", "simd", "colors", "hop_cycles", "clock_hz"}
    assert "all" in named or figures <= named
    assert all(text for text in sources.values())


def test_names_are_read_in_any_case() -> None:
    assert parse_machine(" WSE2 ") is PRESETS["wse2"]
    mesh = parse_machine("Mesh-3x17")
    assert (mesh.rows, mesh.cols, mesh.fabric_rows, mesh.name) == (3, 17, 3, "mesh-3x17")
    assert generic_mesh(3, 17) == mesh


def test_small_mesh_has_one_host_link_a_row() -> None:
    assert generic_mesh(8, 8).host_wavelets_per_cycle == 8
    assert generic_mesh(100, 8).host_wavelets_per_cycle == 44


@pytest.mark.parametrize("name", ["wse4", "mesh-64", "mesh-axb", ""])
def test_unknown_machine_names_what_is_known(name: str) -> None:
    with pytest.raises(MachineError, match="Known: wse1, wse2, wse3, mesh-ROWSxCOLS"):
        parse_machine(name)


def test_misspelt_machine_gets_the_nearest() -> None:
    with pytest.raises(MachineError, match="did you mean 'wse2'"):
        parse_machine("wse-2")


def test_sizes_out_of_range_are_refused_with_their_range() -> None:
    with pytest.raises(MachineError, match=r"rows is 0, must be 1\.\.4096"):
        parse_machine("mesh-0x4")
    with pytest.raises(MachineError, match=r"cols is 5000, must be 1\.\.4096"):
        parse_machine("mesh-4x5000")


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(MachineError) as caught:
        replace(
            PRESETS["wse2"], clock_hz=0, reserved_sram_bytes=50_000, reserved_colors=24,
            link_bits=33, simd=(SimdRate("fp8", 0, 1),), defects=((994, 0),),
        )  # fmt: skip
    text = str(caught.value)
    for part in (
        "clock_hz is 0, must be > 0", "reserved_sram_bytes 50000 leaves nothing of 49152",
        "reserved_colors 24 leaves none of 24 colors", "link_bits is 33",
        "simd dtype 'fp8' is not one of fp32, fp16, bf16", "simd rate of fp8 must be > 0",
        "defect (994, 0) lies outside the 994x750 grid",
    ):  # fmt: skip
        assert part in text


def test_a_machine_of_defective_pes_alone_is_none() -> None:
    places = tuple((row, col) for row in range(4) for col in range(4))
    with pytest.raises(MachineError, match="all 16 PEs are defective"):
        replace(parse_machine("mesh-4x4"), defects=places)
    assert replace(parse_machine("mesh-4x4"), defects=places[1:]).working_pes == 1


def test_derived_figures() -> None:
    machine = replace(parse_machine("mesh-4x4"), defects=((1, 1),))
    assert machine.working_pes == 15
    assert machine.data_sram_bytes == 49_152 - 4_176
    assert machine.wavelet_bytes == 4
    assert machine.peak_flops_per_cycle("fp16") == 8
    assert machine.words(5, "fp32") == 5
    assert machine.words(5, "fp16") == 3
    with pytest.raises(MachineError, match="no rate for dtype 'int8'; it has fp32, fp16"):
        machine.rate("int8")
