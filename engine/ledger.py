"""The ledger: laws that every run must obey, each with two sides that come from different code.

A broken law is a fault of this program, never of the model; the faces show it as a badge.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from engine.causes import CAUSES
from engine.experts import routed_terms
from engine.fields import Fields
from engine.geometry import Split
from engine.kernels.cost import KernelModel
from engine.kernels.moe.spec import Moe
from engine.kernels.spec import KernelSpec
from engine.ledger_experts import expert_products
from engine.metrics import LINK_PLANES, PLANES
from engine.profile import BUSY_CAUSES
from engine.program import Buffer, Leg, Program
from engine.timing.net import COEF_UNIT, RATE_UNIT, TimingNet
from engine.transfers import busiest_words, leg_patterns, transfer_patterns
from engine.transfers.trees import tree_words

SAMPLED_STEPS = 6
"""steps whose links are checked one by one unless all are asked for"""


@dataclass(frozen=True, slots=True)
class Check:
    """One law and whether it held."""

    name: str
    ok: bool
    detail: str
    """both sides in numbers"""


@dataclass(frozen=True, slots=True)
class Ledger:
    """All laws of a run."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """True when every law held"""
        return all(check.ok for check in self.checks)


def audit(
    fields: Fields, net: TimingNet, models: dict[str, KernelModel], *, every_step: bool = False
) -> Ledger:
    """Check every law on a run; `every_step` looks at the links of each step."""
    steps = _steps_to_check(fields, every_step)
    return Ledger(
        (
            causes_sum_to_cycles(fields),
            words_are_delivered(fields),
            links_carry_their_trees(fields.program),
            rates_respect_capacity(fields, net, steps),
            memory_is_accounted(fields.program),
            operations_match(fields.program, models),
            steps_sum_to_totals(fields),
        )
    )


def _steps_to_check(fields: Fields, every_step: bool) -> list[int]:
    count = fields.timeline.steps
    if every_step or count <= SAMPLED_STEPS:
        return list(range(count))
    moved = fields.tables.moved.growths() / np.diff(fields.timeline.times)
    return sorted(np.argsort(-moved, kind="stable")[:SAMPLED_STEPS].tolist())


def causes_sum_to_cycles(fields: Fields) -> Check:
    """Causes of all PEs in every step sum to PEs x cycles, those of instances to the profiles."""
    machine = fields.program.machine
    cycles = np.diff(fields.timeline.times) * machine.pes
    by_cause = [fields.cause_sums(code) for code in range(len(CAUSES))]
    found = np.sum(by_cause, axis=0)
    wrong = np.flatnonzero(found != cycles)
    detail = f"{int(found.sum()):,} PE-cycles by cause, {int(cycles.sum()):,} by the clock"
    if len(wrong):
        step = int(wrong[0])
        detail += f"; step {step}: {int(found[step]):,} against {int(cycles[step]):,}"
    for cause in (*BUSY_CAUSES, "imbalance"):
        spent = int(by_cause[CAUSES.index(cause)].sum())
        due = fields.program.samples * sum(p.total(cause) for p in fields.profiles.values())
        due += _idle_beside(fields) * (cause == "imbalance")
        if spent != due:
            detail += f"; {cause}: {spent:,} PE-cycles in the steps, {due:,} in the profiles"
            return Check("causes sum to cycles", False, detail)
    return Check("causes sum to cycles", not len(wrong), detail)


def _idle_beside(fields: Fields) -> int:
    """Return the PE-cycles of a region's PEs that the kernel whose turn it is does not use."""
    program, lost = fields.program, 0
    for rect, kernels in program.areas():
        for index in kernels:
            kernel = program.kernels[index]
            lost += (rect.area - kernel.region.area) * fields.profiles[kernel.id].length
    return lost * program.samples


