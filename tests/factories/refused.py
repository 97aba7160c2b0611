"""A model with two operators that no mesh operation covers."""

from __future__ import annotations

from pathlib import Path

from onnx import helper

from tests.factories.onnx_models import make_model, saved


def refused_model(folder: Path) -> Path:
    """Write a model of two Det and one NonZero, each leading to an output; returns its path."""
    nodes = [
        helper.make_node("Det", ["x"], ["d1"], name="det1"),
        helper.make_node("Det", ["x"], ["d2"], name="det2"),
        helper.make_node("Add", ["d1", "d2"], ["y"]),
        helper.make_node("NonZero", ["x"], ["z"], name="<b>where</b>"),
    ]
    return saved(make_model(nodes, {"x": (3, 3)}, {"y": None, "z": None}), folder)
