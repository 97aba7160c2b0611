"""Training steps as ONNX graphs: seeded state, and one step after another.

A step reads parameters, first and second moments, a step count, inputs and labels, in this order;
it gives the loss, new parameters, moments and count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path

import numpy as np

from lowering.frontends.onnx import load_onnx
from lowering.graph import Graph

Arrays = dict[str, np.ndarray]
_SECOND_MOMENT = 1e-2
"""start of the second moments: from zero the update is the gradient's sign, noise included"""
_CLASSES = 4
"""labels and tokens are drawn below this, so that they exist in every model"""


@dataclass(frozen=True, slots=True)
class StepNames:
    """Input and output names of one training step."""

    state: tuple[str, ...]
    """inputs that an output replaces: parameters, moments, count"""
    new_state: tuple[str, ...]
    """the outputs that replace them, in the same order"""
    loss: str


@lru_cache(maxsize=8)
def step_graph(name: str) -> Graph:
    """Return a captured training step, such as gpt2_2l, as imported."""
    return load_onnx(Path(__file__).parents[1] / "data" / "train_steps" / f"{name}.onnx")


def step_names(graph: Graph) -> StepNames:
    """Return which output replaces which input."""
    state = tuple(n for n in graph.inputs if not n.startswith(("args_", "lab")))
    return StepNames(state, graph.outputs[1:], graph.outputs[0])


def initial_inputs(graph: Graph, seed: int = 0) -> Arrays:
    """Return seeded parameters, moments that spare AdamW its zero state, inputs and labels."""
    rng = np.random.default_rng(seed)
    made: Arrays = {}
    for name in graph.inputs:
        value = graph.values[name]
        shape, dtype = value.shape, np.dtype(value.dtype)
        if dtype.kind in "iu":
            high = 2 if name == "args_1" else _CLASSES
            made[name] = rng.integers(0, high, shape).astype(dtype)
        elif name.startswith("ms_"):
            made[name] = np.zeros(shape, dtype)
        elif name.startswith("vs_"):
            made[name] = np.full(shape, _SECOND_MOMENT, dtype)
        elif name == "t":
            made[name] = np.zeros(shape, dtype)
        elif name.startswith("plist_") and len(shape) == 1:
            made[name] = (1 + 0.05 * rng.standard_normal(shape)).astype(dtype)
        else:
            fan_in = max(1, prod(shape[1:])) if name.startswith("plist_") else 1
            made[name] = (rng.standard_normal(shape) / np.sqrt(fan_in)).astype(dtype)
    return made


def losses(
    graph: Graph,
    run: Callable[[Mapping[str, np.ndarray]], Mapping[str, np.ndarray]],
    steps: int,
) -> list[float]:
    """Return the loss of each of `steps` training steps on the same inputs."""
    names, fed, found = step_names(graph), initial_inputs(graph), []
    for _ in range(steps):
        made = run(fed)
        found.append(float(made[names.loss]))
        pairs = zip(names.state, names.new_state, strict=True)
        fed = {**fed, **{old: made[new] for old, new in pairs}}
    return found
