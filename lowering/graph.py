"""The Graph: one model at one opset, static shapes, every node a mesh operation with provenance.

Nodes carry the engine's own operations, so lowering a node is choosing where it runs, not
translating it once more. Frozen data; a pass returns a new Graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.kernels.spec import Operation


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of the graph."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    """numpy dtype name"""

    @property
    def elements(self) -> int:
        """number of elements"""
        count = 1
        for side in self.shape:
            count *= side
        return count


@dataclass(frozen=True, slots=True)
class Node:
    """One operation and where it came from."""

    name: str
    op: Operation
    kind: str
    """what a user recognises: the source operator's type, such as Gemm or LayerNormalization"""
    origin: tuple[str, ...]
    """names of the source nodes"""
    again: bool = False
    """True for work done a second time, because its result was not kept"""


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A model, ready to lower."""

    name: str
    inputs: tuple[str, ...]
    """value names the user feeds, in the model's order"""
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    """in an order that computes"""
    values: Mapping[str, Value]
    """every value, constants included"""
    constants: Mapping[str, np.ndarray]
    """read-only arrays; a constant without an array is absent and listed in `unknown`"""
    unknown: frozenset[str] = frozenset()
    """weights of a shape-only model: known shape and dtype, no numbers"""
    source_hash: str = ""
    """sha256 of the model file"""
    parameters: int = 0
    """distinct trainable elements, tied ones once"""
    fixed: tuple[str, ...] = ()
    """the model's inputs whose fed value says how to lay out: part of the program, no more fed"""
