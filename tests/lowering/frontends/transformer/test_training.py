"""Gradients against differences of the loss, in float64, for every kind of layer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.kernels.optimizer.spec import AdamW
from lowering.evaluate import reference
from lowering.frontends.transformer import Architecture, ModelOptions, build_transformer
from lowering.frontends.transformer.training import TrainingPlan
from lowering.graph import Graph
from tests.lowering.frontends.transformer.small import DECODERS, LLAMA, Seeded

LOAD = ModelOptions(task="training", batch=2, sequence=3).resolved()


def step(sides: Architecture, optimizer: str) -> Graph:
    """A small training step with numbers."""
    return build_transformer("t", sides, LOAD, Seeded(), plan=TrainingPlan(optimizer, rate=0.01))


def feeds(graph: Graph) -> dict[str, np.ndarray]:
    """Inputs with moments that are not zero."""
    dice = np.random.default_rng(1)
    made: dict[str, np.ndarray] = {}
    for name in graph.inputs:
        shape = graph.values[name].shape
        made[name] = (
            np.abs(dice.standard_normal(shape)) if "/" in name else dice.integers(0, 11, shape)
        )
    return made


def loss_with(graph: Graph, name: str, array: np.ndarray, read: dict[str, np.ndarray]) -> float:
    """The loss with one weight replaced; tables made of it are made again."""
    sides = next(each for each in DECODERS.values() if graph.name == each.family)

    class Changed(Seeded):
        def array(self, path: str, shape: tuple[int, ...]) -> np.ndarray:
            return array if path == name else super().array(path, shape)

    changed = build_transformer("t", sides, LOAD, Changed(), plan=TrainingPlan("none"))
    return float(reference(changed, read)["loss"])


@pytest.mark.parametrize("family", DECODERS)
def test_every_gradient_is_the_slope_of_the_loss(family: str) -> None:
    graph = replace(step(DECODERS[family], "none"), name=family)
    read = feeds(graph)
    found = reference(graph, read)
    dice = np.random.default_rng(5)
    for output in graph.outputs[1:]:
        name = output.removesuffix("/grad")
        weight = Seeded().array(name, graph.values[output].shape).astype(np.float64)
        way = dice.standard_normal(weight.shape)
        reach = 1e-6
        up, down = (loss_with(graph, name, weight + sign * reach * way, read) for sign in (1, -1))
        assert np.sum(found[output] * way) == pytest.approx(
            (up - down) / (2 * reach), rel=2e-5, abs=1e-8
        ), output


def test_adamw_moves_weights_as_its_paper_says() -> None:
    graph, plain = step(LLAMA, "adamw"), step(LLAMA, "none")
    read = feeds(graph)
    new = reference(graph, read)
    grads = reference(plain, {"ids": read["ids"], "labels": read["labels"]})
    name = "layers/1/mlp/down/weight"
    weight = Seeded().array(name, graph.values[name].shape).astype(np.float64)
    m = 0.9 * read[f"{name}/m"] + 0.1 * grads[f"{name}/grad"]
    v = 0.95 * read[f"{name}/v"] + 0.05 * grads[f"{name}/grad"] ** 2
    want = weight * (1 - 0.01 * 0.1) - 0.01 * (m / 0.1) / (np.sqrt(v / 0.05) + 1e-8)
    np.testing.assert_allclose(new[f"{name}/new"], want, rtol=1e-6)
    np.testing.assert_allclose(new[f"{name}/m/new"], m, rtol=1e-9)
    np.testing.assert_allclose(new[f"{name}/v/new"], v, rtol=1e-9)


def test_every_weight_has_one_update_and_keeps_its_name() -> None:
    graph = step(LLAMA, "adamw")
    updates = [node.op for node in graph.nodes if isinstance(node.op, AdamW)]
    assert {op.inputs[0] for op in updates} == {
        name for name in graph.constants if name.endswith("/weight")
    }
    assert graph.parameters == sum(graph.values[op.inputs[0]].elements for op in updates)
    assert len(graph.outputs) == 1 + 3 * len(updates)


def test_uniform_logits_lose_the_logarithm_of_the_vocabulary() -> None:
    class Zeros(Seeded):
        def array(self, path: str, shape: tuple[int, ...]) -> np.ndarray:
            return np.zeros(shape, np.float32)

    graph = build_transformer("t", LLAMA, LOAD, Zeros(), plan=TrainingPlan("none"))
    assert reference(graph, feeds(graph))["loss"] == pytest.approx(np.log(11))
