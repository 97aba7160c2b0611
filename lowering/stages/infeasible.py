"""What does not fit, as data: the resource, what was asked, what there is, what would help.

Every stage of the compiler that can run out of something returns one. Knows no stage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowering.stages.shapes import BIG, ShapeStack


@dataclass(frozen=True, slots=True)
class Infeasible:
    """Demand beyond a bound."""

    resource: str
    """shape | PEs | rows | SRAM"""
    demand: int
    """least that is needed, in `unit`"""
    bound: int
    """most there is, in `unit`"""
    unit: str
    """unit of demand and bound"""
    where: str
    """what asked, in words"""
    kernels: tuple[int, ...] = ()
    """kernels at fault, by pipeline position; empty when it is all of them together"""
    levers: tuple[str, ...] = ()
    """what would help, most likely first"""

    @property
    def gap(self) -> int:
        """how much is missing, in `unit`"""
        return self.demand - self.bound

    @property
    def sentence(self) -> str:
        """the finding as a sentence"""
        text = self.where
        if self.bound:
            demand, bound, gap = (self._amount(n) for n in (self.demand, self.bound, self.gap))
            text += f": {demand} needed, {bound} there (short by {gap})"
        return text + ("; " + " or ".join(self.levers) if self.levers else "")

    def _amount(self, number: int) -> str:
        return f"{number:,} {self.unit.removesuffix('s') if number == 1 else self.unit}"


_ROOM = (
    "use a machine with more PEs (knob machine)",
    "store weights and activations as fp16 (knob dtype)",
)


def explain_infeasible(stack: ShapeStack, least_rows: int) -> Infeasible:
    """Say why no bottleneck, however slow, lets the kernels of a stack fit."""
    grid = stack.rows * stack.cols
    lost = np.flatnonzero(stack.best_cycles() >= BIG)
    if len(lost):
        listed = ", ".join(str(kernel) for kernel in lost[:8]) + (", ..." if len(lost) > 8 else "")
        return Infeasible(
            resource="shape",
            demand=len(lost),
            bound=0,
            unit="kernels",
            where=f"no size within {stack.rows}x{stack.cols} PEs holds kernel {listed}",
            kernels=tuple(int(kernel) for kernel in lost),
            levers=("raise their PE cap, if they have one (knob pe_cap)", *_ROOM),
        )
    area = int(stack.least_areas(BIG - 1).sum())
    if area > grid:
        return Infeasible(
            resource="PEs",
            demand=area,
            bound=grid,
            unit="PEs",
            where=f"{stack.count} kernels at their smallest sizes on {stack.rows}x{stack.cols} PEs",
            levers=_ROOM,
        )
    return Infeasible(
        resource="rows",
        demand=least_rows,
        bound=stack.rows,
        unit="rows",
        where=f"{stack.count} kernels in shelves on {stack.rows}x{stack.cols} PEs",
        levers=_ROOM,
    )
