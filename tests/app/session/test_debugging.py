"""Breakpoints and explanations as verbs of a session: run on, run back, say why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.commands import CommandError
from app.debugger import Debugger
from app.session.surveying import PAGES
from app.views.breaks import StopView
from app.watch.breaks import Breakpoint
from tests.app.sessions import mlp_streaming
from tests.factories.worked import worked_run


@pytest.fixture
def session() -> Debugger:
    """A session on the worked example with slots 1/1."""
    return Debugger(worked_run(1, 1))


def _stop(session: Debugger) -> StopView:
    stop = session.view_breaks().stop
    assert stop is not None
    return stop


def test_reverse_continue_onto_a_limit_of_live_sram(session: Debugger) -> None:
    session.do("last")
    session.do("watch", "sram >= 200")
    session.do("reverse")
    assert session.run.step_bounds(session.cursor.step)[0] == 15
    assert session.cursor.selection.pe == (0, 1)
    assert "out slot 'h2' grew by 100 B" in session.message
    assert [row.level for row in _stop(session).chain][:2] == ["buffer", "route"]
    with pytest.raises(CommandError, match="no breakpoint 7"):
        session.do("delete", 7)


def test_reverse_continue_onto_a_full_link(session: Debugger) -> None:
    session.seek_cycle(41)
    session.do("watch", "link > 90%")
    session.do("reverse")
    assert _stop(session).cycle == 35
    assert "k1 to k2" in session.message


def test_the_map_marks_what_stopped_the_run_in_its_step_alone(session: Debugger) -> None:
    assert session.view_map(3, 3).hit is None
    session.seek_cycle(41)
    session.do("watch", "link > 90%")
    session.do("reverse")
    hit = session.view_map(3, 3).hit
    assert hit is not None
    assert ((hit.row, hit.col), hit.plane) == (_stop(session).pe, "east")
    assert hit.text == session.message
    session.do("clear")
    assert session.view_map(3, 3).hit == hit
    session.do("event")
    assert session.view_map(3, 3).hit is None
    session.do("event-back")
    assert session.view_map(3, 3).hit == hit


def test_a_stop_at_no_pe_marks_none(session: Debugger) -> None:
    session.do("until", "step == 5")
    assert session.cursor.step == 5
    assert session.view_map(3, 3).hit is None


def test_a_mark_goes_with_its_run(debugger: Debugger) -> None:
    debugger.do("until", "kernel == fc1 and starts")
    assert debugger.hit_mark() is not None
    debugger.do("set", "slots", "3")
    debugger.wait(60)
    assert debugger.hit_mark() is None


def test_a_watch_on_allocated_sram_answers_with_the_compile(session: Debugger) -> None:
    answer = session.do("watch", "sram allocated > 150")
    assert "the memory stage allocated 200 of 49,152 B on k2's fullest PE (fits)" in answer
    assert "in slot 'h1' 100 B, out slot 'h2' 100 B" in answer
    session.do("continue")
    assert session.cursor.step == session.run.timeline.steps - 1
    assert "the memory stage allocated" in session.message
    assert session.view_breaks().rows[0].note == "decided at compile, true in every step for k2"


def test_continue_goes_from_stop_to_stop_and_ends(session: Debugger) -> None:
    session.do("break", "kernel k3 start")
    cycles = []
    for _ in range(3):
        session.do("continue")
        cycles.append(session.run.step_bounds(session.cursor.step)[0])
    assert cycles == [40, 65, 90]
    session.do("continue")
    assert "no breakpoint turns true after step" in session.message
    row = session.view_breaks().rows[0]
    assert (row.hits, row.stops, row.next_step) == (3, 3, None)


def test_once_ignore_disable(session: Debugger) -> None:
    session.do("break", "kernel k2 start")  # cycles 15, 40, 65
    session.do("ignore", 1, 1)
    session.do("once", 1)
    session.do("continue")
    assert session.run.step_bounds(session.cursor.step)[0] == 40
    assert session.view_breaks().rows == ()
    session.do("break", "cycle 65")
    session.do("disable", 2)
    with pytest.raises(CommandError, match="no breakpoint is on"):
        session.do("continue")
    session.do("enable", 2)
    session.do("continue")
    assert session.run.step_bounds(session.cursor.step)[0] == 65
    with pytest.raises(CommandError, match="must be 0 or more"):
        session.do("ignore", 2, -1)


def test_until_needs_no_breakpoint(session: Debugger) -> None:
    session.do("until", "kernel == k3 and starts")
    assert session.run.step_bounds(session.cursor.step)[0] == 40
    session.do("until-back", "sram >= 200")
    assert session.run.step_bounds(session.cursor.step)[0] == 15
    assert _stop(session).id == 0
    assert session.view_breaks().rows == ()
    session.do("until", "waiting > 99")
    assert "'waiting > 99' does not turn true after" in session.message
    session.do("until-back", "allocated > 150")
    assert "the memory stage allocated 200" in session.message


def test_a_broken_condition_changes_nothing(session: Debugger) -> None:
    with pytest.raises(CommandError, match=r"column 1 of 'srm > 5': .*did you mean 'sram'"):
        session.do("watch", "srm > 5")
    assert session.view_breaks().rows == ()


def test_explain_names_both_tied_causes(session: Debugger) -> None:
    session.seek_cycle(36)
    answer = session.do("explain", "kernel k2")
    assert "wait-output and wait-fabric (tied)" in answer
    assert session.view_explain().target == "k2"
    assert len(session.view_explain("pe 0,1").ties) == 2
    session.do("pe", 0, 2)
    assert session.view_explain().target == "PE (0, 2)"  # the selection moved on


def test_a_breakpoint_that_another_run_lacks_is_kept_with_a_note(debugger: Debugger) -> None:
    debugger.do("break", "kernel fc1 start")
    debugger._breaks = (*debugger._breaks, _foreign())
    row = debugger.view_breaks().rows[1]
    assert "there is no kernel 'k2'" in row.note
    debugger.do("continue")
    assert debugger.view_breaks().stop is not None


def _foreign() -> Breakpoint:
    item = Debugger(worked_run(1, 1)).add_break("kernel k2 start")
    return replace(item, id=9)


def test_bottleneck_sums_to_the_makespan(session: Debugger) -> None:
    view = session.view_bottleneck()
    assert sum(row.cycles for row in view.rows) == view.makespan == 100
    assert (view.kind, view.kernel) == ("compute", "k2")
    assert view.bound_cycles == 60
    assert "the lower bound of these kernels is 60 cycles (60.0 %)" in view.sentence


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_views_with_a_json_form(session: Debugger, page: str) -> None:
    import json

    plain = session.view_page(page).to_json()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["sentence"]
    assert plain["standing"]


def test_breakpoints_on_starts_and_samples_stop_a_streaming_run() -> None:
    session = mlp_streaming()
    session.do("break", "kernel fc1 start")
    session.do("first")
    session.do("continue")
    assert "fc1 starts" in session.message
    starts = session.run.timeline.start
    assert session.run.step_bounds(session.cursor.step)[0] == starts[1, 0]
    session.do("break", "sample 1")
    session.do("continue")
    assert session.run.step_bounds(session.cursor.step)[0] == starts[:3, 1].min()


def test_a_pe_of_a_streaming_run_belongs_to_the_kernel_whose_turn_it_is() -> None:
    session = mlp_streaming()
    run, seen = session.run, set()
    for step in range(run.timeline.steps):
        session.seek(step)
        session.select_pe(0, 0)
        turn = session.view_streaming()
        pe = session.view_pe()
        assert pe is not None
        assert turn is not None
        if not turn.is_waiting:
            assert (pe.kernel,) == turn.turn
            assert session.cursor.selection.kernel == pe.kernel
            seen.add(pe.kernel)
    assert seen == {kernel.id for kernel in run.program.kernels}


def test_a_pe_outside_the_tiles_of_a_turn_is_explained() -> None:
    session = mlp_streaming()
    last = session.run.program.kernels[-1]
    assert not last.region.contains(60, 60)
    start = int(session.run.timeline.start[len(session.run.program.kernels) - 1, 0])
    session.seek(session.run.timeline.step_at(start))
    session.select_pe(60, 60)
    pe = session.view_pe()
    assert pe is not None
    assert "it waits meanwhile" in pe.tile
    told = " ".join(row.sentence for row in session.view_explain().chain)
    assert "this PE has nothing to do" in told
