"""The folders that a page may name files of. Knows paths, no requests and no models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MODEL_ENDINGS = (".onnx", ".wscope")
"""kinds of files that a page may open"""
MOST_LISTED = 200
"""files named in a list"""


class FolderError(ValueError):
    """A file that a page may not name."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Real paths of folders; what a page names must lie in one, links followed."""

    roots: tuple[Path, ...]
    """absolute, without symbolic links; none: no file can be named"""

    @classmethod
    def of(cls, *paths: str | Path) -> Folders:
        """Return the folders of paths, each made real."""
        return cls(tuple(Path(path).resolve() for path in paths))

    def find(self, name: str, endings: tuple[str, ...] = MODEL_ENDINGS) -> Path:
        """Return the real path of a file named by its path or relative to a folder.

        Raises:
            FolderError: outside the folders, of another kind, or not there; the message does not
                tell what lies outside.
        """
        if "\0" in name or not name.strip():
            raise FolderError("a file needs a name")
        if Path(name).suffix.lower() not in endings:
            raise FolderError(f"'{Path(name).name}' must end with {' or '.join(endings)}")
        for root in self.roots:
            path = (root / name).resolve()
            if path.is_relative_to(root) and path.is_file():
                return path
        raise FolderError(f"there is no file '{name}' in the folders of this server")

    def place(self, name: str) -> Path:
        """Return where a file named by a page may be written: inside the first folder.

        Raises:
            FolderError: outside it, or its folder does not exist.
        """
        for root in self.roots[:1] if "\0" not in name else ():
            path = (root / name).resolve()
            if path.is_relative_to(root) and path.parent.is_dir():
                return path
        raise FolderError(f"'{name}' does not lie in the folder of this server")

    def names(self) -> tuple[str, ...]:
        """Return the models and recordings right in the folders, by name, newest first."""
        found = {
            path.name: path.stat().st_mtime
            for root in reversed(self.roots) if root.is_dir()
            for path in root.iterdir()
            if path.suffix.lower() in MODEL_ENDINGS and path.is_file()
        }  # fmt: skip
        return tuple(sorted(found, key=lambda name: -found[name]))[:MOST_LISTED]
