"""Activation checkpointing: a training step that keeps fewer forward results and makes them again.

The forward work falls into segments, each ending where a single activation carries everything on.
What a segment makes for the backward work alone is dropped, and the segment's nodes run a second
time right before their first reader there. Knows the graph and the kernels it would become.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate

from engine.machine import DTYPE_BYTES
from lowering.graph import Graph, Node
from lowering.passes.fuse import FUSABLE, KernelDraft, fuse
from lowering.passes.order import early_updates
from lowering.passes.phases import training_phases
from lowering.passes.rewrite import renamed

AGAIN = "/again"
"""end of the names of nodes and values that are made a second time"""


@dataclass(frozen=True, slots=True)
class Segment:
    """Forward work that can be done again from one activation."""

    nodes: tuple[Node, ...]
    """what must run again, in order"""
    dropped: tuple[str, ...]
    """values that only the backward work reads later"""


@dataclass(frozen=True, slots=True, eq=False)
class Checkpointed:
    """A graph under an activation budget."""

    graph: Graph
    repeated: int
    """segments that run again"""
    segments: int
    """segments there are"""
    before_bytes: int
    """most bytes of activations alive at once over the wafer as imported"""
    after_bytes: int
    """the same with the repeated segments"""
    fits: bool
    """True when the budget holds"""

    def sentence(self, budget: int) -> str:
        """Say what the budget did."""
        peak = f"activations alive at once {_mb(self.before_bytes)} -> {_mb(self.after_bytes)}"
        if not self.segments:
            return (
                f"activation_mb: no activation can be made again (live at once: "
                f"{_mb(self.before_bytes)}, budget {_mb(budget)}): that takes a training step in "
                "which one activation leads from layer to layer"
            )
        done = f"{self.repeated} of {self.segments} segments of the forward pass run again"
        missed = "" if self.fits else f"; the budget of {_mb(budget)} cannot be met"
        return f"activation_mb: {done}; {peak}{missed}"


def _mb(count: int) -> str:
    return f"{count / 1e6:,.4g} MB"


def checkpoint(
    graph: Graph,
    budget: int,
    dtype: str,
    joining: tuple[str, ...] = FUSABLE,
    *,
    outside: str = "",
) -> Checkpointed:
    """Return the graph with as few segments repeated, first ones first, as the budget needs.

    `budget` is in bytes over the whole wafer; kernels of phase `outside` hold none there.
    Where even all segments do not meet it, as many are as lower the peak.
    """
    segments = find_segments(graph)

    @cache
    def tried(count: int) -> tuple[Graph, int]:
        changed = repeat_segments(graph, segments[:count])
        return changed, _peak(changed, dtype, joining, outside)

    before, low, high = tried(0)[1], 0, len(segments)
    goal = max(budget, min(before, tried(high)[1]))
    while low < high:
        middle = (low + high) // 2
        if tried(middle)[1] <= goal:
            high = middle
        else:
            low = middle + 1
    changed, after = tried(high)
    return Checkpointed(changed, high, len(segments), before, after, after <= budget)


def least_peak(
    graph: Graph, dtype: str, joining: tuple[str, ...] = FUSABLE, *, outside: str = ""
) -> tuple[int, int]:
    """Return the bytes alive at once with all segments repeated, and how many there are."""
    segments = find_segments(graph)
    return _peak(repeat_segments(graph, segments), dtype, joining, outside), len(segments)


def _peak(graph: Graph, dtype: str, joining: tuple[str, ...], outside: str) -> int:
    drafts = early_updates(fuse(graph, joining))
    turns = [draft for draft in drafts if not outside or draft.phase != outside]
    return max(live_bytes(graph, turns, dtype), default=0)


def live_bytes(graph: Graph, drafts: Sequence[KernelDraft], dtype: str) -> list[int]:
    """Return the bytes of activations alive in each kernel's turn, in running order.

    An activation lives from the kernel that makes it to the last one that reads it.
    """
    last = {name: turn for turn, draft in enumerate(drafts) for name in draft.reads}
    change = [0] * (len(drafts) + 1)
    for turn, draft in enumerate(drafts):
        for name in draft.writes:
            if name in last:
                size = graph.values[name].elements * DTYPE_BYTES[dtype]
                change[turn] += size
                change[last[name] + 1] -= size
    return list(accumulate(change[:-1]))


def find_segments(graph: Graph) -> tuple[Segment, ...]:
    """Return the segments of a training step's forward work, none for other graphs.

    In order; of several micro-batches first the first segments of all.
    """
    phases = training_phases(graph)
    ahead = [node for node in graph.nodes if _phase(node, phases) in ("forward", "loss")]
    last = {name: at for at, node in enumerate(ahead) for name in node.op.inputs}
    needed = {
        name for node in graph.nodes if _phase(node, phases) == "backward"
        for name in node.op.inputs
    }  # fmt: skip
    found, alive, current, place = list[tuple[int, Segment]](), set[str](), list[Node](), 0
    for at, node in enumerate(ahead):
        alive -= {name for name in alive if last[name] <= at}
        if _phase(node, phases) == "loss":
            current, place = [], 0
            continue
        current.append(node)
        alive.update(name for name in node.op.outputs if last.get(name, -1) > at)
        if len(alive) == 1:
            segment = _segment(current, needed - alive - set(graph.outputs))
            if segment.dropped:
                found.append((place, segment))
                current, place = [], place + 1
    return tuple(segment for _, segment in sorted(found, key=lambda item: item[0]))


def _phase(node: Node, phases: Mapping[str, str]) -> str:
    return phases.get(node.op.outputs[0], "")


def _segment(nodes: Sequence[Node], stash: set[str]) -> Segment:
    """Return what of `nodes` must run again for the values of `stash` that they make."""
    dropped = [name for node in nodes for name in node.op.outputs if name in stash]
    wanted, kept = set(dropped), list[Node]()
    for node in reversed(nodes):
        if wanted.intersection(node.op.outputs):
            kept.append(node)
            wanted.update(node.op.inputs)
    return Segment(tuple(reversed(kept)), tuple(dropped))


def repeat_segments(graph: Graph, segments: Sequence[Segment]) -> Graph:
    """Return the graph in which backward work reads second results of these segments."""
    if not segments:
        return graph
    phases = training_phases(graph)
    owner = {name: index for index, part in enumerate(segments) for name in part.dropped}
    second = {
        name: name + AGAIN for part in segments for node in part.nodes for name in node.op.outputs
    }
    taken = {name: second[name] for name in owner}
    nodes, waiting = list[Node](), dict(enumerate(segments))
    for node in graph.nodes:
        if _phase(node, phases) in ("forward", "loss"):
            nodes.append(node)
            continue
        for name in node.op.inputs:
            if name in owner and owner[name] in waiting:
                nodes += _again(waiting.pop(owner[name]), second)
        nodes.append(_reading(node, taken))
    values = dict(graph.values)
    values.update((new, replace(graph.values[old], name=new)) for old, new in second.items())
    return replace(graph, nodes=tuple(nodes), values=values)


def _again(part: Segment, second: Mapping[str, str]) -> list[Node]:
    own = {name: second[name] for node in part.nodes for name in node.op.outputs}
    return [replace(renamed(node, own), name=node.name + AGAIN, again=True) for node in part.nodes]


def _reading(node: Node, names: Mapping[str, str]) -> Node:
    inputs = tuple(names.get(name, name) for name in node.op.inputs)
    return node if inputs == node.op.inputs else replace(node, op=replace(node.op, inputs=inputs))
