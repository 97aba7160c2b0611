"""The .wscope file: one zip that holds a program, its timeline, sums of its metrics, and guests.

Never pickle. Byte-equal for equal content; written whole or not at all; every size is bounded
before memory is taken. Sections of other floors are carried as bytes with a version, unread.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from engine import archive
from engine.archive import RecordingError
from engine.codec import CodecError, decode, encode
from engine.program import Program
from engine.progress import NO_PROGRESS, Progress
from engine.whole_file import whole_file

FORMAT_MAJOR = 1
"""changes when an older reader would misread the file"""
FORMAT_MINOR = 1
"""changes when an older reader only misses something"""
MANIFEST = "manifest.json"
_NONZEROS = "nonzeros"
"""folder that a run without skipped zeros does not have"""

__all__ = ["Foreign", "Recording", "RecordingError", "read_recording", "write_recording"]


@dataclass(frozen=True, slots=True)
class Foreign:
    """A section that belongs to another floor."""

    name: str
    """file name inside the zip, letters, digits, dots, dashes"""
    version: int
    """version of its content, >= 1"""
    data: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What a .wscope file holds."""

    program: Program
    timeline: Mapping[str, np.ndarray]
    """arrays of the timeline by name"""
    sums: Mapping[str, np.ndarray]
    """metric id -> float64 (steps,), sum over PEs of each step"""
    values: Mapping[str, np.ndarray] = field(default_factory=dict)
    """tensor id -> array, empty for a run without values"""
    nonzeros: Mapping[str, np.ndarray] = field(default_factory=dict)
    """kernel that skips zeros -> non-zero weights of each tile; the weights are not in the file"""
    foreign: tuple[Foreign, ...] = ()
    tool: str = ""
    """version of the tool that wrote it"""
    source_hash: str = ""
    """sha256 of the model file, empty when unknown"""
    digest: str = ""
    """sha256 over all sections; filled when read"""

    def section(self, name: str) -> Foreign | None:
        """Return the foreign section called `name`, None if there is none."""
        return next((item for item in self.foreign if item.name == name), None)


def write_recording(path: Path, recording: Recording, progress: Progress = NO_PROGRESS) -> str:
    """Write a recording and return its digest; a file that exists is replaced whole.

    Raises:
        RecordingError: the file cannot be written. Cancelled: nothing was written.
    """
    entries = _entries(recording)
    digest = archive.digest(entries)
    manifest = {
        "format": {"major": FORMAT_MAJOR, "minor": FORMAT_MINOR},
        "tool": recording.tool,
        "source_hash": recording.source_hash,
        "digest": digest,
        "foreign": {item.name: item.version for item in recording.foreign},
        "entries": archive.table(entries),
    }
    progress.stage("writing", len(entries), "sections")
    try:
        _write_whole(path, {MANIFEST: json_bytes(manifest), **entries}, progress)
    except OSError as error:
        reason = error.strerror or str(error)
        raise RecordingError(f"cannot write {path}: {reason}; choose another place") from error
    return digest


def _entries(recording: Recording) -> dict[str, bytes]:
    entries = {"program.json": json_bytes(encode(recording.program))}
    groups: tuple[tuple[str, Mapping[str, np.ndarray]], ...] = (
        ("timeline", recording.timeline), ("sums", recording.sums), ("values", recording.values),
    )  # fmt: skip
    if recording.nonzeros:
        groups = (*groups, (_NONZEROS, recording.nonzeros))
    for folder, arrays in groups:
        names = sorted(arrays)
        entries[f"{folder}.json"] = json_bytes(names)
        for index, name in enumerate(names):
            entries[f"{folder}/{index:05d}.npy"] = archive.npy_bytes(arrays[name])
    for item in recording.foreign:
        entries[f"foreign/{item.name}"] = item.data
    return dict(sorted(entries.items()))


def json_bytes(value: Any) -> bytes:
    """Return JSON with sorted keys and no blanks, always the same bytes for the same value."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8")


def _write_whole(path: Path, entries: Mapping[str, bytes], progress: Progress) -> None:
    with whole_file(path) as stream, zipfile.ZipFile(stream, "w") as bundle:
        for index, (name, data) in enumerate(entries.items()):
            archive.add(bundle, name, data)
            progress.advance(index)


def read_recording(path: Path, progress: Progress = NO_PROGRESS) -> Recording:
    """Read a recording, checking every section against its digest.

    Raises:
        RecordingError: not a recording, a newer format, damaged, or lying about its content.
    """
    try:
        with archive.open_bundle(path) as bundle:
            manifest = _read_manifest(bundle, path)
            entries = archive.read_entries(bundle, manifest["entries"], path, progress)
    except archive.ZIP_ERRORS as error:
        raise RecordingError(f"{path} is damaged or not a recording: {error}") from error
    try:
        return _assemble(manifest, entries)
    except (CodecError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise RecordingError(f"{path} holds a section that makes no sense: {error}") from error


def _read_manifest(bundle: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    if bundle.namelist()[:1] != [MANIFEST]:
        raise RecordingError(f"{path} is a zip but not a recording: {MANIFEST} is not first")
    manifest: dict[str, Any] = json.loads(
        archive.read_bounded(bundle, MANIFEST, archive.MAX_MANIFEST)
    )
    version = manifest["format"] if isinstance(manifest, dict) else None
    if not isinstance(version, dict) or not isinstance(version.get("major"), int):
        raise RecordingError(f"{path} names no format version, so it is not a recording")
    if version["major"] > FORMAT_MAJOR:
        raise RecordingError(
            f"{path} has format {version['major']}.{version.get('minor', 0)} and this version "
            f"reads up to {FORMAT_MAJOR}.{FORMAT_MINOR}; open it with a newer Waferscope"
        )
    if not isinstance(manifest.get("entries"), dict):
        raise RecordingError(f"{path} lists no sections")
    return manifest


def _assemble(manifest: dict[str, Any], entries: Mapping[str, bytes]) -> Recording:
    computed = archive.digest(entries)
    if computed != manifest["digest"]:
        raise ValueError(f"digest is {computed[:12]}..., the manifest says otherwise")
    program: Program = decode(json.loads(entries["program.json"]), Program)
    groups = {folder: _arrays(entries, folder) for folder in ("timeline", "sums", "values")}
    nonzeros = _arrays(entries, _NONZEROS) if f"{_NONZEROS}.json" in entries else {}
    foreign = tuple(
        Foreign(name, int(version), entries[f"foreign/{name}"])
        for name, version in sorted(manifest["foreign"].items())
    )
    return Recording(
        program, groups["timeline"], groups["sums"], groups["values"], nonzeros, foreign,
        str(manifest["tool"]), str(manifest["source_hash"]), computed,
    )  # fmt: skip


def _arrays(entries: Mapping[str, bytes], folder: str) -> dict[str, np.ndarray]:
    names = json.loads(entries[f"{folder}.json"])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{folder}.json is not a list of names")
    return {
        name: archive.npy_array(entries[f"{folder}/{index:05d}.npy"], f"{folder} {name}")
        for index, name in enumerate(names)
    }
