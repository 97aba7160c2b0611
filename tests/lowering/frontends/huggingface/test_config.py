"""Fields, defaults and faults of config.json; parameters of full-size models."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from engine.kernels.moe.spec import Moe
from lowering.errors import ModelImportError
from lowering.frontends.huggingface import load_config, read_config
from tests.lowering.frontends.huggingface.files import write_config

DATA = Path(__file__).parents[3] / "data" / "huggingface" / "full_size.json"
FULL_SIZE = {row["model"]: row for row in json.loads(DATA.read_text())}
SMALL = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 8, "vocab_size": 11}


@pytest.mark.parametrize("task", ["prefill", "decode", "training"])
@pytest.mark.parametrize("model", FULL_SIZE)
def test_parameters_of_full_size_models_are_exact(model: str, task: str, tmp_path: Path) -> None:
    row = FULL_SIZE[model]
    path = write_config(tmp_path, **row["config"])
    length = {"kv_length": 512} if task == "decode" else {"sequence": 64}
    graph = load_config(path, task, **length)
    assert graph.parameters == row["parameters"]


OTHER_SPELLING = {
    "hidden_size": "n_embd", "num_hidden_layers": "n_layer", "num_attention_heads": "n_head",
    "intermediate_size": "n_inner", "n_positions": "max_position_embeddings",
}  # fmt: skip
OTHER_SPELLING |= {other: name for name, other in OTHER_SPELLING.items()}


@pytest.mark.parametrize("model", ["gpt2-small", "gpt3-175b", "llama3-8b", "mixtral-8x7b"])
def test_the_other_spelling_of_fields_has_the_same_parameters(model: str, tmp_path: Path) -> None:
    row = FULL_SIZE[model]
    fields = {OTHER_SPELLING.get(name, name): value for name, value in row["config"].items()}
    assert fields != row["config"]
    path = write_config(tmp_path, **fields)
    assert load_config(path, sequence=64).parameters == row["parameters"]


@pytest.mark.parametrize("model", ["mixtral-8x7b", "deepseek-v3"])
def test_active_parameters_are_all_but_the_experts_not_taken(model: str, tmp_path: Path) -> None:
    row = FULL_SIZE[model]
    graph = load_config(write_config(tmp_path, **row["config"]), sequence=4)
    idle = 0
    for node in graph.nodes:
        if isinstance(node.op, Moe):
            stacks = sum(graph.values[name].elements for name in node.op.inputs[2:5])
            experts = graph.values[node.op.inputs[1]].shape[1]
            idle += stacks // experts * (experts - node.op.active)
    assert graph.parameters - idle == row["active_parameters"]


def test_a_large_model_is_built_at_once(tmp_path: Path) -> None:
    path = write_config(tmp_path, **FULL_SIZE["llama3-70b"]["config"])
    start = time.process_time()
    graph = load_config(path, "decode", kv_length=4096)
    assert time.process_time() - start < 5  # usually 0.1 s
    assert len(graph.constants) < 10


def test_names_follow_the_model(tmp_path: Path) -> None:
    graph = load_config(write_config(tmp_path, model_type="llama", **SMALL), sequence=3)
    kinds = {node.name: node.kind for node in graph.nodes}
    assert kinds["layers/1/attn/q"] == "Linear"
    assert kinds["layers/0/attn/scores"] == "AttentionScores"
    assert kinds["layers/1/mlp_norm"] == "RMSNorm"
    assert graph.values["layers/0/mlp/gate/weight"].shape == (8, 11008)
    assert graph.outputs == ("logits",)
    assert graph.name == tmp_path.name


def test_both_spellings_of_fields_mean_the_same(tmp_path: Path) -> None:
    one = write_config(tmp_path, model_type="gpt2", n_embd=8, n_layer=2, n_head=4, n_inner=None,
                       n_positions=16, vocab_size=11, activation_function="gelu_new")  # fmt: skip
    first = read_config(one).architecture
    two = write_config(tmp_path, model_type="gpt2", max_position_embeddings=16,
                       hidden_act="gelu_new", intermediate_size=32, **SMALL)  # fmt: skip
    assert read_config(two).architecture == first


def test_rope_is_read_in_the_old_and_the_new_form(tmp_path: Path) -> None:
    stretch = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 8192}  # fmt: skip
    old = write_config(tmp_path, model_type="llama", rope_theta=5e5,
                       rope_scaling={"type": "llama3", **stretch}, **SMALL)  # fmt: skip
    first = read_config(old).architecture
    assert first.scaling is not None
    assert first.rope_theta == 5e5
    new = write_config(tmp_path, model_type="llama",
                       rope_parameters={"rope_type": "llama3", "rope_theta": 5e5, **stretch},
                       **SMALL)  # fmt: skip
    assert read_config(new).architecture == first


def test_what_has_no_effect_is_listed(tmp_path: Path) -> None:
    path = write_config(tmp_path, model_type="llama", torch_dtype="bfloat16", use_cache=True,
                        colour="green", **SMALL)  # fmt: skip
    found = read_config(path).leftovers
    assert set(found.unused) == {"torch_dtype", "use_cache"}
    assert found.unknown == ("colour",)
    assert "rms_norm_eps = 1e-06" in found.assumed
    assert len(found.notes()) == 3


@pytest.mark.parametrize("name", ["rope_scaling", "rope_parameters"])
def test_what_has_no_effect_inside_the_rope_is_listed_with_its_place(
    name: str, tmp_path: Path
) -> None:
    inside = {"type": "yarn", "beta_fast": 32, "facter": 2, "zork": 1}
    path = write_config(tmp_path, model_type="llama", **{name: inside}, **SMALL)
    found = read_config(path).leftovers
    assert found.unused == (f"{name}.beta_fast",)
    near = "(nearest known: factor)"
    assert found.unknown == (f"{name}.facter {near}", f"{name}.zork")
    assert [each for each in found.assumed if each.startswith(name)] == [f"{name}.factor = 1.0"]
    bare = write_config(tmp_path, model_type="llama", **{name: {"type": "llama3"}}, **SMALL)
    assert [each for each in read_config(bare).leftovers.assumed if each.startswith(name)] == [
        f"{name}.factor = 1.0", f"{name}.low_freq_factor = 1.0", f"{name}.high_freq_factor = 4.0",
    ]  # fmt: skip


@pytest.mark.parametrize("model_type", ["llama", "mixtral", "deepseek_v3"])
@pytest.mark.parametrize(
    ("name", "inside", "slip", "meant"),
    [
        ("rope_scaling", {"type": "linear", "factors": 2.0}, "factors", "factor"),
        ("rope_scaling", {"rope_typ": "linear", "factor": 2.0}, "rope_typ", "rope_type"),
        ("rope_parameters", {"rope_type": "yarn", "beta_fats": 32}, "beta_fats", "beta_fast"),
        ("rope_parameters", {"rope_type": "llama3", "low_frec_factor": 1.0}, "low_frec_factor",
         "low_freq_factor"),
    ],
)  # fmt: skip
def test_a_slip_inside_the_rope_is_named_with_what_was_meant(
    model_type: str, name: str, inside: dict[str, Any], slip: str, meant: str, tmp_path: Path
) -> None:
    path = write_config(tmp_path, model_type=model_type, **{name: inside}, num_attention_heads=8)
    with pytest.raises(ModelImportError) as caught:
        read_config(path)
    said = f"{path}: {name}: there is no field '{slip}'; did you mean '{meant}'?"
    assert str(caught.value) == said


FAULTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, "field 'model_type' is missing"),
    ({"model_type": "t5"}, "model_type 't5' cannot be read from its config alone"),
    ({"model_type": "gpt2", "n_embd": 8, "hidden_size": 16},
     "n_embd 8 and hidden_size 16 contradict each other"),
    ({"model_type": "llama", **SMALL, "num_hiden_layers": 3} | {"num_hidden_layers": None},
     "no field 'num_hiden_layers'; did you mean 'num_hidden_layers'"),
    ({"model_type": "llama", **SMALL, "hidden_size": -8}, "hidden_size is -8, must be a whole"),
    ({"model_type": "llama", **SMALL, "hidden_size": "wide"}, "hidden_size is 'wide'"),
    ({"model_type": "llama", **SMALL, "hidden_size": 10}, "10 is not a multiple of 4 heads"),
    ({"model_type": "llama", **SMALL, "num_key_value_heads": 3}, "4 heads cannot share 3"),
    ({"model_type": "llama", **SMALL, "hidden_act": "sine"}, "hidden_act 'sine' is unknown"),
    ({"model_type": "llama", **SMALL, "mlp_bias": "maybe"}, "mlp_bias is 'maybe', must be true"),
    ({"model_type": "llama", **SMALL, "head_dim": 3}, "the number must be even"),
    ({"model_type": "llama", **SMALL, "rope_theta": 1e4, "rope_parameters": {"rope_theta": 5e5}},
     "rope_theta is 10000.0 and in rope_parameters 500000.0"),
    ({"model_type": "llama", **SMALL, "rope_scaling": {"type": "linear", "factor": 0}},
     "rope_scaling: factor is 0, must be a number above 0"),
    ({"model_type": "llama", **SMALL, "rope_scaling": {"type": "llama3", "low_freq_factor": 4}},
     "rope_scaling: low_freq_factor 4.0 must be below high_freq_factor 4.0"),
    ({"model_type": "mixtral", **SMALL, "num_key_value_heads": 4, "num_experts_per_tok": 9},
     "a token takes 9 of 8 experts"),
    ({"model_type": "deepseek_v3", "n_group": 7}, "256 experts cannot form 7 equal groups"),
    ({"model_type": "gemma2", "layer_types": ["full_attention"]},
     "layer_types must list the type of each of 26 layers, got 1 of them"),
    ({"model_type": "gemma2", **SMALL, "layer_types": "full"}, "each of 2 layers, got 'full'"),
    ({"model_type": "gemma2", **SMALL, "layer_types": ["full_attention", "chunked_attention"]},
     "layer_types has 'chunked_attention'; known: sliding_attention, full_attention"),
    ({"model_type": "gemma2", **SMALL, "layer_types": [["full_attention"], 1]}, "has \\['full_"),
    ({"model_type": "gemma2", "use_bidirectional_attention": True}, "true is not covered"),
    ({"model_type": "gemma2", "attn_logit_softcapping": 0}, "is 0, must be a number above 0"),
    ({"model_type": "gemma2", "query_pre_attn_scalar": -1}, "is -1, must be a number above 0"),
    ({"model_type": "gemma2", "hidden_act": "silu", "hidden_activation": "gelu"},
     "hidden_activation 'gelu' and hidden_act 'silu' contradict each other"),
    ({"model_type": "llama", **SMALL, "rms_norm_eps": -1}, "rms_norm_eps is -1, must be a number"),
    ({"model_type": "llama", **SMALL, "rope_theta": 0}, "rope_theta is 0, must be a number above"),
    ({"model_type": "llama", **SMALL, "num_hidden_layers": 10**6}, "1,000,000 layers are more"),
    ({"model_type": "llama", **SMALL, "hidden_size": 10**12}, "and at most 2,147,483,647"),
    ({"model_type": "llama", **SMALL, "vocab_size": 2**31 - 1, "hidden_size": 2**20}, "over 2"),
    ({"model_type": "mixtral", **SMALL, "num_key_value_heads": 4, "num_local_experts": 10**9},
     "1,000,000,000 experts a layer are more"),
    ({"model_type": "bert", **SMALL, "position_embedding_type": "relative_key"}, "is not covered"),
)  # fmt: skip


@pytest.mark.parametrize(("fields", "said"), FAULTS)
def test_faults_are_named(fields: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = write_config(tmp_path, **fields)
    with pytest.raises(ModelImportError, match=said) as caught:
        load_config(path, sequence=4)
    sides = ("4 heads", "a token", "the number", "256", "1,000,000", "over 2")
    if not said.startswith(sides):  # those name the family; the one door of models adds the file
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[1]", "no JSON object"),
        (f'{{"vocab_size": {"9" * 5000}}}', "is not JSON: a number of 5,000 digits"),
        ('{"vocab_size": 1, "vocab_size": 2}', "'vocab_size' stands twice"),
        (f'{{"x": "{"y" * (1 << 20)}"}}', "larger than 1,048,576 bytes"),
    ],
)
def test_what_is_no_config_is_said(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ModelImportError, match=said):
        read_config(tmp_path / "config.json")
