"""Lines below the map of a streaming run: as many as there is room for, the same facts."""

from __future__ import annotations

from app.tui.glyphs import BLOCKS
from app.tui.turn_lines import turn_lines
from app.views.streaming import StreamingView
from tests.app.sessions import mlp_streaming


def _views() -> list[StreamingView]:
    session, found = mlp_streaming(), []
    for step in range(session.run.timeline.steps):
        session.seek(step)
        view = session.view_streaming()
        assert view is not None
        found.append(view)
    return found


def test_a_small_window_has_two_lines_in_every_step() -> None:
    for view in _views():
        lines = [text.plain for text in turn_lines(view, BLOCKS, 80, is_tall=False)]
        assert len(lines) == 2
        assert lines[0].startswith(view.headline)
        assert "done" not in lines[0]
        assert (view.quiet or view.arriving[0].sentence) in lines[1]


def test_a_large_window_names_every_phase_and_what_is_on_its_way() -> None:
    for view in _views():
        lines = [text.plain for text in turn_lines(view, BLOCKS, 200, is_tall=True)]
        assert all(f"  {phase.name} " in lines[0] for phase in view.phases)
        rows = [row.sentence for row in view.arriving] + [row.sentence for row in view.leaving]
        told = ([view.quiet] if view.quiet else []) + rows
        assert len(lines) == 1 + min(4, len(told))
        for line, sentence in zip(lines[1:], told, strict=False):
            assert sentence in line
