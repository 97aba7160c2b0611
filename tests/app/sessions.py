"""Small sessions for the tests: the mlp demo on a 64x64 mesh, compiled and executed once."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from app.debugger import Debugger
from app.runs.opening import open_run
from app.runs.run import Run, make_run
from engine.machine import generic_mesh
from lowering.config import CompileConfig
from tests.factories.training import step_graph


def mesh_config(side: int = 64, samples: int | None = None) -> CompileConfig:
    """Return the config of a square mesh."""
    return CompileConfig(machine=generic_mesh(side, side), samples=samples, mode="pipeline")


@lru_cache(maxsize=4)
def mlp_run(samples: int = 4) -> Run:
    """Return the mlp demo's run; runs are frozen, so tests may share it."""
    return open_run(900 + samples, "mlp", mesh_config(samples=samples), {}).run


def mlp_streaming() -> Debugger:
    """Return a session on the mlp demo with its weights through slow ports, three samples."""
    machine = replace(generic_mesh(64, 64), weight_wavelets_per_cycle=4.0)
    config = CompileConfig(machine=machine, samples=3, mode="streaming")
    return Debugger(open_run(800, "mlp", config, {}).run)


@lru_cache(maxsize=1)
def spilled_run() -> Run:
    """Return a training step of which all that can wait outside does, behind slow ports."""
    machine = replace(generic_mesh(32, 32), weight_wavelets_per_cycle=0.5)
    config = CompileConfig(
        machine=machine, samples=2, mode="streaming", optimizer="host", spill_mb=0.0
    )
    return make_run(810, step_graph("mlp"), config, "mlp")


def mlp_session() -> Debugger:
    """Return a fresh session on the shared run."""
    return Debugger(mlp_run())
