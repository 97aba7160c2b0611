"""The verdict on a run: kernel, fabric or host, with shares of one critical path."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.bottleneck import critical_shares, lower_bound
from engine.run import Execution, execute
from tests.factories.graphs import compiled_model
from tests.factories.programs import UP, three_kernels


def shares(run: Execution) -> tuple[dict[str, int], int, int]:
    kernels, rest = critical_shares(run.program, run.net, run.timeline)
    return kernels, rest["fabric"], rest["host"]


def test_shares_of_the_path_sum_to_the_makespan() -> None:
    kernels, fabric, host = shares(three_kernels().run())
    # x 24 + 6, three of `up`, h 8 + 7, act, r 8 + 8, down, y 4 + 6
    assert kernels == {"up": 393, "act": 19, "down": 68}
    assert (fabric, host) == (31, 40)
    assert sum(kernels.values()) + fabric + host == 551


@pytest.mark.parametrize("name", ["mlp", "bert", "demo-cnn"])
def test_shares_of_a_model_sum_to_its_makespan(name: str) -> None:
    compiled = compiled_model(name, "mesh-64x64")
    run = execute(compiled.program, compiled.store)
    kernels, fabric, host = shares(run)
    assert sum(kernels.values()) + fabric + host == run.timeline.makespan
    assert run.bottleneck.bound_cycles <= run.timeline.makespan
    assert run.bottleneck.kernel in {k.id for k in compiled.program.kernels} | {""}
    assert f"{run.timeline.makespan:,} cycles" in run.bottleneck.sentence


def test_slow_host_is_named() -> None:
    small = three_kernels()
    machine = replace(small.program.machine, host_wavelets_per_cycle=0.05)
    run = execute(replace(small.program, machine=machine), small.store)
    assert run.bottleneck.kind == "host"
    assert run.bottleneck.kernel == ""
    assert "the host ports hold" in run.bottleneck.sentence


def test_slow_links_are_named() -> None:
    small = three_kernels()
    machine = replace(small.program.machine, hop_cycles=400)
    run = execute(replace(small.program, machine=machine, samples=1), small.store)
    assert run.bottleneck.kind == "fabric"
    assert "transfers hold" in run.bottleneck.sentence


def test_bound_is_the_busiest_region_with_all_its_kernels() -> None:
    run = three_kernels().run()
    program = replace(run.program, order=(("up", "act"), ("down",)))
    assert lower_bound(program, run.profiles) == 3 * (UP + 19)
