"""The typed JSON codec: round trips, and refusals that name the place."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from engine.codec import CodecError, decode, encode, operations
from engine.kernels.spec import Operation
from engine.program import Program
from tests.engine.program_factory import small_program


def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(encode(small_program()), allow_nan=False))
    return document


def test_program_survives_the_round_trip() -> None:
    assert decode(_document(), Program) == small_program()


def test_operations_keep_their_class_and_infinite_parameters() -> None:
    pad = decode(_document(), Program).kernels[0].spec.ops[0]
    assert type(pad).__name__ == "Pad"
    assert pad.value == -math.inf


def test_every_family_is_registered() -> None:
    names = operations()[Operation]
    assert {"Dot", "Conv", "Map", "Reduce", "Window", "Reshape", "Gather"} <= set(names)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": "2"}, "samples: is '2', must be int"),
        ({"samples": True}, "samples: is True, must be int"),
        ({"samples": 1 << 70}, "samples"),
        ({"storage": None}, "storage: is None, must be str"),
        ({"colour": 1}, "Program has no 'colour'"),
        ({"tensors": {}}, "tensors: is {}, must be a list"),
        ({"order": [["fc", 3]]}, r"order\[0\]\[1\]: is 3, must be str"),
    ],
)
def test_wrong_value_is_refused_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(CodecError, match=message):
        decode({**_document(), **change}, Program)


def test_missing_field_is_named() -> None:
    document = _document()
    del document["kernels"][0]["region"]["rows"]
    with pytest.raises(CodecError, match=r"kernels\[0\].region.rows: is missing"):
        decode(document, Program)


def test_unknown_operation_is_refused() -> None:
    document = _document()
    document["kernels"][0]["spec"]["ops"][1]["type"] = "SystemCall"
    with pytest.raises(CodecError, match="unknown Operation 'SystemCall'"):
        decode(document, Program)


def test_value_that_the_class_itself_refuses_is_a_codec_error() -> None:
    document = _document()
    document["kernels"][0]["region"]["rows"] = 0
    with pytest.raises(CodecError, match="0x3 PEs is empty"):
        decode(document, Program)


def test_deep_document_is_refused() -> None:
    document = _document()
    nested: Any = "x"
    for _ in range(2000):
        nested = [nested]
    document["notes"] = nested
    with pytest.raises(CodecError):
        decode(document, Program)


def test_unknown_class_cannot_be_written() -> None:
    with pytest.raises(CodecError, match="set"):
        encode({1, 2})
