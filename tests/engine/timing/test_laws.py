"""Laws of the step engine on seeded random nets, and the interpreted run as oracle of the jit."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from engine.event_kinds import ARRIVES, END, LEFT, RESUME, START
from engine.timeline import Timeline
from engine.timing.check import Deadlock
from engine.timing.clock import simulate
from engine.timing.net import COEF_UNIT, RATE_UNIT, TimingNet
from tests.factories.timing_nets import build_chain, build_random, build_skip

SEEDS = range(40)


def run_or_lock(net: TimingNet, compiled: bool = False) -> Timeline | None:
    """The timeline, or None where the random slots lock the net up."""
    try:
        return simulate(net, compiled=compiled)
    except Deadlock:
        return None


def test_most_random_nets_run_to_their_end() -> None:
    runs = [run_or_lock(build_random(seed)) for seed in SEEDS]
    assert sum(run is not None for run in runs) >= 30
    assert sum(len(run.stall_start) > 0 for run in runs if run) >= 10


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_sum_to_totals(seed: int) -> None:
    net = build_random(seed)
    run = run_or_lock(net)
    if run is None:
        return
    amounts = np.array([run.amounts(step) for step in range(run.steps)])
    assert (amounts >= 0).all()
    assert (amounts.sum(axis=0) == net.words * net.chunks * net.samples).all()
    middle = run.makespan // 2
    one_by_one = [run.moved(transfer, middle) for transfer in range(len(net.words))]
    assert run.moved_at(middle).tolist() == one_by_one


@pytest.mark.parametrize("seed", SEEDS)
def test_rates_respect_every_conflict_and_cap_in_every_step(seed: int) -> None:
    net = build_random(seed)
    run = run_or_lock(net)
    if run is None:
        return
    for step in range(run.steps):
        rates, running = run.rates(step), run.running(step)
        assert (rates <= net.cap).all()
        for row in range(len(net.conflict_start) - 1):
            ours = slice(net.conflict_start[row], net.conflict_start[row + 1])
            own = slice(net.reserve_start[row], net.reserve_start[row + 1])
            load = int((rates[net.conflict_transfer[ours]] * net.conflict_coef[ours]).sum())
            held = int(net.reserve_rate[own][running[net.reserve_kernel[own]]].sum())
            assert load == 0 or load + held <= RATE_UNIT * COEF_UNIT


@pytest.mark.parametrize("seed", SEEDS)
def test_every_moving_transfer_is_held_by_its_cap_or_a_full_conflict(seed: int) -> None:
    net = build_random(seed)
    run = run_or_lock(net)
    if run is None:
        return
    for step in range(run.steps):
        t, rates, running = int(run.times[step]), run.rates(step), run.running(step)
        for transfer in range(len(net.words)):
            chunks = slice(run.chunk_start[transfer], run.chunk_start[transfer + 1])
            moving = ((run.started[chunks] <= t) & (run.left[chunks] > t)).any()
            if moving and rates[transfer] < net.cap[transfer]:
                assert any(_is_full(net, row, rates, running) for row in _rows_of(net, transfer))


def _rows_of(net: TimingNet, transfer: int) -> list[int]:
    rows = np.repeat(np.arange(len(net.conflict_start) - 1), np.diff(net.conflict_start))
    return [int(row) for row in rows[net.conflict_transfer == transfer]]


def _is_full(net: TimingNet, row: int, rates: np.ndarray, running: np.ndarray) -> bool:
    """Whether one more unit of rate for each of its moving transfers would not fit."""
    ours = slice(net.conflict_start[row], net.conflict_start[row + 1])
    own = slice(net.reserve_start[row], net.reserve_start[row + 1])
    load = int((rates[net.conflict_transfer[ours]] * net.conflict_coef[ours]).sum())
    held = int(net.reserve_rate[own][running[net.reserve_kernel[own]]].sum())
    return load + held + int(net.conflict_coef[ours].sum()) > RATE_UNIT * COEF_UNIT


def progress_bounds(run: Timeline, t0: int, t1: int) -> tuple[np.ndarray, ...]:
    """Return (sample, done at `t0`, done at `t1`), int64 (K,) each, of instances alive at `t0`.

    Sample is -1 and both progresses 0 where no instance is in work at `t0`.
    """
    sample = run.samples_at(t0)
    alive = np.flatnonzero(sample >= 0)
    done = np.zeros((2, len(sample)), np.int64)
    starts, ends = run.start[alive, sample[alive]], run.end[alive, sample[alive]]
    high = int(np.searchsorted(run.stall_start, t1, side="left"))
    kernels, begins = run.stall_kernel[:high], run.stall_start[:high]
    mine = run.stall_sample[:high] == sample[kernels]
    for row, t in enumerate((t0, t1)):
        done[row, alive] = np.minimum(t, ends) - starts
        stalled = np.maximum(np.minimum(run.stall_end[:high], t) - begins, 0)
        np.subtract.at(done[row], kernels[mine], stalled[mine])
    return sample, done[0], done[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_instances_last_their_length_plus_stalls(seed: int) -> None:
    net = build_random(seed)
    run = run_or_lock(net)
    if run is None:
        return
    lasted = run.end - run.start
    np.subtract.at(lasted, (run.stall_kernel, run.stall_sample), run.stall_end - run.stall_start)
    assert (lasted == net.length[:, None]).all()
    work = np.zeros(len(net.length), np.int64)
    for step in range(run.steps):
        t0, t1 = int(run.times[step]), int(run.times[step + 1])
        sample, done, upto = progress_bounds(run, t0, t1)
        assert ((upto - done) == (t1 - t0) * run.running(step)).all()
        assert [run.progress(k, t0) for k in np.flatnonzero(sample >= 0).tolist()] == list(
            zip(sample[sample >= 0].tolist(), done[sample >= 0].tolist(), strict=True)
        )
        work += upto - done
    assert (work == net.length * net.samples).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_each_event_follows_what_it_waited_for(seed: int) -> None:
    run = run_or_lock(build_random(seed))
    if run is None:
        return
    counts = np.diff(run.because_start)
    waits = np.repeat(run.event_time, counts) - run.event_time[run.because]
    assert (waits >= 0).all()
    at_once = np.isin(np.repeat(run.event_kind, counts), (START, RESUME))
    assert (waits[at_once] == 0).all()
    assert (counts[np.isin(run.event_kind, (RESUME, END, LEFT, ARRIVES))] >= 1).all()
    late_starts = (run.event_kind == START) & (run.event_time > 0)
    assert (counts[late_starts] >= 1).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_slots_are_never_overdrawn(seed: int) -> None:
    net = build_random(seed)
    run = run_or_lock(net)
    if run is None:
        return
    assert (run.peak_held(net)[net.use_kernel >= 0] <= net.in_slots[net.use_kernel >= 0]).all()
    for transfer in np.flatnonzero(net.producer >= 0):
        chunks = slice(run.chunk_start[transfer], run.chunk_start[transfer + 1])
        slots = int(net.out_slots[transfer])
        assert (run.claimed[chunks][slots:] >= run.left[chunks][:-slots]).all()


@pytest.mark.parametrize("seed", range(8))
def test_permuting_ids_moves_nothing(seed: int) -> None:
    net = build_random(seed)
    run = run_or_lock(net)
    rng = np.random.default_rng(seed)
    kernels, transfers = rng.permutation(len(net.length)), rng.permutation(len(net.words))
    other = run_or_lock(permute(net, kernels, transfers))
    assert (run is None) == (other is None)
    if run is None or other is None:
        return
    assert (other.times == run.times).all()
    assert (other.start == run.start[kernels]).all()
    assert (other.end == run.end[kernels]).all()
    for place, transfer in enumerate(transfers):
        mine = slice(run.chunk_start[transfer], run.chunk_start[transfer + 1])
        theirs = slice(other.chunk_start[place], other.chunk_start[place + 1])
        assert (other.arrived[theirs] == run.arrived[mine]).all()


def permute(net: TimingNet, kernels: np.ndarray, transfers: np.ndarray) -> TimingNet:
    """The same net, kernel `kernels[i]` and transfer `transfers[i]` now called i."""
    new_kernel = np.append(np.argsort(kernels), -1)
    new_transfer = np.argsort(transfers)
    uses = np.concatenate(
        [np.arange(net.use_start[t], net.use_start[t + 1]) for t in transfers]
    ).astype(np.int64)
    per_transfer = ("chunks", "words", "cap", "latency", "out_slots", "give_first", "give_last")
    return net._replace(
        length=net.length[kernels], region_kernel=new_kernel[net.region_kernel],
        producer=new_kernel[net.producer[transfers]],
        use_start=np.cumsum([0, *np.diff(net.use_start)[transfers]]),
        use_kernel=new_kernel[net.use_kernel[uses]], in_slots=net.in_slots[uses],
        need_first=net.need_first[uses], need_last=net.need_last[uses],
        conflict_transfer=new_transfer[net.conflict_transfer],
        reserve_kernel=new_kernel[net.reserve_kernel],
        **{name: getattr(net, name)[transfers] for name in per_transfer},
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_the_compiled_run_equals_plain_python(seed: int) -> None:
    net = build_random(seed)
    plain, quick = run_or_lock(net), run_or_lock(net, compiled=True)
    assert (plain is None) == (quick is None)
    if plain is None or quick is None:
        return
    theirs = quick.to_arrays()
    for name, values in plain.to_arrays().items():
        assert np.array_equal(values, theirs[name]), name


def test_a_compiled_run_names_the_same_deadlock() -> None:
    waits = []
    for compiled in (False, True):
        with pytest.raises(Deadlock) as caught:
            simulate(build_skip(2, 2), compiled=compiled)
        waits.append(caught.value.waits)
    assert waits[0] == waits[1]


def test_the_arrays_of_a_timeline_are_all_its_fields_in_order() -> None:
    run = simulate(build_chain(2, 2))
    arrays = run.to_arrays()
    assert list(arrays) == sorted(item.name for item in fields(Timeline))
    assert all(np.array_equal(arrays[name], getattr(run, name)) for name in arrays)


def test_a_timeline_is_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        simulate(build_chain(2, 2)).start[0, 0] = 1
