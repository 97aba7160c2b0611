"""Exports: the right numbers, stable bytes, one sentence for what cannot be."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from app.debugger import Debugger
from app.export import ExportError, Request, export_request, make_picture
from app.export.raster import ALERT, FAINT, GROUND, HATCH, map_png, pe_pixels
from app.export.ring import ring_of
from app.runs.figures import used_mask
from app.session.cursor import Viewport
from app.views.build_streaming import view_streaming
from tests.app.sessions import mlp_run, mlp_streaming


def _write(tmp_path: Path, ending: str, request: Request) -> bytes:
    path = tmp_path / f"out{ending}"
    export_request(mlp_run(), request, path)
    return path.read_bytes()


@pytest.mark.parametrize("ending", [".png", ".svg", ".html", ".csv", ".npz", ".json"])
@pytest.mark.parametrize("metric", ["cause", "kind", "phase", "utilization", "traffic"])
def test_bytes_are_the_same_twice(tmp_path: Path, ending: str, metric: str) -> None:
    request = Request(metric, step=9)
    assert _write(tmp_path, ending, request) == _write(tmp_path, ending, request)


def test_csv_holds_every_pe_with_its_kernel(tmp_path: Path) -> None:
    text = _write(tmp_path, ".csv", Request("sram_allocated", step=9)).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    field = mlp_run().execution.fields.field("sram_allocated", 9)
    assert len(rows) == field.size
    for row in (rows[0], rows[700], rows[-1]):
        place = int(row["row"]), int(row["col"])
        assert int(row["value"]) == field[place]
        assert (row["kernel"] or None) == mlp_run().execution.fields.kernel_at(*place)


def test_npz_holds_the_steps_asked_for(tmp_path: Path) -> None:
    data = _write(tmp_path, ".npz", Request("utilization", "steps", steps=(4, 9)))
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        assert arrays["steps"].tolist() == [4, 5, 6, 7, 8]
        field = mlp_run().execution.fields.field("utilization", 8)
        np.testing.assert_array_equal(arrays["values"][4], field)
        about = json.loads(arrays["about"].tobytes())
    assert about["metric"] == "utilization"


def test_total_over_the_run_is_a_share_of_it(tmp_path: Path) -> None:
    document = json.loads(_write(tmp_path, ".json", Request("cause:compute", "total")))
    run = mlp_run()
    mean = np.mean(document["frames"][0]["values"])
    expected = run.execution.fields.sums("utilization").sum() / (4096 * run.timeline.makespan)
    assert mean == pytest.approx(expected, abs=1e-6)


def test_peak_and_max_show_the_highest_value() -> None:
    run = mlp_run()
    peak = make_picture(run, Request("sram_live", "peak"))
    most = make_picture(run, Request("sram_live", "max"))
    assert peak.field.max() == most.field.max()
    assert (most.field >= peak.field).all()


def test_viewport_cuts_the_picture() -> None:
    picture = make_picture(mlp_run(), Request("traffic", step=9, viewport=Viewport(2, 3, 5, 7)))
    whole = mlp_run().execution.fields.field("traffic", 9)
    np.testing.assert_array_equal(picture.field, whole[2:7, 3:10])


def test_total_of_a_load_is_in_wavelets_and_its_maximum_a_rate() -> None:
    whole = make_picture(mlp_run(), Request("link_east", "total"))
    most = make_picture(mlp_run(), Request("link_east", "max"))
    assert (whole.unit, most.unit) == ("wavelets", "wavelets a cycle")
    assert "(wavelets), whole run" in whole.title
    assert whole.field.sum() == mlp_run().execution.fields.sums("link_east").sum().round()
    assert most.scale.hi == 1.0


def test_bare_map_has_a_pixel_a_pe_and_a_cause_its_own_colour() -> None:
    picture = make_picture(mlp_run(), Request("cause", step=9))
    image = Image.open(io.BytesIO(map_png(picture)))
    assert image.size == (64, 64)
    shown = np.where(picture.hatched(), GROUND, picture.field)
    np.testing.assert_array_equal(np.asarray(image), shown)


def test_svg_is_xml_with_the_words_a_reader_needs(tmp_path: Path) -> None:
    root = ElementTree.fromstring(_write(tmp_path, ".svg", Request("traffic", step=9)))
    text = " ".join(root.itertext())
    assert "traffic (wavelets a cycle), step 9" in text
    assert "standing: exact for this program" in text
    assert "fc1" in text


def test_page_asks_no_server_and_holds_all_steps(tmp_path: Path) -> None:
    page = _write(tmp_path, ".html", Request("traffic", "steps", steps=(0, 30))).decode()
    assert "http" not in page.replace("http://www.w3.org", "")
    start = page.index('id="data">') + len('id="data">')
    data = json.loads(page[start : page.index("</script>", start)])
    assert len(data["frames"]) == 30
    assert len(page) < 10 << 20


@pytest.mark.parametrize(
    ("request_", "ending", "message"),
    [
        (Request("heat"), ".png", "no metric 'heat'"),
        (Request("traffic", step=10**6), ".png", "does not exist"),
        (Request("traffic"), ".gif", "ending must be one of"),
        (Request("traffic", "steps", steps=(0, 3)), ".png", "shows one step"),
        (Request("traffic", "steps", steps=(5, 3)), ".npz", "A:B means"),
        (Request("sram_live", "total"), ".png", "means nothing; use --max"),
        (Request("cause", "peak"), ".png", "the dominant cause has no peak"),
        (Request("phase", "max"), ".png", "the training phase has no maximum"),
    ],
)
def test_what_cannot_be_is_a_sentence(
    tmp_path: Path, request_: Request, ending: str, message: str
) -> None:
    with pytest.raises(ExportError, match=message):
        _write(tmp_path, ending, request_)
    assert list(tmp_path.iterdir()) == []


def test_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="cannot write"):
        export_request(mlp_run(), Request("traffic"), tmp_path / "no" / "x.png")


def test_npz_dates_are_fixed(tmp_path: Path) -> None:
    data = _write(tmp_path, ".npz", Request("traffic"))
    dates = {info.date_time for info in zipfile.ZipFile(io.BytesIO(data)).infolist()}
    assert dates == {(1980, 1, 1, 0, 0, 0)}


def test_pes_without_a_kernel_are_hatched_in_every_picture(tmp_path: Path) -> None:
    run, request = mlp_run(), Request("utilization", step=9)
    picture = make_picture(run, request)
    used = used_mask(run)
    np.testing.assert_array_equal(picture.hatched(), ~used)
    bare = Image.open(io.BytesIO(map_png(picture)))
    assert set(np.asarray(bare)[~used].tolist()) == {GROUND}
    assert GROUND not in np.asarray(bare)[used]
    assert bare.info["transparency"] == GROUND
    side = pe_pixels(picture)
    large = np.asarray(Image.open(io.BytesIO(_write(tmp_path, ".png", request))))
    row, col = (int(place[0]) for place in np.nonzero(~used))
    part = large[76 + row * side : 76 + (row + 1) * side, 24 + col * side : 24 + (col + 1) * side]
    assert set(part.ravel().tolist()) <= {GROUND, HATCH, FAINT}
    assert 'fill="url(#hatch)"' in _write(tmp_path, ".svg", request).decode()
    assert '"hatch":["#' in _write(tmp_path, ".html", request).decode()


def test_a_value_where_no_kernel_is_keeps_its_colour() -> None:
    run = mlp_run()
    picture = make_picture(run, Request("traffic", "total"))
    passing = ~used_mask(run) & (picture.field > 0)
    assert not picture.hatched()[passing].any()


def test_a_map_of_categories_hatches_who_has_no_kernel(tmp_path: Path) -> None:
    run, request = mlp_run(), Request("cause", step=9)
    np.testing.assert_array_equal(make_picture(run, request).hatched(), ~used_mask(run))
    svg = _write(tmp_path, ".svg", request).decode()
    assert svg.count('fill="url(#hatch)"') == 3  # the ground, and two swatches of the legend
    assert '"bare":[0,1]' in _write(tmp_path, ".html", request).decode()


def _stopped() -> Debugger:
    session = Debugger(mlp_run())
    session.do("metric", "traffic")
    session.do("watch", "link > 90%")
    session.do("first")
    session.do("continue")
    return session


def test_what_stopped_the_run_is_ringed_in_every_picture(tmp_path: Path) -> None:
    session = _stopped()
    hit = session.hit_mark()
    assert hit is not None
    picture = make_picture(
        session.run, Request("traffic", step=session.cursor.step, theme="dark", hit=hit,
                             viewport=session.cursor.viewport)
    )  # fmt: skip
    ring = ring_of(picture, pe_pixels(picture), 24, 76)
    assert ring is not None
    assert (ring.bar is None) == (hit.plane not in ("east", "west", "north", "south"))
    session.export(tmp_path / "hit.png")
    pixels = np.asarray(Image.open(tmp_path / "hit.png"))
    rows, cols = np.nonzero(pixels == ALERT)
    reach = np.hypot(rows - ring.y, cols - ring.x).max()
    assert ring.radius <= reach <= ring.radius + 4
    session.export(tmp_path / "hit.svg")
    svg = ElementTree.fromstring((tmp_path / "hit.svg").read_bytes())
    assert any(part.get("id") == "hit" for part in svg.iter())
    assert hit.text in " ".join(svg.itertext())
    session.export(tmp_path / "hit.json")
    assert json.loads((tmp_path / "hit.json").read_text())["hit"]["text"] == hit.text


def test_no_ring_outside_the_viewport_or_in_another_step(tmp_path: Path) -> None:
    session = _stopped()
    hit = session.hit_mark()
    assert hit is not None
    aside = Viewport(0, 0, 2, 2)
    assert not aside.rect.contains(hit.row, hit.col)
    away = make_picture(session.run, Request("traffic", step=0, viewport=aside, hit=hit))
    assert away.hit is None
    session.do("next")
    session.export(tmp_path / "later.svg")
    assert 'id="hit"' not in (tmp_path / "later.svg").read_text()


def test_where_kernels_take_turns_only_that_of_the_step_is_outlined() -> None:
    run = mlp_streaming().run
    seen: set[str] = set()
    for step in range(0, run.timeline.steps, 3):
        turn = view_streaming(run, step)
        assert turn is not None
        names = tuple(name for name, _ in make_picture(run, Request("traffic", step=step)).outlines)
        assert names == turn.turn
        seen.update(names)
    assert seen == {kernel.id for kernel in run.program.kernels}
    assert make_picture(run, Request("traffic", what="total")).outlines == ()
