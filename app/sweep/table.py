"""The table of a sweep as CSV: written whole after every row, read again to go on.

Rows are in the order of the points and hold no times: an interrupted sweep that is resumed gives
the same file as one that ran through. Knows no models.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.configs.file import ConfigFileError, write_text
from app.sweep.sweep import FIGURES, Point, Row

KEY = "point"
"""column of the hash by which a row is known again"""
MAX_BYTES = 256 << 20


def table_text(points: Sequence[Point], rows: Mapping[str, Row]) -> str:
    """Return the finished rows as CSV, in the order of the points."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = [name for name, _ in points[0].settings]
    writer.writerow([*names, "status", *FIGURES, KEY])
    for point in points:
        row = rows.get(point.key)
        if row is not None:
            numbers = row.figures or ("",) * len(FIGURES)
            settings = [value for _, value in point.settings]
            writer.writerow([*settings, row.status, *numbers, row.key])
    return stream.getvalue()


def write_table(path: Path, points: Sequence[Point], rows: Mapping[str, Row]) -> None:
    """Write the finished rows, whole or not at all.

    Raises:
        ConfigFileError: the file cannot be written.
    """
    write_text(path, table_text(points, rows))


def read_table(path: Path, points: Sequence[Point]) -> dict[str, Row]:
    """Return the rows of a table that belong to the points, by key; empty without a file.

    Raises:
        ConfigFileError: the file is no table of a sweep over these knobs.
    """
    try:
        if not path.exists():
            return {}
        if path.stat().st_size > MAX_BYTES:
            raise ConfigFileError(f"{path} is larger than {MAX_BYTES:,} bytes; that is no table")
        lines = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigFileError(f"cannot read {path}: {error}") from error
    names = [name for name, _ in points[0].settings]
    header = [*names, "status", *FIGURES, KEY]
    if not lines or lines[0] != header:
        raise ConfigFileError(
            f"{path} cannot be continued: it is no sweep over {', '.join(names)} by this version; "
            "name another file, or leave --resume out"
        )
    wanted, rows = {point.key for point in points}, {}
    for line in lines[1:]:
        if len(line) == len(header) and line[-1] in wanted:
            row = _row(line, len(names))
            if row is not None:
                rows[row.key] = row
    return rows


def _row(line: Sequence[str], count: int) -> Row | None:
    numbers = tuple(line[count + 1 : -1])
    if not any(numbers):
        return Row(tuple(line[:count]), line[count], (), line[-1])
    try:
        for number in numbers:
            float(number)
    except ValueError:
        return None
    return Row(tuple(line[:count]), line[count], numbers, line[-1])
