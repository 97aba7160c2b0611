"""The plan of a compile between its stages: kernels with models, then with regions and tilings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from engine.geometry import Rect
from engine.kernels.cost import KernelModel, kernel_model
from engine.kernels.problem import Shapes
from engine.machine import MachineSpec
from engine.profile import Profile, profile
from engine.program import Tiling
from engine.progress import Progress
from engine.sparsity import kernel_nonzeros
from lowering.config import CompileConfig, with_machine
from lowering.passes.fuse import KernelDraft
from lowering.report import Wafers
from lowering.stages.blocks import find_blocks
from lowering.stages.compact import compact
from lowering.stages.infeasible import Infeasible
from lowering.stages.pins import around_pins, pin_problem, pinned_places, too_small
from lowering.stages.placement import PlacedShelf, place
from lowering.stages.room import Room
from lowering.stages.routing import End
from lowering.stages.shapes import BIG, ShapeTable
from lowering.stages.sizing import SizingLimits, best_tiling, shape_table

RELAX = (1, 2, 4, 16, 256, 1 << 16)
"""SRAM is taken this many times larger until a placement exists; beyond 1 it is a what-if"""


class DoesNotFit(ValueError):
    """Not even a what-if placement exists: more kernels than the grid has room for."""

    exit_code = 1

    def __init__(self, finding: Infeasible, remedy: str = "") -> None:
        self.finding = finding
        super().__init__(f"{finding.sentence}; {remedy}" if remedy else finding.sentence)

    def on(self, smallest: str | None, wafers: Wafers | None = None) -> DoesNotFit:
        """Return the same finding with the smallest machine that would do, or how many wafers."""
        remedy = wafers.sentence() if wafers else ""
        return DoesNotFit(self.finding, f"it would fit on {smallest}" if smallest else remedy)


@dataclass(frozen=True, slots=True, eq=False)
class KernelPlan:
    """Kernels and their models."""

    drafts: tuple[KernelDraft, ...]
    models: Mapping[str, KernelModel]
    constants: Mapping[str, np.ndarray]
    """weights with numbers, by tensor"""
    outside: tuple[KernelDraft, ...] = ()
    """kernels whose work is not done on the wafer"""
    notes: tuple[str, ...] = ()
    """what choices made of the graph, as sentences for the report"""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedPlan:
    """Where every kernel runs, and its profile there."""

    ends: Mapping[str, End]
    profiles: Mapping[str, Profile]
    finding: Infeasible | None
    """why the machine's own SRAM allows no placement; the plan is then a what-if"""
    experts: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    """tokens of each expert by group of rows, of the mixtures whose routing is known"""

    def lengths(self) -> dict[str, int]:
        """Return the cycles of an instance of each kernel."""
        return {name: found.length for name, found in self.profiles.items()}


def plan_kernels(
    drafts: Sequence[KernelDraft],
    shapes: Shapes,
    constants: Mapping[str, np.ndarray] | None = None,
    accumulate: str = "fp32",
    outside: tuple[KernelDraft, ...] = (),
    notes: tuple[str, ...] = (),
) -> KernelPlan:
    """Return the drafts under unique names, with their models."""
    named = _unique(drafts)
    models = {d.name: kernel_model(d.spec, shapes, frozenset(d.weights), accumulate) for d in named}
    return KernelPlan(named, models, constants or {}, outside, notes)


def _unique(drafts: Sequence[KernelDraft]) -> tuple[KernelDraft, ...]:
    seen: dict[str, int] = {}
    taken: set[str] = set()
    named = []
    for draft in drafts:
        source = draft.origin[0] if draft.origin else draft.name
        base = source.removeprefix("node_") or draft.kind
        name, count = base, seen.get(base, 0)
        while name in taken:
            count += 1
            name = f"{base}_{count}"
        seen[base] = count
        taken.add(name)
        named.append(replace(draft, name=name))
    return tuple(named)


def place_kernels(
    plan: KernelPlan,
    config: CompileConfig,
    progress: Progress,
    spare: Mapping[str, int] | None = None,
) -> PlacedPlan:
    """Place the kernels of a plan; `spare` sets SRAM bytes aside on the PEs of some kernels.

    Raises:
        DoesNotFit: the grid has no room even with unlimited SRAM.
        KnobError: a pin that names no kernel, or a place that cannot be had.
    """
    finding: Infeasible | None = None
    for factor in RELAX:
        room = Room(config, factor, spare or {})
        found = _place(plan, room, progress)
        if not isinstance(found, Infeasible):
            return _tiled(plan, room, found, finding)
        finding = finding or found
    assert finding is not None
    raise DoesNotFit(_named(finding, plan))


@dataclass(frozen=True, slots=True)
class _Spots:
    """A place for every kernel, pinned ones included."""

    regions: tuple[Rect, ...]
    shelves: tuple[PlacedShelf, ...]


