"""What would hold a model that does not fit: the smallest machine, or else how many wafers."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from lowering.assembly import Job, Made
from lowering.config import CompileConfig, with_machine
from lowering.larger import TRIED_KERNELS, larger_machines, pipeline_machine, streaming_machine
from lowering.machine_change import timeless
from lowering.modes import shortage
from lowering.pipeline_wafers import pipeline_wafers
from lowering.report import Wafers
from lowering.stages.experts import routing_key
from lowering.streaming import compile_streaming
from lowering.wafers import wafers_needed

Settle = Callable[[Job], Made]
"""compiles a job as a pipeline"""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What would hold a model; all None where nothing is known."""

    machine: str | None = None
    """the smallest machine tried that holds it"""
    wafers: Wafers | None = None
    """where there is none: how many wafers"""
    streams: bool = False
    """True where the machine there is holds it once its kernels take turns"""

    def note(self) -> tuple[str, ...]:
        """Return what the report should say beside machine and wafers."""
        said = "it fits this machine where kernels take turns (knob mode=streaming; tried)"
        return (said,) if self.streams else ()


def find_remedy(job: Job, made: Made, settle: Settle) -> Remedy:
    """Return what would hold what was made; where the mode is open, the lesser of both modes."""
    if made.program.mode == "streaming":
        return _streamed(job, made)
    found = pipeline_remedy(job, settle)
    if job.config.mode != "auto" and len(job.plan.drafts) > TRIED_KERNELS:
        return found
    turns = compile_streaming(job)
    if not shortage(turns, job.config):
        return replace(found, streams=True)
    if job.config.mode != "auto":
        return found
    return min(_streamed(job, turns), found, key=lambda remedy: _effort(job.config, remedy))


def pipeline_remedy(job: Job, settle: Settle) -> Remedy:
    """Return what would hold a pipeline."""
    machine = job.cache.get("machine", _key(job), lambda: pipeline_machine(job, settle))
    if machine:
        return Remedy(machine)
    wafers = job.cache.get(
        "pipeline wafers", _key(job), lambda: pipeline_wafers(job.plan, job.config, job.progress)
    )
    return Remedy(wafers=wafers)


def _streamed(job: Job, made: Made) -> Remedy:
    machine = job.cache.get("streaming machine", _key(job), lambda: streaming_machine(job, made))
    if machine or not any(memory.overflow for memory in made.memories):
        return Remedy(machine)
    wafers = job.cache.get(
        "wafers", _key(job), lambda: wafers_needed(made.program, job.progress)
    )  # fmt: skip
    return Remedy(wafers=wafers)


def _effort(config: CompileConfig, remedy: Remedy) -> tuple[int, int]:
    """Order remedies: a small machine, a larger one, wafers that would do, those needed, none."""
    if remedy.machine:
        larger = larger_machines(config.machine)
        names = [with_machine(config, machine).machine.name for machine in larger]
        return 0, names.index(remedy.machine)
    if remedy.wafers is None or not remedy.wafers.parts:
        return 3, int(remedy.wafers is None)
    return (2 if remedy.wafers.mode == "pipeline" else 1), 0


def _key(job: Job) -> tuple[Hashable, ...]:
    """What a search depends on: all that placement, routing and memory do."""
    config = job.config
    return (
        job.plan, timeless(config.machine), config.machine.name, config.figures, config.storage,
        config.pe_caps, config.pins, config.aspect, config.objective, config.optimizer,
        config.prefetch, config.max_chunks, config.in_slots, config.out_slots,
        config.route_order, routing_key(job.routing),
    )  # fmt: skip
