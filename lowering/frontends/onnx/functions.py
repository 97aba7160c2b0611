"""Bodies that ONNX itself gives to operators, with the calling node's attributes filled in.

Knows schemas and protobufs; nothing of importing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import AttributeProto, FunctionProto, NodeProto, defs, helper

_NEVER = ("Bernoulli", "SequenceMap")
"""operators whose body draws random numbers or walks a sequence: nothing a mesh program fixes"""


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A function body."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[NodeProto, ...]


def schema_body(
    node: NodeProto, opset: int, types: Sequence[tuple[tuple[int, ...], str] | None]
) -> Body | None:
    """Return what the operator is made of, None where ONNX does not say.

    `types` are the (shape, numpy dtype name) of the inputs, None for one left out.
    """
    try:
        schema = defs.get_schema(node.op_type, opset)
    except defs.SchemaError:
        return None
    if schema.has_context_dependent_function:
        function = _for_types(schema, node, opset, types)
    elif schema.has_function:
        version = _version(schema.function_opset_versions, opset)
        found = schema.get_function_with_opset_version(version)
        function = found if isinstance(found, FunctionProto) else _parsed(found)
    else:
        return None
    given = {each.name: each for each in node.attribute}
    defaults = {
        name: each.default_value
        for name, each in schema.attributes.items()
        if each.default_value.type != AttributeProto.UNDEFINED
    }
    given = {**defaults, **{each.name: each for each in function.attribute_proto}, **given}
    nodes = tuple(_filled(each, given) for each in function.node)
    return Body(tuple(function.input), tuple(function.output), nodes)


def operators_with_bodies(covered: Collection[str]) -> frozenset[str]:
    """Return the operators outside `covered` whose ONNX body is made of covered ones.

    A body that depends on the inputs' types is counted: what it is made of shows at import only.
    """
    whole: dict[str, frozenset[str]] = {}
    for schema in defs.get_all_schemas():
        if schema.domain or schema.name in {*covered, *_NEVER} or schema.deprecated:
            continue
        if schema.has_context_dependent_function:
            whole[schema.name] = frozenset()
        elif schema.has_function:
            whole[schema.name] = frozenset(node.op_type for node in schema.function_body.node)
    found: set[str] = set()
    while True:
        more = {name for name, parts in whole.items() if parts <= {*covered, *found}} - found
        if not more:
            return frozenset(found)
        found |= more


def _parsed(content: bytes) -> FunctionProto:
    function = FunctionProto()
    function.ParseFromString(content)
    return function


def _for_types(
    schema: defs.OpSchema,
    node: NodeProto,
    opset: int,
    types: Sequence[tuple[tuple[int, ...], str] | None],
) -> FunctionProto:
    version = _version(schema.context_dependent_function_opset_versions, opset)
    protos = [
        b""
        if each is None
        else helper.make_tensor_type_proto(
            helper.np_dtype_to_tensor_dtype(np.dtype(each[1])), list(each[0])
        ).SerializeToString()
        for each in types
    ]
    content = schema.get_context_dependent_function_with_opset_version(
        version, node.SerializeToString(), protos
    )
    return _parsed(content)


def _version(known: Sequence[int], opset: int) -> int:
    return max([each for each in known if each <= opset] or [min(known)])


def _filled(node: NodeProto, given: dict[str, AttributeProto]) -> NodeProto:
    """Return a copy whose attributes that refer to the caller's have their values."""
    copy = NodeProto()
    copy.CopyFrom(node)
    del copy.attribute[:]
    for each in node.attribute:
        kept = AttributeProto()
        if each.ref_attr_name:
            if each.ref_attr_name not in given:
                continue
            kept.CopyFrom(given[each.ref_attr_name])
            kept.name = each.name
        else:
            kept.CopyFrom(each)
        if kept.type == AttributeProto.GRAPH:
            inner = [_filled(n, given) for n in kept.g.node]
            del kept.g.node[:]
            kept.g.node.extend(inner)
        copy.attribute.append(kept)
    return copy
