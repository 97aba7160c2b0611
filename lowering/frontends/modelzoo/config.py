"""Reads a Model Zoo YAML in either form: the model, the batch it is trained with, what is left."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lowering.errors import ModelImportError
from lowering.frontends.fields import Fields
from lowering.frontends.modelzoo.known import is_known, leaves, nearest
from lowering.frontends.transformer.training import TrainingPlan
from lowering.yaml_file import YamlFileError, read_mapping

LEGACY_PARTS = ("model", "train_input", "eval_input", "optimizer", "runconfig", "sparsity")
_MICRO = "csx.performance.micro_batch_size"
_MOST_MICRO_BATCHES = 64
"""of the knob micro_batches"""
_STORED = {"float16": "fp16", "cbfloat16": "fp16", "bfloat16": "bf16"}
"""what stores as many bytes, by the Zoo's name"""


@dataclass(frozen=True, slots=True)
class ReadZoo:
    """A Model Zoo config, understood as far as it has effect here."""

    model: Fields
    """fields of the model itself; its builder marks what it reads"""
    legacy: bool
    batch: int
    """sequences of one micro batch"""
    sequence: int | None
    """tokens of a training sequence, None where the data does not say"""
    plan: TrainingPlan
    whole: Fields
    """the file from its top on; it knows what was read"""
    paths: tuple[str, ...]
    """every field of the file"""
    digest: str
    """sha256 of the file"""
    said: tuple[str, ...]
    """notes on choices made while reading"""

    def notes(self) -> tuple[str, ...]:
        """Return what to tell the user, once the model is built from what it reads."""
        own = set(self.whole.paths_read())
        rest = [path for path in self.paths if path.removesuffix("[]") not in own]
        unused = [path for path in rest if is_known(path, self.legacy)]
        unknown = [_named(path, self.legacy) for path in rest if path not in set(unused)]
        said = list(self.said)
        if unused:
            said.append(f"understood but without effect here: {', '.join(unused)}")
        if unknown:
            said.append(f"unknown and ignored: {', '.join(unknown)}")
        return tuple(said)


def _named(path: str, legacy: bool) -> str:
    near = nearest(path, legacy)
    return f"{path} (nearest known: {near})" if near else path


def read_zoo(path: Path) -> ReadZoo:
    """Read a Model Zoo config.

    Raises ModelImportError: no YAML, neither of the two forms, or a field that makes no sense.
    """
    try:
        document = read_mapping(path, aliases=True)
    except YamlFileError as error:
        raise ModelImportError(str(error)) from error
    paths = leaves(document, str(path))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if "trainer" in document:
        return _trainer(path, document["trainer"], paths, digest)
    if "model" in document:
        return _legacy(path, document, paths, digest)
    raise ModelImportError(
        f"{path} has neither 'trainer' nor 'model' at its top, so it is no Model Zoo config; its "
        f"names are {', '.join(list(document)[:8])}"
    )


def _trainer(path: Path, trainer: Any, paths: list[str], digest: str) -> ReadZoo:
    said: list[str] = []
    if isinstance(trainer, list):
        if not trainer or not isinstance(trainer[0], dict):
            raise ModelImportError(f"{path}: 'trainer' is a list without a run in it")
        if len(trainer) > 1:
            said.append(f"the file describes {len(trainer)} runs; the first is read")
        trainer = trainer[0].get("trainer", trainer[0])
        paths = [each.replace("trainer[].trainer.", "trainer.").replace("trainer[].", "trainer.")
                 for each in paths]  # fmt: skip
    whole = Fields({"trainer": trainer}, str(path))
    top = whole.mapping("trainer")
    init = top.mapping("init") if top else None
    model = init.mapping("model") if init else None
    if top is None or init is None or model is None:
        raise ModelImportError(f"{path}: 'trainer: init: model:' is missing")
    fit = top.mapping("fit")
    data = fit.mapping("train_dataloader") if fit else None
    micro = _micro_batch(init)
    batch = _batch(micro, data, said)
    _say_loader(data, said)
    _say_precision(init.mapping("precision"), "enabled", said)
    sequence = _sequence(data)
    plan = _plan(_optimizer(init))
    return ReadZoo(model, False, batch, sequence, plan, whole, tuple(paths), digest, tuple(said))