def _place(plan: KernelPlan, room: Room, progress: Progress) -> _Spots | Infeasible:
    pins = pinned_places(room.config, [draft.name for draft in plan.drafts])
    for draft in plan.drafts:
        if draft.name in pins:
            limits = room.limits_in(pins[draft.name], draft.name)
            if best_tiling(plan.models[draft.name], *room.target, limits)[1] >= BIG:
                return too_small(draft.name, pins[draft.name])
    free = [draft for draft in plan.drafts if draft.name not in pins]
    found = _place_free(replace(plan, drafts=tuple(free)), room, progress, pins)
    if isinstance(found, Infeasible):
        lost = tuple(plan.drafts.index(free[kernel]) for kernel in found.kernels)
        return around_pins(replace(found, kernels=lost), pins) if pins else found
    rest = iter(found.regions)
    regions = tuple(pins[d.name] if d.name in pins else next(rest) for d in plan.drafts)
    return replace(found, regions=regions)


def _place_free(
    plan: KernelPlan, room: Room, progress: Progress, pins: Mapping[str, Rect]
) -> _Spots | Infeasible:
    if not plan.drafts:
        return _Spots((), ())
    config = room.config
    machine = config.machine
    tables = kernel_tables(plan, room, progress)
    progress.stage("placement", len(tables), "kernels")
    keys = [(plan.models[draft.name], room.limits(1, 1, draft.name)) for draft in plan.drafts]
    found = place(
        tables, machine.rows, machine.cols, blocks=find_blocks(keys),
        blocked=(*dead_pes(machine), *pins.values()), aspect=config.aspect,
        objective=config.objective,
    )  # fmt: skip
    return found if isinstance(found, Infeasible) else _Spots(found.regions, found.shelves)


def kernel_tables(plan: KernelPlan, room: Room, progress: Progress) -> list[ShapeTable]:
    """Return what each kernel costs at each size; kernels that are alike share a table."""
    machine = room.config.machine
    progress.stage("sizing", len(plan.drafts), "kernels")
    tables: list[ShapeTable] = []
    known: dict[tuple[KernelModel, SizingLimits], ShapeTable] = {}
    for index, draft in enumerate(plan.drafts):
        limits = room.limits(machine.rows, machine.cols, draft.name)
        key = (plan.models[draft.name], limits)
        if key not in known:
            known[key] = shape_table(plan.models[draft.name], *room.target, limits)
        tables.append(known[key])
        progress.advance(index + 1)
    return tables


def dead_pes(machine: MachineSpec) -> tuple[Rect, ...]:
    """Return the PEs that nothing may be placed on."""
    return tuple(Rect(row, col, 1, 1) for row, col in machine.defects)


def _tiled(
    plan: KernelPlan, room: Room, placement: _Spots, finding: Infeasible | None
) -> PlacedPlan:
    config = room.config
    tilings: dict[str, Tiling] = {}
    profiles: dict[str, Profile] = {}
    known: dict[object, tuple[Tiling, Profile]] = {}
    for draft, region in zip(plan.drafts, placement.regions, strict=True):
        model = plan.models[draft.name]
        limits = room.limits_in(region, draft.name)
        key = (model, limits)
        if key not in known:
            tiling, _ = best_tiling(model, *room.target, limits)
            known[key] = (tiling, profile(model, tiling, config.machine, config.storage))
        tiling, dense = known[key]
        used = kernel_nonzeros(draft.spec, model.problem, tiling, config.machine, plan.constants)
        tilings[draft.name] = tiling
        profiles[draft.name] = (
            dense if used is None else profile(model, tiling, config.machine, config.storage, used)
        )
    regions = _tight(placement, [tilings[d.name] for d in plan.drafts], config)
    ends = {
        draft.name: End(region, tilings[draft.name])
        for draft, region in zip(plan.drafts, regions, strict=True)
    }
    return PlacedPlan(ends, profiles, finding and _named(finding, plan))


def _tight(placement: _Spots, tilings: Sequence[Tiling], config: CompileConfig) -> tuple[Rect, ...]:
    """Return the regions that tilings take up, moved together unless something is in the way."""
    sizes = [(t.m_parts * t.k_parts, t.n_parts) for t in tilings]
    if not config.machine.defects and not config.pins:
        return compact(placement.regions, sizes, placement.shelves)
    return tuple(
        Rect(place.row, place.col, *size)
        for place, size in zip(placement.regions, sizes, strict=True)
    )


def _named(finding: Infeasible, plan: KernelPlan) -> Infeasible:
    """Return the finding with kernel names in place of positions."""
    if not finding.kernels:
        return finding
    names = ", ".join(plan.drafts[i].name for i in finding.kernels[:6])
    more = f" and {len(finding.kernels) - 6} more" if len(finding.kernels) > 6 else ""
    return replace(finding, where=f"{finding.where.split(' holds ')[0]} holds {names}{more}")


def smallest_machine(
    plan: KernelPlan, config: CompileConfig, candidates: Sequence[MachineSpec], progress: Progress
) -> str | None:
    """Return the first candidate on which the plan can be placed, None if there is none."""
    for machine in candidates:
        trial = with_machine(config, machine)
        if pin_problem(dict(config.pins), machine):
            continue
        if not isinstance(_place(plan, Room(trial, 1, {}), progress), Infeasible):
            return trial.machine.name
    return None
