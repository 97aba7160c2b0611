"""Both forms of Model Zoo configs, what is told about their fields, and faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.kernels.reduce.spec import Softmax
from lowering.config import CompileConfig, apply_knob
from lowering.errors import ModelImportError
from lowering.frontends.modelzoo import load_zoo, read_zoo
from lowering.frontends.modelzoo.known import legacy_paths, new_paths
from lowering.frontends.transformer import ModelOptions

SMALL: dict[str, Any] = {
    "name": "gpt3", "hidden_size": 8, "num_hidden_layers": 2, "num_heads": 2, "filter_size": 16,
    "vocab_size": 11, "max_position_embeddings": 12,
}  # fmt: skip
LLAMA_70B = """
trainer:
  init:
    model:
      name: llama
      vocab_size: 128256
      hidden_size: 8192
      num_hidden_layers: 80
      num_heads: 64
      filter_size: 28672
      max_position_embeddings: 8192
      position_embedding_type: rotary
      rotary_dim: 128
      rope_theta: 500000.0
      attention_module: multiquery_attention
      extra_attention_params: {num_kv_groups: 8}
      norm_type: rmsnorm
      layer_norm_epsilon: 1e-05
      nonlinearity: swiglu
      share_embedding_weights: false
      use_projection_bias_in_attention: false
      use_ffn_bias_in_attention: false
      use_ffn_bias: false
      use_bias_in_output: false
    optimizer:
      AdamW: {betas: [0.9, 0.95], weight_decay: 0.1, eps: 1e-05}
    callbacks:
      - ScopedTrainFlags: {csx.performance.micro_batch_size: 2}
  fit:
    train_dataloader: {batch_size: 16, data_processor: GptHDF5MapDataProcessor}
    val_dataloader: &val {batch_size: 4}
  validate: {val_dataloader: *val}
