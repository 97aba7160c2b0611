"""Steps as one HTML page that needs no server and no network: canvas, slider, hover, legend."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from html import escape
from importlib import resources

import numpy as np

from app.export.picture import ExportError, Picture
from app.export.raster import HATCHES, NO_KERNEL
from app.export.tables import describe
from app.palette import hex_table, mark_colour
from app.runs.frames import encode
from app.views.map import positions

MOST_BYTES = 10 << 20
"""size of a page"""


def render_html(pictures: Sequence[Picture]) -> bytes:
    """Return the page.

    Raises:
        ExportError: it would be larger than 10 MB.
    """
    frames = [_frame(picture) for picture in pictures]
    first = pictures[0]
    size = sum(len(frame["data"]) for frame in frames)
    if size > MOST_BYTES - (256 << 10):
        fits = max(1, len(frames) * MOST_BYTES // (size + 1))
        raise ExportError(
            f"{len(frames)} steps make a page of {size / 2**20:.1f} MB, the limit is 10 MB; "
            f"export about {fits} step(s), or .npz"
        )
    data = {**describe(first), **_colours(first), **_blank(first), "frames": frames}
    template = resources.files("app.assets").joinpath("replay.html").read_text(encoding="utf-8")
    text = json.dumps(data, sort_keys=True, separators=(",", ":")).replace("<", "\\u003c")
    page = template.replace("__TITLE__", escape(first.title)).replace("__THEME__", first.theme)
    return page.replace("__DATA__", text).encode("utf-8")


def _blank(picture: Picture) -> dict[str, object]:
    """Return which PEs (a byte each) or codes have no kernel, and the colours of their hatch."""
    hatch = [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in HATCHES[picture.theme]]
    if picture.bare:
        return {"blank": "", "bare": picture.bare, "hatch": hatch}
    if picture.blank is None or not picture.blank.any():
        return {"blank": "", "bare": (), "hatch": []}
    packed = zlib.compress(picture.blank.astype(np.uint8).tobytes(), 6)
    return {
        "blank": base64.b64encode(packed).decode("ascii"), "no_kernel": NO_KERNEL,
        "bare": (), "hatch": hatch,
    }  # fmt: skip


def _frame(picture: Picture) -> dict[str, str]:
    codes = encode(picture.field, picture.scale, picture.metric.kind)
    packed = base64.b64encode(zlib.compress(codes.tobytes(), 6)).decode("ascii")
    return {"title": picture.title, "subtitle": picture.subtitle, "data": packed}


def _colours(picture: Picture) -> dict[str, object]:
    """Return the palette, and where each code lies on it, so that the page does no rules."""
    kind = picture.metric.kind
    wide = kind not in ("fraction", "category")
    codes = np.arange(65_536 if wide else 256)
    if kind == "category":
        levels = codes
    else:
        spots = positions(codes * picture.scale.unit_per_code, picture.scale)
        levels = np.minimum((spots * 256).astype(int), 255)
    packed = zlib.compress(levels.astype(np.uint8).tobytes(), 6)
    return {
        "bytes_per_code": 2 if wide else 1,
        "unit_per_code": picture.scale.unit_per_code,
        "levels": base64.b64encode(packed).decode("ascii"),
        "palette": list(hex_table(picture.metric.palette, picture.theme)),
        "alert": mark_colour("alert", picture.theme),
        "ticks": [{"position": t.position, "text": t.text} for t in picture.ticks],
        "scale": "log" if picture.scale.log else "linear",
    }
