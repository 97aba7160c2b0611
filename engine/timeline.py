"""The timeline of a run: when everything happened, and what each step holds.

Read-only arrays and questions about them. A step is the interval between two neighbouring
distinct event times. Knows no geometry and no names; makes no decision about causes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from engine.event_kinds import (
    ARRIVES,
    END,
    GIVEN,
    KINDS,
    LEFT,
    MOVES,
    NEEDED,
    RANK,
    RESUME,
    STALL,
    START,
    WORDS,
)  # fmt: skip
from engine.timing.net import RATE_UNIT, TimingNet

__all__ = [
    "ARRIVES", "END", "GIVEN", "KINDS", "LEFT", "MOVES", "NEEDED", "RESUME", "STALL", "START",
    "Timeline",
]  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """Events and rates of one run; K kernels, T transfers, U uses, S samples; all arrays int64."""

    samples: int
    """samples sent through"""
    makespan: int
    """cycle of the last event"""
    times: np.ndarray
    """(steps + 1,) distinct event times, 0 first, the makespan last"""
    start: np.ndarray
    """(K, S) cycle at which an instance starts"""
    end: np.ndarray
    """(K, S) cycle at which it ends"""
    stall_kernel: np.ndarray
    """stalls, sorted by start, then kernel: the kernel"""
    stall_sample: np.ndarray
    """its sample"""
    stall_start: np.ndarray
    """first cycle stalled"""
    stall_end: np.ndarray
    """first cycle not stalled"""
    stall_cause: np.ndarray
    """code in `engine.causes.CAUSES` of what was missing last"""
    stall_transfer: np.ndarray
    """transfer it belongs to"""
    chunk_words: np.ndarray
    """(T,) words of a chunk on its busiest link"""
    chunk_start: np.ndarray
    """(T + 1,) CSR over transfers of the next five: S x chunks places each"""
    claimed: np.ndarray
    """cycle at which the chunk's out slot was taken (host: given)"""
    given: np.ndarray
    """cycle at which the chunk was given"""
    started: np.ndarray
    """cycle at which it started to move; its in slots are taken from here"""
    left: np.ndarray
    """cycle at which its last wavelet had left"""
    arrived: np.ndarray
    """cycle at which it had arrived"""
    use_kernel: np.ndarray
    """(U,) reader, -1 for the host sink"""
    use_transfer: np.ndarray
    """(U,) transfer it reads"""
    use_chunk_start: np.ndarray
    """(U + 1,) CSR over uses of the next two: S x chunks places each"""
    needed: np.ndarray
    """cycle at which the reader reached the chunk's need (host sink: arrived)"""
    freed: np.ndarray
    """cycle at which the chunk's in slot was given back (host sink: arrived)"""
    segment_start: np.ndarray
    """(T + 1,) CSR over transfers of the spans of constant rate, sorted by time"""
    segment_chunk: np.ndarray
    """chunk moved, counted over all samples"""
    segment_t0: np.ndarray
    """first cycle of the span"""
    segment_t1: np.ndarray
    """first cycle after it"""
    segment_rate: np.ndarray
    """rate in 1 / RATE_UNIT wavelet a cycle"""
    segment_before: np.ndarray
    """words x RATE_UNIT of the chunk moved before the span"""
    event_time: np.ndarray
    """events, sorted by time, kind, subject, sample, chunk: the cycle"""
    event_kind: np.ndarray
    """code in `engine.event_kinds.KINDS`"""
    event_subject: np.ndarray
    """kernel, transfer or use, by kind"""
    event_sample: np.ndarray
    """sample"""
    event_chunk: np.ndarray
    """chunk within the sample, -1 for events of kernels"""
    because_start: np.ndarray
    """CSR over events"""
    because: np.ndarray
    """indexes of all tied events that an event waited for last, rising"""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @property
    def steps(self) -> int:
        """number of steps"""
        return len(self.times) - 1

    def step_at(self, cycle: int) -> int:
        """Return the step that holds a cycle; the nearest one outside the run."""
        step = int(np.searchsorted(self.times, cycle, side="right")) - 1
        return min(max(step, 0), max(self.steps - 1, 0))

    def moved(self, transfer: int, t: int) -> int:
        """Return the words that left by cycle `t`, all chunks together."""
        low, high = self.segment_start[transfer], self.segment_start[transfer + 1]
        last = int(np.searchsorted(self.segment_t0[low:high], t, side="right")) - 1
        if last < 0:
            return 0
        return int(self._words_at(np.array([transfer]), np.array([low + last]), t)[0])

    def moved_at(self, t: int) -> np.ndarray:
        """Return the words of each transfer that left by cycle `t`, int64 (T,)."""
        words = np.zeros(len(self.chunk_words), np.int64)
        moving, last = self._segments_at(t)
        words[moving] = self._words_at(moving, last, t)
        return words

    def amounts(self, step: int) -> np.ndarray:
        """Return the words of each transfer that left within a step, int64 (T,)."""
        before, after = (self.moved_at(int(t)) for t in self.times[step : step + 2])
        amounts: np.ndarray = after - before
        return amounts

    def rates(self, step: int) -> np.ndarray:
        """Return the rate of each transfer in a step, 0 where none moves, int64 (T,)."""
        rates = np.zeros(len(self.chunk_words), np.int64)
        t = int(self.times[step])
        moving, last = self._segments_at(t)
        rates[moving] = np.where(self.segment_t1[last] > t, self.segment_rate[last], 0)
        return rates

    def running(self, step: int) -> np.ndarray:
        """Return which kernels run, not stalled, in a step, bool (K,)."""
        t = int(self.times[step])
        running = self.samples_at(t) >= 0
        high = int(np.searchsorted(self.stall_start, t, side="right"))
        running[self.stall_kernel[:high][self.stall_end[:high] > t]] = False
        return running

    def samples_at(self, t: int) -> np.ndarray:
        """Return the sample that each kernel has in work at cycle `t`, -1 for none, int64 (K,)."""
        sample = (self.start <= t).sum(axis=1) - 1
        ends = np.take_along_axis(self.end, np.maximum(sample, 0)[:, None], axis=1)[:, 0]
        return np.where(ends > t, sample, -1).astype(np.int64)

    def progress(self, kernel: int, t: int) -> tuple[int, int]:
        """Return (sample, cycles done) of the instance last started by cycle `t`; (-1, 0) before.

        Cycles done leave stalls out; an instance that ended has done its whole length.
        """
        sample = int((self.start[kernel] <= t).sum()) - 1
        if sample < 0:
            return -1, 0
        upto = min(t, int(self.end[kernel, sample]))
        mine = (self.stall_kernel == kernel) & (self.stall_sample == sample)
        stalled = np.minimum(self.stall_end[mine], upto) - self.stall_start[mine]
        return sample, upto - int(self.start[kernel, sample]) - int(np.maximum(stalled, 0).sum())

    def label(self, step: int, kernel_names: Sequence[str], transfer_names: Sequence[str]) -> str:
        """Name a step by the most important event at its start, such as "ffn1 starts, sample 2"."""
        low, high = np.searchsorted(self.event_time, self.times[step : step + 1].repeat(2), "left")
        high = np.searchsorted(self.event_time, self.times[step], "right")
        if low == high:
            return "nothing happens yet"
        kinds = self.event_kind[low:high]
        best = int(low) + int(np.argmin(np.array(RANK)[kinds]))
        kind, subject = int(self.event_kind[best]), int(self.event_subject[best])
        text = f"{self._name(kind, subject, kernel_names, transfer_names)} {WORDS[kind]}"
        text += f", sample {self.event_sample[best]}"
        return text + (f" (+{high - low - 1} more)" if high - low > 1 else "")

    def peak_held(self, net: TimingNet) -> np.ndarray:
        """Return the most chunks each use held at once, from first wavelet to freed, int64 (U,).

        A chunk freed in the cycle in which another starts makes room for it.
        """
        peaks = np.zeros(len(net.use_kernel), np.int64)
        for use, transfer in enumerate(self.use_transfer):
            started = self.started[self.chunk_start[transfer] : self.chunk_start[transfer + 1]]
            freed = self.freed[self.use_chunk_start[use] : self.use_chunk_start[use + 1]]
            held = np.arange(1, len(started) + 1) - np.searchsorted(freed, started, side="right")
            peaks[use] = max(1, int(held.max(initial=0)))
        return peaks

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return every field as an array, names sorted."""
        names = sorted(item.name for item in fields(self))
        return {name: np.asarray(getattr(self, name), np.int64) for name in names}

    def _segments_at(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Transfers that have moved by `t`, and the segment each is or was last in."""
        begun = np.concatenate([[0], np.cumsum(self.segment_t0 <= t)])
        counts = np.diff(begun[self.segment_start])
        moving = np.flatnonzero(counts)
        return moving, self.segment_start[moving] + counts[moving] - 1

    def _words_at(self, transfers: np.ndarray, segments: np.ndarray, t: int) -> np.ndarray:
        """Floor of the cumulative words, the moving chunk clipped at its total."""
        words = self.chunk_words[transfers]
        spent = np.minimum(t, self.segment_t1[segments]) - self.segment_t0[segments]
        units = self.segment_before[segments] + self.segment_rate[segments] * spent
        done: np.ndarray = self.segment_chunk[segments] * words + np.minimum(
            units // RATE_UNIT, words
        )
        return done

    def _name(
        self, kind: int, subject: int, kernel_names: Sequence[str], transfer_names: Sequence[str]
    ) -> str:
        if kind in (START, STALL, RESUME, END):
            return kernel_names[subject]
        transfer = int(self.use_transfer[subject]) if kind == NEEDED else subject
        return f"a chunk of {transfer_names[transfer]}"
