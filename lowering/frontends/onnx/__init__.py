"""The ONNX front end."""

from lowering.frontends.onnx.importing import SHAPE_ONLY_KEY, import_file, load_onnx
from lowering.frontends.onnx.operators import supported_operators

__all__ = ["SHAPE_ONLY_KEY", "import_file", "load_onnx", "supported_operators"]
