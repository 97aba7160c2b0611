"""Write gpt2_small.onnx: GPT-2 small at sequence 128, 124,439,808 parameters, no numbers.

The weights are ConstantOfShape nodes that the importer reads as shapes only. Sizes are those of
the published GPT-2 small configuration. Run with `python -m demo_models.make_gpt2_small`.
"""

from __future__ import annotations

import onnx

from .decoder import DecoderSize, write_decoder
from .writing import ModelWriter, save_beside

SIZE = DecoderSize(layers=12, width=768, heads=12, vocabulary=50257, positions=1024, tokens=128)


def make() -> onnx.ModelProto:
    """Return the model."""
    return write_decoder("gpt2_small", SIZE, ModelWriter(shape_only=True))


if __name__ == "__main__":
    print(save_beside(__file__, "gpt2_small", make()))
