"""Positions: rotary tables and their use, ALiBi slopes, sinusoidal tables. Knows no layers."""

from __future__ import annotations

import math

import numpy as np

from engine.kernels.pointwise.functions import Array
from lowering.errors import ModelImportError
from lowering.frontends.transformer.architecture import Architecture, RopeScaling
from lowering.frontends.transformer.writer import DTYPE, Writer


def frequencies(features: int, theta: float, scaling: RopeScaling | None) -> Array:
    """Return the angle a token of each pair of features, float64 (features / 2,).

    Su et al., RoFormer, 2021, equation 15; `llama3` stretches long wavelengths as the Llama 3.1
    model card describes. Other scalings keep the plain frequencies: shapes do not depend on them.
    """
    plain = theta ** (-np.arange(0, features, 2) / features)
    if scaling is None:
        return np.asarray(plain)
    if scaling.kind == "linear":
        return np.asarray(plain / scaling.factor)
    if scaling.kind != "llama3":
        return np.asarray(plain)
    wavelength = 2 * math.pi / plain
    span = scaling.high_factor - scaling.low_factor
    blend = np.clip((scaling.original / wavelength - scaling.low_factor) / span, 0, 1)
    return np.asarray((1 - blend) * plain / scaling.factor + blend * plain)


EXACT_SCALINGS = ("linear", "llama3")
"""scalings whose frequencies are computed as the model has them"""


def check_numbers(sides: Architecture) -> None:
    """Refuse to compute values of a model whose rotary scaling has no formula here."""
    if sides.scaling is not None and sides.scaling.kind not in EXACT_SCALINGS:
        raise ModelImportError(
            f"{sides.family}: rope scaling '{sides.scaling.kind}' has shapes but no numbers here "
            f"({', '.join(EXACT_SCALINGS)} have); open the config.json alone to time the model"
        )


def rotary_tables(pen: Writer, sides: Architecture, first: int, tokens: int) -> tuple[str, str]:
    """Return (cosines, sines) of the tokens' positions, (tokens, rotated) each."""
    if "rope/cos" in pen.builder.values:
        return "rope/cos", "rope/sin"
    angles = np.outer(
        np.arange(first, first + tokens),
        frequencies(sides.rotated, sides.rope_theta, sides.scaling),
    )
    whole = np.concatenate([angles, angles], axis=1)
    cosines = pen.constant("rope/cos", np.cos(whole).astype(DTYPE))
    return cosines, pen.constant("rope/sin", np.sin(whole).astype(DTYPE))


def rotate(pen: Writer, name: str, x: str, tables: tuple[str, str]) -> str:
    """Turn the first features of x (..., tokens, features) by the tables' angles.

    The pairs are (i, i + half), as Hugging Face stores its weights.
    """
    rotated = pen.shape(tables[0])[1]
    features = pen.shape(x)[-1]
    turned = x if rotated == features else pen.cut(f"{name}/turned", x, -1, 0, rotated)
    half = rotated // 2
    low = pen.cut(f"{name}/low", turned, -1, 0, half)
    high = pen.cut(f"{name}/high", turned, -1, half, rotated)
    negative = pen.map("neg", f"{name}/negative", high)
    axis = len(pen.shape(x)) - 1
    across = pen.concat(f"{name}/across", [negative, low], axis)
    straight = pen.map("mul", f"{name}/cos", turned, tables[0])
    crossed = pen.map("mul", f"{name}/sin", across, tables[1])
    if rotated == features:
        return pen.add(name, straight, crossed)
    result = pen.add(f"{name}/rotated", straight, crossed)
    rest = pen.cut(f"{name}/rest", x, -1, rotated, features)
    return pen.concat(name, [result, rest], axis)


def alibi_slopes(heads: int) -> Array:
    """Return the slope of each head, float32 (heads,) (Press et al., ALiBi, 2022, section 3)."""
    near = 2 ** math.floor(math.log2(heads))
    plain = [2 ** (-8 * (i + 1) / near) for i in range(near)]
    between = [2 ** (-4 * (2 * i + 1) / near) for i in range(heads - near)]
    return np.asarray(plain + between, DTYPE)


def sinusoids(positions: int, width: int) -> Array:
    """Return the fixed table of Vaswani et al., 2017, section 3.5, float32 (positions, width)."""
    angles = np.outer(np.arange(positions), 10000.0 ** (-np.arange(0, width, 2) / width))
    table = np.zeros((positions, width))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)[:, : width // 2]
    return table.astype(DTYPE)
