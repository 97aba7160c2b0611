"""Collects every operator a model uses that cannot be placed, and what each one blocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from onnx import GraphProto, NodeProto

from lowering.errors import UnsupportedOp

_DEFAULT_DOMAINS = ("", "ai.onnx")
_DATA_DEPENDENT = "the shape of its result depends on data"
_CONTROL = "it chooses what runs from data; a mesh program is fixed at compile time"
_REASONS: dict[str, tuple[str, str]] = {
    "If": (_CONTROL, "export the branch that is taken, or use Where"),
    "Loop": (_CONTROL, "unroll it at export"),
    "Scan": (_CONTROL, "unroll it at export"),
    "NonZero": (_DATA_DEPENDENT, "use a mask of fixed shape with Where"),
    "Compress": (_DATA_DEPENDENT, "use a mask of fixed shape with Where"),
    "Unique": (_DATA_DEPENDENT, ""),
    "NonMaxSuppression": (_DATA_DEPENDENT, "cut the model before it and run it on the host"),
    "GridSample": ("it reads at computed places between pixels", "sample on the host"),
    "SequenceConstruct": ("a sequence has no fixed layout", "use Concat"),
}
_UNKNOWN = "no mesh operation covers it"


class Refusals:
    """The refused nodes of one model."""

    def __init__(self, graph: GraphProto) -> None:
        self._graph = graph
        self._refused: dict[tuple[str, str, str], list[NodeProto]] = defaultdict(list)
        self._needed: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        self.blocked: set[str] = set()

    def add(self, node: NodeProto, reason: str = "", inputs: Iterable[str] = ()) -> None:
        """Refuse a node; its outputs and all that is made from them are blocked."""
        known, alternative = _REASONS.get(node.op_type, (_UNKNOWN, ""))
        domain = "" if node.domain in _DEFAULT_DOMAINS else f"{node.domain}."
        if domain:
            known, alternative = f"the domain '{node.domain}' is not the ONNX standard's", ""
        key = (domain + node.op_type, reason or known, alternative)
        self._refused[key].append(node)
        self._needed[key].update(inputs)
        self.blocked.update(node.output)

    def block(self, node: NodeProto) -> bool:
        """Return whether the node reads something blocked; then its outputs are blocked too."""
        if self.blocked.isdisjoint(node.input):
            return False
        self.blocked.update(each for each in node.output if each)
        return True

    def report(self) -> tuple[UnsupportedOp, ...]:
        """Return one entry for each operator and reason, those that block most first."""
        entries = [
            UnsupportedOp(
                op,
                tuple(n.name for n in nodes),
                why,
                self._blocks(nodes),
                instead,
                tuple(sorted(self._needed[op, why, instead])),
            )
            for (op, why, instead), nodes in self._refused.items()
        ]
        return tuple(sorted(entries, key=lambda e: (-e.blocked_outputs, -e.count, e.op_type)))

    def _blocks(self, nodes: list[NodeProto]) -> int:
        reached = {output for node in nodes for output in node.output if output}
        for node in self._graph.node:
            if not reached.isdisjoint(node.input):
                reached.update(each for each in node.output if each)
        return sum(output.name in reached for output in self._graph.output)