"""


def written(tmp_path: Path, document: Any) -> Path:
    """A YAML file of a document or a text."""
    path = tmp_path / "params.yaml"
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    return path


def trainer(model: dict[str, Any], **rest: Any) -> dict[str, Any]:
    """A document of the trainer form."""
    return {"trainer": {"init": {"model": model}, **rest}}


def test_a_trainer_file_gives_the_training_step_it_describes(tmp_path: Path) -> None:
    found = load_zoo(written(tmp_path, LLAMA_70B), ModelOptions(sequence=16))
    assert found.graph.parameters == 70_553_706_496
    assert found.graph.values["ids"].shape == (2, 16)
    assert found.graph.outputs[0] == "loss"
    plan = read_zoo(tmp_path / "params.yaml").plan
    assert (plan.beta2, plan.decay, plan.epsilon) == (0.95, 0.1, 1e-5)


def test_the_sequence_comes_from_the_data_or_the_model(tmp_path: Path) -> None:
    data = {"train_dataloader": {"batch_size": 6, "max_sequence_length": 5}}
    found = load_zoo(written(tmp_path, trainer(SMALL, fit=data)))
    assert found.graph.values["ids"].shape == (1, 5)
    assert any("batch_size 6 is reached in 6 samples" in note for note in found.notes)
    assert load_zoo(written(tmp_path, trainer(SMALL))).graph.values["ids"].shape == (1, 12)


def test_the_user_says_otherwise(tmp_path: Path) -> None:
    path = written(tmp_path, trainer(SMALL))
    graph = load_zoo(path, ModelOptions("decode", batch=3, kv_length=9)).graph
    assert graph.values["ids"].shape == (3, 1)
    assert graph.values["layers/1/attn/k/cache"].shape == (3, 2, 8, 4)


def test_legacy_and_trainer_form_give_the_same_graph(tmp_path: Path) -> None:
    legacy = {
        "model": {**SMALL, "mixed_precision": True},
        "train_input": {"batch_size": 4, "micro_batch_size": 2},
        "optimizer": {"optimizer_type": "AdamW", "learning_rate": "2e-4", "weight_decay_rate": 0.2},
        "runconfig": {"max_steps": 10, "log_steps": 1},
    }
    old = load_zoo(written(tmp_path, legacy))
    flags = [{"ScopedTrainFlags": {"csx.performance.micro_batch_size": 2}}]
    document = trainer(SMALL)
    document["trainer"]["init"] |= {
        "callbacks": flags, "optimizer": {"adamw": {"weight_decay": 0.2}}
    }  # fmt: skip
    new = load_zoo(written(tmp_path, document))
    assert old.graph.nodes == new.graph.nodes
    assert old.graph.values == new.graph.values
    assert not any("unknown" in note for note in old.notes)
    assert any("runconfig.max_steps" in note for note in old.notes)


@pytest.mark.parametrize("form", ["trainer", "legacy"])
def test_the_perceptron_of_mnist_is_read(form: str, tmp_path: Path) -> None:
    model = {"name": "fc_mnist", "depth": 10, "hidden_size": 50, "activation_fn": "relu"}
    document = trainer(model) if form == "trainer" else {"model": model}
    graph = load_zoo(written(tmp_path, document), ModelOptions(batch=128)).graph
    assert graph.parameters == 784 * 50 + 9 * 50 * 50 + 10 * 50 + 50 * 10 + 10
    assert graph.inputs[:2] == ("image", "labels")
    assert graph.outputs[0] == "loss"
    forward = load_zoo(written(tmp_path, document), ModelOptions("prefill", batch=128)).graph
    assert forward.outputs == ("logits",)


def test_a_bert_is_a_forward_pass(tmp_path: Path) -> None:
    graph = load_zoo(written(tmp_path, trainer({**SMALL, "name": "bert"}))).graph
    assert graph.outputs == ("hidden", "pooled")


def put(document: dict[str, Any], path: str, value: Any) -> None:
    """Set a path such as a.b[].c in a document; a list gets one item."""
    head, _, rest = path.partition(".")
    name = head.removesuffix("[]")
    if not rest:
        document.setdefault(name, [value] if head.endswith("[]") else value)
    elif head.endswith("[]"):
        item = document.setdefault(name, [{}])[0]
        put(item, rest, value)
    else:
        inner = document.get(name)
        if not isinstance(inner, dict):
            inner = document[name] = {}
        put(inner, rest, value)


def test_every_field_of_the_zoo_is_understood(tmp_path: Path) -> None:
    document: dict[str, Any] = trainer(dict(SMALL))
    for path in sorted(new_paths()):
        if ".optimizer." not in path:
            if path.startswith("trainer.init.model.") and path.count(".") == 3:
                continue
            put(document, path, 1)
    document["trainer"]["init"]["model"].pop("moe")
    document["trainer"]["init"]["model"] |= {"dropout_rate": 0.1, "attention_softmax_fp32": True}
    document["trainer"]["init"]["precision"]["fp16_type"] = "cbfloat16"
    document["trainer"]["fit"]["train_dataloader"]["max_sequence_length"] = 4
    found = load_zoo(written(tmp_path, document))
    assert not [note for note in found.notes if note.startswith("unknown")]
    (unused,) = [note for note in found.notes if note.startswith("understood")]
    assert "trainer.init.model.dropout_rate" in unused
    assert "trainer.init.model.hidden_size" not in unused


def test_every_legacy_field_is_understood(tmp_path: Path) -> None:
    document: dict[str, Any] = {"model": dict(SMALL)}
    for path in sorted(legacy_paths()):
        if not path.startswith("optimizer.*"):
            put(document, path.replace(".*", ".x"), 1)
    document["model"]["fp16_type"] = "cbfloat16"
    found = load_zoo(written(tmp_path, document))
    assert not [note for note in found.notes if note.startswith("unknown")]


def test_unknown_fields_are_named_with_the_nearest(tmp_path: Path) -> None:
    document = trainer({**SMALL, "atention_dropout_rate": 0.1, "colour": "green"})
    found = load_zoo(written(tmp_path, document))
    (unknown,) = [note for note in found.notes if note.startswith("unknown")]
    assert "trainer.init.model.colour" in unknown
    near = "(nearest known: trainer.init.model.attention_dropout_rate)"
    assert f"trainer.init.model.atention_dropout_rate {near}" in unknown


def test_what_was_read_is_not_said_to_be_without_effect(tmp_path: Path) -> None:
    text = LLAMA_70B.replace("num_kv_groups: 8", "num_kv_groups: 8, odd: 1, zork: 2")
    text = text.replace(
        "{batch_size: 16,", "{batch_size: 16, max_sequence_length: 8, shuffle: true,"
    )
    found = load_zoo(written(tmp_path, text))
    (unused,) = [note for note in found.notes if note.startswith("understood")]
    listed = unused.removeprefix("understood but without effect here: ").split(", ")
    assert sorted(listed) == [
        "trainer.fit.train_dataloader.data_processor", "trainer.fit.train_dataloader.shuffle",
        "trainer.fit.val_dataloader.batch_size", "trainer.validate.val_dataloader.batch_size",
    ]  # fmt: skip
    (unknown,) = [note for note in found.notes if note.startswith("unknown")]
    assert "trainer.init.model.extra_attention_params.odd" in unknown
    assert "trainer.init.model.extra_attention_params.zork" in unknown


def test_fields_inside_a_mixture_are_told_apart(tmp_path: Path) -> None:
    moe = {"num_experts": 4, "top_k": 2, "router_fp32": True, "zork": 1}
    found = load_zoo(written(tmp_path, trainer({**SMALL, "moe": moe})))
    (unused,) = [note for note in found.notes if note.startswith("understood")]
    (unknown,) = [note for note in found.notes if note.startswith("unknown")]
    assert unused == "understood but without effect here: trainer.init.model.moe.router_fp32"
    assert unknown.startswith("unknown and ignored: trainer.init.model.moe.zork (nearest known: ")


@pytest.mark.parametrize("legacy", [False, True])
def test_precision_and_accumulation_are_told_as_knobs(legacy: bool, tmp_path: Path) -> None:
    data = {"batch_size": 6}
    if legacy:
        model = {**SMALL, "mixed_precision": True, "fp16_type": "bfloat16"}
        document = {"model": model, "train_input": {**data, "micro_batch_size": 2}}
    else:
        document = trainer(SMALL, fit={"train_dataloader": data})
        document["trainer"]["init"] |= {
            "precision": {"enabled": True, "fp16_type": "bfloat16"},
            "callbacks": [{"ScopedTrainFlags": {"csx.performance.micro_batch_size": 2}}],
        }
    found = load_zoo(written(tmp_path, document))
    assert found.graph.values["ids"].shape == (2, 12)
    settings = [note.split("--set ")[1].split()[0] for note in found.notes if "--set" in note]
    assert settings == ["micro_batches=3", "dtype=bf16"]
    config = CompileConfig()
    for setting in settings:
        config = apply_knob(config, *setting.split("="))
    assert (config.micro_batches, config.storage) == (3, "bf16")


def test_a_word_for_the_micro_batch_is_left_to_the_user(tmp_path: Path) -> None:
    document = trainer(SMALL)
    flags = [{"ScopedTrainFlags": {"csx.performance.micro_batch_size": "auto"}}]
    document["trainer"]["init"]["callbacks"] = flags
    assert load_zoo(written(tmp_path, document)).graph.values["ids"].shape == (1, 12)


def with_init(**more: Any) -> dict[str, Any]:
    """A small document with more in `init`."""
    document = trainer(SMALL)
    document["trainer"]["init"] |= more
    return document


def loader_note(tmp_path: Path, data: dict[str, Any], legacy: bool = False) -> list[str]:
    """What is said of the loader of a file's training data."""
    document = {"model": SMALL, "train_input": data} if legacy else trainer(
        SMALL, fit={"train_dataloader": data}
    )  # fmt: skip
    found = load_zoo(written(tmp_path, document))
    assert not [note for note in found.notes if note.startswith("unknown")]
    return [note for note in found.notes if note.startswith("the file's loader")]


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize(
    ("data", "knobs"),
    [
        ({"num_workers": 8, "prefetch_factor": 10}, {"loader_workers": 8, "loader_prefetch": 10}),
        ({"num_workers": 0, "prefetch_factor": 0}, {"loader_workers": 1, "loader_prefetch": 1}),
        ({"num_workers": None, "prefetch_factor": 2}, {"loader_prefetch": 2}),
    ],
)
def test_the_loader_is_told_as_knobs_that_can_be_set(
    data: dict[str, Any], knobs: dict[str, int], legacy: bool, tmp_path: Path
) -> None:
    (note,) = loader_note(tmp_path, data, legacy)
    settings = [text.split()[0] for text in note.split("--set ")[1:]]
    assert settings[0] == "decode_rate=SAMPLES_PER_SECOND"
    assert settings[1:] == [f"{name}={value}" for name, value in knobs.items()]
    config = apply_knob(CompileConfig(), "decode_rate", "100")
    for setting in settings[1:]:
        config = apply_knob(config, *setting.split("="))
    assert {name: getattr(config, name) for name in knobs} == knobs


