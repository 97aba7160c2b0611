"""The float64 oracle: precision, freed values, inputs it refuses."""

from __future__ import annotations

import re

import numpy as np
import pytest

from engine.kernels.dot.spec import Dot
from engine.kernels.gather.spec import Gather
from engine.kernels.move.spec import Reshape
from engine.kernels.pointwise.spec import Map
from engine.kernels.spec import Operation
from lowering.evaluate import default_inputs, reference
from lowering.graph import Graph, Node, Value


def graph_of(*ops: Operation, shapes: dict[str, tuple[int, ...]], dtype: str = "float32") -> Graph:
    return Graph(
        name="g",
        inputs=("x",),
        outputs=("y",),
        nodes=tuple(Node(f"n{i}", op, "Op", (f"n{i}",)) for i, op in enumerate(ops)),
        values={name: Value(name, shape, dtype) for name, shape in shapes.items()},
        constants={"t": np.ones(shapes["t"], np.float32)} if "t" in shapes else {},
    )


def test_floats_are_widened_and_casts_do_not_round() -> None:
    graph = graph_of(
        Map(inputs=("x",), outputs=("h",), fn="cast", dtype="float16"),
        Dot(inputs=("h", "t"), outputs=("y",)),
        shapes={"x": (1, 2), "h": (1, 2), "t": (2, 1), "y": (1, 1)},
    )
    x = np.array([[1.0, 2.0**-20]])
    result = reference(graph, {"x": x})["y"]
    assert result.dtype == np.float64
    assert result[0, 0] == 1 + 2.0**-20


def test_value_read_later_is_not_dropped() -> None:
    graph = graph_of(
        Map(inputs=("x",), outputs=("h",), fn="exp"),
        Map(inputs=("h", "x"), outputs=("s",), fn="add"),
        Map(inputs=("s", "h"), outputs=("y",), fn="mul"),
        shapes=dict.fromkeys(("x", "h", "s", "y"), (1,)),
    )
    assert reference(graph, {"x": np.zeros(1)})["y"].tolist() == [1]


def test_missing_or_misshapen_input_is_named() -> None:
    graph = graph_of(Map(inputs=("x",), outputs=("y",), fn="exp"), shapes={"x": (2,), "y": (2,)})
    with pytest.raises(ValueError, match="input 'x' of model 'g' is missing"):
        reference(graph, {})
    with pytest.raises(ValueError, match=re.escape("input 'x' has shape (3,)")):
        reference(graph, {"x": np.zeros(3)})


def test_indices_stay_below_the_axis_through_moves_and_casts() -> None:
    graph = graph_of(
        Map(inputs=("x",), outputs=("c",), fn="cast", dtype="int64"),
        Reshape(inputs=("c",), outputs=("r",), shape=(50, 2)),
        Gather(inputs=("t", "r"), outputs=("y",), axis=0),
        shapes={"x": (100,), "c": (100,), "r": (50, 2), "t": (5, 3), "y": (50, 2, 3)},
        dtype="int32",
    )
    x = default_inputs(graph, seed=3)["x"]
    assert set(x.tolist()) == {0, 1, 2, 3, 4}
    assert reference(graph, {"x": x})["y"].shape == (50, 2, 3)
