"""Loads of links: wavelets a cycle in a step, as maps and as the step where they are highest.

Knows flows and step lengths, no kernels. Wavelets are whole: in a very short step the load shown
may exceed what a link carries by less than one wavelet a flow, never over the run.
"""

from __future__ import annotations

import numpy as np

from engine.metrics import LINK_PLANES
from engine.traffic import Traffic

_LOOKED_AT = 12
"""steps painted to find the highest load, for each of the two bounds"""


def planes_of(metric: str) -> tuple[str, ...]:
    """Return the planes of links that a metric of kind `load` adds up."""
    return LINK_PLANES if metric == "traffic" else (metric.removeprefix("link_"),)


def most_load(metric: str) -> float:
    """Return the wavelets a cycle that the links of a metric can carry."""
    return float(len(planes_of(metric)))


def words_map(traffic: Traffic, metric: str, step: int) -> np.ndarray:
    """Return the wavelets of a step, int32 (rows, cols)."""
    first, *others = planes_of(metric)
    words = traffic.plane(first, step)
    for plane in others:
        words += traffic.plane(plane, step)
    return words


def load_map(traffic: Traffic, metric: str, step: int, cycles: int) -> np.ndarray:
    """Return the wavelets a cycle of a step of `cycles` cycles, float32 (rows, cols)."""
    load: np.ndarray = np.divide(words_map(traffic, metric, step), cycles, dtype=np.float32)
    return load


def peak_load_step(traffic: Traffic, metric: str, cycles: np.ndarray) -> int:
    """Return the step whose busiest PE has the highest load, the first of ties.

    Flows that overlap are added where they meet, by painting the steps that may be highest: no
    step is higher than the sum of its flows, none lower than its largest. Each flow counts with
    one wavelet less than it has, or the shortest steps would always be highest.
    """
    above, below = np.zeros(len(cycles)), np.zeros(len(cycles))
    for plane in planes_of(metric):
        largest, summed = traffic.plane_bounds(plane)
        above += summed / cycles
        below = np.maximum(below, largest / cycles)
    best, found = int(np.argmax(below)), -1.0
    for step in _candidates(above, below):
        if above[step] < found:
            continue
        words = sum(traffic.sure_plane(plane, step) for plane in planes_of(metric))
        load = float(np.max(words) / cycles[step])
        if load > found or (load == found and step < best):
            best, found = step, load
    return best


def _candidates(above: np.ndarray, below: np.ndarray) -> list[int]:
    """Return the steps with the highest of each bound, alternately, without repeats."""
    tops = (np.argsort(-bound, kind="stable")[:_LOOKED_AT].tolist() for bound in (below, above))
    return list(dict.fromkeys(step for pair in zip(*tops, strict=True) for step in pair))
