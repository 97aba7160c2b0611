"""ONNX's own node cases, for every operator of the table: right values or a stated refusal."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from onnx.backend.test.case.node import collect_testcases

from lowering.errors import ModelImportError, UnsupportedOpError
from lowering.evaluate import reference
from lowering.frontends.onnx import supported_operators
from lowering.passes import Canonicalise, FoldBatchNorm
from tests.conformance.backend import import_bound

FEWEST_RIGHT = 900


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


def agrees(case: Any) -> bool:
    arrays, expected = case.data_sets[0]
    fed = dict(zip([each.name for each in case.model.graph.input], arrays, strict=True))
    graph = FoldBatchNorm().run(Canonicalise().run(import_bound(case.model, fed)))
    ours = reference(graph, fed)
    for name, array in zip(graph.outputs, expected, strict=True):
        rtol, atol = (2e-3, 1e-3) if array.dtype == np.float16 else (1e-3, 1e-6)
        if ours[name].shape != array.shape or graph.values[name].dtype != array.dtype.name:
            return False
        if not np.allclose(ours[name], array, rtol=rtol, atol=atol, equal_nan=True):
            return False
    return True


def test_onnx_node_cases_are_right_or_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in collect_testcases(None) if is_ours(case)]
    right, wrong, refused = 0, [], []
    for case in cases:
        try:
            if agrees(case):
                right += 1
            else:
                wrong.append(case.name)
        except (ModelImportError, UnsupportedOpError):
            refused.append(case.name)
    assert wrong == []
    assert right >= FEWEST_RIGHT
    assert len(refused) < len(cases) // 20
