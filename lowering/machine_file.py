"""A machine from a YAML file: a preset with some figures changed. Knows no program.

base: wse2              # preset or mesh-ROWSxCOLS to start from
name: my-mesh
rows: 64
cols: 64
simd: {fp32: {elements_per_cycle: 0.5, setup_cycles: 20}}
defects: [[3, 4]]
"""

from __future__ import annotations

import difflib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from engine.machine import MachineError, MachineSpec, SimdRate, parse_machine
from lowering.yaml_file import YamlFileError, read_mapping

_ODD = ("name", "simd", "defects", "sources")
MAX_DEFECTS = 100_000


def find_machine(text: str) -> MachineSpec:
    """Return a machine by a preset's name, `mesh-ROWSxCOLS`, or the path of a YAML file.

    Raises:
        MachineError: no such machine, or a file that makes no sense.
    """
    if text.lower().endswith((".yaml", ".yml")):
        return load_machine(Path(text))
    return parse_machine(text)


def load_machine(path: Path) -> MachineSpec:
    """Return the machine that a YAML file describes.

    Raises:
        MachineError: the file cannot be read, or a figure makes no sense.
    """
    try:
        given = read_mapping(path)
    except YamlFileError as error:
        raise MachineError(str(error)) from error
    return machine_of(given, path)


def machine_of(given: dict[str, Any], path: Path) -> MachineSpec:
    """Return the machine that a mapping found in `path` describes.

    Raises:
        MachineError: a figure makes no sense.
    """
    given = dict(given)
    base = parse_machine(_text(path, "base", given.pop("base", "wse2")))
    changes: dict[str, Any] = {"name": path.stem}
    for name, value in given.items():
        changes[name] = _figure(path, base, name, value)
    for side in ("rows", "cols"):
        if side in changes and f"fabric_{side}" not in changes:
            changes[f"fabric_{side}"] = changes[side]
    notes = tuple((name, f"{path.name}") for name in sorted(given) if name not in ("name",))
    return replace(base, **changes, sources=(*notes, ("all others", f"the {base.name} preset")))


def machine_plain(machine: MachineSpec) -> dict[str, Any]:
    """Return the mapping from which `machine_of` makes a machine with the same figures."""
    plain = {f.name: getattr(machine, f.name) for f in fields(MachineSpec) if f.name not in _ODD}
    plain["simd"] = {
        rate.dtype: {
            "elements_per_cycle": rate.elements_per_cycle, "setup_cycles": rate.setup_cycles
        }
        for rate in machine.simd
    }  # fmt: skip
    return {"name": machine.name, **plain, "defects": [list(place) for place in machine.defects]}


def _figure(path: Path, base: MachineSpec, name: str, value: Any) -> Any:
    numbers = [f.name for f in fields(MachineSpec) if f.name not in _ODD]
    if name == "name":
        return _text(path, name, value)
    if name == "simd":
        return _simd(path, base, value)
    if name == "defects":
        return _defects(path, value)
    if name not in numbers:
        near = difflib.get_close_matches(name, [*numbers, *_ODD[:3], "base"], n=1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise MachineError(f"{path}: a machine has no '{name}'{hint}")
    kind = type(getattr(base, name))
    if kind is bool:
        if not isinstance(value, bool):
            raise MachineError(f"{path}: {name} is {value!r}, must be true or false")
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise MachineError(f"{path}: {name} is {value!r}, must be a number")
    if kind is int and value != int(value):
        raise MachineError(f"{path}: {name} is {value}, must be a whole number")
    return kind(value)


def _text(path: Path, name: str, value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 80:
        raise MachineError(f"{path}: {name} is {value!r}, must be a name of at most 80 characters")
    return value


def _simd(path: Path, base: MachineSpec, value: Any) -> tuple[SimdRate, ...]:
    if not isinstance(value, dict) or not value:
        raise MachineError(
            f"{path}: simd must name dtypes, such as fp32: {{elements_per_cycle: 1}}"
        )
    rates = {rate.dtype: rate for rate in base.simd}
    for dtype, figures in value.items():
        old = rates.get(dtype, SimdRate(str(dtype), 1.0, 0.0))
        if not isinstance(figures, dict) or not set(figures) <= {
            "elements_per_cycle", "setup_cycles"
        }:  # fmt: skip
            raise MachineError(
                f"{path}: simd {dtype} takes elements_per_cycle and setup_cycles, not {figures!r}"
            )
        for name, number in figures.items():
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                raise MachineError(f"{path}: simd {dtype} {name} is {number!r}, must be a number")
        rates[str(dtype)] = SimdRate(
            str(dtype),
            float(figures.get("elements_per_cycle", old.elements_per_cycle)),
            float(figures.get("setup_cycles", old.setup_cycles)),
        )
    return tuple(rates.values())


def _defects(path: Path, value: Any) -> tuple[tuple[int, int], ...]:
    if not isinstance(value, list) or len(value) > MAX_DEFECTS:
        raise MachineError(f"{path}: defects must be a list of at most {MAX_DEFECTS:,} [row, col]")
    places = []
    for item in value:
        if not (isinstance(item, list) and len(item) == 2 and all(type(n) is int for n in item)):
            raise MachineError(f"{path}: defect {item!r} must be [row, col]")
        places.append((item[0], item[1]))
    return tuple(sorted(set(places)))
