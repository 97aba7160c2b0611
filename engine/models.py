"""Models and profiles of a Program's kernels, worked out from its specs and tensors alone."""

from __future__ import annotations

from engine.kernels.cost import KernelModel, kernel_model
from engine.profile import Profile, profile
from engine.program import Program


def program_models(program: Program) -> dict[str, KernelModel]:
    """Return the model of every kernel, by id."""
    shapes = {tensor.id: tensor.shape for tensor in program.tensors}
    return {k.id: kernel_model(k.spec, shapes, frozenset(k.weights)) for k in program.kernels}


def program_profiles(program: Program) -> dict[str, Profile]:
    """Return the profile of every kernel on its region, by id."""
    models = program_models(program)
    return {
        k.id: profile(models[k.id], k.tiling, program.machine, program.storage)
        for k in program.kernels
    }
