"""A model whose every name is a script, as a file."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

EVIL = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>'\"]]>"


def evil_model() -> bytes:
    """Return a small product whose graph, node, tensors and text hold scripts."""
    x = helper.make_tensor_value_info(f"x{EVIL}", TensorProto.FLOAT, [8, 16])
    y = helper.make_tensor_value_info(f"y{EVIL}", TensorProto.FLOAT, [8, 12])
    weights = numpy_helper.from_array(np.ones((16, 12), np.float32), f"w{EVIL}")
    nodes = [
        helper.make_node("MatMul", [x.name, weights.name], [f"m{EVIL}"], name=f"product{EVIL}"),
        helper.make_node("Relu", [f"m{EVIL}"], [y.name], name=f"relu{EVIL}"),
    ]
    graph = helper.make_graph(nodes, f"graph{EVIL}", [x], [y], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    model.doc_string = EVIL
    onnx.checker.check_model(model)
    data: bytes = model.SerializeToString()
    return data
