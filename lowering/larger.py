"""The smallest machine on which a model that does not fit would: presets and square meshes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engine.machine import PRESETS, MachineSpec, generic_mesh
from lowering.assembly import Job, Made
from lowering.cache import StageCache
from lowering.config import with_machine
from lowering.modes import shortage
from lowering.stages.plan import smallest_machine
from lowering.streaming import compile_streaming

MESH_SIDES = (64, 128, 256, 512)
TRIALS = 3
"""machines tried at most"""
TRIED_KERNELS = 1500
"""kernels that take turns, compiled in all trials together: about two seconds"""
TRIED_IN_PIPELINE = 400
"""kernels of a pipeline compiled in all trials together: some seconds, as slots settle"""


def larger_machines(here: MachineSpec) -> list[MachineSpec]:
    """Return the presets and meshes with more PEs, the smallest first."""
    known = [*PRESETS.values(), *(generic_mesh(side, side) for side in MESH_SIDES)]
    return sorted((m for m in known if m.pes > here.pes), key=lambda machine: machine.pes)


def pipeline_machine(job: Job, settle: Callable[[Job], Made]) -> str | None:
    """Return the smallest machine on which a pipeline fits, None if none is found.

    A machine is tried with `settle` only if the kernels can be placed on it: slots and colors may
    still not do. Large models are not tried at all, for their time.
    """
    trials = min(TRIALS, TRIED_IN_PIPELINE // max(1, len(job.plan.drafts)))
    for machine in larger_machines(job.config.machine):
        if not trials:
            return None
        if smallest_machine(job.plan, job.config, [machine], job.progress) is None:
            continue
        job.progress.check()
        trials -= 1
        config = with_machine(job.config, machine)
        made = settle(replace(job, config=config, cache=StageCache()))
        if made.placed.finding is None and not shortage(made, config):
            return config.machine.name
    return None


def streaming_machine(job: Job, made: Made) -> str | None:
    """Return the smallest machine on which a streaming compile fits, None if none is found.

    A machine is tried only if it holds what the last one needed, spread evenly over its PEs: what a
    PE holds shrinks in proportion at best. Large models are not tried at all, for their time.
    """
    trials = min(TRIALS, TRIED_KERNELS // max(1, len(made.program.kernels)))
    needed = _needed_bytes(made)
    for machine in larger_machines(job.config.machine):
        if not trials:
            return None
        config = with_machine(job.config, machine)
        if needed > config.machine.data_sram_bytes * config.machine.working_pes:
            continue
        job.progress.check()
        trials -= 1
        tried = compile_streaming(replace(job, config=config, cache=StageCache()))
        if not shortage(tried, config):
            return machine.name
        needed = _needed_bytes(tried)
    return None


def _needed_bytes(made: Made) -> int:
    """Return the data bytes of the fullest PE, on all PEs."""
    machine = made.program.machine
    fullest = max(memory.peak for memory in made.memories) - machine.reserved_sram_bytes
    return fullest * machine.working_pes
