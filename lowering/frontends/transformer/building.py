"""A whole transformer as a Graph: embedding, equal layers, head; prefill, decode or training."""

from __future__ import annotations

from engine.kernels.gather.spec import Gather
from lowering.errors import ModelImportError
from lowering.frontends.builder import MAX_ELEMENTS, GraphBuilder
from lowering.frontends.transformer.architecture import Architecture
from lowering.frontends.transformer.attention import Cache, attention
from lowering.frontends.transformer.feedforward import feed_forward
from lowering.frontends.transformer.latent import latent_attention
from lowering.frontends.transformer.options import Workload
from lowering.frontends.transformer.rope import sinusoids
from lowering.frontends.transformer.training import TrainingPlan, add_training
from lowering.frontends.transformer.writer import NoNumbers, WeightSource, Writer
from lowering.graph import Graph

MAX_TABLE = 2**27
"""numbers of a table of positions: a million tokens of 128 features (our assumption)"""


def build_transformer(
    name: str,
    sides: Architecture,
    load: Workload,
    weights: WeightSource | None = None,
    source_hash: str = "",
    plan: TrainingPlan | None = None,
) -> Graph:
    """Return the graph of one pass; without `weights` they have shapes only.

    Inputs are `ids` (batch, tokens) int64, then in decode the cache of every layer, in training
    `labels` and the optimizer's moments. Outputs are `logits` or `hidden`, then the cache's new
    rows or the new weights.

    Raises ModelImportError where the workload does not suit the architecture.
    """
    _check(sides, load)
    pen = Writer(GraphBuilder(), weights or NoNumbers())
    pen.builder.add_value("ids", (load.batch, load.tokens), "int64")
    cache = Cache()
    x = _embedding(pen, sides, load)
    for layer in range(sides.layers):
        x = _layer(pen, f"layers/{layer}", x, sides.of_layer(layer), load, cache, layer)
    results = _results(pen, x, sides, load)
    if load.task == "training":
        return add_training(pen, name, "ids", results[0], plan or TrainingPlan(), source_hash)
    return pen.builder.finish(name, ["ids", *cache.inputs], [*results, *cache.outputs], source_hash)


def _check(sides: Architecture, load: Workload) -> None:
    if load.task != "prefill" and not (sides.causal and sides.head):
        raise ModelImportError(
            f"{sides.family} is an encoder: it has no {load.task} here; ask for prefill"
        )
    scores = load.batch * sides.heads * load.tokens * load.attended
    if scores > MAX_ELEMENTS:
        raise ModelImportError(
            f"{sides.family}: attention of {load.tokens:,} tokens to {load.attended:,} has "
            f"{scores:,} scores, over 2**40; shorten the sequence or make the batch smaller"
        )
    rows, features = _table_sides(sides, load)
    if rows * features > MAX_TABLE:
        raise ModelImportError(
            f"{sides.family}: tables of positions for {rows:,} tokens and {features:,} features "
            "are over 2**27 numbers; shorten the sequence"
        )
    if sides.position == "learned" and load.attended > sides.positions:
        raise ModelImportError(
            f"{sides.family} has a table of {sides.positions} positions and is asked for "
            f"{load.attended} tokens; shorten the sequence"
        )


def _table_sides(sides: Architecture, load: Workload) -> tuple[int, int]:
    """Return rows and columns of the tables of positions that are computed, not trained."""
    if sides.position == "rotary":
        return load.tokens, sides.rotated
    return (load.attended, sides.width) if sides.position == "sinusoidal" else (0, 0)


def _embedding(pen: Writer, sides: Architecture, load: Workload) -> str:
    table = pen.weight("embed/token/weight", sides.vocabulary, sides.width)
    x = pen.emit(Gather, "embed/token", "Embedding", table, "ids", axis=0)
    first = load.cached
    if sides.position == "learned":
        places = pen.weight("embed/position/weight", sides.positions, sides.width)
        rows = pen.cut("embed/position", places, 0, first, first + load.tokens)
        x = pen.add("embed/placed", x, rows)
    elif sides.position == "sinusoidal":
        rows = pen.constant("embed/sinusoids", sinusoids(load.attended, sides.width)[first:])
        x = pen.add("embed/placed", x, rows)
    if sides.token_types:
        types = pen.weight("embed/type/weight", sides.token_types, sides.width)
        x = pen.add("embed/typed", x, pen.cut("embed/type", types, 0, 0, 1))
    if sides.embed_norm:
        x = pen.norm("embed/norm", x, sides.norm, sides.epsilon)
    if sides.embed_scale != 1:
        x = pen.map("mul", "embed/scaled", x, pen.number(sides.embed_scale))
    return x


def _layer(
    pen: Writer, name: str, x: str, sides: Architecture, load: Workload, cache: Cache, layer: int
) -> str:
    attend = latent_attention if sides.latent else attention

    def norm(part: str, value: str) -> str:
        return pen.norm(f"{name}/{part}", value, sides.norm, sides.epsilon)

    if sides.post_norm:
        added = pen.add(f"{name}/attn/sum", x, attend(pen, f"{name}/attn", x, sides, load, cache))
        x = norm("attn_norm", added)
        added = pen.add(f"{name}/mlp/sum", x, feed_forward(pen, f"{name}/mlp", x, sides, layer))
        return norm("mlp_norm", added)
    read = norm("attn_norm", x)
    attended = attend(pen, f"{name}/attn", read, sides, load, cache)
    if sides.parallel:
        inner = norm("mlp_norm", x) if sides.own_norms else read
        fed = feed_forward(pen, f"{name}/mlp", inner, sides, layer)
        return pen.add(f"{name}/sum", pen.add(f"{name}/attn/sum", x, attended), fed)
    if sides.sandwich:
        attended = norm("attn_post_norm", attended)
    x = pen.add(f"{name}/attn/sum", x, attended)
    fed = feed_forward(pen, f"{name}/mlp", norm("mlp_norm", x), sides, layer)
    if sides.sandwich:
        fed = norm("mlp_post_norm", fed)
    return pen.add(f"{name}/sum", x, fed)


def _results(pen: Writer, x: str, sides: Architecture, load: Workload) -> list[str]:
    if not sides.post_norm:
        x = pen.norm("hidden" if not sides.head else "final_norm", x, sides.norm, sides.epsilon)
    elif not sides.head:
        x = pen.map("identity", "hidden", x)
    if sides.head:
        return [_head(pen, x, sides)]
    if not sides.pooler:
        return [x]
    first = pen.reshape(
        "pooler/first", pen.cut("pooler/token", x, 1, 0, 1), load.batch, sides.width
    )
    return [x, pen.map("tanh", "pooled", pen.linear("pooler", first, sides.width, bias=True))]


def _head(pen: Writer, x: str, sides: Architecture) -> str:
    if sides.tied:
        table = pen.transpose("head/table", "embed/token/weight", 1, 0)
    else:
        table = pen.weight("head/weight", sides.width, sides.vocabulary)
    plain = "head/logits" if sides.logit_cap else "logits"
    if not sides.head_bias:
        result = pen.matmul(plain, x, table, "Linear")
    else:
        product = pen.matmul("head", x, table, "Linear")
        result = pen.add(plain, product, pen.weight("head/bias", sides.vocabulary))
    return pen.capped("logits", result, sides.logit_cap)
