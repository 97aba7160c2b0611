"""Write a file whole or not at all: no reader sees half of one, and a failure keeps the old."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_MODE = 0o644


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a stream beside `path` that takes its place when the block ends without an error.

    Raises:
        OSError: the folder or the file cannot be written.
    """
    folder = path.resolve().parent
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _MODE)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
