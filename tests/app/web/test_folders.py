"""Which files a page may name."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.web import Folders
from app.web.folders import FolderError


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    inside = tmp_path / "models"
    inside.mkdir()
    (inside / "a.onnx").write_bytes(b"model")
    (inside / "note.txt").write_bytes(b"text")
    (tmp_path / "secret.onnx").write_bytes(b"outside")
    (inside / "way-out.onnx").symlink_to(tmp_path / "secret.onnx")
    return Folders.of(inside)


def test_file_inside_is_found_by_name_and_by_path(folders: Folders) -> None:
    path = folders.roots[0] / "a.onnx"
    assert folders.find("a.onnx") == path
    assert folders.find(str(path)) == path
    assert "a.onnx" in folders.names()
    assert "note.txt" not in folders.names()


@pytest.mark.parametrize(
    "name", ["../secret.onnx", "x/../../secret.onnx", "way-out.onnx", "/etc/passwd.onnx",
             "missing.onnx", "note.txt", "", "a\0.onnx", "."],
)  # fmt: skip
def test_everything_else_is_refused(folders: Folders, name: str) -> None:
    with pytest.raises(FolderError):
        folders.find(name)


def test_files_are_written_inside_only(folders: Folders) -> None:
    assert folders.place("new.yaml") == folders.roots[0] / "new.yaml"
    for name in ("../new.yaml", "/new.yaml", "no/folder/new.yaml"):
        with pytest.raises(FolderError):
            folders.place(name)


def test_without_folders_no_file_can_be_named() -> None:
    with pytest.raises(FolderError):
        Folders(()).find("a.onnx")
    with pytest.raises(FolderError):
        Folders(()).place("a.yaml")
