"""Write mlp.onnx: three dense layers, small enough to check by hand (6,922 parameters).

Run with `python -m demo_models.make_mlp` from the repository.
"""

from __future__ import annotations

from itertools import pairwise

import onnx

from .writing import ModelWriter, float_info, save_beside

BATCH = 4
SIDES = (32, 64, 64, 10)


def make() -> onnx.ModelProto:
    """Return the model."""
    writer = ModelWriter(seed=1)
    x = "x"
    for layer, (wide, out) in enumerate(pairwise(SIDES)):
        last = layer == len(SIDES) - 2
        weight = writer.weight(f"fc{layer}.weight", (wide, out), (2 / wide) ** 0.5)
        bias = writer.weight(f"fc{layer}.bias", (out,), 0.1)
        x = writer.node("Gemm", [x, weight, bias], "scores" if last else f"fc{layer}")
        if not last:
            x = writer.node("Relu", [x], f"relu{layer}")
    inputs = [float_info("x", BATCH, SIDES[0])]
    return writer.model("mlp", inputs, [float_info("scores", BATCH, SIDES[-1])])


if __name__ == "__main__":
    print(save_beside(__file__, "mlp", make()))
