"""Zip entries and .npy bytes with bounds and fixed dates: the lower half of a recording.

Knows no program. Everything read is bounded before memory is taken.
"""

from __future__ import annotations

import hashlib
import io
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format

from engine.progress import Progress

MAX_ENTRIES = 100_000
MAX_MANIFEST = 64 << 20
"""bytes of the manifest, unpacked"""
MAX_TOTAL = 8 << 30
"""bytes of all sections, unpacked"""
_DATE = (1980, 1, 1, 0, 0, 0)
_KINDS = "biuf"
"""dtype kinds of an array: bool, signed, unsigned, float"""

ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, EOFError, KeyError, struct.error, NotImplementedError,
    RuntimeError, ValueError, TypeError, OSError, OverflowError,
)  # fmt: skip
"""what reading a damaged zip or manifest may raise"""


class RecordingError(Exception):
    """A file that is no recording, is damaged, or is too new; one sentence says which."""


def add(bundle: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Add an entry with a fixed date and fixed attributes."""
    info = zipfile.ZipInfo(name, _DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3
    info.external_attr = 0o644 << 16
    bundle.writestr(info, data, zipfile.ZIP_DEFLATED, 6)


def digest(entries: Mapping[str, bytes]) -> str:
    """Return sha256 over the names and contents of all entries."""
    total = hashlib.sha256()
    for name in sorted(entries):
        total.update(f"{name}\0{hashlib.sha256(entries[name]).hexdigest()}\n".encode())
    return total.hexdigest()


def table(entries: Mapping[str, bytes]) -> dict[str, list[Any]]:
    """Return name -> [bytes, sha256]."""
    return {name: [len(data), hashlib.sha256(data).hexdigest()] for name, data in entries.items()}


def open_bundle(path: Path) -> zipfile.ZipFile:
    """Open a zip for reading.

    Raises:
        RecordingError: no such file, a folder, or too many entries.
    """
    if path.is_dir():
        raise RecordingError(f"{path} is a folder, not a recording")
    if not path.is_file():
        what = f"{path} is a pipe or a device" if path.exists() else f"there is no file {path}"
        raise RecordingError(what)
    bundle = zipfile.ZipFile(path)
    names = bundle.namelist()
    if len(names) > MAX_ENTRIES or len(set(names)) != len(names):
        bundle.close()
        raise RecordingError(f"{path} has {len(names):,} entries or repeats one; not a recording")
    return bundle


def read_bounded(bundle: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Return an entry of at most `most` bytes, whatever its header claims.

    Raises:
        ValueError: it is larger, or packed in another way than ours.
    """
    info = bundle.getinfo(name)
    if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is encrypted or packed in an unknown way")
    if info.file_size > most:
        raise ValueError(f"{name} claims {info.file_size:,} bytes, at most {most:,} are allowed")
    with bundle.open(info) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise ValueError(f"{name} is longer than {most:,} bytes")
    return data


def read_entries(
    bundle: zipfile.ZipFile, listed: Mapping[str, Any], path: Path, progress: Progress
) -> dict[str, bytes]:
    """Return every listed entry, each checked for its size and sha256.

    Raises:
        RecordingError: entries are missing, extra, of another size, or changed.
    """
    present = set(bundle.namelist()) - {"manifest.json"}
    if present != set(listed):
        odd = min(present.symmetric_difference(listed))
        raise RecordingError(f"{path} and its manifest disagree about the section '{odd}'")
    sizes = {name: int(size) for name, (size, _) in listed.items()}
    if min(sizes.values(), default=0) < 0 or sum(sizes.values()) > MAX_TOTAL:
        raise RecordingError(f"{path} claims {sum(sizes.values()):,} bytes of content; refused")
    progress.stage("reading", len(listed), "sections")
    entries = {}
    for index, name in enumerate(sorted(listed)):
        data = read_bounded(bundle, name, sizes[name])
        if len(data) != sizes[name] or hashlib.sha256(data).hexdigest() != listed[name][1]:
            raise RecordingError(f"{path} is damaged: the section '{name}' is not what was written")
        entries[name] = data
        progress.advance(index)
    return entries


def npy_bytes(array: np.ndarray) -> bytes:
    """Return an array as .npy bytes, C order, little endian."""
    plain = np.ascontiguousarray(array)
    if plain.dtype.kind not in _KINDS:
        raise TypeError(f"an array of {plain.dtype} cannot be recorded")
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False).reshape(np.shape(array))
    stream = io.BytesIO()
    npy_format.write_array(stream, plain, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def npy_array(data: bytes, where: str) -> np.ndarray:
    """Return the array of .npy bytes, read-only; its header must match its length.

    Raises:
        ValueError: not such bytes, an object dtype, or a size that does not match.
    """
    stream = io.BytesIO(data)
    if npy_format.read_magic(stream) != (1, 0):
        raise ValueError(f"{where}: unknown .npy version")
    shape, fortran, dtype = npy_format.read_array_header_1_0(stream, max_header_size=10_000)
    if dtype.kind not in _KINDS or dtype.hasobject or fortran or dtype.names:
        raise ValueError(f"{where}: arrays of {dtype} are not ours")
    start = stream.tell()
    if any(side < 0 for side in shape) or math.prod(shape) * dtype.itemsize != len(data) - start:
        raise ValueError(f"{where}: shape {shape} does not match {len(data) - start:,} bytes")
    array: np.ndarray = np.frombuffer(data, dtype, offset=start).reshape(shape)
    return array
