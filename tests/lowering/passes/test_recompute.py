"""Segments of the forward pass that run again: values stay, live bytes fall by what was said."""

from __future__ import annotations

import numpy as np
import pytest

from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Transpose
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Reduce
from engine.kernels.spec import Operation
from lowering.evaluate import default_inputs, reference
from lowering.frontends.builder import GraphBuilder
from lowering.graph import Graph
from lowering.passes import run_passes
from lowering.passes.fuse import fuse
from lowering.passes.order import early_updates
from lowering.passes.phases import training_phases
from lowering.passes.recompute import checkpoint, find_segments, live_bytes, repeat_segments
from tests.factories.training import step_graph


def two_layers() -> Graph:
    """y = tanh(x v), z = y w, loss = sum(z * z): the backward pass reads y, its slope and z."""
    builder = GraphBuilder()
    builder.add_value("x", (8, 4), "float32")
    for name in ("v", "w"):
        builder.add_value(name, (4, 4), "float32")
    builder.add_constant("rate", np.array(0.1, np.float32))
    ops: list[Operation] = [
        Dot(inputs=("x", "v"), outputs=("xv",)),
        Map(inputs=("xv",), outputs=("y",), fn="tanh"),
        Map(inputs=("xv",), outputs=("slope",), fn="tanh_slope"),
        Dot(inputs=("y", "w"), outputs=("z",)),
        Map(inputs=("z", "z"), outputs=("zz",), fn="mul"),
        Reduce(inputs=("zz",), outputs=("loss",), fn="sum", axes=(0, 1), keepdims=False),
        Map(inputs=("z", "z"), outputs=("dz",), fn="add"),
        Transpose(inputs=("y",), outputs=("yt",), perm=(1, 0)),
        Dot(inputs=("yt", "dz"), outputs=("dw",)),
        Transpose(inputs=("w",), outputs=("wt",), perm=(1, 0)),
        Dot(inputs=("dz", "wt"), outputs=("dy",)),
        Map(inputs=("dy", "slope"), outputs=("dxv",), fn="mul"),
        Transpose(inputs=("x",), outputs=("xt",), perm=(1, 0)),
        Dot(inputs=("xt", "dxv"), outputs=("dv",)),
        Map(inputs=("dw", "rate"), outputs=("sw",), fn="mul"),
        Map(inputs=("w", "sw"), outputs=("w_new",), fn="sub"),
        Map(inputs=("dv", "rate"), outputs=("sv",), fn="mul"),
        Map(inputs=("v", "sv"), outputs=("v_new",), fn="sub"),
    ]
    for op in ops:
        builder.emit(op, type(op).__name__, op.outputs[0], op.outputs[0])
    return builder.finish("two", ["x", "v", "w"], ["loss", "w_new", "v_new"])


def test_what_only_the_backward_pass_reads_later_is_dropped() -> None:
    graph = two_layers()
    segments = find_segments(graph)
    assert [part.dropped for part in segments] == [("slope",)] or [
        part.dropped for part in segments
    ] == [("xv",)]


@pytest.mark.parametrize("name", ["mlp", "gpt2_2l", "llama", "bert", "resnet_s", "mixtral"])
def test_repeating_segments_changes_no_value(name: str) -> None:
    graph = run_passes(step_graph(name))
    segments = find_segments(graph)
    inputs = default_inputs(graph)
    before = reference(graph, inputs)
    again = repeat_segments(graph, segments)
    for output, array in reference(again, inputs).items():
        np.testing.assert_array_equal(array, before[output], err_msg=output)
    extra = len(again.nodes) - len(graph.nodes)
    assert extra == sum(len(part.nodes) for part in segments)
    phases = training_phases(again)
    assert sum(phase == "recompute" for phase in phases.values()) >= extra > 0


@pytest.mark.parametrize("name", ["gpt2_2l", "llama"])
def test_as_few_segments_run_again_as_the_budget_needs(name: str) -> None:
    graph = run_passes(step_graph(name))
    segments = find_segments(graph)

    def peak(count: int) -> int:
        changed = repeat_segments(graph, segments[:count])
        return max(live_bytes(changed, early_updates(fuse(changed)), "fp32"))

    peaks = [peak(count) for count in range(len(segments) + 1)]
    assert min(peaks) < 0.7 * peaks[0]
    for budget in (peaks[0], peaks[0] - 1, peaks[2], min(peaks)):
        found = checkpoint(graph, budget, "fp32")
        first = next(count for count, most in enumerate(peaks) if most <= budget)
        assert (found.repeated, found.before_bytes, found.after_bytes, found.fits) == (
            first, peaks[0], peaks[first], True
        )  # fmt: skip
    missed = checkpoint(graph, 1, "fp32")
    assert (missed.after_bytes, missed.fits) == (min(peaks), False)
    assert "the budget of 1e-06 MB cannot be met" in missed.sentence(1)


def test_a_graph_that_does_not_train_is_left_alone_and_said_so() -> None:
    builder = GraphBuilder()
    builder.add_value("x", (4, 4), "float32")
    builder.emit(Map(inputs=("x",), outputs=("y",), fn="tanh"), "Tanh", "y", "y")
    graph = builder.finish("plain", ["x"], ["y"])
    found = checkpoint(graph, 1, "fp32")
    assert found.graph is graph
    assert "no activation can be made again" in found.sentence(1)
