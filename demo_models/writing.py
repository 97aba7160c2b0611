"""Helpers the demo scripts share: named nodes, seeded weights, one way to save.

The scripts use onnx.helper and numpy alone, so anyone can rebuild the files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20
IR_VERSION = 10
Weights = np.ndarray[Any, np.dtype[Any]]


class ModelWriter:
    """Collects the nodes and weights of one model."""

    def __init__(self, seed: int = 0, *, shape_only: bool = False) -> None:
        self.rng = np.random.default_rng(seed)
        self.shape_only = shape_only
        self._nodes: list[onnx.NodeProto] = []
        self._weights: dict[str, onnx.TensorProto] = {}

    def node(self, op_type: str, inputs: list[str], name: str, **attributes: Any) -> str:
        """Add a node of one output; the output has the node's name."""
        self._nodes.append(helper.make_node(op_type, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name: str, array: Weights) -> str:
        """Add a tensor that is not trained, such as a shape."""
        self._weights.setdefault(name, numpy_helper.from_array(array, name))
        return name

    def integers(self, name: str, *numbers: int) -> str:
        """Add a vector of integers."""
        return self.constant(name, np.asarray(numbers, np.int64))

    def weight(self, name: str, shape: tuple[int, ...], deviation: float, mean: float = 0) -> str:
        """Add a float32 weight, normally distributed; without numbers in a shape-only model."""
        if self.shape_only:
            where = self.integers(f"{name}.shape", *shape)
            zero = helper.make_tensor("value", TensorProto.FLOAT, [1], [0.0])
            return self.node("ConstantOfShape", [where], name, value=zero)
        array = mean + deviation * self.rng.standard_normal(shape)
        return self.constant(name, array.astype(np.float32))

    def linear(self, x: str, name: str, sides: tuple[int, int]) -> str:
        """Add x @ W + b over the last axis."""
        weight = self.weight(f"{name}.weight", sides, sides[0] ** -0.5)
        bias = self.weight(f"{name}.bias", sides[1:], 0.02)
        return self.node("Add", [self.node("MatMul", [x, weight], f"{name}/matmul"), bias], name)

    def layer_norm(self, x: str, name: str, side: int) -> str:
        """Add a layer normalisation over the last axis."""
        scale = self.weight(f"{name}.weight", (side,), 0.02, 1.0)
        bias = self.weight(f"{name}.bias", (side,), 0.02)
        return self.node("LayerNormalization", [x, scale, bias], name, axis=-1, epsilon=1e-5)

    def model(
        self, name: str, inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]
    ) -> onnx.ModelProto:
        """Return the checked model."""
        graph = helper.make_graph(
            self._nodes, name, inputs, outputs, initializer=list(self._weights.values())
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
        )
        model.producer_name = "waferscope demo"
        if self.shape_only:
            helper.set_model_props(model, {"waferscope.shape_only": "1"})
        onnx.checker.check_model(model)
        return model


def float_info(name: str, *shape: int) -> onnx.ValueInfoProto:
    """Return the declaration of a float32 tensor."""
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def integer_info(name: str, *shape: int) -> onnx.ValueInfoProto:
    """Return the declaration of an int64 tensor."""
    return helper.make_tensor_value_info(name, TensorProto.INT64, list(shape))


def save_beside(script: str, name: str, model: onnx.ModelProto) -> Path:
    """Write `<name>.onnx` into the folder of the script and return its path."""
    path = Path(script).with_name(f"{name}.onnx")
    path.write_bytes(model.SerializeToString(deterministic=True))
    return path