def test_without_a_loader_nothing_is_said_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    assert loader_note(tmp_path, {"batch_size": 2}) == []
    with pytest.raises(ModelImportError, match=r"num_workers.* a whole number of at least 0"):
        loader_note(tmp_path, {"num_workers": "many"})
    with pytest.raises(ModelImportError, match=r"prefetch_factor.* a whole number of at least 0"):
        loader_note(tmp_path, {"prefetch_factor": -1})


def test_several_runs_in_one_file_are_said(tmp_path: Path) -> None:
    document = {"trainer": [trainer(SMALL), trainer(SMALL)]}
    found = load_zoo(written(tmp_path, document))
    assert any("2 runs; the first is read" in note for note in found.notes)
    assert not any(note.startswith("unknown") for note in found.notes)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"layers": 3}, "neither 'trainer' nor 'model' at its top"),
        ({"trainer": {"init": {}}}, "'trainer: init: model:' is missing"),
        ({"trainer": 5}, "trainer is 5, must be a mapping"),
        ({"trainer": []}, "a list without a run"),
        (trainer({**SMALL, "name": "t5"}), "model 't5' cannot be built from its config"),
        (trainer({}), "field 'name' is missing"),
        (trainer({"name": "gpt2"}), "field 'hidden_size' is missing"),
        (trainer({**SMALL, "num_heads": 3}), "cannot have 3 equal heads"),
        (trainer({**SMALL, "nonlinearity": "sine"}), "nonlinearity 'sine' is unknown"),
        (trainer({**SMALL, "norm_type": "batchnorm"}), "norm_type 'batchnorm' is not covered"),
        (trainer({**SMALL, "attention_module": "x"}), "attention_module is 'x'"),
        (trainer({**SMALL, "final_logit_softcapping": -30.0}), "must be a number above 0"),
        (
            trainer({**SMALL, "sliding_window_every_other_decoder_layer": True}),
            "needs attention_sliding_window_length, the tokens",
        ),
        (
            trainer({**SMALL, "name": "gptj", "norm_first_sandwich": True}),
            "here both are added together",
        ),
        (trainer({**SMALL, "position_embedding_type": "rotary", "rotary_dim": 6}), "larger than"),
        (trainer({**SMALL, "max_position_embeddings": "many"}), "is 'many', must be a whole"),
        ("a: [", "not YAML"),
        ("trainer: &a {init: *a}", "holds itself"),
        (with_init(callbacks=5), "callbacks is 5, must be a list of mappings"),
        (with_init(optimizer=7), "optimizer is 7, must be a mapping"),
        (with_init(optimizer={"AdamW": {"betas": [0.9, 1.5]}}), "beta2 is 1.5, must be a number"),
        (
            with_init(callbacks=[{"ScopedTrainFlags": {"csx.performance.micro_batch_size": -2}}]),
            "micro_batch_size is -2, must be a whole number",
        ),
        (trainer({**SMALL, "layer_norm_epsilon": -1}), "must be a number above 0"),
        (trainer({**SMALL, "num_hidden_layers": 10**6}), "1,000,000 layers are more than"),
        (trainer({"name": "fc_mnist", "hidden_size": 5, "depth": 10**8}), "depth 100,000,000"),
    ],
)
def test_faults_are_named(document: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(ModelImportError, match=said):
        load_zoo(written(tmp_path, document))


def test_shared_values_cannot_blow_up(tmp_path: Path) -> None:
    lines = ["trainer: {init: {model: {name: gpt2}}}", "a0: &a0 [{x: 1}, {x: 2}]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    with pytest.raises(ModelImportError, match="more than 20,000 fields"):
        load_zoo(written(tmp_path, "\n".join(lines)))


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"position_embedding_type": "alibi"}, "alibi"),
        ({"position_embedding_type": "fixed"}, "embed/sinusoids"),
        ({"position_embedding_type": "rotary", "rotary_dim": 2}, "layers/0/attn/q/rope/rest"),
        ({"embedding_layer_norm": True}, "embed/norm"),
        ({"use_bias_in_output": True}, "head/bias"),
        ({"nonlinearity": "swiglu"}, "layers/0/mlp/gate"),
        ({"norm_first_sandwich": True}, "layers/0/mlp_post_norm"),
        ({"attention_logit_softcapping": 50.0}, "layers/0/attn/scores/capped"),
        ({"final_logit_softcapping": 30}, "head/logits"),
        ({"embeddings_scale": 59.8665181}, "embed/scaled"),
        ({"moe": {"num_experts": 4, "top_k": 2}}, "layers/0/mlp/experts"),
        ({"name": "falcon", "use_untied_layer_norm": True}, "layers/0/mlp_norm"),
    ],
)
def test_habits_of_the_zoo_reach_the_graph(
    fields: dict[str, Any], value: str, tmp_path: Path
) -> None:
    options = ModelOptions("prefill", sequence=4)
    plain = load_zoo(written(tmp_path, trainer({**SMALL, "name": "gptj"})), options).graph
    graph = load_zoo(written(tmp_path, trainer({**SMALL, **fields})), options).graph
    assert value in graph.values
    assert value not in plain.values