def _legacy(path: Path, document: dict[str, Any], paths: list[str], digest: str) -> ReadZoo:
    said: list[str] = []
    whole = Fields(document, str(path))
    model, data = whole.mapping("model"), whole.mapping("train_input")
    if model is None:
        raise ModelImportError(f"{path}: 'model' is empty")
    batch = _batch(_whole_number(data, "micro_batch_size"), data, said)
    _say_loader(data, said)
    _say_precision(model, "mixed_precision", said)
    plan = _plan(whole.mapping("optimizer"))
    return ReadZoo(
        model, True, batch, _sequence(data), plan, whole, tuple(paths), digest, tuple(said)
    )


def _micro_batch(init: Fields) -> int | None:
    for callback in init.mappings("callbacks"):
        if micro := _whole_number(callback.mapping("ScopedTrainFlags"), _MICRO):
            return micro
    return None


def _whole_number(fields: Fields | None, name: str) -> int | None:
    """Return a number of the file, None where it is absent or a word such as auto."""
    if fields is None or not fields.has(name):
        return None
    found = fields.raw(name)
    return None if isinstance(found, str | dict) else fields.integer(name)


def _batch(micro: int | None, data: Fields | None, said: list[str]) -> int:
    whole = data.integer("batch_size") if data and data.has("batch_size") else None
    if micro is None and whole is not None and whole > 1:
        said.append(f"batch_size {whole} is reached in {whole} samples of 1; --batch changes that")
    parts = whole // micro if whole and micro and whole % micro == 0 else 1
    if 1 < parts <= _MOST_MICRO_BATCHES:
        said.append(
            f"batch_size {whole} is {parts} micro batches of {micro}, of which a sample is one; "
            f"--set micro_batches={parts} takes all of them before one update"
        )
    return micro or 1


def _say_precision(fields: Fields | None, switch: str, said: list[str]) -> None:
    """Say which dtype stands for the file's mixed precision."""
    if fields is None or not fields.raw(switch):
        return
    kind = fields.text("fp16_type", default="float16")
    if kind in _STORED:
        said.append(f"the file's precision is {kind}: --set dtype={_STORED[kind]} stores as many "
                    "bytes; without it weights and activations are fp32")  # fmt: skip


def _say_loader(data: Fields | None, said: list[str]) -> None:
    """Say which knobs stand for the file's loader: they act only beside a rate it does not tell.

    A loader without workers decodes in the process that asks, and one that looks ahead by nothing
    still holds the batch it decodes: one each.
    """
    knobs = []
    if data and data.has("num_workers"):
        knobs.append(f"loader_workers={max(1, data.integer('num_workers', low=0))}")
    if data and data.has("prefetch_factor"):
        knobs.append(f"loader_prefetch={max(1, data.integer('prefetch_factor', low=0))}")
    if knobs:
        settings = " ".join(f"--set {knob}" for knob in knobs)
        said.append(
            "the file's loader acts where the rate of a worker is given, which the file does not "
            f"tell: --set decode_rate=SAMPLES_PER_SECOND {settings} (a batch of the loader taken "
            "for a sample)"
        )


def _sequence(data: Fields | None) -> int | None:
    names = ("max_sequence_length", "msl")
    return data.integer(*names) if data and data.has(*names) else None


def _optimizer(init: Fields) -> Fields | None:
    """Return the fields of `optimizer: {AdamW: {...}}`."""
    found = init.mapping("optimizer")
    names = found.names() if found else ()
    return found.mapping(names[0]) if found and names else None


def _plan(found: Fields | None) -> TrainingPlan:
    """Return the plan; every optimizer stands for AdamW, whose state is the largest."""
    default = TrainingPlan()
    if found is None:
        return default
    betas = found.raw("betas")
    pair = betas if isinstance(betas, list) and len(betas) == 2 else [default.beta1, default.beta2]
    both = Fields({"beta1": pair[0], "beta2": pair[1]}, found.where)
    return TrainingPlan(
        beta1=both.number("beta1", below=1),
        beta2=both.number("beta2", below=1),
        epsilon=found.number("eps", default=default.epsilon, above=0),
        decay=found.number("weight_decay", "weight_decay_rate", default=default.decay),
    )
