"""What a run waited for: one walk back along the critical path, read from `because` alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.event_kinds import ARRIVES, END, GIVEN, LEFT, MOVES, NEEDED
from engine.profile import BUSY_CAUSES, Profile
from engine.program import HOST, Program
from engine.timeline import Timeline
from engine.timing.net import TimingNet


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The verdict on a run."""

    kind: str
    """compute | overhead | memory | transfer | fabric | host | weights"""
    kernel: str
    """kernel that holds most of the critical path, empty if none does"""
    sentence: str
    bound_cycles: int
    """no schedule of these kernels is shorter: busiest region plus the way in and out of it"""


def find_bottleneck(
    program: Program, profiles: dict[str, Profile], net: TimingNet, timeline: Timeline
) -> Bottleneck:
    """Attribute the makespan to kernels, transfers and the host along one critical path."""
    kernel_cycles, shares = critical_shares(program, net, timeline)
    fabric, host, weights = shares["fabric"], shares["host"], shares["weights"]
    loader = shares["loader"]
    makespan = timeline.makespan
    bound = lower_bound(program, profiles)
    kernel = max(kernel_cycles, key=lambda name: kernel_cycles[name], default="")
    most = kernel_cycles.get(kernel, 0)
    reach = f"{bound / makespan:.0%} of the {makespan:,} cycles are the lower bound"
    working = sum(kernel_cycles.values())
    if weights > max(working, fabric, host):
        return Bottleneck(
            "weights", kernel,
            f"the weight ports hold {weights / makespan:.0%} of the critical path; {reach}", bound,
        )  # fmt: skip
    if loader > max(most, fabric, host):
        return Bottleneck(
            "host", "",
            f"the host's loader holds {loader / makespan:.0%} of the critical path; {reach}", bound,
        )  # fmt: skip
    if host > max(most, fabric):
        return Bottleneck(
            "host", "", f"the host ports hold {host / makespan:.0%} of the critical path; {reach}",
            bound,
        )  # fmt: skip
    if fabric > working:
        return Bottleneck(
            "fabric", kernel,
            f"transfers hold {fabric / makespan:.0%} of the critical path; {reach}", bound,
        )  # fmt: skip
    cause = _main_cause(profiles[kernel]) if kernel else "compute"
    return Bottleneck(
        cause, kernel,
        f"kernel '{kernel}' holds {most / makespan:.0%} of the critical path, "
        f"mostly {cause}; {reach}", bound,
    )  # fmt: skip


def lower_bound(program: Program, profiles: dict[str, Profile]) -> int:
    """Return cycles that no schedule beats: every sample through the busiest region or port.

    Where the host decodes its samples, also the rounds of its workers.
    """
    regions = [sum(profiles[name].length for name in region) for region in program.order]
    ports = sum(stream.cycles for stream in program.streams)
    loading = 0
    if program.loader is not None and _reads_host(program):
        rounds = -(-program.samples // program.loader.workers)
        loading = rounds * program.loader.cycles
    return max(max([*regions, ports]) * program.samples, loading)


def _reads_host(program: Program) -> bool:
    return any(t.producer == HOST and not t.comes_back for t in program.transfers)


def _main_cause(profile: Profile) -> str:
    slowest = profile.cycles.reshape(-1, len(BUSY_CAUSES))
    worst = slowest[slowest.sum(axis=1).argmax()]
    return BUSY_CAUSES[int(worst.argmax())]


def critical_shares(
    program: Program, net: TimingNet, timeline: Timeline
) -> tuple[dict[str, int], dict[str, int]]:
    """Return (cycles by kernel, cycles of fabric, host, loader, weights) on the critical path."""
    kernels: dict[str, int] = {}
    shares = {"fabric": 0, "host": 0, "loader": 0, "weights": 0}
    event = _last_event(timeline)
    while event >= 0:
        earlier = timeline.because[slice(*timeline.because_start[event : event + 2])]
        before = int(earlier[0]) if len(earlier) else -1
        since = int(timeline.event_time[before]) if before >= 0 else 0
        cycles = int(timeline.event_time[event]) - since
        kind, subject = int(timeline.event_kind[event]), int(timeline.event_subject[event])
        if kind in (MOVES, LEFT, ARRIVES):
            shares[_carrier(program, subject)] += cycles
        else:
            index = _kernel_of(kind, subject, net, timeline)
            if index >= len(program.kernels):
                shares["weights"] += cycles
            elif kind == GIVEN and index < 0:
                shares["loader"] += cycles
            elif index >= 0:
                name = program.kernels[index].id
                kernels[name] = kernels.get(name, 0) + cycles
        event = before
    return kernels, shares


def _carrier(program: Program, transfer: int) -> str:
    if transfer >= len(program.transfers):
        return "weights"
    ends = program.transfers[transfer]
    if ends.port == "weights":
        return "weights"
    return "host" if HOST in (ends.producer, *ends.consumers) else "fabric"


def _kernel_of(kind: int, subject: int, net: TimingNet, timeline: Timeline) -> int:
    if kind == GIVEN:
        return int(net.producer[subject])
    if kind == NEEDED:
        return int(timeline.use_kernel[subject])
    return subject


def _last_event(timeline: Timeline) -> int:
    ends = np.flatnonzero(
        (timeline.event_time == timeline.makespan)
        & np.isin(timeline.event_kind, (END, LEFT, ARRIVES))
    )
    return int(ends[-1]) if len(ends) else len(timeline.event_time) - 1
