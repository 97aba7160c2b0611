"""Whose turn it is in a weight-streaming run, its phases, what arrives. Plain data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View

NO_TURNS = (
    "no kernel takes turns here: each has PEs of its own for the whole run ('set mode streaming' "
    "lets them take turns)"
)
"""what stands where a run has no such view"""


@dataclass(frozen=True, slots=True)
class TurnPhase:
    """One phase of a kernel's turn. Phases overlap: weights of a turn arrive during the one before.

    In the order of PHASE_LABELS; those that a kernel does not have are left out.
    """

    kernel: str
    sample: int
    name: str
    """a key of PHASE_LABELS"""
    label: str
    state: str
    """done | now | later, at the step shown"""
    begin_cycle: int
    end_cycle: int
    """first cycle after it"""
    cycles_left: int
    """from the start of the step until its end, 0 when it is done"""
    share: float
    """done at the start of the step, 0..1"""
    detail: str
    """how much in all, such as '24.0 KB' or '512 cycles'"""
    brief: str
    """its name and its share or state"""
    sentence: str


PHASE_LABELS = {
    "weights": "weights arrive",
    "inputs": "activations arrive",
    "returns": "activations come back",
    "waits": "waits",
    "computes": "computes",
    "sends": "activations leave",
    "spills": "activations go outside",
    "gradients": "gradients leave",
    "state": "new state leaves",
    "outside": "optimizer outside",
}
"""phase -> what it is called"""


@dataclass(frozen=True, slots=True)
class ArrivalRow:
    """What one kernel gets from outside: weights or activations through the weight ports, or a
    host input.

    It is listed from its first wavelet through the border until the last one is at its PE.
    """

    kernel: str
    what: str
    """weights | activation NAME | input NAME"""
    sample: int
    """sample that will use it"""
    words: int
    """wavelets in all"""
    sent: int
    """of them through the border at the start of the step"""
    bytes: int
    """in all, in whole wavelets"""
    sent_bytes: int
    share: float
    """sent / words, 0..1"""
    until_cycle: int
    """cycle in which the last one leaves the border, perhaps before the step"""
    cycles_left: int
    """from the start of the step until the last one is at its PE"""
    sentence: str


@dataclass(frozen=True, slots=True)
class LeavingRow:
    """A tensor on its way out through the weight ports."""

    kernel: str
    """that made it"""
    tensor: str
    what: str
    """activation | gradient | new state"""
    sample: int
    bytes: int
    """in all, in whole wavelets"""
    sent_bytes: int
    """of them gone at the start of the step"""
    share: float
    cycles_left: int
    """from the start of the step until the last one is outside"""
    sentence: str


@dataclass(frozen=True, slots=True)
class StreamingView(View):
    """A step of a weight-streaming run."""

    turn: tuple[str, ...]
    """kernels that run in the step; when none does, the next to start"""
    is_waiting: bool
    """True when none runs in the step"""
    waits_for: str
    """cause for which the next one has not started, empty when one runs"""
    training: str
    """phase of the training step that the turn belongs to, empty where nothing trains"""
    phases: tuple[TurnPhase, ...]
    """of the kernels of `turn`"""
    arriving: tuple[ArrivalRow, ...]
    """the next to be complete first"""
    leaving: tuple[LeavingRow, ...]
    """activations, gradients or new state"""
    headline: str
    """whose turn it is, in a few words"""
    quiet: str
    """that no weights arrive and when the next will, empty while some do"""
    standing: str
    sentence: str
