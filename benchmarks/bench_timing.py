"""Time the step engine on a decoder-like pipeline: `python -m benchmarks.bench_timing`.

134 kernels and 169 transfers (skip edges beside whole-input branches), a few shared links; the
budget is 20 us a step, compiled. Sizes are seeded, figures go to stdout.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from engine.causes import gap_causes
from engine.timing.clock import simulate
from engine.timing.net import COEF_UNIT, RATE_UNIT, SCALARS, TimingNet

BLOCKS = 12
"""decoder blocks of 11 kernels and 14 transfers each; one kernel before and one after"""


def build_pipeline(chunks: int, samples: int, slots: int, seed: int = 0) -> TimingNet:
    """Return the pipeline's net: uneven kernels, every transfer on about three shared links."""
    rng = np.random.default_rng(seed)
    edges = [(kernel, kernel + 1) for kernel in range(11 * BLOCKS + 1)]
    for block in range(BLOCKS):
        first = 11 * block
        edges += [(first, first + 6), (first + 6, first + 11), (first + 1, first + 5)]
    kernels, transfers = 11 * BLOCKS + 2, len(edges)
    length = rng.integers(300, 2900, kernels)
    producer, reader = np.array(edges).T
    links = np.arange(transfers) // 2
    meet = [np.unique(np.flatnonzero(np.abs(links - link) <= 1)) for link in range(links[-1] + 1)]
    ones = np.ones(transfers, np.int64)
    return TimingNet(
        samples=samples, **dict.fromkeys(SCALARS[1:], 0), length=length,
        region_start=np.arange(kernels + 1), region_kernel=np.arange(kernels),
        producer=producer, after=-ones, chunks=chunks * ones,
        words=rng.integers(20, 600, transfers) // chunks,
        cap=RATE_UNIT * ones, latency=30 * ones, out_slots=2 * ones,
        give_first=length[producer] // chunks, give_last=length[producer],
        use_start=np.arange(transfers + 1), use_kernel=reader, in_slots=slots * ones,
        need_first=0 * ones, need_last=length[reader] * (chunks - 1) // chunks,
        conflict_start=np.cumsum([0, *map(len, meet)]), conflict_transfer=np.concatenate(meet),
        conflict_coef=np.full(sum(map(len, meet)), COEF_UNIT),
        reserve_start=np.arange(len(meet) + 1), reserve_kernel=np.arange(len(meet)) % kernels,
        reserve_rate=np.full(len(meet), RATE_UNIT * COEF_UNIT // 8),
    )  # fmt: skip


def measure(chunks: int, samples: int, compiled: bool) -> str:
    """Return one line of figures."""
    net = build_pipeline(chunks, samples, slots=3 * chunks)
    began = time.perf_counter()
    timeline = simulate(net, compiled=compiled)
    spent = time.perf_counter() - began
    began = time.perf_counter()
    gap_causes(net, timeline)
    gaps = time.perf_counter() - began
    began = time.perf_counter()
    for step in range(0, timeline.steps, max(1, timeline.steps // 100)):
        timeline.amounts(step)
    step_us = 1e6 * (time.perf_counter() - began) / min(100, timeline.steps)
    return (
        f"{chunks:3} chunks {samples:3} samples {timeline.steps:7} steps  run {1e3 * spent:8.1f} ms"
        f"  {1e6 * spent / timeline.steps:6.1f} us/step  gaps {1e3 * gaps:6.1f} ms"
        f"  amounts {step_us:6.1f} us"
    )


def main() -> None:
    """Print a table, compiled by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interpreted", action="store_true", help="plain Python instead of numba")
    compiled = not parser.parse_args().interpreted
    if compiled:
        measure(1, 1, compiled)
    for chunks, samples in ((1, 4), (1, 16), (4, 4), (8, 4), (8, 16)):
        print(measure(chunks, samples, compiled))


if __name__ == "__main__":
    main()
