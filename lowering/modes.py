"""The choice between the two modes: the pipeline where it fits and is not slower."""

from __future__ import annotations

from dataclasses import replace

from engine.kernels.footprint import stored_bytes
from engine.timing.clock import simulate
from engine.timing.net import build_net
from lowering.amounts import amount
from lowering.assembly import Job, Made
from lowering.config import CompileConfig
from lowering.streaming import compile_streaming

TIMED_SAMPLES = (2, 4)
"""runs whose difference is the rate by which modes are compared"""
TIMED_CHUNKS = 100_000
"""chunk moves a sample from which a rate that decides nothing is that of one sample alone"""
MEGACYCLE = 1_000_000


def too_big(job: Job) -> str:
    """Return why no pipeline can hold the weights, empty if one might."""
    machine = job.config.machine
    weights = sum(stored_bytes(model, job.config.storage) for model in job.plan.models.values())
    room = machine.data_sram_bytes * machine.working_pes
    if weights <= room:
        return ""
    return (
        f"mode streaming: the weights take {amount(weights)}, the SRAM of {machine.name} holds "
        f"{amount(room)}; no pipeline, streaming at most {_most(job):.3g} samples/Mcycle: its "
        "weights take that long to arrive (model)"
    )


def choose_mode(job: Job, pipeline: Made) -> tuple[Made, tuple[str, ...]]:
    """Return the pipeline where it fits and is not slower, else the streaming compile."""
    short, fast, bound = shortage(pipeline, job.config), _pipeline_rate(pipeline), _most(job)
    if not short and bound <= fast:
        return pipeline, (
            f"mode pipeline: it fits and is not slower; pipeline {fast:.3g} samples/Mcycle, "
            f"streaming at most {bound:.3g}: its weights take that long to arrive (model)",
        )
    streaming = compile_streaming(job)
    if short:
        figures = f"pipeline at most {fast:.3g} (model), streaming {_told_rate(streaming)}"
        if not shortage(streaming, job.config):
            return streaming, (f"mode streaming: as a pipeline {short}; {figures}",)
        return pipeline, (f"mode pipeline: neither mode fits; {figures}",)
    fast, slow = _timed_rate(pipeline), _timed_rate(streaming)
    figures = f"pipeline {fast:.3g}, streaming {slow:.3g} samples/Mcycle (timed)"
    if slow > fast:
        return streaming, (f"mode streaming: faster; {figures}",)
    return pipeline, (f"mode pipeline: it fits and is not slower; {figures}",)


def shortage(made: Made, config: CompileConfig) -> str:
    """Return what a compile lacks on its machine, empty where it fits."""
    if missing := missing_colors(made, config):
        return f"a router is short of {missing} colors"
    full = next((memory for memory in made.memories if memory.overflow), None)
    if full is not None:
        return f"kernel '{full.kernel}' is short of {full.overflow:,} B"
    return ""


def missing_colors(made: Made, config: CompileConfig) -> int:
    """Return the colors that the fullest router lacks."""
    return max(0, made.routed.colors - free_colors(config))


def free_colors(config: CompileConfig) -> int:
    """Return the colors that a router has for transfers."""
    return config.machine.colors - config.machine.reserved_colors


def _pipeline_rate(made: Made) -> float:
    return MEGACYCLE / max(made.placed.lengths().values())


def _most(job: Job) -> float:
    """Samples a megacycle that streaming cannot exceed: the ports carry every weight each time.

    Known before anything is placed, so that a pipeline that beats it needs no second compile.
    """
    machine, dtype = job.config.machine, job.config.storage
    held = (stored_bytes(model, dtype) for model in job.plan.models.values())
    words = sum(-(-size // machine.wavelet_bytes) for size in held)
    arriving = words / machine.weight_wavelets_per_cycle
    return MEGACYCLE / arriving if arriving else float("inf")


def _timed_rate(made: Made) -> float:
    """Samples a megacycle once the run has begun: what two more samples take."""
    first, last = (_end(made, count) for count in TIMED_SAMPLES)
    return MEGACYCLE * (TIMED_SAMPLES[1] - TIMED_SAMPLES[0]) / max(1, last - first)


def _told_rate(made: Made) -> str:
    """Return the rate of a compile that has no rival, timed in reasonable time."""
    if sum(transfer.chunks for transfer in made.program.transfers) <= TIMED_CHUNKS:
        return f"{_timed_rate(made):.3g} samples/Mcycle (timed)"
    return f"{MEGACYCLE / max(1, _end(made, 1)):.3g} samples/Mcycle (timed, one sample alone)"


def _end(made: Made, samples: int) -> int:
    net = build_net(replace(made.program, samples=samples), made.placed.lengths())
    return simulate(net).makespan
