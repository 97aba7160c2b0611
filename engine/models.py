"""Models and profiles of a Program's kernels, worked out from its specs, tensors and weights."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from engine.experts import routed_terms
from engine.kernels.cost import KernelModel, kernel_model
from engine.machine import MachineSpec
from engine.profile import Profile, profile
from engine.program import Kernel, Program, Tiling
from engine.sparsity import kernel_nonzeros
from engine.store import TensorStore


def program_models(program: Program) -> dict[str, KernelModel]:
    """Return the model of every kernel, by id."""
    shapes = {tensor.id: tensor.shape for tensor in program.tensors}
    return {
        k.id: kernel_model(k.spec, shapes, frozenset(k.weights), program.accumulate)
        for k in program.kernels
    }


def program_profiles(program: Program, store: TensorStore | None = None) -> dict[str, Profile]:
    """Return the profile of every kernel on its region, by id.

    Weights are read from `store` where the machine skips their zeros; without one all count.
    Where the kernel knows which tokens its experts got, its rows work on those.
    """
    models = program_models(program)
    shapes = {tensor.id: tensor.shape for tensor in program.tensors}
    store = store or TensorStore()
    contents = {t.id: t.content for t in program.tensors if t.content and t.content in store}
    profiles = {}
    for kernel in program.kernels:
        model = models[kernel.id]
        if kernel.experts:
            routed = routed_terms(kernel.spec, shapes, kernel.tiling, kernel.experts)
            machine, storage = program.machine, program.storage
            profiles[kernel.id] = profile(model, kernel.tiling, machine, storage, routed=routed)
            continue
        weights = _weights(kernel, contents, store)
        used = kernel_nonzeros(kernel.spec, model.problem, kernel.tiling, program.machine, weights)
        profiles[kernel.id] = (
            _dense_profile(model, kernel.tiling, program.machine, program.storage)
            if used is None
            else profile(model, kernel.tiling, program.machine, program.storage, used)
        )
    return profiles


@lru_cache(maxsize=64)
def _dense_profile(model: KernelModel, tiling: Tiling, machine: MachineSpec, dtype: str) -> Profile:
    """Equal layers, and kernels that a knob leaves alone, share one profile, read-only."""
    found = profile(model, tiling, machine, dtype)
    found.pe_class.flags.writeable = False
    found.cycles.flags.writeable = False
    return found


def _weights(
    kernel: Kernel, contents: Mapping[str, str | None], store: TensorStore
) -> dict[str, np.ndarray]:
    found = {}
    for name in kernel.weights:
        content = contents.get(name)
        if content is not None:
            found[name] = store.get(content)
    return found
