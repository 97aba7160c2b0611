"""Tiny ONNX models for tests: one node, or a few written out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, np.dtype[Any]]
Sides = Sequence[int | str | None]


def value_info(name: str, dtype: str, shape: Sides) -> onnx.ValueInfoProto:
    """Declare a tensor; a str side is symbolic."""
    code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, code, list(shape))


def make_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sides],
    outputs: Mapping[str, Sides | None],
    weights: Mapping[str, Array] | None = None,
    opset: int = 20,
) -> onnx.ModelProto:
    """Make a model of float32 inputs and outputs."""
    graph = helper.make_graph(
        list(nodes),
        "tiny",
        [value_info(name, "float32", shape) for name, shape in inputs.items()],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape and list(shape))
            for name, shape in outputs.items()
        ],
        initializer=[numpy_helper.from_array(a, name) for name, a in (weights or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def one_node(
    op_type: str,
    fed: Sequence[Array],
    fixed: Sequence[Array | None] = (),
    outputs: int = 1,
    opset: int = 20,
    **attributes: Any,
) -> onnx.ModelProto:
    """Make a model of one node: inputs x0, x1, ... are fed, w0, w1, ... are initializers."""
    names = [f"x{i}" for i in range(len(fed))]
    weights = {f"w{i}": array for i, array in enumerate(fixed) if array is not None}
    read = names + [f"w{i}" if array is not None else "" for i, array in enumerate(fixed)]
    made = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op_type, read, made, name=f"the_{op_type}", **attributes)
    graph = helper.make_graph(
        [node],
        "one",
        [value_info(name, a.dtype.name, a.shape) for name, a in zip(names, fed, strict=True)],
        [onnx.ValueInfoProto(name=name) for name in made],
        initializer=[numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    return onnx.shape_inference.infer_shapes(model)


def saved(model: onnx.ModelProto, folder: Path, name: str = "model.onnx") -> Path:
    """Write the model and return its path."""
    path = folder / name
    path.write_bytes(model.SerializeToString())
    return path


def onnxruntime_outputs(
    path: Path, inputs: Mapping[str, Array], *, as_written: bool = False
) -> dict[str, Array]:
    """Return what onnxruntime computes, by output name.

    On one thread: with two, its ScatterND that adds now and then loses a sum. `as_written` keeps
    its optimiser from rounding the activations of a product whose weights are int8.
    """
    options = onnxruntime.SessionOptions()
    if as_written:
        basic = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.graph_optimization_level = basic
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(inputs)), strict=True))


def relative_error(ours: Array, theirs: Array) -> float:
    """Return max |a - b| / max |b|."""
    return float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))
