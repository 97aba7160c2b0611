"""A metric as data: CSV, JSON, NPZ. One step, the run's maximum or total, or several steps."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence

import numpy as np

from app.export.picture import Picture
from app.views.base import to_plain
from engine import archive


def render_csv(pictures: Sequence[Picture]) -> bytes:
    """Return one line a PE and step: step,row,col,kernel,value."""
    lines = ["step,row,col,kernel,value"]
    for picture in pictures:
        owners = _owners(picture)
        step = "" if picture.step is None else str(picture.step)
        texts = _value_texts(picture)
        for row in range(picture.viewport.rows):
            place = f"{step},{picture.viewport.row + row}"
            lines += [
                f"{place},{picture.viewport.col + col},{owners[row][col]},{text}"
                for col, text in enumerate(texts[row])
            ]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _value_texts(picture: Picture) -> list[list[str]]:
    if picture.metric.kind == "category":
        names = [tick.text for tick in picture.ticks]
        return [[names[code] for code in row] for row in picture.field.tolist()]
    form = "{:.6g}" if picture.metric.kind in ("fraction", "load") else "{:.0f}"
    return [[form.format(value) for value in row] for row in picture.field.tolist()]


def _owners(picture: Picture) -> list[list[str]]:
    names = np.full((picture.viewport.rows, picture.viewport.cols), -1, np.int64)
    view = picture.viewport
    for index, (_, region) in enumerate(picture.outlines):
        rows = slice(max(0, region.row - view.row), max(0, region.end_row - view.row))
        cols = slice(max(0, region.col - view.col), max(0, region.end_col - view.col))
        names[rows, cols] = index
    quoted = [_csv_text(name) for name, _ in picture.outlines] + [""]
    return [[quoted[index] for index in row] for row in names.tolist()]


def _csv_text(name: str) -> str:
    if any(sign in name for sign in ',"\n'):
        doubled = name.replace('"', '""')
        return f'"{doubled}"'
    return name


def describe(picture: Picture) -> dict[str, object]:
    """Return what a reader of the numbers must know, in JSON's types."""
    view = picture.viewport
    return {
        "format": 1,
        "title": picture.title,
        "metric": picture.metric.id,
        "kind": picture.metric.kind,
        "unit": "share, 0..1" if picture.metric.kind == "fraction" else picture.unit,
        "categories": [t.text for t in picture.ticks] if picture.metric.kind == "category" else [],
        "step": picture.step,
        "region": [view.row, view.col, view.rows, view.cols],
        "kernels": [
            {"name": name, "region": [r.row, r.col, r.rows, r.cols]} for name, r in picture.outlines
        ],
        "standing": picture.standing,
        "hit": to_plain(picture.hit),
    }


def render_json(pictures: Sequence[Picture]) -> bytes:
    """Return the description and the values, one list of rows a step."""
    document = {
        **describe(pictures[0]),
        "frames": [{"step": p.step, "values": _plain_rows(p)} for p in pictures],
    }
    return (json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n").encode("utf-8")


def _plain_rows(picture: Picture) -> list[list[float]]:
    if picture.metric.kind in ("fraction", "load"):
        return [[round(value, 6) for value in row] for row in picture.field.tolist()]
    rows: list[list[float]] = picture.field.tolist()
    return rows


def render_npz(pictures: Sequence[Picture]) -> bytes:
    """Return an .npz: `values` (n, rows, cols), `steps` (n,; -1 for the run), `about` (JSON)."""
    arrays: dict[str, np.ndarray] = {
        "about": np.frombuffer(
            json.dumps(describe(pictures[0]), sort_keys=True).encode("utf-8"), np.uint8
        ),
        "steps": np.array([-1 if p.step is None else p.step for p in pictures], np.int64),
        "values": np.stack([p.field for p in pictures]),
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as bundle:
        for name, array in sorted(arrays.items()):
            archive.add(bundle, f"{name}.npy", archive.npy_bytes(array))
    return stream.getvalue()
