"""The picture of a difference: its middle colour, its ends, and what is refused."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.comparison.difference import difference
from app.export.difference import difference_picture, export_difference
from app.export.picture import ExportError
from app.export.raster import map_levels, palette_of, render_png
from app.palette import lut
from tests.app.comparison.test_compare import changed
from tests.app.sessions import mlp_run


def test_colours_run_from_one_end_over_the_middle_to_the_other() -> None:
    a, b = mlp_run(), changed("pe_cap", "40", "fc1")
    found = difference(a, b, "utilization")
    picture = difference_picture(a, b, found, "light")
    levels = map_levels(picture)
    high, low = found.field.argmax(), found.field.argmin()
    assert levels.ravel()[high] == 239
    assert levels.ravel()[low] < 119
    assert set(levels[found.field == 0].tolist()) <= {119, 120}
    table = lut("diverging", "light")
    np.testing.assert_array_equal(palette_of(picture)[239], table[255])


def test_equal_runs_are_of_the_middle_colour() -> None:
    picture = difference_picture(
        mlp_run(), mlp_run(), difference(mlp_run(), mlp_run(), "traffic"), "dark"
    )
    assert set(map_levels(picture).ravel().tolist()) <= {119, 120}
    assert Image.open(io.BytesIO(render_png(picture))).format == "PNG"


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_equal_requests_give_equal_files(tmp_path: Path, ending: str) -> None:
    a, b = mlp_run(), changed("slots", "4")
    one, two = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    for path in (one, two):
        export_difference(a, b, "sram_allocated", path)
    assert one.read_bytes() == two.read_bytes()


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"a difference is a \.png or \.svg"):
        export_difference(mlp_run(), mlp_run(), "traffic", tmp_path / "d.csv")
