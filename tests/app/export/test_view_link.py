"""Addresses of views, and pictures that carry them."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from PIL import Image

from app.export.view_link import KEYWORD, view_fragment, with_link
from tests.app.sessions import mlp_session


def test_fragment_names_step_metric_view_and_selection() -> None:
    session = mlp_session()
    session.seek(9)
    session.set_metric("traffic")
    session.set_viewport(2, 3, 20, 21)
    session.select_pe(4, 5)
    found = parse_qs(view_fragment(session.cursor))
    assert found["step"] == ["9"]
    assert found["metric"] == ["traffic"]
    assert found["view"] == ["2,3,20,21"]
    assert found["pe"] == ["4,5"]


def test_fragment_names_what_is_not_as_at_the_start() -> None:
    session = mlp_session()
    assert parse_qs(view_fragment(session.cursor)).keys() == {"step", "metric", "stride", "view"}
    session.select_sample(2)
    session.set_log()
    session.select_region(1, 2, 3, 4)
    found = parse_qs(view_fragment(session.cursor))
    assert (found["sample"], found["log"], found["region"]) == (["2"], ["1"], ["1,2,3,4"])


def test_picture_carries_the_link_and_stays_a_picture(tmp_path: Path) -> None:
    session = mlp_session()
    plain = session.export(tmp_path / "map.png").read_bytes()
    linked = with_link(plain, "step=9&metric=traffic")
    assert KEYWORD not in Image.open(BytesIO(plain)).info
    assert Image.open(BytesIO(linked)).info[KEYWORD] == "step=9&metric=traffic"
    assert linked[:33] == plain[:33]
    assert linked.endswith(plain[33:])
    size = struct.unpack(">I", linked[33:37])[0]
    assert struct.unpack(">I", linked[41 + size : 45 + size])[0] == zlib.crc32(
        linked[37 : 41 + size]
    )


def test_bytes_that_are_no_picture_are_refused() -> None:
    with pytest.raises(ValueError, match="no PNG"):
        with_link(b"GIF89a", "step=1")
