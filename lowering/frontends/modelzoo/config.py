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
_MODEL = {False: "trainer.init.model", True: "model"}


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
    paths: tuple[str, ...]
    """every field of the file"""
    digest: str
    """sha256 of the file"""
    said: tuple[str, ...]
    """notes on choices made while reading"""

    def notes(self, used: frozenset[str]) -> tuple[str, ...]:
        """Return what to tell the user; `used` are names of the model's fields that were read."""
        stem = _MODEL[self.legacy]
        own = {f"{stem}.{name}" for name in used}
        rest = [path for path in self.paths if path not in own and path.split("[]")[0] not in own]
        rest = [path for path in rest if not any(path.startswith(f"{each}.") for each in own)]
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
    top = Fields({"trainer": trainer}, str(path)).mapping("trainer")
    init = top.mapping("init") if top else None
    model = init.mapping("model") if init else None
    if top is None or init is None or model is None:
        raise ModelImportError(f"{path}: 'trainer: init: model:' is missing")
    fit = top.mapping("fit")
    data = fit.mapping("train_dataloader") if fit else None
    micro = _micro_batch(init.raw("callbacks"))
    batch = _batch(micro, data, said)
    _say_loader(data, said)
    sequence = _sequence(data)
    plan = _plan(_optimizer(init.raw("optimizer"), str(path)))
    return ReadZoo(model, False, batch, sequence, plan, tuple(paths), digest, tuple(said))


def _legacy(path: Path, document: dict[str, Any], paths: list[str], digest: str) -> ReadZoo:
    said: list[str] = []
    whole = Fields(document, str(path))
    model, data = whole.mapping("model"), whole.mapping("train_input")
    if model is None:
        raise ModelImportError(f"{path}: 'model' is empty")
    micro = data.raw("micro_batch_size") if data else None
    batch = _batch(micro if isinstance(micro, int) else None, data, said)
    _say_loader(data, said)
    plan = _plan(whole.mapping("optimizer"))
    return ReadZoo(model, True, batch, _sequence(data), plan, tuple(paths), digest, tuple(said))


def _micro_batch(callbacks: Any) -> int | None:
    for callback in callbacks if isinstance(callbacks, list) else []:
        flags = callback.get("ScopedTrainFlags") if isinstance(callback, dict) else None
        micro = flags.get("csx.performance.micro_batch_size") if isinstance(flags, dict) else None
        if isinstance(micro, int) and not isinstance(micro, bool) and micro > 0:
            return micro
    return None


def _batch(micro: int | None, data: Fields | None, said: list[str]) -> int:
    whole = data.integer("batch_size") if data and data.has("batch_size") else None
    if micro is None and whole is not None and whole > 1:
        said.append(f"batch_size {whole} is reached in {whole} samples of 1; --batch changes that")
    return micro or 1


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


def _optimizer(found: Any, where: str) -> Fields | None:
    """Return the fields of `optimizer: {AdamW: {...}}`."""
    if not isinstance(found, dict) or not found:
        return None
    name, inner = next(iter(found.items()))
    said = inner if isinstance(inner, dict) else {}
    return Fields({**said, "optimizer_type": str(name)}, f"{where}: optimizer {name}")


def _plan(found: Fields | None) -> TrainingPlan:
    """Return the plan; every optimizer stands for AdamW, whose state is the largest."""
    default = TrainingPlan()
    if found is None:
        return default
    betas = found.raw("betas")
    pair = betas if isinstance(betas, list) and len(betas) == 2 else [default.beta1, default.beta2]
    both = Fields({"beta1": pair[0], "beta2": pair[1]}, found.where)
    return TrainingPlan(
        beta1=both.number("beta1"),
        beta2=both.number("beta2"),
        epsilon=found.number("eps", default=default.epsilon),
        decay=found.number("weight_decay", "weight_decay_rate", default=default.decay),
    )
