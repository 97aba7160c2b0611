"""What a config file leaves open and the user says: task, batch, lengths. Knows no format."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lowering.errors import ModelImportError

TASKS = ("prefill", "decode", "training")
DEFAULT_SEQUENCE = 128
"""tokens of a prefill or a training step where nobody says (our choice)"""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model without a fixed shape is to be run."""

    task: str | None = None
    """prefill | decode | training; None: what the file is for"""
    batch: int | None = None
    """sequences a sample; None: the file's, or 1"""
    sequence: int | None = None
    """tokens a sequence; None: the file's, else 128, in decode 1"""
    kv_length: int | None = None
    """decode: tokens attended to, the new ones included"""

    def __post_init__(self) -> None:
        if self.task is not None and self.task not in TASKS:
            raise ModelImportError(f"task '{self.task}' is unknown; tasks: {', '.join(TASKS)}")
        numbers = {"batch": self.batch, "sequence": self.sequence, "kv": self.kv_length}
        for name, number in numbers.items():
            if number is not None and number < 1:
                raise ModelImportError(f"{name} is {number}, must be at least 1")

    def given(self) -> tuple[str, ...]:
        """Return the names of what the user said."""
        said = {
            "task": self.task, "batch": self.batch, "sequence": self.sequence, "kv": self.kv_length,
        }  # fmt: skip
        return tuple(name for name, value in said.items() if value is not None)

    def or_else(self, batch: int) -> ModelOptions:
        """Return the options with a batch where the user said none."""
        return self if self.batch is not None else replace(self, batch=batch)

    def resolved(self, task: str = "prefill", sequence: int = DEFAULT_SEQUENCE) -> Workload:
        """Return the workload; `task` and `sequence` stand in for what was not said.

        Raises ModelImportError for what is missing or contradicts itself.
        """
        chosen, batch = self.task or task, self.batch or 1
        if chosen != "decode":
            if self.kv_length is not None:
                raise ModelImportError(
                    f"kv length {self.kv_length} is for decode; {chosen} attends to its own "
                    "tokens: leave it out, or ask for decode"
                )
            length = self.sequence or sequence
            return Workload(chosen, batch, length, length)
        if self.kv_length is None:
            raise ModelImportError(
                "decode needs the kv length, the tokens attended to with the new one: "
                "say for example --kv 4096"
            )
        length = self.sequence or 1
        if self.kv_length <= length:
            raise ModelImportError(
                f"decode of {length} new tokens needs a kv length above {length}, got "
                f"{self.kv_length}; without a cache it is a prefill"
            )
        return Workload(chosen, batch, length, self.kv_length)


@dataclass(frozen=True, slots=True)
class Workload:
    """Options with every blank filled."""

    task: str
    batch: int
    tokens: int
    """new tokens a sequence"""
    attended: int
    """tokens attended to, the new ones included"""

    @property
    def cached(self) -> int:
        """tokens in the cache before"""
        return self.attended - self.tokens
