"""The address of a view, and PNG files that carry it. Knows no pages and no sessions.

A PNG is a signature and chunks, each `length, kind, data, CRC-32` (W3C PNG, third edition,
section 5.3); a tEXt chunk holds `keyword, 0, text` in Latin-1 (section 11.3.3.2).
"""

from __future__ import annotations

import struct
import zlib
from urllib.parse import urlencode

from app.session.cursor import Cursor

KEYWORD = "Waferscope-View"
"""keyword of the chunk that holds the address's fragment"""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER_END = len(_SIGNATURE) + 12 + 13
"""first byte after the IHDR chunk, which has 13 bytes of data"""


def view_fragment(cursor: Cursor) -> str:
    """Return what follows '#' in the address of a page that shows the same."""
    box = cursor.viewport
    parts = {
        "step": str(cursor.step), "metric": cursor.metric, "stride": cursor.stride,
        "view": f"{box.row},{box.col},{box.rows},{box.cols}",
    }  # fmt: skip
    if cursor.sample:
        parts["sample"] = str(cursor.sample)
    if cursor.log:
        parts["log"] = "1"
    chosen = cursor.selection
    if chosen.kind == "pe" and chosen.pe is not None:
        parts["pe"] = f"{chosen.pe[0]},{chosen.pe[1]}"
    elif chosen.kind == "kernel" and chosen.kernel:
        parts["kernel"] = chosen.kernel
    elif chosen.kind == "region" and chosen.region is not None:
        area = chosen.region
        parts["region"] = f"{area.row},{area.col},{area.rows},{area.cols}"
    return urlencode(parts)


def with_link(png: bytes, fragment: str) -> bytes:
    """Return a PNG that also carries the fragment.

    Raises:
        ValueError: the bytes are no PNG.
    """
    if not png.startswith(_SIGNATURE) or png[12:16] != b"IHDR":
        raise ValueError(f"{len(png):,} bytes that begin with {png[:8]!r} are no PNG picture")
    data = b"tEXt" + KEYWORD.encode("latin-1") + b"\0" + fragment.encode("latin-1")
    chunk = struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))
    return png[:_HEADER_END] + chunk + png[_HEADER_END:]
