"""What can be wrong with a timing net: ill-formed arrays before a run, a deadlock in it.

The checks prove every index the jit kernels use. Names kernels and transfers by index only.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from engine.timing.net import RATE_UNIT, TimingNet
from engine.timing.state import State, Wiring

MOST_WORDS = 10**13
"""words a chunk that the 64-bit arithmetic of rates can hold"""

_HIGHEST = int(np.iinfo(np.int64).max)

Ranges = tuple[tuple[str, int | np.ndarray, int | np.ndarray], ...]
"""(array of the net, lowest, highest)"""
Wait = tuple[str, int, int]
"""(kind, who waits, for whom); see `Deadlock`"""

_SENTENCES = {
    "order": "kernel {0} waits for its turn after kernel {1} on the region",
    "input": "kernel {0} waits for a chunk of transfer {1}",
    "output": "kernel {0} waits for a free out slot of transfer {1}",
    "given": "transfer {0} waits for kernel {1} to give a chunk",
    "after": "transfer {0} waits for kernel {1} to end",
    "slot": "transfer {0} waits for kernel {1} to free an in slot",
    "rate": "transfer {0} gets no rate",
}
_ON_TRANSFER = ("input", "output")


class Deadlock(ValueError):
    """No event is pending and instances are left: a cycle of waits."""

    cycle: int
    """cycle at which the run stopped"""
    waits: tuple[Wait, ...]
    """the cycle of waits: ("input" | "output", kernel, transfer), ("order", kernel, kernel),
    ("given" | "after" | "slot", transfer, kernel); each waits for the one that comes next"""

    def __init__(self, cycle: int, waits: tuple[Wait, ...]) -> None:
        self.cycle, self.waits = cycle, waits
        links = "; ".join(_SENTENCES[kind].format(who, whom) for kind, who, whom in waits)
        super().__init__(
            f"the run stops at cycle {cycle} with instances left and nothing under way: {links}. "
            "More slots on one of these transfers, fewer chunks, or another order of the kernels "
            "on a region would help"
        )


def build_deadlock(net: TimingNet, wiring: Wiring, state: State) -> Deadlock:
    """Follow the waits of the stopped run until they close."""
    begin = int(np.flatnonzero(state.end_log < 0)[0]) // net.samples
    item, path, seen = (True, begin), list[Wait](), dict[tuple[bool, int], int]()
    while item not in seen:
        seen[item] = len(path)
        waits = _kernel_waits if item[0] else _transfer_waits
        wait = waits(net, wiring, state, item[1])
        path.append(wait)
        if wait[0] == "rate":
            return Deadlock(int(state.tally[0]), tuple(path))
        item = (wait[0] not in _ON_TRANSFER, wait[2])
    return Deadlock(int(state.tally[0]), tuple(path[seen[item] :]))


def _kernel_waits(net: TimingNet, wiring: Wiring, state: State, kernel: int) -> Wait:
    sample = int(state.sample[kernel])
    if sample < 0:
        region = wiring.region_of[kernel]
        order = net.region_kernel[net.region_start[region] : net.region_start[region + 1]]
        turn = int(state.turn[region])
        if order[turn % len(order)] != kernel:
            return "order", kernel, int(order[turn % len(order)])
        sample = turn // len(order)
    for use in wiring.input_use[wiring.input_start[kernel] : wiring.input_start[kernel + 1]]:
        transfer = int(wiring.use_transfer[use])
        wanted = max(int(state.needed[use]), sample * int(net.chunks[transfer]) + 1)
        if state.here[transfer] < wanted:
            return "input", kernel, transfer
    for transfer in wiring.output[wiring.output_start[kernel] : wiring.output_start[kernel + 1]]:
        if state.claimed[transfer] - state.gone[transfer] >= net.out_slots[transfer]:
            return "output", kernel, int(transfer)
    return "rate", -1, -1


def _transfer_waits(net: TimingNet, wiring: Wiring, state: State, transfer: int) -> Wait:
    chunk = int(state.begun[transfer])
    if chunk > state.gone[transfer]:
        return "rate", transfer, -1
    if chunk >= state.given[transfer]:
        return "given", transfer, int(net.producer[transfer])
    gate = int(net.after[transfer])
    if gate >= 0 and state.end_log[gate * net.samples + chunk // net.chunks[transfer]] < 0:
        return "after", transfer, gate
    for use in range(net.use_start[transfer], net.use_start[transfer + 1]):
        if net.use_kernel[use] >= 0 and chunk - state.freed[use] >= net.in_slots[use]:
            return "slot", transfer, int(net.use_kernel[use])
    return "rate", transfer, -1


def check_net(net: TimingNet) -> None:
    """Raise ValueError unless every array has its shape, range and unit."""
    kernels, transfers, uses = len(net.length), len(net.words), len(net.use_kernel)
    if net.samples < 1:
        _fail(f"samples is {net.samples}, must be at least 1")
    if net.admit_every < 0:
        _fail(f"admit_every is {net.admit_every} cycles, must be 0 or more")
    if net.loader_workers < 0 or net.loader_cycles < 0 or net.loader_ahead < net.loader_workers:
        _fail(
            f"a loader of {net.loader_workers} workers, {net.loader_cycles} cycles a sample and "
            f"{net.loader_ahead} samples ahead: none may be negative, and each worker holds one"
        )
    _check_sizes(net, transfers, uses)
    for name, members, rows in (
        ("region", net.region_kernel, len(net.region_start) - 1),
        ("use", net.use_kernel, transfers),
        ("conflict", net.conflict_transfer, len(net.conflict_start) - 1),
        ("reserve", net.reserve_kernel, len(net.conflict_start) - 1),
    ):
        _check_rows(name, getattr(net, f"{name}_start"), len(members), rows)
    if not np.array_equal(np.sort(net.region_kernel), np.arange(kernels)):
        _fail(f"region_kernel must hold each of the {kernels} kernels exactly once")
    _check_ranges(net, _index_ranges(net))
    _check_ranges(net, _moment_ranges(net))


def _index_ranges(net: TimingNet) -> Ranges:
    kernels, transfers = len(net.length), len(net.words)
    out_slots = np.where(net.producer < 0, -_HIGHEST, 1)
    return (
        ("length", 1, _HIGHEST), ("producer", -1, kernels - 1), ("after", -1, kernels - 1),
        ("use_kernel", -1, kernels - 1),
        ("chunks", 1, _HIGHEST), ("words", 0, MOST_WORDS), ("cap", 1, RATE_UNIT),
        ("latency", 0, _HIGHEST), ("in_slots", 1, _HIGHEST), ("out_slots", out_slots, _HIGHEST),
        ("conflict_transfer", 0, transfers - 1), ("conflict_coef", 1, 1 << 40),
        ("reserve_kernel", 0, kernels - 1), ("reserve_rate", 0, 1 << 56),
    )  # fmt: skip


def _moment_ranges(net: TimingNet) -> Ranges:
    ends = np.append(net.length, _HIGHEST)
    return (
        ("give_first", 0, net.give_last), ("give_last", 0, ends[net.producer]),
        ("need_first", 0, net.need_last), ("need_last", 0, ends[net.use_kernel]),
    )  # fmt: skip


def _check_sizes(net: TimingNet, transfers: int, uses: int) -> None:
    for names, size in (
        (("producer", "after", "chunks", "cap", "latency", "out_slots", "give_first", "give_last"),
         transfers),
        (("in_slots", "need_first", "need_last"), uses),
        (("conflict_coef",), len(net.conflict_transfer)),
        (("reserve_rate",), len(net.reserve_kernel)),
    ):  # fmt: skip
        for name in names:
            if getattr(net, name).shape != (size,):
                _fail(f"{name} has shape {getattr(net, name).shape}, must have ({size},)")


def _check_rows(name: str, start: np.ndarray, members: int, rows: int) -> None:
    if (
        len(start) != rows + 1
        or start[0] != 0
        or start[-1] != members
        or np.any(np.diff(start) < 0)
    ):
        _fail(f"{name}_start must rise from 0 to {members} in {rows + 1} entries")


def _check_ranges(net: TimingNet, ranges: Ranges) -> None:
    for name, low, high in ranges:
        values = getattr(net, name)
        wrong = np.flatnonzero((values < low) | (values > high))
        if len(wrong):
            where = int(wrong[0])
            lowest = int(np.broadcast_to(low, values.shape)[where])
            highest = int(np.broadcast_to(high, values.shape)[where])
            _fail(f"{name}[{where}] is {values[where]}, must lie in {lowest} .. {highest}")


def _fail(what: str) -> NoReturn:
    raise ValueError(f"timing net: {what}")
