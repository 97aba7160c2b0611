"""Small models that come with the program, and the scripts that make them.

Importing this reads no model and needs no onnx.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Demo:
    """One demo model."""

    name: str
    file: str
    """file name inside this package"""
    title: str
    shape_only: bool
    """True: shapes without numbers; it is timed, not computed"""
    help: str
    """one line on what it shows"""


DEMOS: dict[str, Demo] = {
    demo.name: demo
    for demo in (
        Demo(
            "transformer",
            "transformer.onnx",
            "Small decoder",
            False,
            "2 layers, 4 heads, 32 tokens: attention, residuals and values at every PE",
        ),
        Demo(
            "mlp",
            "mlp.onnx",
            "Three dense layers",
            False,
            "the smallest pipeline, to learn the screens with",
        ),
        Demo(
            "cnn",
            "cnn.onnx",
            "Small residual CNN",
            False,
            "convolutions on 32x32 images, a skip connection, pooling",
        ),
        Demo(
            "gpt2-small",
            "gpt2_small.onnx",
            "GPT-2 small",
            True,
            "124 M parameters as shapes only, 128 tokens: a whole wafer at work",
        ),
    )
}
DEFAULT_DEMO = "transformer"


def demo_path(name: str) -> Path:
    """Return the path of a demo's .onnx file. Raises KeyError, naming the nearest demo."""
    if name not in DEMOS:
        near = difflib.get_close_matches(name, DEMOS, n=1) or list(DEMOS)
        raise KeyError(f"there is no demo '{name}'; try {', '.join(near)}")
    return Path(str(resources.files(__name__).joinpath(DEMOS[name].file)))
