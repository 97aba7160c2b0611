"""Which dequantised tensors of a model are weights of products, and nothing else.

They stay integers on the mesh; every other constant is folded while the model is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from onnx import NodeProto

from lowering.frontends.onnx.bodies import DOMAINS, free_names

_PRODUCTS = ("MatMul", "Gemm", "Conv")
_WEIGHT = 1
"""input of a product that holds its weights"""
_Reading = tuple[NodeProto, int]


def product_weights(nodes: Iterable[NodeProto], outputs: Collection[str]) -> frozenset[str]:
    """Return the results of DequantizeLinear that only products read, as they are or transposed."""
    nodes = list(nodes)
    readings: dict[str, list[_Reading]] = {}
    for node in nodes:
        for index, name in enumerate(node.input):
            readings.setdefault(name, []).append((node, index))
        for name in free_names(node) - set(node.input):
            readings.setdefault(name, []).append((node, -1))
    found = (n.output[0] for n in nodes if n.op_type == "DequantizeLinear" and n.output)
    return frozenset(name for name in found if _only_weight(name, readings, outputs))


def _only_weight(
    name: str, readings: Mapping[str, list[_Reading]], outputs: Collection[str]
) -> bool:
    if name in outputs or not readings.get(name):
        return False
    for node, index in readings[name]:
        known = node.domain in DOMAINS
        weight = known and node.op_type in _PRODUCTS and index == _WEIGHT
        turned = known and node.op_type == "Transpose"
        if not weight and not (turned and _only_weight(node.output[0], readings, outputs)):
            return False
    return True
