"""The .wscope file: equal bytes, whole files, and one sentence for every kind of damage."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

from engine import archive
from engine.progress import Cancelled, Progress
from engine.recording import Foreign, Recording, RecordingError, read_recording, write_recording
from tests.engine.program_factory import small_program


def _recording() -> Recording:
    return Recording(
        program=small_program(),
        timeline={"times": np.arange(5, dtype=np.int64), "start": np.zeros((2, 2), np.int32)},
        sums={"utilization": np.array([0.5, 2.0]), "cause:fill": np.zeros(2)},
        values={"y": np.ones((2, 3), np.float32)},
        foreign=(Foreign("graph", 3, b"\x00\xffgraph"),),
        tool="0.1.0",
        source_hash="ab" * 32,
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.wscope"
    write_recording(path, _recording())
    return path


def test_content_survives(file: Path) -> None:
    found, made = read_recording(file), _recording()
    assert found.program == made.program
    for group in ("timeline", "sums", "values"):
        ours, theirs = getattr(made, group), getattr(found, group)
        assert ours.keys() == theirs.keys()
        for name, array in ours.items():
            assert theirs[name].dtype == array.dtype
            np.testing.assert_array_equal(theirs[name], array)
    assert found.section("graph") == Foreign("graph", 3, b"\x00\xffgraph")
    assert found.section("report") is None
    assert (found.tool, found.source_hash) == ("0.1.0", "ab" * 32)


def test_equal_runs_give_equal_bytes(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "again.wscope"
    write_recording(other, _recording())
    assert other.read_bytes() == file.read_bytes()


def test_manifest_is_first_and_the_other_names_are_sorted(file: Path) -> None:
    names = zipfile.ZipFile(file).namelist()
    assert names[0] == "manifest.json"
    assert names[1:] == sorted(names[1:])


def test_failed_write_leaves_the_old_file_and_no_scrap(file: Path) -> None:
    before = file.read_bytes()
    calls = iter([False] * 3)
    with pytest.raises(Cancelled):
        write_recording(file, _recording(), Progress(None, lambda: next(calls, True)))
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="cannot write"):
        write_recording(tmp_path / "missing" / "run.wscope", _recording())


def _rewrite(file: Path, **changes: object) -> None:
    with zipfile.ZipFile(file) as bundle:
        entries = {name: bundle.read(name) for name in bundle.namelist()}
    manifest = json.loads(entries["manifest.json"])
    manifest.update(changes)
    entries["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(file, "w") as bundle:
        for name, data in entries.items():
            archive.add(bundle, name, data)


def test_newer_major_format_is_refused_naming_both_versions(file: Path) -> None:
    _rewrite(file, format={"major": 2, "minor": 7})
    with pytest.raises(RecordingError, match=r"format 2\.7 and this version reads up to 1\.1"):
        read_recording(file)


def test_newer_minor_format_is_read(file: Path) -> None:
    _rewrite(file, format={"major": 1, "minor": 99})
    assert read_recording(file).tool == "0.1.0"


def test_lying_size_is_refused_before_memory_is_taken(file: Path) -> None:
    with zipfile.ZipFile(file) as bundle:
        entries = json.loads(bundle.read("manifest.json"))["entries"]
    entries["program.json"][0] = 1 << 50
    _rewrite(file, entries=entries)
    with pytest.raises(RecordingError, match="refused"):
        read_recording(file)


def test_section_that_is_not_listed_is_refused(file: Path) -> None:
    with zipfile.ZipFile(file, "a") as bundle:
        bundle.writestr("extra", b"x")
    with pytest.raises(RecordingError, match="disagree about the section 'extra'"):
        read_recording(file)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.7, 0.99])
def test_truncated_file_is_refused(file: Path, share: float) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(RecordingError):
        read_recording(file)


def test_flipped_bits_are_refused_or_harmless(file: Path) -> None:
    data, chance = file.read_bytes(), random.Random(7)
    digest, refused = read_recording(file).digest, 0
    for _ in range(150):
        broken = bytearray(data)
        broken[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        file.write_bytes(broken)
        try:
            assert read_recording(file).digest == digest
        except RecordingError:
            refused += 1
    assert refused > 75


def test_folder_and_missing_file_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="is a folder"):
        read_recording(tmp_path)
    with pytest.raises(RecordingError, match="there is no file"):
        read_recording(tmp_path / "none.wscope")


def test_object_arrays_are_never_written_nor_read() -> None:
    with pytest.raises(TypeError, match="cannot be recorded"):
        archive.npy_bytes(np.array([{}], dtype=object))
    header = b"\x93NUMPY\x01\x00" + b"\x46\x00"
    text = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
    with pytest.raises(ValueError):
        archive.npy_array(header + text.ljust(69) + b"\n" + b"\0" * 8, "values x")
