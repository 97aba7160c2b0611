"""The model as a graph of boxes, scopes open or closed. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class GraphBox:
    """A node, or a closed scope."""

    id: str
    label: str
    kind: str
    """the source operator's type; of a scope how many nodes it holds"""
    is_scope: bool
    scope: str
    """the open scope it stands in, empty for none"""
    nodes: int
    """nodes of the model inside"""
    kernels: tuple[str, ...]
    """kernels that run its nodes, in program order; empty: nothing of it runs"""
    place: tuple[int, int, int, int] | None
    """rectangle around these kernels (row, col, rows, cols), None without any"""
    is_selected: bool
    """True when it holds the selected kernel"""
    layer: int
    left: float
    top: float
    width: int
    height: int
    """pixels"""
    sentence: str


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """Tensors from one box to another."""

    source: str
    target: str
    tensors: int
    text: str
    """first tensor and its shape, and how many more"""
    points: tuple[tuple[float, float], ...]
    """pixels, from the bottom of one box to the top of the other"""
    is_back: bool
    """True when it leads to an earlier box: the closed scopes need each other"""


@dataclass(frozen=True, slots=True)
class OpenScope:
    """A scope that is open."""

    id: str
    nodes: int


@dataclass(frozen=True, slots=True)
class GraphView(View):
    """The boxes that are seen, laid out in layers."""

    boxes: tuple[GraphBox, ...]
    """by layer, then from left to right"""
    edges: tuple[GraphEdge, ...]
    opened: tuple[OpenScope, ...]
    width: float
    height: float
    """pixels"""
    nodes: int
    """of the model"""
    selected: str | None
    """kernel selected, None for none"""
    is_seen: bool
    """True when every node of the selected kernel stands by itself, or nothing is selected"""
    standing: str
    sentence: str
