"""A training step as one graph: forward, loss, backward, optimizer."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.loss.spec import CrossEntropy, CrossEntropyGrad
from engine.kernels.optimizer.spec import AdamW
from engine.kernels.reduce.spec import Reduce
from lowering.frontends.transformer.reverse import add_gradients
from lowering.frontends.transformer.writer import DTYPE, Writer
from lowering.graph import Graph

OPTIMIZERS = ("adamw", "none")


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """How weights are updated."""

    optimizer: str = "adamw"
    """adamw | none; with none the gradients are the outputs"""
    rate: float = 1e-4
    """learning rate; changes numbers, no cycles"""
    beta1: float = 0.9
    beta2: float = 0.95
    epsilon: float = 1e-8
    decay: float = 0.1


def add_training(
    pen: Writer, name: str, read: str, logits: str, plan: TrainingPlan, source_hash: str
) -> Graph:
    """Return the graph from the input `read` and labels to the loss and the new weights.

    Logits are (batch, tokens, classes). `labels` (batch, tokens) int64 name the right class at
    each place; the loss is the mean of their negative log-likelihoods. Weights are constants; with
    AdamW the inputs `<weight>/m` and `<weight>/v` are its moments, and new values are called
    `<weight>/new`.
    """
    loss, gradient = _loss(pen, logits)
    found = add_gradients(pen, logits, gradient)
    inputs, outputs = [read, "labels"], [loss]
    for weight in pen.trained:
        made = found[weight]
        if plan.optimizer == "none":
            outputs.append(pen.map("identity", f"{weight}/grad", made))
            continue
        moments = [f"{weight}/m", f"{weight}/v"]
        shape = pen.shape(weight)
        for moment in moments:
            pen.builder.add_value(moment, shape, DTYPE)
        inputs += moments
        new = {f"{each}/new": shape for each in (weight, *moments)}
        outputs += pen.emit_several(
            AdamW, "AdamW", (weight, made, *moments), new, rate=plan.rate, beta1=plan.beta1,
            beta2=plan.beta2, epsilon=plan.epsilon, decay=plan.decay,
        )  # fmt: skip
    return pen.builder.finish(name, inputs, outputs, source_hash)


def _loss(pen: Writer, logits: str) -> tuple[str, str]:
    """Return the loss and the gradient of the logits."""
    batch, tokens, _ = pen.shape(logits)
    pen.builder.add_value("labels", (batch, tokens), "int64")
    each = pen.emit(CrossEntropy, "loss/each", "CrossEntropy", logits, "labels")
    loss = pen.emit(Reduce, "loss", "ReduceMean", each, fn="mean", axes=(0, 1), keepdims=False)
    gradient = pen.emit(
        CrossEntropyGrad, "back/loss", "CrossEntropyGrad", logits, "labels",
        scale=1.0 / (batch * tokens),
    )  # fmt: skip
    return loss, gradient
