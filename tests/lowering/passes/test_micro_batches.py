"""Micro-batches: one update with the mean gradient, whatever computes the parts."""

from __future__ import annotations

import numpy as np
import pytest

from engine.machine import generic_mesh
from engine.program import HOST
from engine.run import execute
from engine.values import run_values
from lowering.compiler import compile_graph
from lowering.config import CompileConfig, apply_knob
from lowering.evaluate import reference
from lowering.frontends.transformer import ModelOptions, build_transformer
from lowering.frontends.transformer.training import TrainingPlan
from lowering.graph import Graph
from lowering.passes import run_passes
from lowering.passes.micro_batches import micro_batched
from lowering.passes.phases import trained_state, training_phases
from lowering.passes.recompute import find_segments, repeat_segments
from tests.factories.graphs import model_graph
from tests.factories.training import initial_inputs, step_graph
from tests.lowering.frontends.transformer.small import LLAMA, Seeded

MESH = CompileConfig(machine=generic_mesh(32, 32), mode="streaming", samples=2)
RATE, DECAY = 0.01, 0.1


def config_step(optimizer: str) -> Graph:
    load = ModelOptions(task="training", batch=1, sequence=3).resolved()
    plan = TrainingPlan(optimizer, rate=RATE, decay=DECAY)
    return build_transformer("step", LLAMA, load, Seeded(), plan=plan)


def fed(graph: Graph, count: int) -> dict[str, np.ndarray]:
    """Different tokens and labels a micro-batch; moments of zero."""
    dice = np.random.default_rng(3)
    return {
        name: np.zeros(value.shape, value.dtype) if "/" in name
        else dice.integers(0, 11, (count, *value.shape))
        for name in graph.inputs if (value := graph.values[name])
    }  # fmt: skip


def test_the_update_is_that_of_the_mean_gradient() -> None:
    plain, gradients = config_step("adamw"), config_step("none")
    inputs = fed(plain, 3)
    parts = [
        reference(gradients, {name: inputs[name][i] for name in gradients.inputs}) for i in range(3)
    ]
    found = reference(micro_batched(plain, 3), inputs)
    assert np.isclose(
        found["loss"], np.mean([part["loss"] for part in parts]), rtol=1e-7
    )  # a third in float32
    for name in gradients.outputs[1:]:
        weight = name.removesuffix("/grad")
        mean = np.mean([part[name] for part in parts], axis=0)
        # from moments of zero the first moment is (1 - beta1) of the gradient
        np.testing.assert_allclose(found[f"{weight}/m/new"], 0.1 * mean, rtol=1e-7, atol=1e-12)


def test_work_is_there_once_a_micro_batch_and_updates_once() -> None:
    graph = step_graph("mlp")
    phases, more = training_phases(graph), micro_batched(graph, 4)
    count = {of: sum(phase == of for phase in phases.values()) for of in ("forward", "backward")}
    found = training_phases(more)
    data = set(graph.inputs) - trained_state(graph)[0]
    for of, many in count.items():
        mine = [name for name, phase in found.items() if phase == of]
        cuts = [name for name in mine if any(name.startswith(f"{each}/") for each in data)]
        assert len(mine) - len(cuts) == 4 * many
    assert trained_state(more) == trained_state(graph)
    for name in data:
        assert more.values[name].shape == (4, *graph.values[name].shape)


@pytest.mark.parametrize("mode", ["pipeline", "streaming"])
def test_the_mesh_computes_it_and_the_ledger_holds(mode: str) -> None:
    graph = step_graph("mlp")
    made = compile_graph(graph, apply_knob(apply_knob(MESH, "micro_batches", 3), "mode", mode))
    assert made.graph is graph
    plain = compile_graph(graph, apply_knob(MESH, "mode", mode))
    assert made.report.macs == 3 * plain.report.macs
    assert execute(made.program, made.store, every_step=True).ledger.ok
    inputs = initial_inputs(made.fed)
    right = reference(made.fed, inputs)
    found = run_values(made.program, made.store, inputs).outputs()
    for name in graph.outputs:
        assert np.abs(found[name] - right[name]).max() <= 1e-4 * np.abs(right[name]).max(), name


def test_state_leaves_once_for_all_micro_batches_and_moments_come_once() -> None:
    graph = step_graph("mlp")
    words = []
    for count in (1, 3):
        made = compile_graph(graph, apply_knob(MESH, "micro_batches", count))
        leaving = [t for t in made.program.transfers if t.port == "weights"]
        assert all(HOST in t.consumers for t in leaving)
        moments = [
            name for kernel in made.program.kernels for name in kernel.weights
            if name.startswith(("ms_", "vs_"))
        ]  # fmt: skip
        words.append((sum(t.legs[0].words * t.chunks for t in leaving), sorted(moments)))
    assert words[0] == words[1]


def test_with_the_optimizer_outside_every_micro_batch_sends_its_gradients() -> None:
    graph, sent = step_graph("mlp"), []
    for count in (1, 3):
        config = apply_knob(apply_knob(MESH, "micro_batches", count), "optimizer", "host")
        made = compile_graph(graph, config)
        sent.append(
            sum(t.legs[0].words * t.chunks for t in made.program.transfers if t.port == "weights")
        )
    assert sent[1] == 3 * sent[0]


def test_every_micro_batch_has_segments_that_can_run_again() -> None:
    one = run_passes(step_graph("gpt2_2l"))
    two = run_passes(micro_batched(step_graph("gpt2_2l"), 2))
    segments = find_segments(two)
    assert len(segments) == 2 * len(find_segments(one))
    inputs = initial_inputs(two)
    before, after = (reference(g, inputs) for g in (two, repeat_segments(two, segments)))
    for name, array in before.items():
        np.testing.assert_array_equal(after[name], array)


def test_a_graph_that_does_not_train_stays_as_it_is() -> None:
    graph = model_graph("mlp")
    assert micro_batched(graph, 4) is graph
    assert micro_batched(step_graph("mlp"), 1) is step_graph("mlp")
