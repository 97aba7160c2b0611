"""Matrix products."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.spec import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot(Operation):
    """`outputs[0] = inputs[0] @ inputs[1]` with numpy's matmul rules (batch axes broadcast).

    Operands are at least 2-D; vectors are reshaped before.
    """
