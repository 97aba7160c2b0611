"""Running a Program: timing, causes, maps and ledger, behind one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from engine.bottleneck import Bottleneck, find_bottleneck
from engine.causes import Gaps, gap_causes
from engine.fields import Fields
from engine.ledger import Ledger, audit
from engine.models import program_models, program_nonzeros, program_profiles
from engine.occupancy import Occupancy
from engine.profile import Profile
from engine.program import Program
from engine.progress import NO_PROGRESS, Progress
from engine.steps import StepTables
from engine.store import TensorStore
from engine.timeline import Timeline
from engine.timing.check import Deadlock
from engine.timing.clock import simulate
from engine.timing.net import TimingNet, build_net, weight_transfers
from engine.traffic import Traffic
from engine.validate import require_valid


class ProgramDeadlock(ValueError):
    """The program waits for itself; the message names kernels and transfers in a circle."""

    exit_code = 1


@dataclass(frozen=True, slots=True, eq=False)
class Execution:
    """A Program that has run."""

    program: Program
    store: TensorStore
    profiles: dict[str, Profile]
    net: TimingNet
    timeline: Timeline
    gaps: Gaps
    fields: Fields
    ledger: Ledger
    bottleneck: Bottleneck
    nonzeros: Mapping[str, np.ndarray] = field(default_factory=dict)
    """kernel that skips zeros -> non-zero weights of each tile, int64 (k_parts, n_parts)"""


def execute(
    program: Program,
    store: TensorStore,
    progress: Progress = NO_PROGRESS,
    *,
    every_step: bool = False,
    nonzeros: Mapping[str, np.ndarray] | None = None,
) -> Execution:
    """Run a program; `every_step` checks the ledger's link law in each step.

    Where the machine skips zeros, `nonzeros` has those of a recorded run, whose weights are not
    there; else they are counted in the weights of `store`.

    Raises:
        ProgramError: the program is not well formed.
        ValueError: non-zeros that the tiles of a kernel cannot hold.
        ProgramDeadlock: slots or order let it wait for itself.
        Cancelled: the progress was asked to stop.
    """
    require_valid(program)
    known = program_nonzeros(program, store) if nonzeros is None else nonzeros
    profiles = program_profiles(program, nonzeros=known)
    lengths = {name: found.length for name, found in profiles.items()}
    net = build_net(program, lengths)
    progress.stage("timing", len(program.kernels) * program.samples, "instances")
    timeline = _simulate(program, net, progress)
    made = _follow(program, store, (profiles, net), timeline, progress, every_step)
    return replace(made, nonzeros=known)


def replay(
    program: Program,
    store: TensorStore,
    timeline: Timeline,
    progress: Progress = NO_PROGRESS,
    *,
    every_step: bool = False,
) -> Execution:
    """Build everything that follows from a timeline, recorded or just made."""
    profiles = program_profiles(program, store)
    net = build_net(program, {name: found.length for name, found in profiles.items()})
    return _follow(program, store, (profiles, net), timeline, progress, every_step)


def _follow(
    program: Program,
    store: TensorStore,
    made: tuple[dict[str, Profile], TimingNet],
    timeline: Timeline,
    progress: Progress,
    every_step: bool,
) -> Execution:
    profiles, net = made
    lengths = {name: found.length for name, found in profiles.items()}
    gaps = gap_causes(net, timeline, weight_transfers(program))
    tables = StepTables.of(program, lengths, timeline, gaps)
    fields = Fields(
        program,
        profiles,
        timeline,
        tables,
        Traffic.of(program, lengths, tables),
        Occupancy.of(program, timeline, tables),
    )
    progress.stage("ledger", 1, "run")
    ledger = audit(fields, net, program_models(program), every_step=every_step)
    bottleneck = find_bottleneck(program, profiles, net, timeline)
    return Execution(program, store, profiles, net, timeline, gaps, fields, ledger, bottleneck)


def _simulate(program: Program, net: TimingNet, progress: Progress) -> Timeline:
    def check(done: int, total: int) -> None:
        del total
        progress.advance(done)

    try:
        return simulate(net, check)
    except Deadlock as deadlock:
        raise ProgramDeadlock(_explain(program, deadlock)) from None


def _explain(program: Program, deadlock: Deadlock) -> str:
    names = [f"kernel '{kernel.id}'" for kernel in program.kernels]
    names += [f"the weights of '{stream.kernel}'" for stream in program.streams]
    names.append("the end of the sample")
    transfers = [f"transfer '{transfer.id}'" for transfer in program.transfers]
    transfers += ["a hand-over of weights"] * (2 * len(program.streams) + 1)
    parts = [
        transfers[subject] if kind in ("given", "after", "slot") else names[subject]
        for kind, subject, _ in deadlock.waits
    ]
    circle = " waits for ".join([*dict.fromkeys(parts), parts[0]])
    return (
        f"the program waits for itself from cycle {deadlock.cycle:,} on: {circle}; "
        "more slots or fewer chunks would free it (knobs slots, max_chunks)"
    )
