"""Imports node lists inside others: function bodies, branches, and the rounds of a loop.

A body's values get the calling node's name as prefix; names from outside keep theirs. Which
operator is imported how is told by a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onnx import AttributeProto, GraphProto, NodeProto, TensorProto

from lowering.frontends.builder import GraphBuilder
from lowering.frontends.onnx.context import (
    NodeContext,
    NotCoveredError,
    NotStaticError,
    Source,
)
from lowering.frontends.onnx.functions import Body, schema_body
from lowering.frontends.onnx.reading import numpy_dtype, read_tensor
from lowering.frontends.onnx.table import Importer

DOMAINS = ("", "ai.onnx", "ai.onnx.preview.training")
"""operator sets whose operators are known"""


@dataclass(frozen=True, slots=True, eq=False)
class BodyImporter:
    """Imports single nodes and the bodies inside them."""

    builder: GraphBuilder
    table: Mapping[str, Importer]
    opset: int
    """opset of the default domain that the nodes are written in"""
    shape_only: bool

    def node(self, node: NodeProto, read: set[str], source: Source | None = None) -> None:
        """Import one node by its rule or, where there is none, by the body ONNX gives it.

        What a body holds is shown as the operator it is a part of, `source`.

        Raises NotCoveredError where there is neither; what rules raise passes through.
        """
        ctx = NodeContext(node, self.builder, read, self, shape_only=self.shape_only, source=source)
        domain = "" if node.domain in DOMAINS else f"{node.domain}."
        importer = self.table.get(domain + node.op_type)
        if importer is not None:
            importer(ctx)
            return
        body = None
        if node.domain in ("", "ai.onnx"):
            body = schema_body(node, self.opset, self._types(ctx))
        if body is None:
            raise NotCoveredError("")
        self._expand(ctx, body)

    def _types(self, ctx: NodeContext) -> list[tuple[tuple[int, ...], str] | None]:
        found = []
        for index in range(len(ctx.inputs)):
            value = ctx.value(index) if ctx.has(index) else None
            found.append(None if value is None else (value.shape, value.dtype))
        return found

    def _expand(self, ctx: NodeContext, body: Body) -> None:
        given = dict(zip(body.inputs, ctx.inputs, strict=False))
        scope = {name: given.get(name, "") for name in body.inputs}
        wanted = [name for index, name in enumerate(body.outputs) if ctx.wants(index)]
        whole = ctx.source or Source(ctx.node.op_type, ctx.node.name)
        made = self.body(body.nodes, (), scope, wanted, ctx.node.name, whole)
        for index, name in enumerate(body.outputs):
            if name in made:
                ctx.give(made[name], index)

    def graph(
        self, ctx: NodeContext, graph: GraphProto, values: Sequence[str], prefix: str
    ) -> list[str]:
        """Import a branch or one round of a loop and return its outputs' values."""
        scope = dict(zip((each.name for each in graph.input), values, strict=True))
        outputs = [each.name for each in graph.output]
        made = self.body(graph.node, graph.initializer, scope, outputs, prefix, ctx.source)
        return [made[name] for name in outputs]

    def body(
        self,
        nodes: Iterable[NodeProto],
        weights: Iterable[TensorProto],
        scope: Mapping[str, str],
        outputs: Sequence[str],
        prefix: str,
        source: Source | None,
    ) -> dict[str, str]:
        """Import nodes under a prefix; `scope` says what their free names stand for."""
        names = dict(scope)
        for tensor in weights:
            names[tensor.name] = self._weight(tensor, prefix)
        needed = needed_nodes(list(nodes), outputs)
        renamed = []
        for index, node in enumerate(needed):
            copy = renamed_node(node, names)
            names.update({name: f"{prefix}/{name}" for name in node.output if name})
            del copy.output[:]
            copy.output.extend(names[name] if name else "" for name in node.output)
            copy.name = f"{prefix}/{node.name or f'{node.op_type}_{index}'}"
            renamed.append(copy)
        read = {names.get(name, name) for name in outputs}
        for node in renamed:
            read.update(free_names(node))
        for node in renamed:
            self._inner(node, read, source)
        return {name: self.builder.resolve(names.get(name, name)) for name in outputs}

    def _weight(self, tensor: TensorProto, prefix: str) -> str:
        numpy_dtype(tensor.data_type, f"tensor '{tensor.name}'")
        name = self.builder.fresh(f"{prefix}/{tensor.name}")
        return self.builder.add_constant(name, read_tensor(tensor, Path()), {name})

    def _inner(self, node: NodeProto, read: set[str], source: Source | None) -> None:
        try:
            self.node(node, read, source)
        except NotStaticError:
            raise
        except NotCoveredError as error:
            reason = f": {error}" if str(error) else ""
            raise NotCoveredError(f"its part {node.op_type} is not covered{reason}") from error


def free_names(node: NodeProto) -> set[str]:
    """Return what a node reads, the names that its inner graphs take from outside included."""
    found = {name for name in node.input if name}
    for graph in _graphs(node):
        inner = {each.name for each in (*graph.input, *graph.initializer)}
        for each in graph.node:
            found |= free_names(each) - inner
            inner.update(each.output)
        found |= {each.name for each in graph.output} - inner
    return found


def _graphs(node: NodeProto) -> list[GraphProto]:
    return [each.g for each in node.attribute if each.type == AttributeProto.GRAPH]


def needed_nodes(nodes: Sequence[NodeProto], outputs: Iterable[str]) -> list[NodeProto]:
    """Return the nodes that the outputs need, in order."""
    read = set(outputs)
    kept = []
    for node in reversed(nodes):
        if not read.isdisjoint(node.output):
            read |= free_names(node)
            kept.append(node)
    return kept[::-1]


def renamed_node(node: NodeProto, names: Mapping[str, str]) -> NodeProto:
    """Return a copy that reads the names put in place of its own, inner graphs too."""
    copy = NodeProto()
    copy.CopyFrom(node)
    del copy.input[:]
    copy.input.extend(names.get(name, name) for name in node.input)
    for graph in _graphs(copy):
        _rename_graph(graph, names)
    return copy


def _rename_graph(graph: GraphProto, names: Mapping[str, str]) -> None:
    inner = {each.name for each in (*graph.input, *graph.initializer)}
    inner |= {name for each in graph.node for name in each.output}
    outside = {name: new for name, new in names.items() if name not in inner}
    nodes = [renamed_node(each, outside) for each in graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    for output in graph.output:
        output.name = outside.get(output.name, output.name)
