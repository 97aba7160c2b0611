"""The type of an importer: one ONNX node in, operations of the engine out."""

from __future__ import annotations

from collections.abc import Callable

from lowering.frontends.onnx.context import NodeContext

Importer = Callable[[NodeContext], None]
