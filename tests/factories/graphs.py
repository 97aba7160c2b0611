"""Graphs for compiler tests: the small models and tiny ones by hand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from demo_models import DEMOS, demo_path
from engine.kernels.spec import Operation
from engine.machine import parse_machine
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig
from lowering.frontends.onnx import load_onnx
from lowering.graph import Graph, Node, Value
from lowering.passes import run_passes

MODELS = Path(__file__).parents[1] / "data" / "models"
MODEL_NAMES = ("mlp", "gpt2_2l", "bert", "vit", "convnext")
DEMO_NAMES = tuple(DEMOS)


def model_path(name: str) -> Path:
    """Return the path of a small model or a demo."""
    return MODELS / f"{name}.onnx" if name in MODEL_NAMES else demo_path(name.removeprefix("demo-"))


@lru_cache(maxsize=16)
def model_graph(name: str) -> Graph:
    """Return the graph of a small model (`mlp`) or a demo (`demo-mlp`) as imported."""
    return load_onnx(model_path(name))


@lru_cache(maxsize=16)
def lowered_graph(name: str) -> Graph:
    """Return the same graph after all passes, as kernels are formed from it."""
    return run_passes(model_graph(name))


@lru_cache(maxsize=32)
def compiled_model(name: str, machine: str) -> Compiled:
    """Return a model compiled with default knobs."""
    return compile_graph(
        model_graph(name), CompileConfig(machine=parse_machine(machine), mode="pipeline")
    )


def tiny_graph(
    shapes: Mapping[str, tuple[int, ...]], *ops: Operation, outputs: tuple[str, ...] = ()
) -> Graph:
    """Return a graph of float32 values; names that start with `w` are weights.

    Inputs are the others that no operation makes; without `outputs` the last result is one.
    """
    rng = np.random.default_rng(0)
    made = [name for op in ops for name in op.outputs]
    used = dict.fromkeys(name for op in ops for name in op.inputs)
    weights = {n: rng.standard_normal(shapes[n]).astype(np.float32) for n in used if n[0] == "w"}
    return Graph(
        name="tiny",
        inputs=tuple(n for n in used if n not in weights and n not in made),
        outputs=outputs or (made[-1],),
        nodes=tuple(Node(op.outputs[0], op, type(op).__name__, (op.outputs[0],)) for op in ops),
        values={name: Value(name, shape, "float32") for name, shape in shapes.items()},
        constants=weights,
        parameters=sum(array.size for array in weights.values()),
    )