GPTJ_6B = {
    "name": "gptj", "vocab_size": 50400, "hidden_size": 4096, "num_heads": 16,
    "num_hidden_layers": 28, "filter_size": 16384, "max_position_embeddings": 2048,
    "position_embedding_type": "rotary", "rotary_dim": 64, "share_embedding_weights": False,
    "use_projection_bias_in_attention": False, "use_ffn_bias_in_attention": False,
    "use_ffn_bias": True, "use_bias_in_output": True,
}  # fmt: skip
FALCON_7B = {
    "name": "falcon", "vocab_size": 65024, "hidden_size": 4544, "num_heads": 71,
    "num_hidden_layers": 32, "filter_size": 18176, "max_position_embeddings": 2048,
    "position_embedding_type": "rotary", "rotary_dim": 64, "share_embedding_weights": True,
    "attention_module": "multiquery_attention", "extra_attention_params": {"num_kv_groups": 1},
    "use_projection_bias_in_attention": False, "use_ffn_bias_in_attention": False,
    "use_ffn_bias": False, "use_untied_layer_norm": False,
}  # fmt: skip
MIXTRAL_8X7B = {
    "name": "mixtral", "vocab_size": 32000, "hidden_size": 4096, "num_heads": 32,
    "num_hidden_layers": 32, "filter_size": 14336, "max_position_embeddings": 4096,
    "position_embedding_type": "rotary", "norm_type": "rmsnorm", "nonlinearity": "swiglu",
    "attention_module": "multiquery_attention", "extra_attention_params": {"num_kv_groups": 8},
    "use_projection_bias_in_attention": False, "use_ffn_bias_in_attention": False,
    "use_ffn_bias": False, "share_embedding_weights": False,
    "moe": {"num_experts": 8, "top_k": 2},
}  # fmt: skip
GEMMA2_27B = {
    "name": "gemma2", "vocab_size": 256000, "hidden_size": 4608, "num_heads": 32,
    "num_hidden_layers": 46, "filter_size": 36864, "max_position_embeddings": 8192,
    "position_embedding_type": "rotary", "rotary_dim": 128, "attention_inner_dim": 4096,
    "norm_type": "rmsnorm", "norm_first_sandwich": True, "nonlinearity": "geglu",
    "attention_module": "multiquery_attention", "extra_attention_params": {"num_kv_groups": 16},
    "attention_sliding_window_length": 4096, "sliding_window_every_other_decoder_layer": True,
    "attention_logit_softcapping": 50.0, "final_logit_softcapping": 30.0,
    "embeddings_scale": 67.8822509, "share_embedding_weights": True,
    "use_projection_bias_in_attention": False, "use_ffn_bias_in_attention": False,
    "use_ffn_bias": False,
}  # fmt: skip


