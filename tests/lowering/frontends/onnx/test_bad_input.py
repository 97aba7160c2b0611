"""Files that are no models, models that lie, and operators the mesh lacks."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from demo_models import demo_path
from lowering.errors import ModelImportError, UnsupportedOpError
from lowering.frontends.onnx import load_onnx
from tests.factories.onnx_models import make_model, one_node, saved


def relu_model(*sides: int | str | None) -> onnx.ModelProto:
    return make_model([helper.make_node("Relu", ["x"], ["y"])], {"x": sides}, {"y": None})


def test_folder_instead_of_file(tmp_path: Path) -> None:
    with pytest.raises(ModelImportError, match=r"is a folder; give the \.onnx file inside"):
        load_onnx(tmp_path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelImportError, match=r"cannot read .*none\.onnx: No such file"):
        load_onnx(tmp_path / "none.onnx")


@pytest.mark.parametrize("content", [b"", b"hello, this is text", b"\x89PNG\r\n\x1a\n" * 9])
def test_file_that_is_no_model(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.onnx").write_bytes(content)
    with pytest.raises(ModelImportError, match=r"not an ONNX file|holds no ONNX graph"):
        load_onnx(tmp_path / "a.onnx")


def test_damaged_files_give_import_errors_only(tmp_path: Path) -> None:
    whole = demo_path("gpt2-small").read_bytes()
    draw = random.Random(11)
    refused = 0
    for _ in range(60):
        content = bytearray(whole)
        if draw.random() < 0.3:
            del content[draw.randrange(len(content)) :]
        for _ in range(8 if content else 0):
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        (tmp_path / "a.onnx").write_bytes(content)
        try:
            load_onnx(tmp_path / "a.onnx")
        except (ModelImportError, UnsupportedOpError):
            refused += 1
    assert refused > 20


def test_open_dimension_names_it_and_the_flag(tmp_path: Path) -> None:
    path = saved(relu_model("batch", 3), tmp_path)
    with pytest.raises(ModelImportError, match=r"dimension 'batch'.*--dim batch=<number>"):
        load_onnx(path)
    graph = load_onnx(path, {"batch": 5})
    assert graph.values["y"].shape == (5, 3)


def test_unnamed_dimension_is_named_by_input_and_axis(tmp_path: Path) -> None:
    path = saved(relu_model(None, 3), tmp_path)
    with pytest.raises(ModelImportError, match=r"--dim x\.0=<number>"):
        load_onnx(path)
    assert load_onnx(path, {"x.0": 2}).values["y"].shape == (2, 3)


def test_unknown_dimension_names_the_nearest(tmp_path: Path) -> None:
    path = saved(relu_model("batch", 3), tmp_path)
    with pytest.raises(ModelImportError, match="no open dimension 'bach'; it has batch"):
        load_onnx(path, {"bach": 2, "batch": 1})


def test_zero_size_input_is_a_constant_without_numbers_to_feed(tmp_path: Path) -> None:
    graph = load_onnx(saved(relu_model(2, 0), tmp_path))
    assert graph.nodes == ()
    assert graph.constants["y"].shape == (2, 0)


def test_output_that_is_an_input_is_named(tmp_path: Path) -> None:
    model = relu_model(2, 3)
    model.graph.output.append(model.graph.input[0])
    with pytest.raises(ModelImportError, match="output 'x' is an input of the model"):
        load_onnx(saved(model, tmp_path))


def test_open_dimension_fixed_to_zero_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelImportError, match="input 'x' has a side of 0 on axis 1"):
        load_onnx(saved(relu_model(2, "n"), tmp_path), {"n": 0})


def test_huge_declared_shape(tmp_path: Path) -> None:
    with pytest.raises(ModelImportError, match=r"over 2\*\*40 elements"):
        load_onnx(saved(relu_model(2**30, 2**30), tmp_path))


def test_huge_weight_shape_takes_no_memory(tmp_path: Path) -> None:
    model = one_node("Add", [np.zeros((1, 2), np.float32)], [np.zeros(2, np.float32)])
    model.graph.initializer[0].dims[0] = 2**50
    with pytest.raises(ModelImportError, match="tensor 'w0' declares the shape"):
        load_onnx(saved(model, tmp_path))


def test_weight_with_too_few_bytes(tmp_path: Path) -> None:
    model = one_node("Add", [np.zeros((1, 2), np.float32)], [np.zeros(2, np.float32)])
    model.graph.initializer[0].dims[0] = 4000
    with pytest.raises(ModelImportError, match="w0"):
        load_onnx(saved(model, tmp_path))


@pytest.mark.parametrize(("opset", "said"), [(999, "opset 999"), (0, "no opset")])
def test_unknown_opset(tmp_path: Path, opset: int, said: str) -> None:
    model = relu_model(2, 2)
    model.opset_import[0].version = opset
    with pytest.raises(ModelImportError, match=said):
        load_onnx(saved(model, tmp_path))


def test_string_input_is_refused(tmp_path: Path) -> None:
    model = relu_model(2)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.STRING
    with pytest.raises(ModelImportError, match="input 'x' has element type STRING"):
        load_onnx(saved(model, tmp_path))


def test_shapes_that_do_not_fit_name_the_node(tmp_path: Path) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="fc")]
    model = make_model(nodes, {"x": (2, 3)}, {"y": (2, 5)}, {"w": np.ones((4, 5), np.float32)})
    message = r"node 'fc' \(MatMul\): cannot multiply \(2, 3\) by \(4, 5\)"
    with pytest.raises(ModelImportError, match=message):
        load_onnx(saved(model, tmp_path))


def test_declared_output_shape_must_hold(tmp_path: Path) -> None:
    model = make_model([helper.make_node("Relu", ["x"], ["y"])], {"x": (2, 3)}, {"y": (2, 4)})
    with pytest.raises(ModelImportError, match=r"declared as \(2, 4\) and computed as \(2, 3\)"):
        load_onnx(saved(model, tmp_path))


def external(model: onnx.ModelProto, location: str, **entries: int) -> onnx.ModelProto:
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    for key, number in entries.items():
        tensor.external_data.add(key=key, value=str(number))
    return model


def add_model() -> onnx.ModelProto:
    return one_node("Add", [np.zeros((1, 2), np.float32)], [np.ones(2, np.float32)])


def test_external_data_is_read_from_the_models_folder(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(b"....".join([b"", np.array([3, 4], "<f4").tobytes()]))
    graph = load_onnx(saved(external(add_model(), "w.bin", offset=4, length=8), tmp_path))
    np.testing.assert_array_equal(graph.constants["w0"], [3, 4])


@pytest.mark.parametrize(
    ("location", "entries", "message"),
    [
        ("../w.bin", {}, "outside the model's folder"),
        ("/etc/hostname", {}, "outside the model's folder"),
        ("none.bin", {}, "is missing; put it beside the model"),
        ("w.bin", {"offset": 4}, "needs 8 bytes.*has 8"),
        ("w.bin", {"length": 2**60}, "needs 8 bytes"),
        ("w.bin", {"offset": -8}, "needs 8 bytes"),
    ],
)
def test_external_data_is_bounded(
    tmp_path: Path, location: str, entries: dict[str, int], message: str
) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(8))
    path = saved(external(add_model(), location, **entries), tmp_path)
    with pytest.raises(ModelImportError, match=message):
        load_onnx(path)


def test_missing_external_data_is_fine_for_shapes_only(tmp_path: Path) -> None:
    path = saved(external(add_model(), "none.bin"), tmp_path)
    assert load_onnx(path, values=False).unknown == {"w0"}


def test_all_unsupported_operators_are_listed_at_once(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("NonZero", ["x"], ["where"], name="find"),
        helper.make_node("Cast", ["where"], ["y"], to=TensorProto.FLOAT),
        helper.make_node("Det", ["x"], ["d1"], name="det1"),
        helper.make_node("Det", ["x"], ["d2"], name="det2"),
        helper.make_node("Add", ["d1", "d2"], ["z"]),
    ]
    model = make_model(nodes, {"x": (3, 3)}, {"y": None, "z": None})
    with pytest.raises(UnsupportedOpError) as caught:
        load_onnx(saved(model, tmp_path))
    found = {each.op_type: each for each in caught.value.ops}
    assert found["Det"].nodes == ("det1", "det2")
    assert found["Det"].blocked_outputs == 1
    assert "depends on data" in found["NonZero"].reason
    assert "Where" in found["NonZero"].alternative
    assert caught.value.exit_code == 3


def test_shape_from_data_is_unsupported_with_its_reason(tmp_path: Path) -> None:
    shape = np.array([2, 3], np.int64)
    model = one_node("Reshape", [np.zeros((3, 2), np.float32), shape])
    with pytest.raises(UnsupportedOpError, match=r"its shape \('x1'\) is computed from data"):
        load_onnx(saved(model, tmp_path))


def test_foreign_domain_is_unsupported(tmp_path: Path) -> None:
    node = helper.make_node("Magic", ["x"], ["y"], domain="com.example")
    model = make_model([node], {"x": (1,)}, {"y": (1,)})
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    with pytest.raises(UnsupportedOpError, match=r"com\.example\.Magic.*not the ONNX standard's"):
        load_onnx(saved(model, tmp_path))


def test_unused_unsupported_node_is_no_matter(tmp_path: Path) -> None:
    nodes = [helper.make_node("Det", ["x"], ["d"]), helper.make_node("Relu", ["x"], ["y"])]
    graph = load_onnx(saved(make_model(nodes, {"x": (3, 3)}, {"y": (3, 3)}), tmp_path))
    assert [node.kind for node in graph.nodes] == ["Relu"]


@pytest.mark.parametrize("spoil", [lambda m: m.graph.node[0].input.__setitem__(0, "nowhere")])
def test_unknown_input_name(tmp_path: Path, spoil: Callable[[onnx.ModelProto], None]) -> None:
    model = relu_model(2, 2)
    spoil(model)
    with pytest.raises(ModelImportError, match="checker refuses"):
        load_onnx(saved(model, tmp_path))


def test_side_of_minus_one_is_open_as_paddle_writes_it(tmp_path: Path) -> None:
    node = helper.make_node("Relu", ["x"], ["y"], name="relu")
    path = saved(make_model([node], {"x": (-1, 3)}, {"y": (-1, 3)}), tmp_path)
    with pytest.raises(ModelImportError, match=r"fix it with --dim x\.0=<number>"):
        load_onnx(path)
    assert load_onnx(path, {"x.0": 2}).values["y"].shape == (2, 3)
