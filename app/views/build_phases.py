"""From a kernel's turn in a streaming run to its phases. A pure function; no screen.

All is read off the timeline, which knows the whole run: a phase that is still to come has its
cycles too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.runs.run import Run
from app.units import count, percent, size
from app.views.streaming import PHASE_LABELS, TurnPhase
from engine.causes import CAUSES
from engine.machine import DTYPE_BYTES
from engine.program import Tensor

Tensors = Mapping[str, Tensor]
"""tensors of the program by id"""


@dataclass(frozen=True, slots=True)
class Flow:
    """A sample of one transfer, on its way from `begin` to `end`."""

    begin: int
    """cycle in which the first wavelet leaves"""
    left: int
    """cycle by which the last one has left"""
    end: int
    """cycle by which the last one has arrived"""
    bytes: int
    """of the tensor"""
    share: float
    """left by the cycle asked for, 0..1"""


def flow_of(run: Run, tensors: Tensors, index: int, sample: int, cycle: int) -> Flow:
    """Return a sample of the program's transfer `index` as it stands at a cycle."""
    timeline, transfer = run.timeline, run.program.transfers[index]
    chunks = transfer.chunks
    first = int(timeline.chunk_start[index]) + sample * chunks
    begin = int(timeline.started[first])
    left = int(timeline.left[first : first + chunks].max())
    words = int(timeline.chunk_words[index]) * chunks
    moved = timeline.moved(index, cycle) - sample * words
    share = min(1.0, max(0.0, moved / words)) if words else float(cycle >= left)
    end = int(timeline.arrived[first : first + chunks].max())
    tensor = tensors[transfer.tensor]
    held = tensor.elements * DTYPE_BYTES[tensor.storage]
    return Flow(begin, left, end, held, share)


def turn_phases(
    run: Run, tensors: Tensors, kernel: int, sample: int, cycles: tuple[int, int]
) -> tuple[TurnPhase, ...]:
    """Return the phases of a kernel's turn on a sample as they stand in cycles [begin, end)."""
    return tuple(_Teller(run, tensors, kernel, sample, *cycles).phases())


@dataclass(frozen=True, slots=True)
class _Teller:
    run: Run
    tensors: Tensors
    kernel: int
    sample: int
    begin: int
    end: int

    def phases(self) -> Iterator[TurnPhase]:
        """Give the phases that the turn has, in order."""
        name, transfers = self.run.program.kernels[self.kernel].id, self.run.program.transfers
        yield from self._weights(name)
        reads = [i for i, t in enumerate(transfers) if name in t.consumers]
        back = [i for i in reads if transfers[i].comes_back]
        yield from self._moving("inputs", [i for i in reads if i not in back])
        yield from self._moving("returns", back)
        yield from self._waits()
        yield self._computes()
        mine = [i for i, t in enumerate(transfers) if t.producer == name]
        out = [i for i in mine if transfers[i].leaves]
        yield from self._moving("sends", [i for i in mine if i not in out])
        waiting = self.run.program.waiting
        away = [i for i in out if transfers[i].tensor in waiting]
        yield from self._moving("spills", away)
        out = [i for i in out if i not in away]
        sent = [transfers[i].tensor for i in out]
        outside = [w.id for w in self.run.program.outside if set(w.reads).intersection(sent)]
        yield from self._moving("gradients" if outside else "state", out)
        if outside:
            yield self._outside(out, outside)

    def _phase(
        self, name: str, first: int, last: int, share: float, detail: str, done: str = "done"
    ) -> TurnPhase:
        """Return a phase in cycles [first, last) of which `share` is `done`, a word for it."""
        share = min(1.0, max(0.0, share))
        if last <= self.begin:
            state, share, when = "done", 1.0, f"done by cycle {last:,}"
        elif first >= self.end:
            state, share, when = "later", 0.0, f"from cycle {first:,} on"
        else:
            state, when = "now", f"{percent(share)} {done}, {last - self.begin:,} cycles left"
        part = percent(share) if state == "now" else state
        kernel, label = self.run.program.kernels[self.kernel].id, PHASE_LABELS[name]
        left = max(0, last - self.begin)
        return TurnPhase(
            kernel, self.sample, name, label, state, first, last, left, share, detail,
            f"{label}: {part}", f"{label}: {detail}, {when}",
        )  # fmt: skip

    def _weights(self, name: str) -> Iterator[TurnPhase]:
        program, timeline = self.run.program, self.run.timeline
        for place, stream in enumerate(program.streams):
            if stream.kernel == name:
                row = len(program.kernels) + place
                handed = int(timeline.chunk_start[len(program.transfers) + place]) + self.sample
                first, through = (int(t[row, self.sample]) for t in (timeline.start, timeline.end))
                share = (self.begin - first) / max(1, through - first)
                held = stream.words * program.machine.wavelet_bytes
                last = int(timeline.arrived[handed])
                yield self._phase("weights", first, last, share, size(held), "through the ports")

    def _moving(self, name: str, transfers: Sequence[int]) -> Iterator[TurnPhase]:
        """Give the phase in which some transfers move, if there are any."""
        if transfers:
            flows = [
                flow_of(self.run, self.tensors, index, self.sample, self.begin)
                for index in transfers
            ]
            total = sum(flow.bytes for flow in flows)
            share = sum(flow.bytes * flow.share for flow in flows) / max(1, total)
            first, last = min(f.begin for f in flows), max(f.end for f in flows)
            yield self._phase(name, first, last, share, size(total), "on their way")

    def _waits(self) -> Iterator[TurnPhase]:
        """Give the wait between the kernel's predecessor on its PEs and its start, if any."""
        gaps = self.run.execution.gaps
        start = int(self.run.timeline.start[self.kernel, self.sample])
        mine = (gaps.kernel == self.kernel) & (gaps.sample == self.sample) & (gaps.t0 < start)
        if mine.any():
            first, last = int(gaps.t0[mine].min()), int(gaps.t1[mine].max())
            causes = ", ".join(CAUSES[code] for code in dict.fromkeys(gaps.underlying[mine]))
            share = (self.begin - first) / max(1, last - first)
            detail = f"{count(last - first)} cycles ({causes})"
            yield self._phase("waits", first, last, share, detail)

    def _computes(self) -> TurnPhase:
        timeline = self.run.timeline
        first, last = (int(t[self.kernel, self.sample]) for t in (timeline.start, timeline.end))
        mine = (timeline.stall_kernel == self.kernel) & (timeline.stall_sample == self.sample)
        stalled = int((timeline.stall_end - timeline.stall_start)[mine].sum())
        passed = np.minimum(timeline.stall_end[mine], self.begin) - timeline.stall_start[mine]
        work = last - first - stalled
        done = self.begin - first - int(np.maximum(passed, 0).sum())
        detail = f"{count(work)} cycles" + (f" and {count(stalled)} stalled" if stalled else "")
        return self._phase("computes", first, last, done / max(1, work), detail)

    def _outside(self, out: Sequence[int], names: Sequence[str]) -> TurnPhase:
        """Return the work that is done outside once all of `out` is there."""
        there = max(flow_of(self.run, self.tensors, i, self.sample, self.begin).end for i in out)
        more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
        return self._phase(
            "outside", there, there, 0.0, f"{names[0]}{more}, takes no cycles here"
        )  # fmt: skip
