"""The sides and habits of a transformer, whatever file they were read from. Knows no format."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lowering.errors import ModelImportError

MAX_LAYERS = 1024
"""deeper than any model there is; each layer is some kernels to compile (our assumption)"""
MAX_EXPERTS = 16_384
"""experts of a layer; more than any model has (our assumption)"""


@dataclass(frozen=True, slots=True)
class RopeScaling:
    """How rotary frequencies are stretched beyond the trained length."""

    kind: str
    """linear | llama3 | yarn | dynamic ...; only linear and llama3 have numbers here"""
    factor: float = 1.0
    low_factor: float = 1.0
    """llama3: wavelengths over original length / this are stretched fully"""
    high_factor: float = 4.0
    """llama3: wavelengths under original length / this are left alone"""
    original: int = 8192
    """llama3: trained length, tokens"""


@dataclass(frozen=True, slots=True)
class Experts:
    """A mixture of experts in place of a layer's feed-forward part."""

    count: int
    active: int
    """experts a token takes"""
    inner: int
    """features inside an expert"""
    shared: int = 0
    """experts every token takes, built as one dense layer"""
    first: int = 0
    """layers before this one are dense"""
    every: int = 1
    """then one layer in this many has experts"""
    scoring: str = "softmax"
    """softmax | sigmoid"""
    bias: bool = False
    """a correction for each expert's score, for the choice alone; not trained by the loss"""
    normalize: bool = True
    scale: float = 1.0
    groups: int = 1
    active_groups: int = 1


@dataclass(frozen=True, slots=True)
class Latent:
    """Multi-head latent attention: keys and values through a low-rank latent."""

    q_rank: int
    """features of the queries' latent; 0: queries have none"""
    kv_rank: int
    """features of the latent that is cached"""
    nope: int
    """features of a head without rotation"""
    rope: int
    """rotated features of a head; the key's are shared by all heads"""
    value: int
    """features of a head's values"""