@pytest.mark.parametrize("task", ["prefill", "decode", "training"])
def test_every_other_layer_has_the_window_the_second_first(task: str, tmp_path: Path) -> None:
    model = {
        **SMALL, "num_hidden_layers": 4, "attention_sliding_window_length": 2,
        "sliding_window_every_other_decoder_layer": True,
    }  # fmt: skip
    path = written(tmp_path, trainer(model))
    options = {"prefill": {"sequence": 4}, "decode": {"kv_length": 4}, "training": {"sequence": 4}}
    graph = load_zoo(path, ModelOptions(task, **options[task])).graph
    windows = [node.op.window for node in graph.nodes if isinstance(node.op, Softmax)]
    assert windows == [0, 2, 0, 2]


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (GPTJ_6B, 6_050_882_784),  # as published with the model
        (FALCON_7B, 32 * (2 * 4544 + 4544 * (2 * 4544 + 128 + 2 * 18176)) + 65025 * 4544 + 4544),
        (MIXTRAL_8X7B, 46_702_792_704),
        (GEMMA2_27B, 27_227_128_320),  # as published with the model
    ],
)
def test_parameters_of_known_models(model: dict[str, Any], parameters: int, tmp_path: Path) -> None:
    path = written(tmp_path, trainer(model))
    assert load_zoo(path, ModelOptions("prefill", sequence=4)).graph.parameters == parameters
