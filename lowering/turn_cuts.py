"""How finely the samples of kernels that take turns may be cut, and which cuts to try.

Knows bounds on the SRAM that a plan needs; lays nothing out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from lowering.assembly import Job
from lowering.config import CompileConfig
from lowering.stages.kept import least_live, least_own
from lowering.stages.turn_area import turn_area


@dataclass(frozen=True, slots=True)
class Cut:
    """How finely samples are cut, and what SRAM is saved beside."""

    chunks: int
    """most chunks a sample is cut into"""
    share: int = 2
    """a tile may take one part in this many of the SRAM: weights of the next kernels and the
    activations of others share the rest"""
    late: bool = False
    """weights come as late as they can"""
    kept: float = inf
    """share of the SRAM that activations alive at once may fill; beyond it some wait outside"""


THRIFTIER = (Cut(32, 8, late=True), Cut(32), Cut(128, 8, late=True), Cut(128))
"""tried in turn where the SRAM is overfilled"""
FINEST = Cut(512, 8, late=True)
"""tried last, where some waits outside: it costs most steps, too many for a what-if"""
THRIFTY_FROM = 1 / 8
"""share of the SRAM that tensors fill by themselves from which tiles are thrifty at once"""
KEPT_SHARES = (1 / 2, 1 / 4, 1 / 8)
"""shares of the SRAM tried in turn where activations must wait outside"""


def own_share(job: Job) -> float:
    """Return how many times the SRAM one turn's weights and results take."""
    return least_own(job.plan, job.shapes, job.config.storage).size / turn_room(job.config)


def turn_room(config: CompileConfig) -> int:
    """Return the bytes of SRAM for data on all PEs on which kernels take turns."""
    return config.machine.data_sram_bytes * turn_area(config.machine).area


def cuts_to_try(job: Job) -> tuple[Cut, ...]:
    """Return the cuts to try: thrifty ones first where tensors fill much of the SRAM by themselves.

    Where nothing could fit, one for the what-if; where all that stays would not, only those by
    which some waits outside.
    """
    config, room = job.config, turn_room(job.config)
    usual = Cut(config.max_chunks)
    thrifty, *others = (
        replace(cut, chunks=max(cut.chunks, config.max_chunks)) for cut in THRIFTIER
    )
    if own_share(job) > 1:
        return (thrifty,)
    share = least_live(job.plan, job.shapes, config.storage).size / room
    first = (thrifty, usual) if share > THRIFTY_FROM else (usual, thrifty)
    tried = tuple(dict.fromkeys((*first, *others)))
    if config.spill_mb is not None:
        return tuple(replace(cut, kept=config.spill_mb * 1e6 / room) for cut in tried)
    late = [*(cut for cut in (thrifty, *others) if cut.late), FINEST]
    away = tuple(replace(cut, kept=kept) for cut in late for kept in KEPT_SHARES)
    return away if share > 1 else (*tried, *away)
