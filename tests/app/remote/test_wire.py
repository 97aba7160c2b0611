"""Values as JSON and back; texts that are not what they say."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from app.remote.wire import MOST_ARRAY_BYTES, WireError, decode, encode
from app.session.cursor import Cursor, Selection, Viewport
from app.views.base import to_plain
from app.views.map import MapView
from app.views.values import OutputRow, TensorRow
from engine.geometry import Rect
from tests.app.sessions import mlp_session
from tests.app.tui.factory import map_view


def over(kind: Any, value: object) -> Any:
    """Return a value after its way through a text."""
    return decode(kind, json.loads(json.dumps(encode(value))))


def test_cursor_comes_back_as_it_was() -> None:
    region = Selection("region", region=Rect(1, 2, 3, 4))
    for selection in (Selection(), region, Selection("pe", pe=(3, 4), kernel="fc1")):
        cursor = Cursor(7, 1, "event", "traffic", Viewport(0, 1, 20, 30), selection, log=True)
        assert over(Cursor, cursor) == cursor


def test_map_comes_back_with_its_codes() -> None:
    view = mlp_session().view_map(24, 64)
    back = over(MapView, view)
    assert back.to_json() == view.to_json()
    assert back.values.dtype == view.values.dtype
    assert not back.values.flags.writeable


def test_numbers_that_json_lacks_come_back() -> None:
    row = OutputRow("y", (2,), -math.inf, math.inf, math.nan, (1.0, math.nan))
    back = over(OutputRow, row)
    assert (back.minimum, back.maximum) == (-math.inf, math.inf)
    assert math.isnan(back.mean)
    assert math.isnan(back.first[1])
    error = TensorRow("y", None, (), math.inf, None, (), "alert")
    assert over(TensorRow, error) == error
    assert to_plain(row)["mean"] is None


@dataclass(frozen=True)
class Pair:
    left: int
    right: float | None = None


@pytest.mark.parametrize(
    ("kind", "plain", "words"),
    [
        (Pair, [], "is list"), (Pair, {}, "lacks left"), (Pair, {"left": "1"}, "left is str"),
        (Pair, {"left": True}, "left is bool"), (Pair, {"left": 1, "x": 2}, "unknown x"),
        (Pair, {"left": 1, "right": "two"}, "right is str"), (tuple[int, int], [1], "1 items"),
        (tuple[int, ...], [1, None], r"\[1\] is NoneType"), (int, 1.5, "is float"),
        (Rect, {"row": 0, "col": 0, "rows": 0, "cols": 1}, "empty"),
    ],
)  # fmt: skip
def test_what_is_of_another_type_is_refused(kind: Any, plain: object, words: str) -> None:
    with pytest.raises(WireError, match=words):
        decode(kind, plain)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dtype": "|O"}, "dtype"), ({"dtype": "object"}, "dtype"), ({"dtype": 3}, "dtype"),
        ({"shape": [1 << 40, 1 << 40]}, "shape"), ({"shape": [-2, -3]}, "shape"),
        ({"shape": [MOST_ARRAY_BYTES + 1]}, "shape"), ({"shape": [2, 4]}, "does not hold"),
        ({"data": "!" * 8}, "no array"), ({"data": None}, "does not hold"), ({"more": 1}, "not an"),
    ],
)  # fmt: skip
def test_array_that_lies_about_itself_is_refused(change: dict[str, Any], words: str) -> None:
    plain = {"dtype": "|u1", "shape": [2, 3], "data": base64.b64encode(bytes(6)).decode()}
    assert decode(np.ndarray, plain).shape == (2, 3)
    with pytest.raises(WireError, match=words):
        decode(np.ndarray, plain | change)


def test_place_of_what_is_wrong_is_named() -> None:
    plain = encode(map_view([[1, 2]]))
    plain["ticks"][1]["value"] = "high"
    with pytest.raises(WireError, match=r"answer\.ticks\[1\]\.value is str 'high'"):
        decode(MapView, plain)
