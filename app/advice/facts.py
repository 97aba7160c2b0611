"""What the rules of advice read about a run, worked out once. Judges nothing. No screen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.finding.because import Gap, Tie, kernel_gaps, ties
from app.finding.hot_links import HotLink, hot_links
from app.runs.run import Run
from engine.bottleneck import critical_shares
from engine.causes import CAUSES
from engine.inside import INSIDE
from engine.metrics import LINK_PLANES
from engine.program import Kernel


@dataclass(frozen=True)
class Facts:
    """A run's figures for the rules; each is computed when it is first asked for."""

    run: Run

    @cached_property
    def makespan(self) -> int:
        """cycles, at least 1"""
        return max(1, self.run.timeline.makespan)

    @cached_property
    def totals(self) -> dict[str, int]:
        """PE-cycles of each cause inside kernels' regions over the run"""
        program = self.run.program
        found = dict.fromkeys(CAUSES, 0)
        for kernel in program.kernels:
            for cause, cycles in self.inside(kernel.id).items():
                found[cause] += cycles * program.samples
        areas = [rect.area for rect, _ in program.areas()]
        for rect, turns in program.areas():
            for kernel in (program.kernels[index] for index in turns):
                length = self.run.execution.profiles[kernel.id].length
                found["imbalance"] += (rect.area - kernel.region.area) * length * program.samples
        everywhere = len(self.run.execution.net.region_start) - 1
        waits = self.run.execution.gaps.sums(everywhere)[: len(areas)]
        for code, cause in enumerate(CAUSES):
            found[cause] += int((waits[:, code] * np.array(areas)).sum())
        return found

    @cached_property
    def region_cycles(self) -> int:
        """PE-cycles of kernels' regions over the run, at least 1"""
        return max(1, sum(self.totals.values()))

    def share(self, *causes: str) -> float:
        """Return causes' part of all PE-cycles of kernels' regions, 0..1."""
        return sum(self.totals[cause] for cause in causes) / self.region_cycles

    def area(self, kernel: str) -> int:
        """Return the PEs of a kernel's region."""
        return self.kernel(kernel).region.area

    def kernel(self, name: str) -> Kernel:
        """Return a kernel by its id."""
        return self.run.program.kernel(name)

    def inside(self, kernel: str) -> dict[str, int]:
        """Return the PE-cycles of an instance by cause."""
        profile = self.run.execution.profiles[kernel]
        return {cause: profile.total(cause) for cause in INSIDE}

    @cached_property
    def used_share(self) -> float:
        """working PEs in kernels' regions / all working PEs, 0..1"""
        used = sum(kernel.region.area for kernel in self.run.program.kernels)
        return used / max(1, self.run.machine.working_pes)

    @cached_property
    def region_lengths(self) -> dict[tuple[str, ...], int]:
        """kernels of a region -> cycles of one sample through it"""
        profiles = self.run.execution.profiles
        return {
            order: sum(profiles[name].length for name in order) for order in self.run.program.order
        }

    @cached_property
    def slowest(self) -> str:
        """kernel that lasts longest in the busiest region"""
        profiles = self.run.execution.profiles
        order = max(self.region_lengths, key=lambda names: self.region_lengths[names])
        return max(order, key=lambda name: profiles[name].length)

    @cached_property
    def allocated(self) -> dict[str, int]:
        """bytes of the layout on each kernel's fullest PE"""
        by_region = self.run.execution.fields.occupancy.allocated
        given = by_region[[*self.run.program.regions_of_kernels()]]
        return {k.id: int(n) for k, n in zip(self.run.program.kernels, given, strict=True)}

    @cached_property
    def critical(self) -> tuple[dict[str, int], int, int]:
        """(cycles by kernel, cycles of transfers, cycles of host transfers) on the critical path"""
        kernels, shares = self._shares
        return kernels, shares["fabric"], shares["host"]

    @cached_property
    def loading(self) -> int:
        """cycles of the critical path in which the host decodes the sample that is awaited"""
        return self._shares[1]["loader"]

    @cached_property
    def weighing(self) -> int:
        """cycles of the critical path in which the weight ports are awaited"""
        return self._shares[1]["weights"]

    @cached_property
    def _shares(self) -> tuple[dict[str, int], dict[str, int]]:
        execution = self.run.execution
        return critical_shares(execution.program, execution.net, execution.timeline)

    @cached_property
    def hot(self) -> HotLink | None:
        """the most loaded link over the run, None without traffic"""
        found = hot_links(self.run, None, LINK_PLANES)
        return found[0] if found else None

    @cached_property
    def median_load(self) -> float:
        """median over all links that carry anything, wavelets a cycle over the run"""
        traffic = self.run.execution.fields.traffic
        planes = (traffic.plane_total(plane) for plane in LINK_PLANES)
        used = np.concatenate([words[words > 0] for words in planes])
        return float(np.median(used)) / self.makespan if used.size else 0.0

    @cached_property
    def waits(self) -> tuple[tuple[Gap, tuple[Tie, ...]], ...]:
        """every wait that is neither fill nor drain, with all that tied, longest first"""
        found = [gap for k in self.run.program.kernels for gap in kernel_gaps(self.run, k.id)
                 if gap.cause not in ("fill", "drain")]  # fmt: skip
        found.sort(key=lambda gap: gap.t0 - gap.t1)
        return tuple((gap, ties(self.run, gap)) for gap in found[:MOST_WAITS])


MOST_WAITS = 200
"""longest waits whose ties are looked up"""
