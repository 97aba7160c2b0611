"""Contention: the vectors of a program keep every link within a wavelet a cycle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.geometry import Rect
from engine.load import add_patterns
from engine.models import program_profiles
from engine.program import HOST, Kernel, Leg, Program, Transfer
from engine.transfers import Pattern, busiest_words, leg_patterns, transfer_patterns
from lowering.stages.contention import find_conflicts
from tests.factories.graphs import compiled_model
from tests.factories.programs import three_kernels


def one_leg(name: str, leg: Leg) -> Transfer:
    return Transfer(name, name, HOST, (HOST,), (leg,), 1, 2, (2,))


def test_two_transfers_on_one_link_conflict_there() -> None:
    first = one_leg("a", Leg("shift", "x", 0, 1, 0, 1, 4, 1, 10, groups=0))
    second = one_leg("b", Leg("shift", "x", 0, 1, 2, 1, 6, 1, 6, groups=0))
    (conflict,) = find_conflicts([], [first, second], {})
    assert (conflict.plane, conflict.row, conflict.col) == ("east", 0, 2)
    assert [(term.flow, term.words) for term in conflict.terms] == [("a", 10), ("b", 6)]


def test_kernel_traffic_alone_is_no_conflict() -> None:
    program = three_kernels().program
    kernel = program.kernel("down")
    beside = replace(kernel, id="other", region=Rect(2, 5, 2, 1))
    assert find_conflicts([kernel, beside], [], {"down": 1, "other": 1}) == ()


def test_transfer_through_a_busy_region_names_the_kernel() -> None:
    program = three_kernels().program
    kernel: Kernel = program.kernel("down")
    passing = one_leg("p", Leg("shift", "y", 5, 1, 0, 1, 5, 1, 9, groups=0))
    (conflict,) = find_conflicts([kernel], [passing], {"down": 68})
    assert [(term.flow, term.words) for term in conflict.terms] == [("p", 9), ("down", 4)]


def worst_load(program: Program, rates: dict[str, float]) -> float:
    """Highest load of any link or ramp when flows run at these shares of their highest rates."""
    lengths = {name: p.length for name, p in program_profiles(program).items()}
    planes: dict[tuple[str, str], list[tuple[Pattern, np.ndarray]]] = {}
    for transfer in program.transfers:
        patterns = transfer_patterns(transfer.legs)
        scale = rates[transfer.id] / max(1, busiest_words(patterns))
        for pattern in patterns:
            words = (pattern.words * scale * 1e9).astype(np.int64)
            planes.setdefault((pattern.plane, pattern.axis), []).append((pattern, words))
    for kernel in program.kernels:
        for pattern in (p for leg in kernel.legs for p in leg_patterns(leg)):
            words = (pattern.words / lengths[kernel.id] * 1e9).astype(np.int64)
            planes.setdefault((pattern.plane, pattern.axis), []).append((pattern, words))
    loads: dict[str, np.ndarray] = {}
    for (plane, axis), items in planes.items():
        load = loads.setdefault(
            plane, np.zeros((program.machine.rows, program.machine.cols), np.int64)
        )
        add_patterns(load if axis == "x" else load.T, items)
    return max(float(load.max()) for load in loads.values()) / 1e9


@pytest.mark.parametrize("name", ["mlp", "bert", "convnext", "demo-cnn"])
def test_rates_that_respect_the_conflicts_respect_every_link_of_a_model(name: str) -> None:
    program = compiled_model(name, "mesh-64x64").program
    lengths = {kernel: p.length for kernel, p in program_profiles(program).items()}
    busiest = {t.id: busiest_words(transfer_patterns(t.legs)) for t in program.transfers}
    rng = np.random.default_rng(0)
    for _ in range(4):
        rates = {t.id: float(rng.random()) for t in program.transfers}
        for _ in range(200):  # lower the members of broken conflicts until none is left
            broken = False
            for conflict in program.conflicts:
                own = sum(t.words / lengths[t.flow] for t in conflict.terms if t.flow in lengths)
                moving = [t for t in conflict.terms if t.flow in rates]
                load = sum(rates[t.flow] * t.words / busiest[t.flow] for t in moving)
                if load + own > 1 + 1e-12:
                    broken = True
                    for term in moving:
                        rates[term.flow] *= max(0.0, 1 - own) / load
            if not broken:
                break
        assert not broken
        assert worst_load(program, rates) <= 1 + 1e-6
