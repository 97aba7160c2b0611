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
from engine.sparsity import kernel_nonzeros, require_counts
from engine.store import TensorStore


def program_models(program: Program) -> dict[str, KernelModel]:
    """Return the model of every kernel, by id."""
    shapes = {tensor.id: tensor.shape for tensor in program.tensors}
    return {
        k.id: kernel_model(k.spec, shapes, frozenset(k.weights), program.accumulate)
        for k in program.kernels
    }


def program_nonzeros(program: Program, store: TensorStore) -> dict[str, np.ndarray]:
    """Return the non-zero weights of each tile of the kernels that skip zeros, by id.

    int64 (k_parts, n_parts) each; empty where the machine skips none or the weights are unknown.
    """
    models = program_models(program)
    contents = {t.id: t.content for t in program.tensors if t.content and t.content in store}
    found = {}
    for kernel in program.kernels:
        problem, weights = models[kernel.id].problem, _weights(kernel, contents, store)
        used = kernel_nonzeros(kernel.spec, problem, kernel.tiling, program.machine, weights)
        if used is not None:
            found[kernel.id] = used
    return found


def program_profiles(
    program: Program,
    store: TensorStore | None = None,
    nonzeros: Mapping[str, np.ndarray] | None = None,
) -> dict[str, Profile]:
    """Return the profile of every kernel on its region, by id.

    The non-zero weights of tiles are those given, else read from `store`; without either all
    weights count. Where the kernel knows which tokens its experts got, its rows work on those.

    Raises:
        ValueError: non-zeros that the tiles of a kernel cannot hold.
    """
    models = program_models(program)
    shapes = {tensor.id: tensor.shape for tensor in program.tensors}
    known = program_nonzeros(program, store or TensorStore()) if nonzeros is None else nonzeros
    profiles = {}
    for kernel in program.kernels:
        model, tiling = models[kernel.id], kernel.tiling
        target = (tiling, program.machine, program.storage)
        if kernel.experts:
            routed = routed_terms(kernel.spec, shapes, tiling, kernel.experts)
            profiles[kernel.id] = profile(model, *target, routed=routed)
        elif kernel.id in known:
            require_counts(kernel, model.problem, known[kernel.id])
            profiles[kernel.id] = profile(model, *target, known[kernel.id])
        else:
            profiles[kernel.id] = _dense_profile(model, *target)
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
