"""Operations of a kernel in words. One place for every screen."""

from __future__ import annotations

from engine.kernels.spec import Operation


def operation_text(op: Operation) -> str:
    """Return an operation's name with what it computes, such as 'Pointwise(Relu)'."""
    function = getattr(op, "fn", "")
    return f"{type(op).__name__}({function})" if function else type(op).__name__
