"""What a user's model can do wrong. Each message is one sentence a person can act on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_NAMES_SHOWN = 3


class ModelImportError(ValueError):
    """The file cannot be read as a model of static shapes."""

    exit_code = 2

    def at(self, where: str) -> ModelImportError:
        """Return the same error with its place before it, unless it names that already."""
        return self if where in str(self) else ModelImportError(f"{where}: {self}")


@dataclass(frozen=True, slots=True)
class UnsupportedOp:
    """One operator of the model that has no mesh operation."""

    op_type: str
    """the operator, with its domain where that is not the default one"""
    nodes: tuple[str, ...]
    """names of the nodes that use it"""
    reason: str
    """why it cannot be placed on the mesh"""
    blocked_outputs: int
    """model outputs that cannot be computed without these nodes"""
    alternative: str = ""
    """what to use in its place, empty where nothing is near"""
    inputs: tuple[str, ...] = ()
    """inputs of the model whose values would have to be known at compile time"""

    @property
    def count(self) -> int:
        """number of nodes"""
        return len(self.nodes)

    def sentence(self) -> str:
        """Return the line shown to the user."""
        shown = ", ".join(self.nodes[:_NAMES_SHOWN])
        more = f" and {self.count - _NAMES_SHOWN} more" if self.count > _NAMES_SHOWN else ""
        nodes = "1 node" if self.count == 1 else f"{self.count} nodes"
        outputs = "1 output" if self.blocked_outputs == 1 else f"{self.blocked_outputs} outputs"
        line = f"{self.op_type}: {nodes} ({shown}{more}), {self.reason}; blocks {outputs}"
        return f"{line}; {self.help}" if self.help else line

    @property
    def help(self) -> str:
        """what would make it work, empty where nothing is known"""
        if not self.inputs:
            return self.alternative
        named = ", ".join(f"'{name}'" for name in self.inputs[:_NAMES_SHOWN])
        return f"it would do if {named} had a fixed value (an initializer)"


class UnsupportedOpError(ValueError):
    """Operators without a mesh operation, all of the model's at once in `ops`."""

    exit_code = 3

    def __init__(self, model: str, ops: Sequence[UnsupportedOp]) -> None:
        self.model = model
        self.ops = tuple(ops)
        count = sum(op.count for op in ops)
        nodes = "1 node" if count == 1 else f"{count} nodes"
        lines = "\n".join(f"  {op.sentence()}" for op in ops)
        super().__init__(f"model '{model}' has {nodes} that no mesh operation covers:\n{lines}")
