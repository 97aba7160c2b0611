"""Traffic: ramps, single links and sums of the hand-written program."""

from __future__ import annotations

import numpy as np

from engine.metrics import PLANES
from engine.traffic import Traffic
from tests.factories.programs import three_kernels


def traffic() -> tuple[Traffic, int]:
    run = three_kernels().run()
    return run.fields.traffic, run.timeline.steps


def test_flows_are_transfers_and_kernels_with_legs() -> None:
    flows = traffic()[0].flows
    assert [(f.name, f.is_kernel, f.unit) for f in flows] == [
        ("x", False, 24), ("h", False, 8), ("r", False, 8), ("y", False, 4), ("down", True, 68),
    ]  # fmt: skip


def test_ramps_carry_words_in_once_and_out_once() -> None:
    found = traffic()[0]
    inject, deliver = found.plane_total("inject"), found.plane_total("deliver")
    assert inject[0, 0] == 3 * 24
    assert deliver[0, 1:3].tolist() == [3 * 24, 3 * 24]
    assert inject[0, 1:3].tolist() == [3 * 8, 3 * 8]
    assert deliver[2:4, 1:3].tolist() == [[12, 12], [12, 12]]
    # `down`: 8 words of r a row and 4 partial sums in; 4 partial sums and 4 words of y out
    assert deliver[2:4, 5].tolist() == [36, 36]
    assert inject[2:4, 5].tolist() == [24, 24]


def test_one_link_is_one_cell_of_its_plane() -> None:
    found, steps = traffic()
    for plane in PLANES:
        for step in range(steps):
            whole = found.plane(plane, step)
            assert whole.dtype == np.int32
            for row, col in np.ndindex(whole.shape):
                assert found.at(row, col, plane, step) == whole[row, col]


def test_sums_and_peaks_of_all_steps_without_a_map() -> None:
    found, steps = traffic()
    for plane in PLANES:
        sums, (largest, summed) = found.plane_sums(plane), found.plane_bounds(plane)
        assert sums.sum() == found.plane_total(plane).sum()
        for step in range(steps):
            words = found.plane(plane, step)
            assert abs(sums[step] - words.sum()) <= len(found.flows) * words.size
            sure = found.sure_plane(plane, step)
            assert (sure <= words).all()
            assert largest[step] - 1 <= sure.max() <= summed[step] + 1


def test_moving_flows_of_a_step_come_with_their_patterns() -> None:
    found, _ = traffic()
    run = three_kernels().run()
    step = run.timeline.step_at(161)
    assert {flow.name for flow, _ in found.rates("south", step)} == {"h"}
    assert list(found.rates("west", step)) == []
