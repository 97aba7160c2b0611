"""The step engine's clock: run a timing net and return its timeline.

A fluid model of events with integer times (see `engine.timing.loop` for the rules). This module
checks, allocates, slices the run so that it can be watched or cancelled, and wraps the result.
Knows no geometry.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.jit import compiling_is_off, register_warm_up
from engine.timeline import Timeline
from engine.timing.check import build_deadlock, check_net
from engine.timing.events import build_timeline
from engine.timing.loop import PAUSED, SEGMENTS_FULL, STALLS_FULL, advance
from engine.timing.net import SCALARS, TimingNet
from engine.timing.state import (
    Sharing,
    State,
    Wiring,
    build_sharing,
    build_state,
    build_wiring,
    to_arrays,
    to_lists,
    twice_as_long,
)

SLICE_SECONDS = 0.03
"""aim of one slice, so that checks come at least every 50 ms"""
INTERPRETED_CHUNKS = 12_000
"""below this many chunk moves plain Python is done before a first compile would be"""
INTERPRETED_LOOKS = 4_000_000
"""the same for chunk moves x kernels and transfers: their blocks are looked at in every cycle"""
INTERPRETED_TERMS = 100_000
"""the same for transfers in conflicts: those of all linked conflicts are read at each new rate"""


def is_heavy(moves: int, items: int, terms: int) -> bool:
    """Tell whether few chunk moves are still too much for plain Python.

    `items` are kernels and transfers, `terms` transfers in all conflicts.
    """
    return moves * items > INTERPRETED_LOOKS or terms > INTERPRETED_TERMS


def simulate(
    net: TimingNet,
    check: Callable[[int, int], None] | None = None,
    compiled: bool | None = None,
) -> Timeline:
    """Run the net to its end.

    `check(done, total)` is called about every 50 ms with instances ended and may raise to
    cancel. `compiled` forces the jit kernels (True) or plain Python (False); None takes what is
    quicker now. Both give the same timeline.

    Raises `ValueError` for a net that is not well formed and `Deadlock` where the run stops short.
    """
    net = _normalise(net)
    check_net(net)
    wiring = build_wiring(net)
    state, sharing = build_state(net, wiring), build_sharing(net)
    if compiled is None:
        compiled = (
            advance.ready
            or advance.cached
            or len(state.given_log) > INTERPRETED_CHUNKS
            or is_heavy(len(state.given_log), len(state.at), len(net.conflict_transfer))
        )
    if compiled and not compiling_is_off():
        state = _run(net, wiring, state, sharing, advance, check)
    else:
        lists = to_lists(net), to_lists(wiring), to_lists(state), to_lists(sharing)
        state = to_arrays(_run(*lists, advance.interpret, check))
    if int(state.tally[1]) < len(net.length) * net.samples:
        raise build_deadlock(net, wiring, state)
    return build_timeline(net, wiring, state)


def _run(
    net: TimingNet,
    wiring: Wiring,
    state: State,
    sharing: Sharing,
    run: Callable[[TimingNet, Wiring, State, Sharing, int], int],
    check: Callable[[int, int], None] | None,
) -> State:
    total = len(net.length) * net.samples
    budget = 64
    while True:
        began = time.perf_counter()
        why = run(net, wiring, state, sharing, budget)
        if why == STALLS_FULL:
            state = state._replace(stall_log=twice_as_long(state.stall_log))
            continue
        if why == SEGMENTS_FULL:
            state = state._replace(segment_log=twice_as_long(state.segment_log))
            continue
        if check is not None:
            check(int(state.tally[1]), total)
        if why != PAUSED:
            return state
        spent = max(time.perf_counter() - began, 1e-6)
        budget = int(min(max(budget * SLICE_SECONDS / spent, budget / 8, 16), budget * 2))


def _normalise(net: TimingNet) -> TimingNet:
    """Own int64 arrays in C order (one compiled signature); one chunk needs and gives once."""
    own: dict[str, Any] = {
        name: int(value) if name in SCALARS else np.array(value, np.int64, order="C")
        for name, value in net._asdict().items()
    }
    net = TimingNet(**own)
    if len(net.use_start) != len(net.words) + 1 or len(net.need_last) != len(net.use_kernel):
        return net
    single = net.chunks == 1
    single_use = np.repeat(single, np.diff(net.use_start))
    if len(single_use) != len(net.use_kernel):
        return net
    return net._replace(
        give_first=np.where(single, net.give_last, net.give_first),
        need_last=np.where(single_use, net.need_first, net.need_last),
    )


def _warm_up() -> None:
    """Run two kernels and a shared link, compiled."""
    one, none = np.ones(1, np.int64), np.zeros(1, np.int64)
    simulate(
        TimingNet(
            samples=1, **dict.fromkeys(SCALARS[1:], 0), length=np.array([2, 2]),
            region_start=np.array([0, 1, 2]), region_kernel=np.array([0, 1]),
            producer=none, after=-one, chunks=one, words=one, cap=one, latency=one, out_slots=one,
            give_first=2 * one, give_last=2 * one, use_start=np.array([0, 1]), use_kernel=one,
            in_slots=one, need_first=none, need_last=none, conflict_start=np.array([0, 1]),
            conflict_transfer=none, conflict_coef=one, reserve_start=np.array([0, 1]),
            reserve_kernel=none, reserve_rate=one,
        ),
        compiled=True,
    )  # fmt: skip


register_warm_up("timing", _warm_up)