@dataclass(frozen=True, slots=True)
class Architecture:
    """A decoder or an encoder of equal layers."""

    family: str
    """what the file calls it, such as llama"""
    vocabulary: int
    width: int
    """features of a token"""
    layers: int
    heads: int
    kv_heads: int
    """heads of keys and values; each serves heads / kv_heads queries"""
    head_dim: int
    inner: int
    """features inside the feed-forward part"""
    fn: str
    """scalar function of the feed-forward part"""
    gated: bool = False
    """fn(x @ gate) * (x @ up) in place of fn(x @ up)"""
    norm: str = "rms"
    """rms | rms-plus-one (scaled by 1 + its weight) | layer | layer-no-bias"""
    epsilon: float = 1e-6
    position: str = "rotary"
    """rotary | learned | alibi | sinusoidal | none"""
    positions: int = 0
    """rows of a learned table"""
    rotary_dim: int = 0
    """features of a head that are rotated, 0: all"""
    rope_theta: float = 10000.0
    scaling: RopeScaling | None = None
    qkv_bias: bool = False
    out_bias: bool = False
    inner_bias: bool = False
    head_bias: bool = False
    tied: bool = False
    """the head uses the embedding table"""
    head: bool = True
    """False: the result is the last hidden state"""
    causal: bool = True
    post_norm: bool = False
    """norms after the additions, as in BERT"""
    parallel: bool = False
    """attention and feed-forward part read the same norm and are added together"""
    own_norms: bool = False
    """parallel: the feed-forward part has a norm of its own"""
    embed_norm: bool = False
    """a norm right after the embedding"""
    token_types: int = 0
    """rows of a token type table; type 0 is used"""
    pooler: bool = False
    """a dense layer with tanh on the first token"""
    window: int = 0
    """tokens a token looks back at, its own included; 0: all"""
    windowed: tuple[bool, ...] = ()
    """of each layer, whether the window holds for it; empty: for all"""
    sandwich: bool = False
    """a norm after each part too, before the addition (Gemma 2, 2024, section 2)"""
    score_cap: float = 0.0
    """scores of attention become cap * tanh(score / cap), before any mask; 0: they stay"""
    logit_cap: float = 0.0
    """the same for the logits"""
    embed_scale: float = 1.0
    """what the first layer reads is the embedding times this"""
    query_size: float = 0.0
    """queries are divided by its root; 0: by that of the head's size"""
    experts: Experts | None = None
    latent: Latent | None = None

    def __post_init__(self) -> None:
        sides = {
            "vocabulary": self.vocabulary, "hidden size": self.width, "layers": self.layers,
            "heads": self.heads, "key/value heads": self.kv_heads, "head size": self.head_dim,
            "feed-forward size": self.inner,
        }  # fmt: skip
        for name, side in sides.items():
            if side < 1:
                raise ModelImportError(f"{self.family}: {name} is {side}, must be at least 1")
        if self.layers > MAX_LAYERS:
            raise ModelImportError(
                f"{self.family}: {self.layers:,} layers are more than the {MAX_LAYERS:,} that are "
                "compiled at most"
            )
        if self.heads % self.kv_heads:
            raise ModelImportError(
                f"{self.family}: {self.heads} heads cannot share {self.kv_heads} key/value heads "
                "evenly; the first must be a multiple of the second"
            )
        if self.position == "rotary" and self.rotated % 2:
            raise ModelImportError(
                f"{self.family}: rotary positions turn pairs, and a head has {self.rotated} "
                "features to turn; the number must be even"
            )
        _check_habits(self)
        if self.experts:
            _check_experts(self.family, self.experts)

    @property
    def rotated(self) -> int:
        """features of a head that rotary positions turn"""
        return self.latent.rope if self.latent else self.rotary_dim or self.head_dim

    def of_layer(self, layer: int) -> Architecture:
        """Return the sides as they are for one layer: its own window, or none."""
        if not self.windowed:
            return self
        return replace(self, window=self.window if self.windowed[layer] else 0, windowed=())

    def has_experts(self, layer: int) -> bool:
        """Return whether a layer's feed-forward part is a mixture."""
        mixture = self.experts
        return mixture is not None and layer >= mixture.first and layer % mixture.every == 0


def _check_habits(sides: Architecture) -> None:
    if sides.sandwich and (sides.parallel or sides.post_norm):
        raise ModelImportError(
            f"{sides.family}: a norm before and one after each part are for parts that are added "
            "one after the other; here "
            + (
                "both are added together"
                if sides.parallel
                else "the norms come after the additions"
            )
        )
    if len(sides.windowed) not in (0, sides.layers):
        raise ModelImportError(
            f"{sides.family}: of {len(sides.windowed)} layers it is said whether they have a "
            f"window, and there are {sides.layers}"
        )


def _check_experts(family: str, experts: Experts) -> None:
    if experts.count > MAX_EXPERTS:
        raise ModelImportError(
            f"{family}: {experts.count:,} experts a layer are more than the {MAX_EXPERTS:,} that "
            "are covered"
        )
    if not 1 <= experts.active <= experts.count:
        raise ModelImportError(
            f"{family}: a token takes {experts.active} of {experts.count} experts; "
            "it must take at least 1 and at most all"
        )
    if experts.groups < 1 or experts.count % experts.groups:
        raise ModelImportError(
            f"{family}: {experts.count} experts cannot form {experts.groups} equal groups"
        )
    reachable = experts.active_groups * (experts.count // experts.groups)
    if not 1 <= experts.active_groups <= experts.groups or reachable < experts.active:
        raise ModelImportError(
            f"{family}: a token may use {experts.active_groups} of {experts.groups} groups, which "
            f"hold {reachable} experts, and takes {experts.active}"
        )
    if experts.every < 1 or experts.first < 0 or experts.inner < 1:
        raise ModelImportError(
            f"{family}: experts of {experts.inner} features from layer {experts.first} in every "
            f"{experts.every}th layer make no sense"
        )
