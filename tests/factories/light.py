"""The onnx wheel's light CNNs with numbers: real topologies whose weights are all one constant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper


def light_path(name: str) -> Path:
    """Return the path of a light model inside the onnx wheel."""
    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"


def reseed_light(model: onnx.ModelProto, seed: int = 0) -> onnx.ModelProto:
    """Replace each ConstantOfShape by seeded numbers: He-normal weights, scales of 0.5 to 1.5.

    Without that every output of these models is one repeated value and proves nothing.
    """
    rng = np.random.default_rng(seed)
    shapes = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    scales = {n for node in model.graph.node if node.op_type == "BatchNormalization"
              for n in (node.input[1], node.input[4])}  # fmt: skip
    kept = []
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape":
            kept.append(node)
            continue
        name, shape = node.output[0], tuple(int(side) for side in shapes[node.input[0]])
        if name in scales:
            array = rng.uniform(0.5, 1.5, shape)
        else:
            fan_in = int(np.prod(shape[1:])) or 1
            deviation = np.sqrt(2 / fan_in) if len(shape) > 1 else 0.1
            array = rng.standard_normal(shape) * deviation
        model.graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
    del model.graph.node[:]
    model.graph.node.extend(kept)
    weights = {each.name for each in model.graph.initializer}
    fed = [each for each in model.graph.input if each.name not in weights]
    del model.graph.input[:]
    model.graph.input.extend(fed)
    model.ir_version = 8
    return model


def without_last(model: onnx.ModelProto, op_type: str) -> onnx.ModelProto:
    """Cut a last node of `op_type` off, its input becoming the output."""
    last = model.graph.node[-1]
    if last.op_type == op_type:
        model.graph.output[0].name = last.input[0]
        model.graph.output[0].type.tensor_type.ClearField("shape")
        del model.graph.node[-1]
    return model
