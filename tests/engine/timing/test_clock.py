"""The rules of time on nets that can be checked on paper."""

from __future__ import annotations

import numpy as np
import pytest

from engine.event_kinds import END, GIVEN, LEFT, MOVES
from engine.timeline import Timeline
from engine.timing.check import Deadlock
from engine.timing.clock import simulate
from engine.timing.events import build_timeline
from engine.timing.net import COEF_UNIT, RATE_UNIT, UNLIMITED, TimingNet
from engine.timing.state import State, Wiring, build_state, build_wiring
from tests.factories.timing_nets import Edge, build_chain, build_net, build_skip

FULL = COEF_UNIT


def spans(timeline: Timeline, kernel: int) -> list[tuple[int, int]]:
    """(start, end) of every instance of a kernel."""
    starts, ends = timeline.start[kernel].tolist(), timeline.end[kernel].tolist()
    return list(zip(starts, ends, strict=True))


def test_two_slots_each_pipeline_three_kernels_in_90_cycles() -> None:
    timeline = simulate(build_chain(2, 2))
    assert timeline.makespan == 90
    assert spans(timeline, 0) == [(0, 10), (10, 20), (20, 30)]
    assert spans(timeline, 1) == [(15, 35), (35, 55), (55, 75)]
    assert spans(timeline, 2) == [(40, 50), (60, 70), (80, 90)]
    assert timeline.steps == 14


def test_one_slot_each_makes_the_pipeline_wait() -> None:
    timeline = simulate(build_chain(1, 1))
    assert timeline.makespan == 100
    assert spans(timeline, 0) == [(0, 10), (15, 25), (40, 50)]
    assert spans(timeline, 1) == [(15, 35), (40, 60), (65, 85)]
    assert spans(timeline, 2) == [(40, 50), (65, 75), (90, 100)]
    assert timeline.steps == 12


@pytest.mark.parametrize(("out", "slots"), [(2, 1), (1, 2)])
def test_raising_one_kind_of_slot_alone_gains_nothing(out: int, slots: int) -> None:
    assert simulate(build_chain(out, slots)).makespan == 100


def test_two_transfers_share_a_link_while_both_move() -> None:
    edges = [Edge(0, (2,), words=100), Edge(1, (2,), words=100)]
    timeline = simulate(build_net([1, 51, 1], edges, conflicts=[{0: FULL, 1: FULL}]))
    one, half = RATE_UNIT, RATE_UNIT // 2
    rates = {
        (int(timeline.times[step]) - 1, int(timeline.times[step + 1]) - 1): tuple(
            timeline.rates(step).tolist()
        )
        for step in range(1, timeline.steps - 1)
    }
    assert rates == {(0, 50): (one, 0), (50, 150): (half, half), (150, 200): (0, one)}


@pytest.mark.parametrize(("slots", "makespan"), [(2, 365), (12, 175)])
def test_latency_needs_in_slots(slots: int, makespan: int) -> None:
    edges = [Edge(0, (1,), slots=slots, latency=100)]
    assert simulate(build_net([10, 10], edges, samples=6)).makespan == makespan


def test_three_thirds_end_together() -> None:
    edges = [Edge(-1, (0,), words=100) for _ in range(3)]
    timeline = simulate(build_net([1], edges, conflicts=[{0: FULL, 1: FULL, 2: FULL}]))
    assert timeline.left.tolist() == [300, 300, 300]


