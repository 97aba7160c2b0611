"""SRAM layouts: legal, near the bound, the same every time."""

from __future__ import annotations

import random

import pytest

from lowering.stages.layout import BufferRequest, Layout, plan_layout

KB = 1024


def request(size: int, first: int, last: int, align: int = 4) -> BufferRequest:
    return BufferRequest(f"b{size}", "work", size, first, last, align)


def random_requests(seed: int, count: int) -> list[BufferRequest]:
    dice = random.Random(seed)
    requests = []
    for _ in range(count):
        first = dice.randrange(count)
        last = min(count - 1, first + int(dice.expovariate(1 / 8)))
        size = 4 * (1 + int(dice.lognormvariate(5, 1)))
        requests.append(request(size, first, last, dice.choice((4, 8, 16))))
    return requests


def first_come_peak(requests: list[BufferRequest]) -> int:
    """Each buffer, by first use, at the lowest offset that is free for its life: the twin."""
    done: list[tuple[BufferRequest, int]] = []
    for new in sorted(requests, key=lambda r: r.first):
        others = [(o, o + r.size) for r, o in done if r.first <= new.last and new.first <= r.last]
        ends = sorted([0] + [-(-end // new.align) * new.align for _, end in others])
        free = (e for e in ends if all(e + new.size <= s or e >= t for s, t in others))
        done.append((new, next(free)))
    return max(offset + r.size for r, offset in done)


def assert_legal(requests: list[BufferRequest], layout: Layout) -> None:
    for n, one in enumerate(requests):
        assert layout.offsets[n] >= 0
        assert layout.offsets[n] % one.align == 0
        assert layout.offsets[n] + one.size <= layout.peak
        for m, other in enumerate(requests[:n]):
            if one.first <= other.last and other.first <= one.last:
                ends = layout.offsets[n] + one.size, layout.offsets[m] + other.size
                assert ends[0] <= layout.offsets[m] or ends[1] <= layout.offsets[n]


def test_buffers_that_never_meet_share_bytes() -> None:
    layout = plan_layout([request(100, 0, 0), request(80, 1, 1)], 48 * KB)
    assert layout.offsets == (0, 0)
    assert (layout.peak, layout.max_live) == (100, 100)


def test_last_operation_still_needs_its_buffer() -> None:
    layout = plan_layout([request(100, 0, 1), request(80, 1, 2)], 48 * KB)
    assert sorted(layout.offsets) == [0, 100]
    assert layout.peak == 180


def test_tightest_gap_is_taken() -> None:
    # Three long buffers leave gaps of 100 (0..100) and 40 (200..240) after the short ones die.
    requests = [
        request(240, 0, 0), request(200, 1, 1), request(100, 2, 2), request(40, 2, 2),
        request(300, 0, 2),
    ]  # fmt: skip
    layout = plan_layout(requests, 48 * KB)
    assert_legal(requests, layout)
    assert layout.peak == layout.max_live == 540


def test_overflow_is_a_result() -> None:
    layout = plan_layout([request(600, 0, 0), request(600, 0, 0)], 1000)
    assert not layout.fits
    assert layout.overflow == 200


def test_exact_fit_fits() -> None:
    layout = plan_layout([request(600, 0, 0), request(400, 0, 0)], 1000)
    assert layout.fits
    assert layout.overflow == 0


def test_offsets_are_aligned() -> None:
    layout = plan_layout([request(10, 0, 0, align=2), request(6, 0, 0, align=16)], 1000)
    assert layout.offsets == (6, 0)


def test_nothing_needs_nothing() -> None:
    assert plan_layout([], 1000) == Layout((), 0, 0, 1000)


def test_empty_buffer_takes_no_room() -> None:
    layout = plan_layout([request(0, 0, 5), request(8, 0, 5)], 1000)
    assert layout.peak == 8


@pytest.mark.parametrize("seed", range(6))
def test_random_layouts_are_legal_and_beat_first_come(seed: int) -> None:
    requests = random_requests(seed, 60)
    layout = plan_layout(requests, 48 * KB)
    assert_legal(requests, layout)
    assert layout.max_live <= layout.peak <= first_come_peak(requests)


def test_thirty_buffers_come_near_the_bound() -> None:
    ratios = []
    for seed in range(10):
        layout = plan_layout(random_requests(seed, 30), 48 * KB)
        ratios.append(layout.peak / layout.max_live)
    assert max(ratios) <= 1.02


def test_same_requests_give_the_same_layout() -> None:
    requests = random_requests(3, 80)
    assert plan_layout(requests, 48 * KB) == plan_layout(list(requests), 48 * KB)


def test_backward_life_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must not end \(2\) before it starts \(3\)"):
        request(8, 3, 2)
