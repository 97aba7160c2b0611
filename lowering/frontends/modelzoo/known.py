"""Which fields the Model Zoo's own config files use, and where legacy ones went. Two tables."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

from lowering.errors import ModelImportError

MAX_LEAVES = 20_000
"""fields of one config with shared values written out; more is no config"""


@cache
def new_paths() -> frozenset[str]:
    """Return the paths of the `trainer` form; `[]` stands for any item of a list."""
    return frozenset(row["path"] for row in _rows("fields.csv"))


@cache
def legacy_paths() -> dict[str, str]:
    """Return the legacy path -> the last word of the new one; `*` at an end stands for anything."""
    return {row["legacy_path"]: row["new_leaf"] for row in _rows("legacy.csv")}


def _rows(name: str) -> list[dict[str, str]]:
    text = resources.files(__package__).joinpath(name).read_text("utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def leaves(document: Any, where: str) -> list[str]:
    """Return the paths of all values that are no mapping and no list of mappings.

    Raises ModelImportError for more than a config can have, or values that hold themselves.
    """
    found: list[str] = []
    try:
        for path in _walk(document, ""):
            found.append(path)
            if len(found) > MAX_LEAVES:
                raise ModelImportError(
                    f"{where}: more than {MAX_LEAVES:,} fields with shared values written out; "
                    "that is no model's config"
                )
    except RecursionError:
        raise ModelImportError(
            f"{where}: a value shared by name (*name) holds itself; that is no model's config"
        ) from None
    return list(dict.fromkeys(found))


def _walk(node: Any, path: str) -> Iterator[str]:
    if isinstance(node, dict) and node:
        for name, value in node.items():
            yield from _walk(value, f"{path}.{name}" if path else str(name))
    elif isinstance(node, list) and any(isinstance(item, dict | list) for item in node):
        for item in node:
            yield from _walk(item, f"{path}[]")
    else:
        yield path


def is_known(path: str, legacy: bool) -> bool:
    """Return whether the Model Zoo's own files have the field; case does not count."""
    path = path.lower().removesuffix("[]")
    if legacy:
        return _known_legacy(path)
    known = _folded()
    return path in known or any(
        path.startswith(f"{stem}.") for stem in ("trainer.init.callbacks[]",)
    )


@cache
def _folded() -> frozenset[str]:
    return frozenset(path.lower().removesuffix("[]") for path in new_paths())


def _known_legacy(path: str) -> bool:
    for known in legacy_paths():
        if path == known.lower() or (known.endswith(".*") and path.startswith(known[:-1].lower())):
            return True
    parts = {
        "model.": "trainer.init.model.", "train_input.": "trainer.fit.train_dataloader.",
        "eval_input.": "trainer.fit.val_dataloader.", "sparsity.": "trainer.init.sparsity.",
    }  # fmt: skip
    return any(
        path.startswith(old) and new + path.removeprefix(old) in _folded()
        for old, new in parts.items()
    )


def nearest(path: str, legacy: bool) -> str | None:
    """Return the known path most like an unknown one, None if none is near."""
    known = list(legacy_paths()) if legacy else list(new_paths())
    if legacy:
        known += [each.replace("trainer.init.model.", "model.") for each in new_paths()]
    near = difflib.get_close_matches(path, known, n=1, cutoff=0.8)
    return near[0] if near else None
