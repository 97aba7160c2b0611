"""Loads of links: what overlapping flows add up to, and the step where that is highest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest

from engine.loads import load_map, most_load, peak_load_step, planes_of, words_map
from engine.run import execute
from engine.traffic import Traffic
from tests.factories.graphs import compiled_model


@dataclass(frozen=True)
class _Drawn:
    """A row of two PEs whose words east were written down, a tuple of flows a step."""

    flows: tuple[tuple[tuple[int, int], ...], ...]

    def plane(self, plane: str, step: int) -> np.ndarray:
        flows = self.flows[step] if plane == "east" else ()
        return np.array([np.sum([(0, 0), *flows], axis=0)], np.int32)

    def sure_plane(self, plane: str, step: int) -> np.ndarray:
        less = [[max(0, words - 1) for words in flow] for flow in self.flows[step]]
        return np.array([np.sum(less, axis=0)]) if plane == "east" else np.zeros((1, 2))

    def plane_bounds(self, plane: str) -> tuple[np.ndarray, np.ndarray]:
        tops = [[max(flow) - 1 for flow in flows] for flows in self.flows]
        largest, summed = ([act(top) for top in tops] for act in (max, sum))
        scale = 1.0 if plane == "east" else 0.0
        return scale * np.array(largest), scale * np.array(summed)


def drawn(*steps: tuple[tuple[int, int], ...]) -> Traffic:
    return cast(Traffic, _Drawn(steps))


ALONE, SHARED, APART = ((60, 0),), ((45, 0), (45, 0)), ((55, 0), (0, 55))


def test_flows_that_share_a_link_are_added_in_the_peak() -> None:
    steps = drawn(ALONE, SHARED, APART)
    assert peak_load_step(steps, "link_east", np.array([100, 100, 100])) == 1


def test_whole_wavelets_of_a_short_step_are_no_peak() -> None:
    short = ((1, 0), (1, 0), (1, 0))
    steps = drawn(short, APART)
    assert peak_load_step(steps, "link_east", np.array([1, 100])) == 1


def test_load_is_wavelets_by_cycles() -> None:
    steps = drawn(ALONE, SHARED)
    load = load_map(steps, "traffic", 1, 100)
    assert load.dtype == np.float32
    assert load.tolist() == [[pytest.approx(0.9), 0.0]]
    assert words_map(steps, "traffic", 1).tolist() == [[90, 0]]


def test_four_links_carry_four_wavelets_a_cycle() -> None:
    assert (most_load("traffic"), most_load("link_west")) == (4.0, 1.0)


@pytest.mark.parametrize("metric", ["traffic", "link_south"])
def test_peak_of_a_model_is_found_without_painting_every_step(metric: str) -> None:
    compiled = compiled_model("mlp", "mesh-64x64")
    run = execute(compiled.program, compiled.store)
    cycles = np.diff(run.timeline.times)
    planes = planes_of(metric)
    sure = [
        np.max(sum(run.fields.traffic.sure_plane(plane, step) for plane in planes)) / cycles[step]
        for step in range(run.timeline.steps)
    ]
    assert sure[run.fields.peak_step(metric)] == max(sure)
