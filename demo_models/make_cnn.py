"""Write cnn.onnx: a small residual CNN on 32x32 images (about 100 thousand parameters).

Run with `python -m demo_models.make_cnn` from the repository.
"""

from __future__ import annotations

import onnx

from .writing import ModelWriter, float_info, save_beside


def _conv(writer: ModelWriter, x: str, name: str, sides: tuple[int, int], stride: int = 1) -> str:
    """Add a 3x3 convolution of `sides` (channels in, out) and its batch normalisation."""
    wide, out = sides
    weight = writer.weight(f"{name}.weight", (out, wide, 3, 3), (2 / (9 * wide)) ** 0.5)
    strides, pads = [stride, stride], [1, 1, 1, 1]
    x = writer.node("Conv", [x, weight], f"{name}/conv", strides=strides, pads=pads)
    scale = writer.weight(f"{name}.scale", (out,), 0.05, 1.0)
    bias = writer.weight(f"{name}.shift", (out,), 0.05)
    mean = writer.weight(f"{name}.mean", (out,), 0.05)
    variance = writer.weight(f"{name}.variance", (out,), 0.05, 1.0)
    return writer.node("BatchNormalization", [x, scale, bias, mean, variance], name)


def make() -> onnx.ModelProto:
    """Return the model."""
    writer = ModelWriter(seed=3)
    x = writer.node("Relu", [_conv(writer, "image", "stem", (3, 16))], "stem/relu")
    x = writer.node("MaxPool", [x], "pool", kernel_shape=[2, 2], strides=[2, 2])
    inner = writer.node("Relu", [_conv(writer, x, "block/a", (16, 16))], "block/relu")
    inner = _conv(writer, inner, "block/b", (16, 16))
    x = writer.node("Relu", [writer.node("Add", [x, inner], "block/add")], "block")
    x = writer.node("Relu", [_conv(writer, x, "down1", (16, 40), 2)], "down1/relu")
    x = writer.node("Relu", [_conv(writer, x, "down2", (40, 80), 2)], "down2/relu")
    x = writer.node("Relu", [_conv(writer, x, "mix", (80, 80))], "mix/relu")
    x = writer.node("GlobalAveragePool", [x], "mean")
    x = writer.node("Flatten", [x], "flat")
    weight = writer.weight("head.weight", (80, 10), 0.1)
    bias = writer.weight("head.bias", (10,), 0.1)
    writer.node("Gemm", [x, weight, bias], "scores")
    return writer.model("cnn", [float_info("image", 1, 3, 32, 32)], [float_info("scores", 1, 10)])


if __name__ == "__main__":
    print(save_beside(__file__, "cnn", make()))
