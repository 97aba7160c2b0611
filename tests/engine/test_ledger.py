"""The ledger: every law holds on every model, and each one breaks when it should."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from engine import ledger
from engine.fields import Fields
from engine.geometry import Rect
from engine.ledger import Check, audit
from engine.metrics import LINK_PLANES
from engine.models import program_models
from engine.program import Buffer, Leg, Program, Tiling
from engine.run import Execution, execute
from engine.tallies import Tallies
from engine.transfers import Pattern, leg_patterns
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.frontends.onnx import load_onnx
from tests.factories.graphs import DEMO_NAMES, MODEL_NAMES, compiled_model
from tests.factories.light import light_path
from tests.factories.programs import three_kernels

MACHINES = ("wse2", "mesh-64x64")


def broken(run: Execution, name: str, **changed: Any) -> Check:
    """Return the named check on the run's fields with some of them replaced."""
    fields: Fields = replace(run.fields, **changed)
    models = program_models(run.program)
    checks = {c.name: c for c in audit(fields, run.net, models, every_step=True).checks}
    return checks[name]


def with_kernel(program: Program, index: int, **changed: Any) -> Program:
    kernels = list(program.kernels)
    kernels[index] = replace(kernels[index], **changed)
    return replace(program, kernels=tuple(kernels))


@cache
def small() -> Execution:
    return three_kernels().run()


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", [*MODEL_NAMES, "demo-mlp", "demo-cnn"])
def test_every_law_holds_in_every_step(name: str, machine: str) -> None:
    compiled = compiled_model(name, machine)
    every = machine != "wse2" or name == "demo-mlp"
    found = execute(compiled.program, compiled.store, every_step=every).ledger
    assert [(check.name, check.detail) for check in found.checks if not check.ok] == []


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", [n for n in DEMO_NAMES if n not in ("mlp", "cnn")])
def test_every_law_holds_on_the_larger_demos(name: str, machine: str) -> None:
    compiled = compiled_model(f"demo-{name}", machine)
    found = execute(compiled.program, compiled.store).ledger
    assert [(check.name, check.detail) for check in found.checks if not check.ok] == []


@pytest.mark.parametrize("name", ["squeezenet", "shufflenet"])
def test_every_law_holds_on_real_networks_without_numbers(name: str) -> None:
    graph = load_onnx(light_path(name), values=False)
    compiled = compile_graph(graph, CompileConfig())
    assert compiled.fits
    found = execute(compiled.program, compiled.store).ledger
    assert [(check.name, check.detail) for check in found.checks if not check.ok] == []


def test_profile_with_too_many_cycles_breaks_the_sum_of_causes() -> None:
    run = small()
    profile = run.profiles["act"]
    longer = replace(profile, cycles=profile.cycles + 5)
    check = broken(run, "causes sum to cycles", profiles=run.profiles | {"act": longer})
    assert not check.ok
    # 3 samples x (2 PEs x 51 + 4 x (7 + 5) + 2 x 19); the steps see no more than 19 cycles of `act`
    assert check.detail.endswith("overhead: 540 PE-cycles in the steps, 564 in the profiles")


def test_idle_step_without_a_cause_breaks_the_sum_of_causes() -> None:
    run = small()
    idle = run.fields.tables.idle.copy()
    idle[2, 0] = 255
    check = broken(run, "causes sum to cycles", tables=replace(run.fields.tables, idle=idle))
    assert not check.ok
    assert check.detail.endswith(f"step 0: {24 * 62:,} against {24 * 64:,}")


def last_changed(run: Execution, transfer: int, words: int) -> Tallies:
    """Return the words moved, with more of one transfer in the last step in which it moves."""
    moved = run.fields.tables.moved
    after = moved.after.copy()
    after[moved.start[transfer + 1] - 1] += words
    return replace(moved, after=after)


def test_missing_words_break_delivery() -> None:
    run = small()
    moved = last_changed(run, 1, -1)
    check = broken(run, "words are delivered", tables=replace(run.fields.tables, moved=moved))
    assert not check.ok
    assert "transfer 'h': 16 words injected of 16" in check.detail
    assert "23 moved of 24" in check.detail


def patched_patterns(change: Callable[[Pattern], Pattern | None]) -> Callable[..., list[Pattern]]:
    def patterns(leg: Leg, **ends: bool) -> list[Pattern]:
        changed = (change(pattern) for pattern in leg_patterns(leg, **ends))
        return [pattern for pattern in changed if pattern is not None]

    return patterns


def test_link_that_carries_a_word_too_many_breaks_the_trees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def more(pattern: Pattern) -> Pattern:
        return replace(pattern, words=pattern.words + (pattern.plane == "south"))

    monkeypatch.setattr(ledger, "leg_patterns", patched_patterns(more))
    check = broken(small(), "links carry their trees")
    assert not check.ok
    assert "'h': leg shift puts 46 words on links, its trees need 40" in check.detail


def test_forgotten_plane_breaks_the_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_north(pattern: Pattern) -> Pattern | None:
        return None if pattern.plane == "north" else pattern

    monkeypatch.setattr(ledger, "leg_patterns", patched_patterns(without_north))
    check = broken(small(), "links carry their trees")
    assert "'down': leg reduce puts 4 words on links, its trees need 8" in check.detail
    assert not check.ok


