"""Which layer of the model each kernel belongs to. One rule for every face.

A layer is the outermost name scope that is numbered and stands beside others of its kind, such as
`h1` beside `h0`, or `layers/3`. Where no scope repeats, it is a block of the kernels that repeat
most, named by its first kernel.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from app.runs.run import Run
from engine.program import Kernel
from lowering.stages.blocks import find_blocks

_NUMBER = re.compile(r"\d+")
_KNOWN: WeakKeyDictionary[Run, tuple[str | None, ...]] = WeakKeyDictionary()


def layers_of_kernels(run: Run) -> tuple[str | None, ...]:
    """Return each kernel's layer: empty outside of all layers, None where no node stands behind."""
    if run not in _KNOWN:
        kernels = run.program.kernels
        found = layers_of_names([kernel.origin[0] if kernel.origin else "" for kernel in kernels])
        if not any(found):
            found = _repeated(run)
        _KNOWN[run] = tuple(
            layer if kernel.origin else None for kernel, layer in zip(kernels, found, strict=True)
        )
    return _KNOWN[run]


def layers_of_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the layer of each node by its name, empty outside of all layers."""
    paths = [tuple(name.strip("/").split("/")) for name in names]
    scopes = {path[:depth] for path in paths for depth in range(1, len(path))}
    kinds: dict[tuple[str, ...], int] = {}
    for scope in scopes:
        kinds[_kind(scope)] = kinds.get(_kind(scope), 0) + 1
    layers = {s for s in scopes if _NUMBER.search(s[-1]) and kinds[_kind(s)] > 1}

    def layer(path: tuple[str, ...]) -> str:
        heads = (path[:depth] for depth in range(1, len(path) + 1))
        return "/".join(next((head for head in heads if head in layers), ()))

    return tuple(layer(path) for path in paths)


def _kind(scope: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is equal for scopes that differ in their own number only."""
    return (*scope[:-1], _NUMBER.sub("#", scope[-1]))


def _repeated(run: Run) -> tuple[str, ...]:
    """Return the layers of a model whose names do not tell: its most repeated block of kernels."""
    shapes = {tensor.id: tensor.shape for tensor in run.program.tensors}
    kernels = run.program.kernels

    def key(kernel: Kernel) -> tuple[object, ...]:
        # the last layer often lacks a second output for the next one: the first one is enough
        return (kernel.family, kernel.tags, *(shapes[name] for name in kernel.writes[:1]))

    found = ["" for _ in kernels]
    blocks = find_blocks([key(kernel) for kernel in kernels])
    if blocks:
        first, length, count = max(blocks, key=lambda block: block[1] * block[2])
        for place in range(first, first + length * count):
            found[place] = kernels[place - (place - first) % length].id
    return tuple(found)
