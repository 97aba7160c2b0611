"""The order in which kernels of a training step take turns. Knows drafts, no machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lowering.passes.fuse import KernelDraft


def early_updates(drafts: Sequence[KernelDraft]) -> tuple[KernelDraft, ...]:
    """Return the drafts with each optimizer kernel right after the last one that it reads.

    A gradient is then needed no longer than it takes to update its weight, and its SRAM is free.
    """
    updates = [draft for draft in drafts if draft.phase == "optimizer"]
    made = {name for draft in drafts for name in draft.writes}
    missing = {draft.name: made.intersection(draft.reads) for draft in updates}
    readers: dict[str, list[KernelDraft]] = {}
    for draft in updates:
        for name in missing[draft.name]:
            readers.setdefault(name, []).append(draft)

    def follow(ready: Iterable[KernelDraft]) -> Iterator[KernelDraft]:
        for draft in ready:
            yield draft
            freed = []
            for name in draft.writes:
                for reader in readers.get(name, ()):
                    missing[reader.name].discard(name)
                    if not missing[reader.name]:
                        freed.append(reader)
            yield from follow(dict.fromkeys(freed))

    first = [draft for draft in updates if not missing[draft.name]]
    others = [draft for draft in drafts if draft.phase != "optimizer"]
    return tuple(follow([*first, *others]))
