"""Tile loops: which nodes are cut, along what, that values stay, and that long prompts then fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Concat, Reshape, Slice, Transpose
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Reduce, Softmax
from engine.machine import generic_mesh
from engine.run import execute
from engine.values import run_values
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig, apply_knob
from lowering.evaluate import default_inputs, reference
from lowering.frontends.transformer import ModelOptions, build_transformer
from lowering.graph import Graph
from lowering.passes import run_passes
from lowering.passes.tile_loops import tile_loops
from tests.factories.graphs import tiny_graph
from tests.factories.training import initial_inputs, step_graph
from tests.lowering.frontends.transformer.small import DECODERS, LLAMA, Seeded

HEADS, TOKENS, DEEP = 6, 16, 1


def attention() -> Graph:
    """q, k, v -> y with heads in front, a mask for all of them, and a sum of what each row saw."""
    some, scores = (1, HEADS, TOKENS, DEEP), (1, HEADS, TOKENS, TOKENS)
    return tiny_graph(
        {"q": some, "k": some, "v": some, "mask": (TOKENS, TOKENS), "kt": (1, HEADS, DEEP, TOKENS),
         "s": scores, "m": scores, "p": scores, "t": (1, HEADS, TOKENS, 1), "n": scores,
         "y": some, "f": (1, HEADS * TOKENS, DEEP)},
        Transpose(inputs=("k",), outputs=("kt",), perm=(0, 1, 3, 2)),
        Dot(inputs=("q", "kt"), outputs=("s",)),
        Map(inputs=("s", "mask"), outputs=("m",), fn="add"),
        Softmax(inputs=("m",), outputs=("p",), axis=3),
        Reduce(inputs=("p",), outputs=("t",), fn="max", axes=(3,)),
        Map(inputs=("p", "t"), outputs=("n",), fn="mul"),
        Dot(inputs=("n", "v"), outputs=("y",)),
        Reshape(inputs=("y",), outputs=("f",), shape=(1, HEADS * TOKENS, DEEP)),
    )  # fmt: skip


SCORES = HEADS * TOKENS * TOKENS * 4
"""bytes of all scores in fp32"""


def prompt(family: str, task: str, tokens: int = 5) -> Graph:
    load = ModelOptions(task=task, batch=1, sequence=tokens).resolved()
    return run_passes(build_transformer(family, DECODERS[family], load, Seeded()))


def same_values(before: Graph, after: Graph) -> bool:
    inputs = default_inputs(before)
    ours, theirs = reference(after, inputs), reference(before, inputs)
    return all(np.allclose(ours[n], theirs[n], rtol=1e-12, atol=1e-14) for n in before.outputs)


@pytest.mark.parametrize(("limit", "parts"), [(SCORES // 2, 2), (SCORES // 3, 3), (SCORES // 5, 6)])
def test_heads_run_in_the_fewest_parts_that_are_small_enough(limit: int, parts: int) -> None:
    graph = attention()
    tiled = tile_loops(graph, limit, 4)
    (loop,) = tiled.loops
    assert (loop.axis, loop.parts) == (1, parts)
    assert [node.op.outputs[0] for node in loop.nodes] == ["s", "m", "p", "t", "n", "y"]
    made = [node.op for node in tiled.graph.nodes]
    assert sum(isinstance(op, Slice) for op in made) == 3 * parts
    (joined,) = [op for op in made if isinstance(op, Concat)]
    assert (joined.outputs, joined.axis) == (("y",), 1)
    assert joined.inputs == tuple(f"y[{part}]" for part in range(parts))
    largest = max(value.elements for value in tiled.graph.values.values())
    assert largest * 4 <= max(limit, SCORES // HEADS, HEADS * TOKENS * DEEP * 4)
    order = [op.outputs[0] for op in made]
    assert order.index("y[0]") < order.index("s[1]")
    assert same_values(graph, tiled.graph)
    assert f"work on 's' runs in {parts} parts" in tiled.sentence(limit)


def test_what_heads_cannot_make_small_enough_is_cut_by_rows_too() -> None:
    graph = attention()
    tiled = tile_loops(graph, SCORES // (2 * HEADS), 4)
    assert [(loop.axis, loop.parts) for loop in tiled.loops] == [(1, HEADS)] + [(2, 2)] * HEADS
    assert "p[3][1]" in tiled.graph.values
    assert same_values(graph, tiled.graph)


def test_nothing_large_changes_nothing() -> None:
    graph = attention()
    tiled = tile_loops(graph, SCORES, 4)
    assert tiled.graph is graph
    assert tiled.loops == ()


def test_work_along_no_common_axis_stays_whole() -> None:
    side = (64, 64)
    graph = tiny_graph(
        {"x": side, "w": side, "a": side, "b": side, "c": side, "y": (64, 1)},
        Dot(inputs=("x", "w"), outputs=("a",)),
        Transpose(inputs=("a",), outputs=("b",), perm=(1, 0)),
        Softmax(inputs=("b",), outputs=("c",), axis=1),
        Reduce(inputs=("c",), outputs=("y",), fn="sum", axes=(1,)),
    )
    assert tile_loops(graph, 64 * 32 * 4, 4).loops == ()


def test_causal_rows_are_not_cut() -> None:
    shape = (1, 1, TOKENS, TOKENS)
    graph = tiny_graph(
        {"q": (1, 1, TOKENS, DEEP), "k": (1, 1, DEEP, TOKENS), "s": shape, "p": shape,
         "y": (1, 1, TOKENS, 1)},
        Dot(inputs=("q", "k"), outputs=("s",)),
        Softmax(inputs=("s",), outputs=("p",), axis=3, causal=True),
        Reduce(inputs=("p",), outputs=("y",), fn="max", axes=(3,)),
    )  # fmt: skip
    assert tile_loops(graph, TOKENS * TOKENS, 4).loops == ()


@pytest.mark.parametrize("family", sorted(DECODERS))
@pytest.mark.parametrize("task", ["prefill", "training"])
def test_transformers_compute_the_same(family: str, task: str) -> None:
    graph = prompt(family, task)
    scores = max(
        value.elements for name, value in graph.values.items() if name.endswith("/softmax")
    )
    tiled = tile_loops(graph, scores * 4 - 1, 4)
    # bloom's heads share one key: its rows could loop, but their gradients are summed over rows
    assert bool(tiled.loops) == ((family, task) != ("bloom", "training"))
    assert same_values(graph, tiled.graph)


def longer(tokens: int, **knobs: str) -> Compiled:
    sides = replace(LLAMA, heads=8, kv_heads=4, width=16, inner=16)
    load = ModelOptions(task="prefill", batch=1, sequence=tokens).resolved()
    machine = replace(generic_mesh(8, 8), sram_bytes=12_000, reserved_sram_bytes=2_000)
    config = CompileConfig(machine=machine, mode="streaming", samples=1)
    for name, value in knobs.items():
        config = apply_knob(config, name, value)
    return compile_graph(build_transformer("longer", sides, load, Seeded()), config)


def test_a_prompt_that_is_too_long_fits_in_loops_with_the_same_values() -> None:
    whole, looped = longer(160, tile_loops="off"), longer(160)
    assert not whole.fits
    assert looped.fits
    assert [note for note in looped.report.notes if note.startswith("tile loops: ")]
    execution = execute(looped.program, looped.store, every_step=True)
    assert [check for check in execution.ledger.checks if not check.ok] == []
    assert looped.report.macs == whole.report.macs
    inputs = default_inputs(looped.graph)
    ours = run_values(looped.program, looped.store, inputs).outputs()
    theirs = reference(looped.graph, inputs)
    for name in looped.graph.outputs:
        assert np.abs(ours[name] - theirs[name]).max() <= 1e-5 * np.abs(theirs[name]).max()


def test_a_prompt_that_fits_runs_whole() -> None:
    made = longer(24)
    assert made.fits
    assert not [note for note in made.report.notes if note.startswith("tile loops: ")]


@pytest.mark.parametrize("name", ["convnext", "bert", "gpt2_2l", "llama"])
@pytest.mark.parametrize("share", [0.6, 0.12])
def test_training_steps_compute_the_same(name: str, share: float) -> None:
    graph = run_passes(step_graph(name))
    made = {n for node in graph.nodes for n in node.op.outputs} - set(graph.outputs)
    largest = max(graph.values[n].elements for n in made)
    tiled = tile_loops(graph, int(largest * share) * 4, 4)
    assert tiled.loops
    seen: set[str] = set(graph.inputs) | set(graph.constants)
    for node in tiled.graph.nodes:
        assert seen.issuperset(node.op.inputs), node.name
        assert seen.isdisjoint(node.op.outputs), node.name
        seen.update(node.op.outputs)
    inputs = initial_inputs(graph)
    ours, theirs = reference(tiled.graph, inputs), reference(graph, inputs)
    for output in graph.outputs:
        scale = np.abs(theirs[output]).max()
        assert np.abs(ours[output] - theirs[output]).max() <= 1e-9 * scale, output
