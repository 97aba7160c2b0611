"""ONNX's backend interface over the mesh: every run is compiled, placed, executed and audited.

Nothing is evaluated on the side: outputs are what `engine.values.run_values` makes of the placed
program, after the timing engine has executed it and its ledger holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

from engine.machine import MachineSpec, generic_mesh
from engine.program import Program
from engine.run import execute
from engine.values import run_values
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig
from lowering.frontends.onnx import import_with_values
from lowering.frontends.onnx.reading import ModelFile
from lowering.graph import Graph
from lowering.stages.plan import DoesNotFit
from tests.conformance.widening import is_uniform, wide_sums

SIDES = (16, 64, 256)
"""generic meshes tried in turn, PEs a side"""
COLORS = 96
"""virtual channels of the generic mesh; crowded little graphs need more than a wafer's 24"""
LARGE_SRAM_BYTES = 8 << 20
"""SRAM of a PE where a window reads more of a map than 48 KiB hold"""


class ConformanceError(AssertionError):
    """The mesh did not do what it says it does."""


def import_bound(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> Graph:
    """Import a model; inputs that say how to lay others out become part of the program."""
    return import_with_values(ModelFile(Path("case"), model, ""), fed)


def _machines() -> list[MachineSpec]:
    meshes = [replace(generic_mesh(side, side), colors=COLORS) for side in SIDES]
    return [*meshes, replace(meshes[1], sram_bytes=LARGE_SRAM_BYTES)]


def compile_smallest(graph: Graph) -> Compiled:
    """Compile for the smallest mesh of `SIDES` on which the model would run.

    A map that rows cannot cut finely enough gets one slot an edge in place of two.
    """
    for machine in _machines():
        for slots in (None, 1):
            config = CompileConfig(machine=machine, samples=1, in_slots=slots, out_slots=slots)
            try:
                compiled = compile_graph(graph, config)
            except DoesNotFit:
                break
            if compiled.fits:
                return compiled
    raise ConformanceError(f"model '{graph.name}' fits on no mesh of up to {SIDES[-1]} a side")


@dataclass(frozen=True, slots=True)
class Checked:
    """A compiled model whose execution the ledger confirms."""

    compiled: Compiled
    program: Program


def check_execution(compiled: Compiled) -> Checked:
    """Execute a program and refuse it when a law of the ledger is broken."""
    execution = execute(compiled.program, compiled.store)
    broken = [check for check in execution.ledger.checks if not check.ok]
    if broken:
        raise ConformanceError("; ".join(f"{each.name}: {each.detail}" for each in broken))
    return Checked(compiled, execution.program)


class WaferscopeRep(BackendRep):  # type: ignore[misc]
    """A model that is compiled when its inputs are known."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._model = model
        self._made: dict[str, Checked] = {}

    def run(self, inputs: Any, **kwargs: Any) -> tuple[np.ndarray, ...]:
        """Return the outputs that the mesh computes, in the model's order."""
        del kwargs
        weights = {each.name for each in self._model.graph.initializer}
        names = [each.name for each in self._model.graph.input if each.name not in weights]
        fed = dict(zip(names, (np.asarray(each) for each in inputs), strict=False))
        checked = self._checked(fed)
        graph = checked.compiled.graph
        given = {name: fed[name] for name in graph.inputs}
        program = replace(checked.program, samples=1)
        made = run_values(program, checked.compiled.store, given).outputs()
        return tuple(made[name] for name in graph.outputs)

    @property
    def compilations(self) -> int:
        """programs made so far, one for each set of fixed inputs"""
        return len(self._made)

    def _checked(self, fed: Mapping[str, np.ndarray]) -> Checked:
        """Compile, cached by the bytes of the inputs that may become part of the program."""
        key = hashlib.sha256()
        for name, array in fed.items():
            small = array if array.size <= 64 or array.dtype.kind != "f" else array.reshape(-1)[:0]
            key.update(name.encode() + str(array.shape).encode() + small.tobytes())
        digest = key.hexdigest()
        if digest not in self._made:
            graph = import_bound(self._model, fed)
            if is_uniform(self._model):
                graph = wide_sums(graph)
            self._made[digest] = check_execution(compile_smallest(graph))
        return self._made[digest]


class WaferscopeBackend(Backend):  # type: ignore[misc]
    """The mesh as an ONNX backend of one device."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> WaferscopeRep:
        """Return a runnable model; it is compiled at its first run."""
        del device, kwargs
        return WaferscopeRep(model)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Return whether the device is the one this backend has."""
        return device == "CPU"


def run_model(model: onnx.ModelProto, inputs: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return the outputs of a model on the mesh."""
    return WaferscopeBackend.prepare(model).run(list(inputs))
