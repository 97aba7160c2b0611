"""Per-PE and per-link maps of one step, rebuilt on demand; and the sums of all steps.

Nothing per PE is kept: a map is painted from classes of PEs and patterns of words in a few
milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from engine.cause_maps import CauseMaps
from engine.causes import CAUSES
from engine.inside import INSIDE, cause_table, overlap
from engine.loads import load_map, most_load, peak_load_step, planes_of, words_map
from engine.metrics import LINK_PLANES, METRICS, PLANES
from engine.occupancy import Occupancy, SramUse
from engine.profile import Profile
from engine.program import Program
from engine.steps import RUNNING, StepTables
from engine.timeline import Timeline
from engine.traffic import Traffic


@dataclass(frozen=True, slots=True)
class LinkUse:
    """One link or ramp of a PE in a step."""

    words: int
    """wavelets in the step"""
    load: float
    """wavelets a cycle, 0..1"""


@dataclass(frozen=True, slots=True, eq=False)
class Fields:
    """Maps of a run."""

    program: Program
    profiles: dict[str, Profile]
    timeline: Timeline
    tables: StepTables
    traffic: Traffic
    occupancy: Occupancy
    _memo: list[np.ndarray] = field(init=False, default_factory=list)
    """the cause table once asked for; never handed on to a changed copy"""

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, cols) of every map"""
        return self.traffic.shape

    @property
    def _causes(self) -> CauseMaps:
        return CauseMaps(self.program, self.profiles, self.timeline, self.tables)

    def field(self, metric: str, step: int) -> np.ndarray:
        """Return the map of a metric in a step.

        float32 0..1 for fractions, float32 wavelets a cycle for loads, int32 bytes (int64 where
        a what-if asks for more), uint8 index in CAUSES for `cause`.
        Raises KeyError for an unknown metric, IndexError for a step outside the run.
        """
        if not 0 <= step < self.timeline.steps:
            raise IndexError(f"step {step} is outside 0..{self.timeline.steps - 1}")
        kind = METRICS[metric].kind
        if metric == "sram_allocated":
            return self._paint(lambda g: self.occupancy.allocated[g], self._bytes)
        if metric == "sram_live":
            return self._paint(lambda g: self.occupancy.live[g, step], self._bytes)
        if kind == "load":
            return load_map(self.traffic, metric, step, self._cycles(step))
        if kind == "category":
            return self._causes.dominant(step)
        return self._causes.share(_cause_of(metric), step)

    def words(self, metric: str, step: int) -> np.ndarray:
        """Return the wavelets behind a load in a step, int32 (rows, cols)."""
        return words_map(self.traffic, metric, step)

    def total(self, metric: str) -> np.ndarray:
        """Return the map over the whole run, int64: cycles; of a load the wavelets, not a rate.

        Of bytes, whose sum over steps means nothing, the maximum.
        """
        kind = METRICS[metric].kind
        if kind == "bytes":
            return self.maximum(metric)
        if kind == "load":
            return np.asarray(sum(self.traffic.plane_total(plane) for plane in planes_of(metric)))
        if kind == "category":
            stack = np.stack([self._causes.total(code) for code in range(len(CAUSES))])
            return np.asarray(stack.argmax(axis=0).astype(np.uint8))
        return self._causes.total(_cause_of(metric))

    def maximum(self, metric: str) -> np.ndarray:
        """Return each PE's maximum over all steps, in the metric's own dtype."""
        if metric == "sram_live":
            return self._paint(lambda g: self.occupancy.live[g].max(), self._bytes)
        if METRICS[metric].kind == "fraction":
            return self._causes.maximum(_cause_of(metric))
        best = self.field(metric, 0)
        if metric != "sram_allocated":
            for step in range(1, self.timeline.steps):
                np.maximum(best, self.field(metric, step), out=best)
        return best

    def sums(self, metric: str) -> np.ndarray:
        """Return the sum over PEs in every step, float64 (steps,): PE-cycles, bytes, wavelets.

        Of a load the wavelets of the step, not a rate.
        """
        if METRICS[metric].kind == "load":
            return np.asarray(sum(self.traffic.plane_sums(plane) for plane in planes_of(metric)))
        areas = np.array([rect.area for rect, _ in self.program.areas()], np.float64)
        if metric == "sram_allocated":
            return np.full(self.timeline.steps, float(areas @ self.occupancy.allocated))
        if metric == "sram_live":
            return np.asarray(areas @ self.occupancy.live)
        if METRICS[metric].kind == "category":
            return self.cause_sums(CAUSES.index("compute")).astype(np.float64)
        return self.cause_sums(_cause_of(metric)).astype(np.float64)

    def cause_sums(self, cause: int) -> np.ndarray:
        """Return the PE-cycles of a cause in every step, int64 (steps,)."""
        if not self._memo:
            cycles = np.diff(self.timeline.times)
            self._memo.append(cause_table(self.program, self.profiles, self.tables, cycles))
        return np.asarray(self._memo[0][:, cause])

    def range(self, metric: str) -> tuple[float, float]:
        """Return (low, high) of a metric over the whole run, for a fixed colour scale.

        Of a load what the links can carry.
        """
        kind = METRICS[metric].kind
        if kind == "fraction":
            return 0.0, 1.0
        if kind == "category":
            return 0.0, float(len(CAUSES) - 1)
        if kind == "bytes":
            most = max(self.program.machine.sram_bytes, int(self.occupancy.allocated.max()))
            return 0.0, float(most)
        return 0.0, most_load(metric)

    def peak_step(self, metric: str) -> int:
        """Return the step in which the metric is highest, the first of ties.

        Bytes and loads: its maximum over PEs; fractions, whose maximum is often 1: its mean.
        """
        if METRICS[metric].kind == "load":
            return peak_load_step(self.traffic, metric, np.diff(self.timeline.times))
        if metric == "sram_live":
            return int(self.occupancy.live.max(axis=0).argmax())
        return int(np.argmax(self.sums(metric) / np.diff(self.timeline.times)))

    def region_at(self, row: int, col: int) -> int | None:
        """Return the region that holds a PE."""
        for region, (rect, _) in enumerate(self.program.areas()):
            if rect.contains(row, col):
                return region
        return None

    def kernel_at(self, row: int, col: int, step: int | None = None) -> str | None:
        """Return the kernel of a PE: in a step the one that runs there, or runs there next."""
        region = self.region_at(row, col)
        if region is None:
            return None
        first = self.program.areas()[region][1][0]
        index = first if step is None else self.kernel_of_region(region, step)
        return self.program.kernels[index].id

    def kernel_of_region(self, region: int, step: int) -> int:
        """Return the index of the kernel that runs in a region in a step, or runs there next."""
        kernels = self.program.areas()[region][1]
        if len(kernels) == 1:
            return kernels[0]
        ahead = self.tables.active[region, step:]
        running = ahead[ahead >= 0]
        return int(running[0]) if len(running) else kernels[-1]

    def pe_causes(self, row: int, col: int, step: int | None = None) -> dict[str, int]:
        """Return a PE's cycles by cause in a step, or over the run when step is None."""
        region = self.region_at(row, col)
        span = int(self.timeline.makespan)
        if step is not None:
            span = self._cycles(step)
        if region is None:
            dead = (row, col) in self.program.machine.defects
            return {"defective" if dead else "unassigned": span}
        steps = slice(0, self.timeline.steps) if step is None else slice(step, step + 1)
        found: dict[str, int] = {}
        active = self.tables.active[region][steps]
        for index in np.unique(active[active >= 0]):
            for name, count in self._pe_inside(int(index), row, col, steps).items():
                found[name] = found.get(name, 0) + count
        cycles = np.diff(self.timeline.times)[steps]
        idle = self.tables.idle[region][steps]
        for code in np.unique(idle[idle != RUNNING]):
            found[CAUSES[code]] = int(cycles[idle == code].sum())
        return found

    def _pe_inside(self, index: int, row: int, col: int, steps: slice) -> dict[str, int]:
        """Cycles by cause of a PE while one kernel runs; outside its tiles it waits for them."""
        kernel = self.program.kernels[index]
        profile = self.profiles[kernel.id]
        running, before, after = self.tables.running(index, profile.length)
        low, high = np.searchsorted(running, (steps.start, steps.stop))
        if not kernel.region.contains(row, col):
            times = self.timeline.times
            ran = running[low:high]
            return {"imbalance": int((times[ran + 1] - times[ran]).sum())}
        mine = int(profile.pe_class[row - kernel.region.row, col - kernel.region.col])
        parts = overlap(profile, before[low:high], after[low:high], slice(mine, mine + 1))
        inside = parts.sum(axis=(0, 1))
        return {name: int(count) for name, count in zip(INSIDE, inside, strict=True) if count}

    def pe_sram(self, row: int, col: int, step: int) -> tuple[SramUse, ...]:
        """Return the buffers of a PE in a step, by offset; sizes are of the kernel's fullest PE."""
        region = self.region_at(row, col)
        return () if region is None else self.occupancy.uses(region, step)

    def pe_links(self, row: int, col: int, step: int) -> dict[str, LinkUse]:
        """Return the words and load of a PE's links and ramps in a step."""
        cycles = self._cycles(step)
        words = {plane: self.traffic.at(row, col, plane, step) for plane in PLANES}
        return {plane: LinkUse(count, count / cycles) for plane, count in words.items()}

    def hottest(self, step: int | None, count: int) -> list[tuple[int, int, str, int, float]]:
        """Return (row, col, plane, words, load) of the busiest links in a step or over the run."""
        found = []
        cycles = int(self.timeline.makespan)
        if step is not None:
            cycles = self._cycles(step)
        for plane in LINK_PLANES:
            words = (
                self.traffic.plane_total(plane) if step is None else self.traffic.plane(plane, step)
            ).ravel()
            most = min(count, words.size)
            for at in np.argpartition(words, -most)[-most:]:
                row, col = divmod(int(at), self.shape[1])
                if words[at]:
                    found.append((row, col, plane, int(words[at]), float(words[at] / cycles)))
        return sorted(found, key=lambda item: (-item[3], item[0], item[1], item[2]))[:count]

    @property
    def _bytes(self) -> np.dtype:
        """dtype of byte maps: the narrower that holds what the fullest PE has"""
        held = self.occupancy
        most = max(int(held.allocated.max(initial=0)), int(held.live.max(initial=0)))
        return np.dtype(np.int32 if most <= np.iinfo(np.int32).max else np.int64)

    def _cycles(self, step: int) -> int:
        return int(self.timeline.times[step + 1] - self.timeline.times[step])

    def _paint(self, value: Callable[[int], int], dtype: np.dtype) -> np.ndarray:
        painted = np.zeros(self.shape, dtype)
        for region, (rect, _) in enumerate(self.program.areas()):
            painted[rect.slices()] = value(region)
        return painted


def _cause_of(metric: str) -> int:
    name = "compute" if metric == "utilization" else metric.removeprefix("cause:")
    return CAUSES.index(name)
