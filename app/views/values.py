"""The tensors of a run and how far they are off. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class TensorRow:
    """One tensor of sample 0."""

    tensor: str
    kernel: str | None
    """kernel that writes it, None for what comes from outside: inputs, and work done there"""
    shape: tuple[int, ...]
    max_error: float | None
    """max |ours - reference| / max |reference|, None where nothing was compared"""
    mean_error: float | None
    """mean |ours - reference| / max |reference|"""
    where: tuple[int, ...]
    """index of the largest error, empty without one"""
    severity: str
    """ok | warn (larger than rounding explains) | alert (NaN or infinity)"""


@dataclass(frozen=True, slots=True)
class NonFiniteRow:
    """The first NaN or infinity of a run."""

    kernel: str
    sample: int
    tensor: str
    index: tuple[int, ...]
    value: str
    """nan | inf | -inf"""
    pe: tuple[int, int] | None
    """(row, col) of the PE that made it, None when only a later operation of the kernel shows it"""
    sentence: str


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One output of the model, sample 0."""

    tensor: str
    shape: tuple[int, ...]
    minimum: float
    maximum: float
    mean: float
    first: tuple[float, ...]
    """the first values in row-major order"""


@dataclass(frozen=True, slots=True)
class TileView(View):
    """What one PE keeps of its kernel's main result, sample 0."""

    tensor: str
    """the main result, before the kernel's later operations"""
    rows: tuple[int, int]
    """first and last row of M it takes part in"""
    cols: tuple[int, int]
    """first and last column of N"""
    kept: int
    """how many results it keeps"""
    first: tuple[float, ...]
    """the first kept values in row-major order"""
    minimum: float | None
    """None when it keeps none"""
    maximum: float | None
    mean: float | None
    error: float | None
    """max |ours - reference| here / max |reference| of the tensor, None without a reference"""
    severity: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ValuesView(View):
    """Values of a run: tensors, errors, the first NaN or infinity, outputs."""

    state: str
    """none | ready | unavailable"""
    samples: int
    """samples computed"""
    rows: tuple[TensorRow, ...]
    """in the order of the kernels"""
    max_error: float | None
    nonfinite: NonFiniteRow | None
    outputs: tuple[OutputRow, ...]
    standing: str
    severity: str
    sentence: str
