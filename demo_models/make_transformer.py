"""Write transformer.onnx: a small decoder with weights, the default demo (433,664 parameters).

Run with `python -m demo_models.make_transformer` from the repository.
"""

from __future__ import annotations

import onnx

from .decoder import DecoderSize, write_decoder
from .writing import ModelWriter, save_beside

SIZE = DecoderSize(layers=2, width=128, heads=4, vocabulary=256, positions=32, tokens=32)


def make() -> onnx.ModelProto:
    """Return the model."""
    return write_decoder("transformer", SIZE, ModelWriter(seed=7))


if __name__ == "__main__":
    print(save_beside(__file__, "transformer", make()))
