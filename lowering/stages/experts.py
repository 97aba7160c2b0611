"""Mixtures whose routing was computed: their kernels' cycles follow the tokens of each expert.

Sizing and placement assume an even spread; where the experts are in a region does not change.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

import numpy as np

from engine.experts import routed_terms, token_counts
from engine.kernels.moe.spec import Moe, MoeSides
from engine.kernels.problem import Shapes
from engine.profile import profile
from engine.store import content_hash
from lowering.config import CompileConfig
from lowering.stages.plan import KernelPlan, PlacedPlan

Routing = Mapping[str, np.ndarray]
"""kernel of a mixture -> experts that each token takes, int64 (tokens, active)"""


def routing_key(routing: Routing) -> tuple[Hashable, ...]:
    """Return what makes two routings equal; empty where nothing is known."""
    return tuple((name, content_hash(routing[name])) for name in sorted(routing))


def with_routing(
    placed: PlacedPlan, plan: KernelPlan, shapes: Shapes, config: CompileConfig, routing: Routing
) -> PlacedPlan:
    """Return the plan with the profiles of mixtures that `routing` knows made anew."""
    if not routing:
        return placed
    profiles, experts = dict(placed.profiles), {}
    for draft in plan.drafts:
        op = draft.spec.main_op
        if draft.name not in routing or not isinstance(op, Moe):
            continue
        tiling = placed.ends[draft.name].tiling
        count = MoeSides.of(op, shapes).experts
        experts[draft.name] = token_counts(routing[draft.name], count, tiling.m_parts)
        routed = routed_terms(draft.spec, shapes, tiling, experts[draft.name])
        profiles[draft.name] = profile(
            plan.models[draft.name], tiling, config.machine, config.storage, routed=routed
        )
    return replace(placed, profiles=profiles, experts=experts)
