"""Sweeps: one model under every combination of some knobs, a row of figures each.

Says what is to be run, runs one point, and reads and ranks rows; where points run is in
`sweep_pool`, how a table is kept in `sweep_table`. Knows no screen.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from app.cli.options import set_knob
from app.runs.figures import figures
from app.runs.opening import USER_ERRORS
from app.runs.run import make_run
from engine.codec import encode
from engine.recording import json_bytes
from lowering.cache import StageCache
from lowering.config import CompileConfig, KnobError
from lowering.graph import Graph

MAX_POINTS = 100_000
FIGURES = (
    "makespan_cycles", "throughput_samples_per_mcycle", "utilization", "efficiency",
    "pes_used", "sram_peak_bytes", "sram_live_bytes", "link_wavelets_per_cycle", "steps",
)  # fmt: skip
"""columns of a row, in the order of the table"""


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of knobs."""

    settings: tuple[tuple[str, str], ...]
    """(knob or knob@kernel, value) as given"""
    config: CompileConfig
    key: str
    """hash of the model and of every knob, by which a finished row is known again"""


@dataclass(frozen=True, slots=True)
class Row:
    """What one point gave."""

    settings: tuple[str, ...]
    """values in the order of the varied knobs"""
    status: str
    """ok | what-if (it does not fit) | the reason why there is no run"""
    figures: tuple[str, ...]
    """texts in the order of FIGURES, empty without a run"""
    key: str

    def figure(self, name: str) -> float:
        """Return a figure of a row that has a run."""
        return float(self.figures[FIGURES.index(name)])


def parse_vary(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the knob and the values of `KNOB=V1,V2`; ';' separates values that hold commas.

    Raises:
        KnobError: not of this form, or the same value twice.
    """
    name, sign, rest = text.partition("=")
    values = tuple(v.strip() for v in rest.split(";" if ";" in rest else ",") if v.strip())
    if not sign or not name.strip() or not values:
        raise KnobError(f"--vary {text}: must be KNOB=V1,V2,..., such as samples=1,2,4")
    if len(set(values)) != len(values):
        raise KnobError(f"--vary {text}: a value is there twice")
    return name.strip(), values


def plan_points(graph: Graph, base: CompileConfig, vary: Sequence[str]) -> tuple[Point, ...]:
    """Return every combination of the values, the last knob running fastest.

    Raises:
        KnobError, MachineError: a knob or a value that does not exist.
    """
    axes = [parse_vary(text) for text in vary]
    names = [name for name, _ in axes]
    if len(set(names)) != len(names):
        raise KnobError("--vary names a knob twice; give all its values at once")
    total = 1
    for _, values in axes:
        total *= len(values)
    if total > MAX_POINTS:
        raise KnobError(f"the sweep has {total:,} points, at most {MAX_POINTS:,} are run")
    points = []
    for values in itertools.product(*(values for _, values in axes)):
        config = replace(base, values="none")
        for name, value in zip(names, values, strict=True):
            config = set_knob(config, name, value)
        settings = tuple(zip(names, values, strict=True))
        points.append(Point(settings, config, _key(graph, config)))
    return tuple(points)


def _key(graph: Graph, config: CompileConfig) -> str:
    shapes = sorted((value.name, value.shape) for value in graph.values.values())
    parts = json_bytes(encode(config)) + repr((graph.source_hash, shapes)).encode("utf-8")
    return hashlib.sha256(parts).hexdigest()[:16]


@lru_cache(maxsize=1)
def _cache() -> StageCache:
    """Stages that the points of one process share."""
    return StageCache()


def run_point(graph: Graph, point: Point) -> Row:
    """Compile and execute one point; what a user can cause becomes the row's status."""
    values = tuple(value for _, value in point.settings)
    try:
        run = make_run(0, graph, point.config, graph.name, cache=_cache())
    except USER_ERRORS as error:
        return Row(values, " ".join(str(error).split()), (), point.key)
    found = figures(run)
    numbers = (
        found.makespan, found.throughput, found.utilization, found.efficiency, found.pes_used,
        found.peak_allocated, found.peak_live, found.peak_link, found.steps,
    )  # fmt: skip
    status = "ok" if run.program.would_run else "what-if"
    return Row(values, status, tuple(f"{number:.10g}" for number in numbers), point.key)


def pareto(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows that no other beats: throughput up, SRAM peak and PEs down.

    Only what fits counts; of rows with equal figures the first stays. Fastest first.
    """
    fit = [row for row in rows if row.status == "ok"]
    kept: dict[tuple[float, float, float], Row] = {}
    for row in fit:
        kept.setdefault(_aims(row), row)
    best = [
        row
        for aims, row in kept.items()
        if not any(
            other != aims and all(o <= a for o, a in zip(other, aims, strict=True))
            for other in kept
        )
    ]
    return tuple(sorted(best, key=_aims))


def _aims(row: Row) -> tuple[float, float, float]:
    """Return what should be small."""
    return (
        -row.figure("throughput_samples_per_mcycle"), row.figure("sram_peak_bytes"),
        row.figure("pes_used"),
    )  # fmt: skip
