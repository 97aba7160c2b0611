"""The roofs of a machine, by hand."""

from __future__ import annotations

from app.finding.intensity import Work
from app.finding.roofs import machine_roofs
from tests.app.sessions import mlp_run, mlp_streaming


def test_flat_roofs_are_rate_and_ports() -> None:
    run = mlp_run()
    roofs = {roof.kind: roof for roof in machine_roofs(run)}
    machine = run.machine
    rate = machine.rate(run.program.storage).elements_per_cycle
    assert roofs["peak"].ops_per_cycle == 2 * rate
    reads, writes = machine.read_bytes_per_cycle / 8, machine.write_bytes_per_cycle / 4
    assert roofs["ports"].ops_per_cycle == 2 * min(reads, writes)
    assert "weights" not in roofs


def test_ramps_give_four_bytes_a_cycle() -> None:
    roofs = {roof.kind: roof for roof in machine_roofs(mlp_run())}
    work = Work("k", 1, ops=80, ramp_words=10, weight_words=0, cycles=1, inside_cycles=1)
    assert roofs["ramps"].at(work, 4) == 4.0 * 80 / 40
    still = Work("k", 1, ops=80, ramp_words=0, weight_words=0, cycles=1, inside_cycles=1)
    assert roofs["ramps"].at(still, 4) is None


def test_weight_ports_are_shared_by_the_pes_that_take_turns() -> None:
    run = mlp_streaming().run
    roof = next(roof for roof in machine_roofs(run) if roof.kind == "weights")
    whole = run.machine.weight_wavelets_per_cycle * run.machine.wavelet_bytes
    assert roof.bytes_per_cycle == whole / run.program.areas()[0][0].area
    assert "wavelets a cycle for" in roof.source
