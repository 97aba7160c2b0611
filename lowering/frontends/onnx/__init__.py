"""The ONNX front end."""

from lowering.frontends.onnx.binding import import_with_values
from lowering.frontends.onnx.importing import SHAPE_ONLY_KEY, import_file, load_onnx
from lowering.frontends.onnx.operators import supported_operators

__all__ = [
    "SHAPE_ONLY_KEY",
    "import_file",
    "import_with_values",
    "load_onnx",
    "supported_operators",
]
