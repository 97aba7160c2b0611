"""Routing through a whole compile: values say which experts tokens take, cycles follow them."""

from __future__ import annotations

import numpy as np
import pytest

from engine.causes import CAUSES
from engine.run import Execution, execute
from engine.values import run_values
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig, apply_knob
from lowering.frontends.onnx import load_onnx
from lowering.machine_file import find_machine
from tests.factories.graphs import MODELS
from tests.factories.mixtures import SKEWED, mixture, tokens_to


def compiled(routing: dict[str, np.ndarray] | None = None, mode: str = "pipeline") -> Compiled:
    config = CompileConfig(machine=find_machine("mesh-16x16"))
    for knob, value in (("mode", mode), ("pe_cap@moe", "32")):
        name, _, kernel = knob.partition("@")
        config = apply_knob(config, name, value, kernel=kernel or None)
    return compile_graph(mixture(), config, routing=routing)


def routed(counts: tuple[int, ...], mode: str = "pipeline") -> tuple[Compiled, Execution]:
    """Compile, compute values, and compile anew with what they say."""
    first = compiled(mode=mode)
    found = run_values(first.program, first.store, {"x": tokens_to(counts)})
    second = compiled(found.routing, mode)
    execution = execute(second.program, second.store, every_step=True)
    assert execution.ledger.ok, [each for each in execution.ledger.checks if not each.ok]
    return second, execution


def spent(execution: Execution, cause: str) -> int:
    return int(execution.fields.cause_sums(CAUSES.index(cause)).sum())


@pytest.mark.parametrize("mode", ["pipeline", "streaming"])
def test_skewed_tokens_show_as_imbalance_and_lengthen_the_run(mode: str) -> None:
    first = compiled(mode=mode)
    even = execute(first.program, first.store)
    second, skewed = routed(SKEWED, mode)
    kernel, before = second.program.kernels[0], first.program.kernels[0]
    assert kernel.region == before.region
    assert kernel.tiling == before.tiling
    assert np.sum(kernel.experts, axis=0).tolist() == list(SKEWED)
    assert skewed.timeline.makespan > even.timeline.makespan
    assert spent(skewed, "imbalance") > spent(even, "imbalance")
    # the products are the same, only on other PEs; rounding up costs a cycle a PE at most
    off = abs(spent(skewed, "compute") - spent(even, "compute"))
    assert off <= kernel.region.area * second.program.samples


def test_a_token_keeps_the_rows_of_its_expert_busy_and_no_others() -> None:
    """Four groups of a token each, in a group a row an expert: 3 x 64 terms of 4 results.

    An element takes 2.111 cycles; the router and what follows the products are the same in all.
    """
    second, execution = routed(SKEWED)
    kernel, found = second.program.kernels[0], execution.profiles["moe"]
    assert (kernel.tiling.m_parts, kernel.tiling.k_parts, kernel.tiling.n_parts) == (4, 4, 2)
    compute = np.array([int(found.pe(row, 0)[0]) for row in range(16)]).reshape(4, 4)
    busy = np.array(kernel.experts) > 0
    assert busy.sum(axis=1).tolist() == [1, 1, 1, 1]
    assert (compute.argmax(axis=1) == busy.argmax(axis=1)).all()
    spare = compute[~busy].max()
    assert compute[~busy].min() == spare
    assert compute[busy] - spare == pytest.approx(3 * 64 * 4 * 2.111, abs=1)


def test_groups_of_rows_wait_for_their_own_busiest_expert() -> None:
    """A token for each expert is even over the mixture, not inside a group of one token."""
    even, skewed = routed((1, 1, 1, 1))[1], routed(SKEWED)[1]
    assert even.timeline.makespan == skewed.timeline.makespan
    assert spent(even, "imbalance") == spent(skewed, "imbalance")


def test_transfers_are_given_when_the_busiest_row_ends() -> None:
    second, execution = routed(SKEWED)
    given = [t.give for t in second.program.transfers if t.producer == "moe"]
    assert given
    assert all(last == execution.profiles["moe"].length for _, last in given)


def test_report_says_what_is_assumed_and_what_was_computed() -> None:
    assumed = "\n".join(compiled().report.notes)
    assert "assumed to spread evenly over the experts of 1 mixture" in assumed
    known = "\n".join(routed(SKEWED)[0].report.notes)
    assert "tokens by expert 3:1:0:0" in known
    assert "the busiest expert takes 3 of 4, 3.00 x an even share; 2 of 4 take none" in known
    assert "assumed" not in known


def test_report_names_experts_that_are_fetched_token_by_token() -> None:
    written = apply_knob(CompileConfig(), "join_experts", "off")
    notes = compile_graph(load_onnx(MODELS / "mixtral.onnx"), written).report.notes
    fetched = next(note for note in notes if "look up matrices" in note)
    assert fetched.startswith("4 kernels look up matrices by computed indices (GatherND_235,")
    plain = compile_graph(load_onnx(MODELS / "llama.onnx"), CompileConfig()).report.notes
    assert not any("look up matrices" in note for note in plain)
