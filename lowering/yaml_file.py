"""Small YAML files from a user, read with bounds: plain data only, no aliases, no surprises.

Knows no machine and no knobs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

MAX_BYTES = 1 << 20
MAX_EVENTS = 50_000


class YamlFileError(ValueError):
    """A YAML file that cannot be read; one sentence says where and why."""


def read_mapping(path: Path, *, aliases: bool = False) -> dict[str, Any]:
    """Return the mapping at the top of a YAML file.

    With `aliases` a value may be shared by name (*name); whoever walks it must bound the walk, for
    shared values can nest to any size.

    Raises:
        YamlFileError: no such file, too large, not YAML, aliases, or not a mapping of names.
    """
    import yaml

    text = _read_text(path)
    try:
        for count, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
            if isinstance(event, yaml.AliasEvent) and not aliases:
                raise YamlFileError(f"{path}: aliases (*name) are not allowed; write values out")
            if count > MAX_EVENTS:
                raise YamlFileError(
                    f"{path}: more than {MAX_EVENTS:,} entries; that is no settings file"
                )
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" line {mark.line + 1}" if mark is not None else ""
        reason = getattr(error, "problem", None) or "it cannot be parsed"
        raise YamlFileError(f"{path}{place}: not YAML: {reason}") from error
    except (RecursionError, ValueError) as error:
        if isinstance(error, YamlFileError):
            raise
        raise YamlFileError(f"{path}: a value makes no sense: {error}") from error
    if not isinstance(document, dict) or not all(isinstance(key, str) for key in document):
        raise YamlFileError(f"{path}: must hold 'name: value' lines at the top")
    return document


def _read_text(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():
            raise YamlFileError(f"{path} is no file")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise YamlFileError(f"cannot read {path}: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise YamlFileError(f"{path} is larger than {MAX_BYTES:,} bytes; that is no settings file")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise YamlFileError(f"{path} is not text in UTF-8 (byte {error.start})") from error
