"""ONNX's own node cases, for every operator of the table: right values or a stated refusal."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

from lowering.errors import ModelImportError, UnsupportedOpError
from lowering.evaluate import reference
from lowering.frontends.onnx import load_onnx, supported_operators
from lowering.passes import Canonicalise, FoldBatchNorm
from tests.factories.onnx_models import saved

FEWEST_RIGHT = 900
TAKES_SHAPES = {
    "Reshape", "Expand", "Slice", "Tile", "Pad", "Split", "Squeeze", "Unsqueeze", "Trilu",
    "ConstantOfShape", "Range", "Dropout", "Clip",
}  # fmt: skip


def bind_shapes(model: onnx.ModelProto, fed: dict[str, Any]) -> None:
    """Turn inputs that say how to lay out another into initializers: they must be static."""
    for node in model.graph.node:
        if node.op_type not in TAKES_SHAPES and not node.op_type.startswith("Reduce"):
            continue
        first = 0 if node.op_type in ("ConstantOfShape", "Range") else 1
        for name in [each for each in node.input[first:] if each in fed]:
            model.graph.initializer.append(numpy_helper.from_array(fed.pop(name), name))
    kept = [each for each in model.graph.input if each.name in fed]
    del model.graph.input[:]
    model.graph.input.extend(kept)


def is_ours(case: Any) -> bool:
    known = supported_operators()
    nodes = case.model.graph.node
    if (
        "bf16" in case.name or "bfloat16" in case.name
    ):  # stored as float32 that was rounded in between; we never round
        return False
    if not case.data_sets or any(node.op_type not in known or node.domain for node in nodes):
        return False
    arrays = [array for side in case.data_sets[0] for array in side]
    return all(isinstance(a, np.ndarray) and a.dtype.name in np.sctypeDict for a in arrays)


def agrees(case: Any, folder: Path) -> bool:
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    arrays, expected = case.data_sets[0]
    fed = dict(zip([each.name for each in model.graph.input], arrays, strict=True))
    bind_shapes(model, fed)
    graph = FoldBatchNorm().run(Canonicalise().run(load_onnx(saved(model, folder))))
    ours = reference(graph, fed)
    for name, array in zip(graph.outputs, expected, strict=True):
        rtol, atol = (2e-3, 1e-3) if array.dtype == np.float16 else (1e-3, 1e-6)
        if ours[name].shape != array.shape or graph.values[name].dtype != array.dtype.name:
            return False
        if not np.allclose(ours[name], array, rtol=rtol, atol=atol, equal_nan=True):
            return False
    return True


def test_onnx_node_cases_are_right_or_refused(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in collect_testcases(None) if is_ours(case)]
    right, wrong, refused = 0, [], []
    for case in cases:
        try:
            if agrees(case, tmp_path):
                right += 1
            else:
                wrong.append(case.name)
        except (ModelImportError, UnsupportedOpError):
            refused.append(case.name)
    assert wrong == []
    assert right >= FEWEST_RIGHT
    assert len(refused) < len(cases) // 20
