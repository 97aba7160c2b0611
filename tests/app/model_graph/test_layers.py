"""Layers of a model: by its names, else by its repeated kernels."""

from __future__ import annotations

from dataclasses import replace

from app.model_graph.layers import layers_of_kernels, layers_of_names
from app.runs.opening import open_run
from tests.app.sessions import mesh_config, mlp_run


def test_a_layer_is_the_outermost_numbered_scope_with_others_beside_it() -> None:
    names = ["wte/a", "h0/attn/q1/x", "h0/attn/q2/x", "h1/attn/q1/x", "h1/mlp/fc", "ln_f"]
    assert layers_of_names(names) == ("", "h0", "h0", "h1", "h1", "")


def test_layers_stand_at_any_depth() -> None:
    names = ["/enc1/layers/0/a", "/enc1/layers/3/a", "/enc1/layers/3/b", "/enc1/norm/a"]
    found = layers_of_names(names)
    assert found == ("enc1/layers/0", "enc1/layers/3", "enc1/layers/3", "")


def test_numbered_nodes_and_a_lone_numbered_scope_are_no_layers() -> None:
    assert layers_of_names(["conv_1", "conv_2", "conv2d/a", "conv2d/b"]) == ("",) * 4


def test_a_node_named_as_its_layer_belongs_to_it() -> None:
    assert layers_of_names(["h0/a", "h0", "h1/a"]) == ("h0", "h0", "h1")


def test_kernels_of_the_transformer_stand_in_its_layers() -> None:
    run = open_run(870, "transformer", mesh_config(96, 2), {}).run
    for kernel, layer in zip(run.program.kernels, layers_of_kernels(run), strict=True):
        assert layer == (kernel.id.split("/")[0] if kernel.id.startswith("h") else "")
    assert set(layers_of_kernels(run)) == {"", "h0", "h1"}


def test_without_scopes_a_layer_is_a_repeated_block_of_kernels() -> None:
    path = "tests/data/models/gpt2_2l.onnx"
    run = open_run(871, path, mesh_config(128, 2), {}).run
    found = layers_of_kernels(run)
    blocks = [name for name in dict.fromkeys(found) if name]
    sizes = {name: found.count(name) for name in blocks}
    assert len(blocks) == 2
    assert len(set(sizes.values())) == 1
    assert sum(sizes.values()) >= len(found) - 4


def test_kernels_without_a_node_stand_in_no_layer() -> None:
    run = mlp_run()
    kernels = (replace(run.program.kernels[0], origin=()), *run.program.kernels[1:])
    execution = replace(run.execution, program=replace(run.program, kernels=kernels))
    assert layers_of_kernels(replace(run, execution=execution))[0] is None