@pytest.mark.parametrize("chunks", [1, 8, 128])
def test_chunks_do_not_change_when_the_last_word_leaves(chunks: int) -> None:
    edges = [Edge(-1, (0,), words=128 // chunks, chunks=chunks, slots=UNLIMITED) for _ in range(3)]
    timeline = simulate(build_net([1], edges, conflicts=[{0: FULL, 1: FULL, 2: FULL}]))
    assert timeline.left.max() == 384


def test_a_capped_flow_keeps_its_share_to_the_whole_cycle() -> None:
    edges = [Edge(-1, (1,), words=100, cap=RATE_UNIT // 4), Edge(0, (1,), words=100)]
    timeline = simulate(build_net([100, 1], edges, conflicts=[{0: FULL, 1: FULL}]))
    assert timeline.started.tolist() == [0, 100]
    assert timeline.left.tolist() == [400, 234]


def test_a_transfer_leaves_room_to_a_running_kernels_own_traffic() -> None:
    # kernel 0 runs [0, 40) and reserves 3/4: 10 words move by then, the other 30 alone.
    edges = [Edge(-1, (1,), words=40)]
    reserve = {0: 3 * RATE_UNIT * COEF_UNIT // 4}
    net = build_net([40, 1], edges, conflicts=[{0: FULL}], reserves=[reserve])
    assert simulate(net).left.tolist() == [70]


def test_a_transfer_without_any_room_waits() -> None:
    edges = [Edge(-1, (1,), words=40)]
    net = build_net([50, 1], edges, conflicts=[{0: FULL}],
                    reserves=[{0: 2 * RATE_UNIT * COEF_UNIT}])  # fmt: skip
    timeline = simulate(net)
    assert timeline.left.tolist() == [90]
    assert timeline.rates(0).tolist() == [0]
    assert timeline.moved(0, 50) == 0


def test_a_stalled_kernel_reserves_nothing() -> None:
    # kernel 1 starts at 1 on chunk 0, runs 10, stalls until chunk 1, given at 100, is here at 101.
    edges = [Edge(0, (1,), words=1, chunks=2, give=(0, 100), need=(0, 10)), Edge(2, (3,), words=40)]
    reserve = {1: RATE_UNIT * COEF_UNIT}
    net = build_net([100, 20, 1, 1], edges, conflicts=[{1: FULL}], reserves=[reserve])
    timeline = simulate(net)
    assert spans(timeline, 1) == [(1, 111)]
    assert timeline.stall_start.tolist() == [11]
    assert timeline.stall_end.tolist() == [101]
    assert timeline.left[-1] == 51


def test_chunks_stall_the_reader_and_make_it_longer() -> None:
    edges = [Edge(0, (1,), words=5, chunks=10, slots=UNLIMITED)]
    timeline = simulate(build_net([1000, 100], edges))
    assert spans(timeline, 1) == [(105, 1015)]
    assert (timeline.stall_end - timeline.stall_start).sum() == 810


def test_a_full_out_slot_stalls_the_producer_after_it_gave() -> None:
    # Gives at 10 and 20; the slot is busy until the chunk of 30 words has left at 40.
    edges = [Edge(0, (1,), words=30, chunks=2, out=1, give=(10, 20))]
    timeline = simulate(build_net([20, 5], edges))
    assert timeline.given.tolist() == [10, 50]
    assert timeline.stall_kernel.tolist() == [0, 1]
    assert timeline.stall_start.tolist() == [10, 42]
    assert timeline.stall_end.tolist() == [40, 80]
    assert timeline.claimed.tolist() == [0, 40]


def test_a_transfer_of_no_words_takes_only_its_latency() -> None:
    timeline = simulate(build_net([10, 10], [Edge(0, (1,), words=0, latency=3)]))
    assert timeline.left.tolist() == [10]
    assert timeline.arrived.tolist() == [13]
    assert timeline.amounts(0).tolist() == [0]


def test_the_host_admits_a_sample_at_a_time() -> None:
    edges = [Edge(-1, (0,), words=4), Edge(0, (-1,), words=4, latency=2)]
    timeline = simulate(build_net([10], edges, samples=3, admit_every=50))
    assert timeline.given[:3].tolist() == [0, 50, 100]
    assert spans(timeline, 0) == [(4, 14), (54, 64), (104, 114)]
    assert timeline.makespan == 120


def test_kernels_of_one_region_run_sample_by_sample() -> None:
    timeline = simulate(build_net([10, 20], [Edge(0, (1,), words=5)], 2, regions=[[0, 1]]))
    assert spans(timeline, 0) == [(0, 10), (35, 45)]
    assert spans(timeline, 1) == [(15, 35), (50, 70)]


def test_a_net_without_transfers_or_kernels_runs() -> None:
    assert simulate(build_net([7], [], samples=2)).makespan == 14
    empty = simulate(build_net([], []))
    assert (empty.makespan, empty.steps) == (0, 0)


@pytest.mark.parametrize(("out", "slots"), [(2, 6), (6, 2), (1, 7)])
def test_a_skip_edge_that_holds_a_sample_runs(out: int, slots: int) -> None:
    assert simulate(build_skip(out, slots)).makespan > 0


def test_a_broadcast_skip_needs_all_its_slots_at_the_reader() -> None:
    assert simulate(build_skip(2, 8, broadcast=True)).makespan > 0


def test_the_run_can_be_watched_and_cancelled() -> None:
    seen: list[tuple[int, int]] = []
    simulate(build_chain(2, 2), check=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (9, 9)

    def cancel(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(build_chain(2, 2), check=cancel)


def test_peak_held_counts_chunks_from_first_wavelet_to_freed() -> None:
    net = build_net([10, 30], [Edge(0, (1,), slots=UNLIMITED, out=UNLIMITED)], samples=4)
    timeline = simulate(net)
    # started at 10, 20, 30, 40; freed at 45, 75, 105, 135.
    assert timeline.peak_held(net).tolist() == [4]
    assert np.array_equal(timeline.freed, [45, 75, 105, 135])


def test_slots_sized_by_the_peak_of_a_paced_run_lose_nothing() -> None:
    def pipeline(slots: int) -> TimingNet:
        host = Edge(-1, (0,), words=0)
        return build_net(
            [10, 10], [host, Edge(0, (1,), slots=slots, latency=100)], 20, admit_every=10
        )

    unlimited = simulate(pipeline(UNLIMITED))
    peak = int(unlimited.peak_held(pipeline(UNLIMITED))[1])
    assert peak == 12  # those started at 10, 20 .. 120; the first is freed at 125
    assert simulate(pipeline(peak)).makespan == unlimited.makespan
    assert simulate(pipeline(peak - 1)).makespan > unlimited.makespan


def loaded(
    work: int, words: int, loader: tuple[int, int, int], samples: int = 20, slots: int = 1
) -> Timeline:
    """One kernel of `work` cycles whose samples of `words` come from a loader."""
    return simulate(
        build_net([work], [Edge(-1, (0,), words=words, slots=slots)], samples, loader=loader)
    )


def test_a_loader_too_slow_by_half_leaves_half_of_the_time_to_waiting() -> None:
    timeline = loaded(100, 5, (1, 200, 2))
    assert spans(timeline, 0) == [(205 + 200 * i, 305 + 200 * i) for i in range(20)]


def test_two_workers_decode_in_turns_and_keep_up() -> None:
    timeline = loaded(100, 5, (2, 200, 4), samples=6)
    # both workers end their first sample at 200, their second at 400, their third at 600
    assert timeline.given[:6].tolist() == [200, 200, 400, 400, 600, 600]
    assert timeline.start[0].tolist() == [205, 310, 415, 520, 625, 730]


@pytest.mark.parametrize(
    ("held", "period"),
    [(1, 125), (2, 120), (3, 120), (9, 120)],
)
def test_looking_ahead_hides_the_departure_and_nothing_more(held: int, period: int) -> None:
    # decoding takes 120 cycles, leaving 5: one after the other with 1, at once with 2 or more
    starts = loaded(100, 5, (1, 120, held)).start[0]
    assert np.diff(starts).tolist() == [period] * 19


@pytest.mark.parametrize("held", [1, 2, 5])
def test_a_quick_loader_changes_nothing_but_the_first_wait(held: int) -> None:
    quick, none = loaded(100, 5, (1, 90, held)), loaded(100, 5, (0, 0, 0))
    assert (quick.start - none.start).tolist() == [[90] * 20]


def test_a_sample_decodes_when_all_of_the_one_before_has_left() -> None:
    edges = [Edge(-1, (0,), words=5), Edge(-1, (0,), words=30)]
    timeline = simulate(build_net([10], edges, samples=2, loader=(1, 100, 1)))
    assert timeline.given.tolist() == [100, 230, 100, 230]


def test_decoding_is_what_the_start_waited_for() -> None:
    timeline = loaded(100, 5, (1, 200, 1), samples=3)
    given = np.flatnonzero((timeline.event_kind == GIVEN) & (timeline.event_sample == 2))[0]
    source = timeline.because[timeline.because_start[given]]
    # held to one sample, the worker began when sample 1 had left, 200 cycles before
    assert timeline.event_kind[source] == LEFT
    assert timeline.event_time[given] - timeline.event_time[source] == 200


def test_a_gated_transfer_moves_when_its_kernel_has_ended() -> None:
    edges = [Edge(-1, (1,), words=30, after=0), Edge(-1, (1,), words=30)]
    timeline = simulate(build_net([100, 10], edges, samples=2, regions=[[0, 1]]))
    assert timeline.started.tolist() == [100, 240, 0, 30]
    assert spans(timeline, 1) == [(130, 140), (270, 280)]
    moves = (timeline.event_kind == MOVES) & (timeline.event_subject == 0)
    first = np.flatnonzero(moves)[0]
    assert timeline.event_kind[timeline.because[timeline.because_start[first]]] == END


def test_a_gate_that_waits_for_its_own_reader_is_a_deadlock() -> None:
    with pytest.raises(Deadlock, match="transfer 0 waits for kernel 0 to end"):
        simulate(build_net([10], [Edge(-1, (0,), words=1, after=0)]))


def test_many_stalls_do_not_lengthen_the_log_of_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    # the reader of a slow producer stalls for every chunk; a chunk without rivals is one segment
    lengths: list[tuple[int, int]] = []

    def watched(net: TimingNet, wiring: Wiring, state: State) -> Timeline:
        lengths.append((len(state.stall_log), len(state.segment_log)))
        return build_timeline(net, wiring, state)

    monkeypatch.setattr("engine.timing.clock.build_timeline", watched)
    net = build_net([4000, 400], [Edge(0, (1,), words=1, chunks=400)])
    begun = build_state(net, build_wiring(net))
    timeline = simulate(net, compiled=False)
    assert len(timeline.stall_kernel) > 390
    ((stalls, segments),) = lengths
    assert stalls > len(begun.stall_log)
    assert segments == len(begun.segment_log)
