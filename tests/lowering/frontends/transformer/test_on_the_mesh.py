"""Compiled transformers compute on the mesh what the graph says, in every task."""

from __future__ import annotations

import numpy as np
import pytest

from engine.machine import generic_mesh
from engine.run import execute
from engine.values import run_values
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.evaluate import default_inputs, reference
from lowering.frontends.transformer import ModelOptions, build_transformer
from tests.lowering.frontends.transformer.small import DECODERS, Seeded

CONFIG = CompileConfig(machine=generic_mesh(96, 96), samples=2)
OPTIONS = {
    "prefill": ModelOptions(batch=2, sequence=4),
    "decode": ModelOptions("decode", batch=2, kv_length=5),
    "training": ModelOptions("training", sequence=4),
}


@pytest.mark.parametrize("task", OPTIONS)
@pytest.mark.parametrize("family", DECODERS)
def test_the_mesh_computes_what_the_graph_says(family: str, task: str) -> None:
    load = OPTIONS[task].resolved()
    graph = build_transformer(family, DECODERS[family], load, Seeded())
    feeds = {name: np.abs(array) for name, array in default_inputs(graph).items()}
    want = reference(graph, feeds)
    compiled = compile_graph(graph, CONFIG)
    found = run_values(compiled.program, compiled.store, feeds).outputs()
    assert found.keys() == want.keys()
    for name, array in want.items():
        reach = 2e-4 * max(1.0, float(np.abs(array).max()))
        np.testing.assert_allclose(found[name], array, atol=reach, err_msg=name)


@pytest.mark.parametrize("task", OPTIONS)
@pytest.mark.parametrize("family", ["mixtral", "deepseek_v3"])
def test_every_law_holds_with_experts(family: str, task: str) -> None:
    load = OPTIONS[task].resolved()
    compiled = compile_graph(build_transformer(family, DECODERS[family], load), CONFIG)
    found = execute(compiled.program, compiled.store).ledger
    assert [(check.name, check.detail) for check in found.checks if not check.ok] == []
