"""Tensors that take no bytes of their own."""

from __future__ import annotations

from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Reshape
from engine.kernels.spec import KernelSpec
from engine.kernels.views import views


def test_a_view_of_a_view_leads_to_what_is_seen() -> None:
    spec = KernelSpec(
        (
            Dot(inputs=("x", "w"), outputs=("a",)),
            Reshape(inputs=("a",), outputs=("b",), shape=(4,)),
            Reshape(inputs=("b",), outputs=("c",), shape=(2, 2)),
        ),
        0,
    )
    assert views(spec) == {"b": "a", "c": "a"}
