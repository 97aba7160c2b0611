"""Config files: knobs as YAML, read and written; the older forms that people have are understood.

samples: 8
dtype: fp16
machine: wse3                # a preset, mesh-ROWSxCOLS, a machine file, or its figures
kernels:
  fc1: {pe_cap: 64, pin: 40x60 at 10,20}

Reading changes nothing unless the whole file makes sense. Knows no screen.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.configs.older import SECTIONS, older_settings
from app.configs.text import plain_text, unquoted
from engine.machine import MachineError, parse_machine
from engine.whole_file import whole_file
from lowering.config import (
    KNOBS,
    CompileConfig,
    KnobError,
    apply_knob,
    find_knob,
    knob_value,
    with_machine,
)
from lowering.machine_file import find_machine, machine_of, machine_plain
from lowering.yaml_file import YamlFileError, read_mapping

FOREIGN = ("trainer", "runconfig", "train_input", "eval_input", "model", "optimizer")
"""sections of a Model Zoo file, which describes a model and its training"""


class ConfigFileError(KnobError):
    """A config file that makes no sense; one sentence says where and why."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a file asks for."""

    config: CompileConfig
    notes: tuple[str, ...]
    """fields that are understood but not used, a sentence each"""


def read_config(path: Path, config: CompileConfig | None = None) -> ConfigFile:
    """Return a config with the knobs that a file sets; the others stay as in `config`.

    Raises:
        ConfigFileError: a wrong name, type or range; the message says where.
    """
    try:
        given = unquoted(read_mapping(path))
    except YamlFileError as error:
        raise ConfigFileError(str(error)) from error
    made, notes = config or CompileConfig(), []
    for name, value in given.items():
        if name in SECTIONS:
            settings, unused = _older(path, name, value)
            notes += unused
            for field, knob, text in settings:
                made = _set(path, made, knob, text, None, f"{name}.{field}")
        elif name == "machine":
            made = _with_machine(path, made, value)
        elif name == "kernels":
            made = _with_kernels(path, made, value)
        else:
            knob, _, kernel = name.partition("@")
            _known(path, name, knob)
            made = _set(path, made, knob, value, kernel or None, name)
    return ConfigFile(made, tuple(notes))


def _older(path: Path, name: str, value: Any) -> tuple[list[tuple[str, str, str]], list[str]]:
    try:
        return older_settings(path, name, value)
    except KnobError as error:
        raise ConfigFileError(str(error)) from error


def _known(path: Path, name: str, knob: str) -> None:
    if knob in KNOBS:
        return
    if knob in FOREIGN:
        raise ConfigFileError(
            f"{path}: '{name}' is a section of a Model Zoo file, which describes a model and its "
            "training; a config file holds knobs ('waferscope knobs' lists them)"
        )
    near = difflib.get_close_matches(knob, [*KNOBS, *SECTIONS, "kernels"], n=1, cutoff=0.4)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise ConfigFileError(f"{path}: there is no knob '{name}'{hint} Knobs: {', '.join(KNOBS)}")


def _set(
    path: Path, config: CompileConfig, knob: str, value: Any, kernel: str | None, name: str
) -> CompileConfig:
    if isinstance(value, (dict, list)) or value is None:
        raise ConfigFileError(f"{path}: '{name}' is {plain_text(value)}, must be one value")
    try:
        return apply_knob(config, knob, plain_text(value), kernel=kernel)
    except KnobError as error:
        raise ConfigFileError(f"{path}: {name}: {error}") from error


def _with_machine(path: Path, config: CompileConfig, value: Any) -> CompileConfig:
    try:
        if isinstance(value, dict):
            return with_machine(config, machine_of(value, path))
        if not isinstance(value, str):
            raise MachineError(f"'machine' is {plain_text(value)}, must be a name or figures")
        beside = path.parent / value
        return with_machine(config, find_machine(str(beside) if beside.is_file() else value))
    except MachineError as error:
        text = str(error)
        raise ConfigFileError(text if str(path) in text else f"{path}: {text}") from error


def _with_kernels(path: Path, config: CompileConfig, value: Any) -> CompileConfig:
    if not isinstance(value, dict):
        raise ConfigFileError(f"{path}: 'kernels' must hold 'KERNEL: {{pe_cap: 64}}' lines")
    for kernel, knobs in value.items():
        if not isinstance(knobs, dict):
            raise ConfigFileError(f"{path}: kernels.{kernel} must hold knobs, such as pe_cap: 64")
        for knob, number in knobs.items():
            _known(path, str(knob), str(knob))
            if not find_knob(str(knob)).per_kernel:
                raise ConfigFileError(
                    f"{path}: kernels.{kernel}.{knob}: '{knob}' acts on the whole model; "
                    "write it at the top"
                )
            place = f"kernels.{kernel}.{knob}"
            config = _set(path, config, str(knob), number, str(kernel), place)
    return config


def config_plain(config: CompileConfig) -> dict[str, Any]:
    """Return the machine and every knob that differs from its default, as `read_config` reads it.

    A machine without a name of its own is written with its figures.
    """
    machine, default = config.base or config.machine, CompileConfig()
    try:
        named = parse_machine(machine.name) == machine
    except MachineError:
        named = False
    plain: dict[str, Any] = {"machine": machine.name if named else machine_plain(machine)}
    for name, knob in KNOBS.items():
        value = knob_value(config, name)
        if name != "machine" and not knob.per_kernel and value != knob_value(default, name):
            plain[name] = int(value) if value.isdecimal() else value
    kernels: dict[str, dict[str, Any]] = {}
    for kernel, cap in config.pe_caps:
        kernels.setdefault(kernel, {})["pe_cap"] = cap
    for kernel, _ in config.pins:
        kernels.setdefault(kernel, {})["pin"] = knob_value(config, "pin", kernel)
    if kernels:
        plain["kernels"] = dict(sorted(kernels.items()))
    return plain


def config_text(config: CompileConfig) -> str:
    """Return a config as the text of a file."""
    import yaml

    return yaml.safe_dump(config_plain(config), sort_keys=False, allow_unicode=True, width=100)


def write_config(config: CompileConfig, path: Path) -> Path:
    """Write a config to a file, whole or not at all, and return the path.

    Raises:
        ConfigFileError: the ending is not .yaml, or the file cannot be written.
    """
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise ConfigFileError(f"cannot write '{path.name}': a config file's name ends in .yaml")
    write_text(path, config_text(config))
    return path


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all.

    Raises:
        ConfigFileError: it cannot be written.
    """
    try:
        with whole_file(path) as stream:
            stream.write(text.encode("utf-8"))
    except OSError as error:
        raise ConfigFileError(f"cannot write {path}: {error.strerror or error}") from error