def test_transfers_that_ignore_a_shared_link_break_the_capacity() -> None:
    """Two kernels send over one link at full rate, for the program names no conflict."""
    run = small()
    flow = run.fields.traffic.flows[1]
    doubled = replace(flow, patterns=tuple(replace(p, words=p.words * 2) for p in flow.patterns))
    flows = (*run.fields.traffic.flows[:1], doubled, *run.fields.traffic.flows[2:])
    check = broken(run, "rates within capacity", traffic=replace(run.fields.traffic, flows=flows))
    assert not check.ok
    assert "in step" in check.detail
    assert "2.0000 of a wavelet a cycle" in check.detail


def test_full_rate_is_exactly_the_capacity() -> None:
    check = broken(small(), "rates within capacity")
    assert check.ok
    assert "1.0000 of a wavelet a cycle" in check.detail


def test_buffers_that_share_bytes_break_the_memory() -> None:
    run = small()
    buffers = tuple(replace(b, offset=0) for b in run.program.buffers)
    check = broken(run, "memory is accounted", program=replace(run.program, buffers=buffers))
    assert not check.ok
    assert check.detail == "kernel 'up': weights and x share bytes"


def meet(one: Buffer, other: Buffer) -> bool:
    together = one.live[0] <= other.live[1] and other.live[0] <= one.live[1]
    return together and (
        one.offset < other.offset + other.size and other.offset < one.offset + one.size
    )


@pytest.mark.parametrize("seed", range(60))
def test_two_that_share_a_byte_are_found_among_many(seed: int) -> None:
    """Buffers are added while they meet none; one more at random is looked at both ways."""
    rng = np.random.default_rng(seed)
    apart: list[Buffer] = []
    for _ in range(60):
        first, offset, size, life = (int(n) for n in rng.integers((0, 0, 1, 0), (20, 60, 9, 8)))
        one = Buffer("k", "work", "", offset, size, live=(first, first + life))
        pair = ledger._sharing_pair([*apart, one])
        if any(meet(one, other) for other in apart):
            assert pair is not None
            assert meet(*(([*apart, one])[index] for index in pair))
        else:
            assert pair is None
            apart.append(one)
    assert 3 < len(apart) < 60


def test_buffers_that_never_live_together_may_share_bytes() -> None:
    run = small()
    first, *others = run.program.buffers
    moved = replace(first, offset=others[0].offset, live=(1, 1))
    program = replace(run.program, buffers=(moved, *others))
    assert broken(run, "memory is accounted", program=program).ok


def test_overflow_must_be_marked_as_not_running() -> None:
    run = small()
    buffers = (*run.program.buffers[:-1], replace(run.program.buffers[-1], size=50_000))
    program = replace(run.program, buffers=buffers)
    check = broken(run, "memory is accounted", program=program)
    assert not check.ok
    assert check.detail == "fullest PE 50,112 B of 49,152 B"
    marked = replace(program, would_run=False)
    assert broken(run, "memory is accounted", program=marked).ok


def test_region_that_is_not_its_tiling_breaks_the_operations() -> None:
    run = small()
    for program in (
        with_kernel(run.program, 0, tiling=Tiling(1, 1, 3)),
        with_kernel(run.program, 0, region=Rect(0, 1, 2, 2)),
    ):
        check = broken(run, "operations match", program=program)
        assert not check.ok
        assert "kernel 'up' executes 96 products of 96" in check.detail


def test_tensor_of_another_shape_breaks_the_operations() -> None:
    run = small()
    tensors = tuple(replace(t, shape=(4, 5)) if t.id == "h" else t for t in run.program.tensors)
    models = program_models(run.program)
    check = ledger.operations_match(replace(run.program, tensors=tensors), models)
    assert not check.ok
    assert "kernel 'up' executes 96 products of 120" in check.detail


def test_lost_cycles_or_words_break_the_totals() -> None:
    run = small()
    moved = last_changed(run, 0, 24)
    tables = replace(run.fields.tables, moved=moved)
    found = replace(run.fields.traffic, tables=tables)
    check = broken(run, "steps sum to totals", tables=tables, traffic=found)
    assert not check.ok
    assert f"links {504 + 48} of 504 words" in check.detail


def test_map_of_the_run_that_forgets_a_kernel_breaks_the_totals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(fields: Fields, metric: str) -> np.ndarray:
        return np.zeros(fields.shape, np.int64)

    monkeypatch.setattr(Fields, "total", nothing)
    check = broken(small(), "steps sum to totals")
    assert not check.ok
    assert "of 0 PE-cycles" in check.detail


def test_sampled_steps_are_the_busiest() -> None:
    compiled = compiled_model("demo-cnn", "mesh-64x64")
    run = execute(compiled.program, compiled.store)
    steps = ledger._steps_to_check(run.fields, False)
    assert len(steps) == ledger.SAMPLED_STEPS
    assert ledger._steps_to_check(run.fields, True) == list(range(run.timeline.steps))
    assert max(run.fields.traffic.plane(plane, steps[0]).max() for plane in LINK_PLANES) > 0
