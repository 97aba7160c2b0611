"""Builds transformers from their sides; knows no file format."""

from lowering.frontends.transformer.architecture import (
    Architecture,
    Experts,
    Latent,
    RopeScaling,
)
from lowering.frontends.transformer.building import build_transformer
from lowering.frontends.transformer.options import ModelOptions

__all__ = [
    "Architecture", "Experts", "Latent", "ModelOptions", "RopeScaling", "build_transformer",
]  # fmt: skip