def words_are_delivered(fields: Fields) -> Check:
    """Words injected x fan-out = words delivered, and every chunk of the run has arrived."""
    program, totals = fields.program, fields.tables.moved.totals()
    for index, transfer in enumerate(program.transfers):
        patterns = transfer_patterns(transfer.legs)
        injected = sum(p.total() for p in patterns if p.plane == "inject")
        delivered = sum(p.total() for p in patterns if p.plane == "deliver")
        if not transfer.legs:
            continue
        expected = _delivered_words(transfer.legs[-1])
        sent = transfer.legs[0].words
        moved = int(totals[index])
        passed = busiest_words(patterns) * transfer.chunks * program.samples
        if (injected, delivered, moved) != (sent, expected, passed):
            return Check(
                "words are delivered", False,
                f"transfer '{transfer.id}': {injected:,} words injected of {sent:,}, "
                f"{delivered:,} delivered of {expected:,}, {moved:,} moved of {passed:,}",
            )  # fmt: skip
    total = int(totals.sum())
    return Check("words are delivered", True, f"{total:,} words over the busiest links")


def _delivered_words(leg: Leg) -> int:
    if "broadcast" not in leg.kind:
        return leg.words
    return sum(
        count * leg.dst * -(-words // leg.share)
        for _, count, words in Split(leg.words, leg.lines).runs()
    )


def links_carry_their_trees(program: Program) -> Check:
    """Words on links from the patterns = words x links of their way, worked out word by word."""
    legs = [(t.id, leg) for t in program.transfers for leg in t.legs]
    legs += [(k.id, leg) for k in program.kernels for leg in k.legs]
    legs += [(s.id, leg) for s in program.streams for leg in s.legs]
    total = 0
    for name, leg in legs:
        patterns = leg_patterns(leg, inject=False, deliver=False)
        carried = sum(p.total() for p in patterns)
        low, high = tree_words(leg)
        total += carried
        if not low <= carried <= high:
            return Check(
                "links carry their trees", False,
                f"'{name}': leg {leg.kind} puts {carried:,} words on links, its trees need "
                f"{low:,}" + (f" to {high:,}" if high > low else ""),
            )  # fmt: skip
    return Check("links carry their trees", True, f"{total:,} word-hops a sample and chunk")


def rates_respect_capacity(fields: Fields, net: TimingNet, steps: list[int]) -> Check:
    """The sum of rates is within capacity on every link and ramp, in integers.

    A flow's load on a link is rounded down to 1 / (RATE_UNIT * COEF_UNIT) wavelet a cycle.
    """
    worst = (0.0, 0, "", 0, 0)
    for step in steps:
        rates = fields.timeline.rates(step)
        for plane in PLANES:
            load = np.zeros(fields.shape, np.int64)
            for flow, pattern in fields.traffic.rates(plane, step):
                if flow.is_kernel:
                    units = pattern.words * (RATE_UNIT * COEF_UNIT) // flow.unit
                else:
                    units = rates[flow.index] * pattern.words * COEF_UNIT // flow.unit
                row, col, end_row, end_col = pattern.rect
                shaped = units[None, :] if pattern.axis == "x" else units[:, None]
                load[row:end_row, col:end_col] += shaped
            most = int(load.max())
            if most > worst[0]:
                at_row, at_col = divmod(int(load.argmax()), fields.shape[1])
                worst = (most, step, plane, at_row, at_col)
    capacity = RATE_UNIT * COEF_UNIT
    share = worst[0] / capacity
    detail = (
        f"busiest {worst[2] or 'link'} at ({worst[3]}, {worst[4]}) in step {worst[1]}: {share:.4f}"
    )
    return Check("rates within capacity", worst[0] <= capacity, detail + " of a wavelet a cycle")


def memory_is_accounted(program: Program) -> Check:
    """No two live buffers share a byte, and what exceeds the SRAM is marked as not running."""
    capacity = program.machine.sram_bytes
    most = 0
    for _, kernels in program.areas():
        names = {program.kernels[index].id for index in kernels}
        mine = [b for b in program.buffers if b.kernel in names and b.size]
        most = max([most, *(b.offset + b.size for b in mine)])
        pair = _sharing_pair(mine)
        if pair:
            a, b = (mine[i] for i in pair)
            return Check("memory is accounted", False,
                         f"kernel '{a.kernel}': {a.name} and {b.name} share bytes")  # fmt: skip
    ok = most <= capacity or not program.would_run
    return Check("memory is accounted", ok, f"fullest PE {most:,} B of {capacity:,} B")


def _sharing_pair(buffers: Sequence[Buffer]) -> tuple[int, int] | None:
    """Return two buffers that live together and share a byte, None if there are none.

    Goes from life to life: as long as those alive are apart, only the neighbours by offset of one
    that begins can meet it.
    """
    first, last = ([pick(buffer.live) for buffer in buffers] for pick in (min, max))
    ending = sorted(range(len(buffers)), key=last.__getitem__)
    offsets: list[int] = []
    alive: list[int] = []
    ended = 0
    for index in sorted(range(len(buffers)), key=first.__getitem__):
        own = buffers[index]
        while last[ending[ended]] < first[index]:
            place = bisect_left(offsets, buffers[ending[ended]].offset)
            del offsets[place], alive[place]
            ended += 1
        place = bisect_left(offsets, own.offset)
        for other in alive[max(0, place - 1) : place + 1]:
            held = buffers[other]
            if held.offset < own.offset + own.size and own.offset < held.offset + held.size:
                return min(index, other), max(index, other)
        offsets.insert(place, own.offset)
        alive.insert(place, index)
    return None


def operations_match(program: Program, models: dict[str, KernelModel]) -> Check:
    """Products executed by all tiles = products of the model's operations.

    Those of a mixture whose tokens are known are counted row by row and expert by expert.
    """
    shapes = {tensor.id: tensor.shape for tensor in program.tensors}
    executed = wanted = again = 0
    for kernel in program.kernels:
        problem, tiling = models[kernel.id].problem, kernel.tiling
        m = Split(problem.m_units, tiling.m_parts).sizes() * problem.m_inner
        k = Split(problem.k_units, tiling.k_parts).sizes() * problem.k_inner
        n = Split(problem.n_units, tiling.n_parts).sizes()
        mine = int(m.sum()) * int(k.sum()) * int(n.sum()) if problem.work == "mac" else 0
        if kernel.experts:
            routed = routed_terms(kernel.spec, shapes, tiling, kernel.experts)
            mine = int(routed.sum()) * int(n.sum())
        asked = _products(kernel.spec, shapes)
        rows = kernel.region.rows == tiling.m_parts * tiling.k_parts
        if mine != asked or not rows or kernel.region.cols != tiling.n_parts:
            return Check(
                "operations match", False,
                f"kernel '{kernel.id}' executes {mine:,} products of {asked:,}",
            )  # fmt: skip
        executed, wanted = executed + mine, wanted + asked
        again += mine * (("phase", "recompute") in kernel.tags)
    detail = f"{executed:,} multiply-accumulates"
    if again:
        detail += f": {executed - again:,} of the graph and {again:,} recomputed"
    return Check("operations match", executed == wanted, detail)


def _products(spec: KernelSpec, shapes: dict[str, tuple[int, ...]]) -> int:
    op = spec.main_op
    kind = type(op).__name__
    if kind == "Dot":
        return prod(shapes[op.outputs[0]]) * shapes[op.inputs[0]][-1]
    if kind == "Recurrent":
        return prod(shapes[op.inputs[0]]) * shapes[op.inputs[1]][0]
    if kind == "Conv":
        return prod(shapes[op.outputs[0]]) * prod(shapes[op.inputs[1]][1:])
    if isinstance(op, Moe):
        return expert_products(op, shapes)
    return 0


def steps_sum_to_totals(fields: Fields) -> Check:
    """What the steps hold of every metric sums to what the run holds."""
    made = int(fields.sums("utilization").sum())
    total = int(fields.total("utilization").sum())
    moved = sum(float(fields.sums(f"link_{plane}").sum()) for plane in LINK_PLANES)
    words = sum(
        p.total() * t.chunks * fields.program.samples
        for t in fields.program.transfers for p in transfer_patterns(t.legs)
        if p.plane in LINK_PLANES
    )  # fmt: skip
    words += sum(
        p.total() * fields.program.samples
        for legs in (*(k.legs for k in fields.program.kernels),
                     *(s.legs for s in fields.program.streams))
        for leg in legs for p in leg_patterns(leg)
        if p.plane in LINK_PLANES
    )  # fmt: skip
    ok = made == total and abs(moved - words) <= 1e-6 * max(1, words)
    detail = f"compute {made:,} of {total:,} PE-cycles; links {moved:,.0f} of {words:,} words"
    return Check("steps sum to totals", ok, detail)
