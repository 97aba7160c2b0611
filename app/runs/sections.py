"""The guests of a recording: graph, report, config and view, to bytes and back.

Weights are not carried: an opened recording can be stepped and compiled again with other knobs,
its values are those that were recorded.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from app.session.cursor import Cursor
from engine.codec import CodecError, decode, encode
from engine.recording import Foreign, Recording, json_bytes
from lowering.config import CompileConfig
from lowering.graph import Graph, Node, Value
from lowering.report import CompileReport

VERSION = 1
"""of each section; a section with another version is left aside"""
KEPT_CONSTANT_BYTES = 1 << 20
"""larger constants become unknown"""
KEPT_TOTAL_BYTES = 64 << 20


def pack(graph: Graph, report: CompileReport, config: CompileConfig, cursor: Cursor | None
         ) -> tuple[Foreign, ...]:  # fmt: skip
    """Return the sections of a run."""
    parts = {"graph": _graph_plain(graph), "report": encode(report), "config": encode(config)}
    if cursor is not None:
        parts["view"] = encode(cursor)
    return tuple(Foreign(name, VERSION, json_bytes(part)) for name, part in parts.items())


def unpack_graph(recording: Recording) -> Graph:
    """Return the graph of a recording.

    Raises:
        CodecError: it is missing, or makes no sense.
    """
    plain = _plain(recording, "graph")
    values = decode(plain["values"], tuple[Value, ...])
    names = tuple[str, ...]
    return Graph(
        name=decode(plain["name"], str), inputs=decode(plain["inputs"], names),
        outputs=decode(plain["outputs"], names),
        nodes=decode(plain["nodes"], tuple[Node, ...]),
        values={value.name: value for value in values},
        constants={name: _array(item) for name, item in plain["constants"].items()},
        unknown=frozenset(decode(plain["unknown"], names)),
        source_hash=decode(plain["source_hash"], str),
        parameters=decode(plain["parameters"], int),
    )  # fmt: skip


def unpack_report(recording: Recording) -> CompileReport:
    """Return the compile report of a recording. Raises CodecError."""
    report: CompileReport = decode(_plain(recording, "report"), CompileReport)
    return report


def unpack_config(recording: Recording) -> CompileConfig:
    """Return the knobs of a recording. Raises CodecError."""
    config: CompileConfig = decode(_plain(recording, "config"), CompileConfig)
    return config


def unpack_cursor(recording: Recording) -> Cursor | None:
    """Return where the user was, None when that was not recorded. Raises CodecError."""
    if recording.section("view") is None:
        return None
    cursor: Cursor = decode(_plain(recording, "view"), Cursor)
    return cursor


def _plain(recording: Recording, name: str) -> Any:
    section = recording.section(name)
    if section is None:
        raise CodecError(f"the section '{name}' is missing")
    if section.version != VERSION:
        raise CodecError(f"the section '{name}' has version {section.version}, we read {VERSION}")
    return json.loads(section.data)


def _graph_plain(graph: Graph) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    total = 0
    for name in sorted(graph.constants):
        array = graph.constants[name]
        if array.nbytes <= KEPT_CONSTANT_BYTES and total + array.nbytes <= KEPT_TOTAL_BYTES:
            total += array.nbytes
            kept[name] = {
                "dtype": array.dtype.newbyteorder("<").str,
                "shape": list(array.shape),
                "data": base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii"),
            }
    unknown = graph.unknown | (graph.constants.keys() - kept.keys())
    return {
        "name": graph.name,
        "inputs": list(graph.inputs),
        "outputs": list(graph.outputs),
        "nodes": [encode(node) for node in graph.nodes],
        "values": [encode(graph.values[name]) for name in sorted(graph.values)],
        "constants": kept,
        "unknown": sorted(unknown),
        "source_hash": graph.source_hash,
        "parameters": graph.parameters,
    }


def _array(item: Any) -> np.ndarray:
    dtype = np.dtype(item["dtype"])
    if dtype.kind not in "biuf":
        raise CodecError(f"a constant of dtype {dtype} is not ours")
    data = base64.b64decode(item["data"], validate=True)
    array: np.ndarray = np.frombuffer(data, dtype).reshape(item["shape"])
    return array
