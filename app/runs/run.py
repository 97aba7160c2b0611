"""One compiled and executed model: what a session shows. Frozen; knows no cursor and no screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from app.runs.computed import Computed
from app.session.warming import compile_if_needed
from engine.geometry import Rect
from engine.machine import MachineSpec
from engine.program import Program
from engine.progress import NO_PROGRESS, Progress
from engine.run import Execution, execute
from engine.timeline import Timeline
from engine.timing.net import TURN_END
from lowering.cache import StageCache
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig
from lowering.graph import Graph
from lowering.stages.experts import Routing


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Run:
    """A compilation and its execution."""

    id: int
    """unique in this process; equal ids show equal frames"""
    compiled: Compiled
    execution: Execution
    source: str
    """what was opened: file name or demo"""
    remarks: tuple[str, ...] = field(default=())
    """what a reader should know, such as a recording made by another version"""
    values: Mapping[str, np.ndarray] = field(default_factory=dict)
    """tensor id -> array of sample 0, empty for a run without values"""
    computed: Computed | None = None
    """values computed in this process with their errors, None before that"""

    @property
    def program(self) -> Program:
        """what the machine does"""
        return self.execution.program

    @property
    def machine(self) -> MachineSpec:
        """the machine it runs on"""
        return self.program.machine

    @property
    def timeline(self) -> Timeline:
        """events and steps"""
        return self.execution.timeline

    @property
    def config(self) -> CompileConfig:
        """the knobs it was compiled with"""
        return self.compiled.config

    @property
    def grid(self) -> tuple[int, int]:
        """(rows, cols) of the machine"""
        return self.machine.rows, self.machine.cols

    @property
    def standing(self) -> str:
        """what every number of the run rests on"""
        return "model" if self.program.would_run else "would not run"

    def standing_of(self, standing: str) -> str:
        """Return a number's own standing, marked when the program does not fit."""
        return standing if self.program.would_run else f"would not run ({standing})"

    def step_bounds(self, step: int) -> tuple[int, int]:
        """Return the first cycle of a step and the first after it."""
        times = self.timeline.times
        return int(times[step]), int(times[step + 1])

    def label(self, step: int) -> str:
        """Return what happens at the start of a step, such as 'ffn1 starts, sample 2'."""
        program = self.program
        kernels = (
            *(kernel.id for kernel in program.kernels),
            *(stream.id for stream in program.streams),
            TURN_END,
        )
        transfers = (
            *(transfer.id for transfer in program.transfers),
            *(stream.id for stream in program.streams),
            *(f"room for {stream.id}" for stream in program.streams if stream.gate),
            TURN_END,
        )
        return self.timeline.label(step, kernels, transfers)

    def region(self, kernel: str) -> Rect:
        """Return the region of a kernel; KeyError if there is none."""
        return self.program.kernel(kernel).region


def make_run(
    run_id: int,
    graph: Graph,
    config: CompileConfig,
    source: str,
    progress: Progress = NO_PROGRESS,
    cache: StageCache | None = None,
    routing: Routing | None = None,
) -> Run:
    """Compile and execute a graph, with the experts that tokens take as far as `routing` knows.

    Raises:
        Cancelled: the progress was asked to stop.
    """
    compiled = compile_graph(graph, config, progress, cache, routing)
    compile_if_needed(compiled.program, progress)
    execution = execute(compiled.program, compiled.store, progress)
    return Run(run_id, compiled, execution, source)
