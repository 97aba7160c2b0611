"""Options that several verbs share: machine, knobs, dimensions. From text to a config."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from app.cli.faults import UsageError
from app.configs.file import read_config, write_config
from lowering.config import CompileConfig, apply_knob, with_machine
from lowering.frontends.transformer.options import ModelOptions
from lowering.machine_file import find_machine

_SHAPE = ("task", "batch", "sequence", "kv")
"""what a model's file may leave open; no knobs, for another value is another model"""


def config_of(arguments: argparse.Namespace) -> CompileConfig:
    """Return the config: defaults, then the file, then --machine, --samples and --set.

    Raises:
        KnobError, MachineError, YamlFileError, UsageError: what is wrong, in a sentence.
    """
    config = CompileConfig()
    if arguments.config:
        found = read_config(Path(arguments.config))
        config = found.config
        for note in found.notes:
            print(f"note: {note}", file=sys.stderr)
    if arguments.machine:
        config = with_machine(config, find_machine(arguments.machine))
    if arguments.samples is not None:
        config = apply_knob(config, "samples", arguments.samples)
    if arguments.dtype is not None:
        config = apply_knob(config, "dtype", arguments.dtype)
    for name, value in _settings(arguments):
        if name not in _SHAPE:
            config = set_knob(config, name, value)
    if arguments.write_config:
        written = write_config(config, Path(arguments.write_config))
        print(f"wrote {written}", file=sys.stderr)
    return config


def _settings(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the names and values of --set.

    Raises:
        UsageError: one that is no NAME=VALUE.
    """
    found = []
    for text in arguments.settings:
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(f"--set {text}: must be KNOB=VALUE, such as samples=8")
        found.append((name.strip(), value.strip()))
    return found


def set_knob(config: CompileConfig, name: str, value: str) -> CompileConfig:
    """Return the config with a knob set; KNOB@KERNEL names a kernel, a machine may be a file."""
    knob, _, kernel = name.partition("@")
    if knob == "machine":
        return with_machine(config, find_machine(value))
    return apply_knob(config, knob, value, kernel=kernel or None)


def shape_of(arguments: argparse.Namespace) -> ModelOptions:
    """Return the task and lengths of a model whose file leaves them open.

    `--set batch=2` is the same as `--batch 2`.

    Raises:
        UsageError: a length that is no number above 0, or said twice with different values.
    """
    said: dict[str, str | None] = {name: getattr(arguments, name) for name in _SHAPE}
    for name, value in _settings(arguments):
        if name in _SHAPE and said[name] not in (None, value):
            raise UsageError(f"{name} is said to be {said[name]} and {value}; keep one")
        if name in _SHAPE:
            said[name] = value
    numbers: dict[str, int | None] = {}
    for name in ("batch", "sequence", "kv"):
        text = said[name]
        if text is not None and (not text.isdecimal() or int(text) < 1):
            raise UsageError(f"--{name} {text}: must be a number above 0")
        numbers[name] = None if text is None else int(text)
    return ModelOptions(said["task"], numbers["batch"], numbers["sequence"], numbers["kv"])


def tell_user(sentence: str) -> None:
    """Print a sentence about the model's file beside the report."""
    print(f"note: {sentence}", file=sys.stderr)


def dims_of(arguments: argparse.Namespace) -> dict[str, int]:
    """Return the sizes of symbolic dimensions.

    Raises:
        UsageError: not NAME=NUMBER with a number above 0.
    """
    dims = {}
    for text in arguments.dims:
        name, _, number = text.partition("=")
        if not name or not number.isdecimal() or int(number) < 1:
            raise UsageError(f"--dim {text}: must be NAME=NUMBER with a number above 0")
        dims[name.strip()] = int(number)
    return dims
