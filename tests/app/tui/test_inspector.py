"""The side panel says whose a PE is, what it waited for and what its SRAM holds."""

from __future__ import annotations

from dataclasses import replace

from app.tui.glyphs import BLOCKS, plain
from app.tui.inspector import inspector
from app.views.pe import CauseRow, LinkRow, PEView, SramRow
from tests.app.tui.factory import map_view, small_session

WIDTH = 43


def pe(sram: tuple[SramRow, ...] = ()) -> PEView:
    return PEView(
        row=3, col=4, step=1, step_cycles=10, kernel="ffn", kernel_kind="Gemm", tile="a tile",
        causes=(CauseRow("compute", 8, 0.8, 60, 0.6), CauseRow("wait-input", 2, 0.2, 40, 0.4)),
        sram=sram, sram_capacity=1000, sram_allocated=900, sram_live=500,
        links=(LinkRow("east", 9, 0.9, "warn"),), source_nodes=(), standing="model",
        severity="ok", sentence="PE (3, 4) runs ffn",
    )  # fmt: skip


def test_causes_have_bars_and_shares() -> None:
    lines = inspector(pe(), None, map_view([[0]]), plain("a test"), WIDTH).plain.splitlines()
    (row,) = [line for line in lines if line.startswith("compute")]
    assert row.split() == ["compute", "####..", "60.0", "%", "8"]


def test_a_buffer_beyond_the_sram_is_marked_and_a_long_name_is_cut() -> None:
    rows = (
        SramRow("weights", "weights", 0, 500, True, 500, True),
        SramRow("a name that is much too long for a panel", "work", 500, 800, False, 0, False),
    )
    text = inspector(pe(rows), None, map_view([[0]]), BLOCKS, WIDTH)
    first, second = [line for line in text.plain.splitlines() if line.startswith(("weig", "work"))]
    assert first.split() == ["weights", "weights", "500", "B", "live"]
    assert second.endswith("OVER ")
    assert "~" in second


def test_a_hot_link_is_marked_by_style_and_number() -> None:
    text = inspector(pe(), None, map_view([[0]]), BLOCKS, WIDTH)
    (row,) = [line for line in text.plain.splitlines() if line.startswith("east")]
    assert row.split() == ["east", "9", "0.90/c"]


def test_without_a_selection_the_map_is_told_in_a_sentence() -> None:
    text = inspector(None, None, map_view([[0]]), BLOCKS, WIDTH).plain
    assert "a sentence" in text.splitlines()
    assert "Nothing is selected" in text


def test_a_kernel_shows_its_region_nodes_transfers_and_instances() -> None:
    kernel = small_session().view_kernel("fc1")
    assert kernel is not None
    kernel = replace(kernel, source_nodes=("Gemm_1",))
    text = inspector(None, kernel, map_view([[0]]), BLOCKS, WIDTH).plain
    for part in ("kernel fc1", "Gemm_1", "in  fc0", "out scores", "sample 0: ", "PEs"):
        assert part in text, part


def test_tables_of_a_pe_fit_the_panel() -> None:
    session = small_session()
    session.select_pe(5, 8)
    view = session.view_pe()
    assert view is not None
    text = inspector(view, None, map_view([[0]]), BLOCKS, WIDTH).plain
    tables = text[text.index("cycles by cause") :].splitlines()
    assert len(tables) > 10
    assert [line for line in tables if len(line.rstrip()) > WIDTH] == []
