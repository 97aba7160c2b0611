"""Moving the cursor: strides, seeks, another run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.commands import CommandError
from app.runs.opening import open_run
from app.session import moves, places
from tests.app.sessions import mesh_config, mlp_run


def test_kernel_stride_stops_where_each_kernel_takes_the_sample() -> None:
    run, cursor = mlp_run(), moves.start(mlp_run()).at(0)
    starts = run.timeline.start[:, 0]
    for cycle in starts:
        cursor = moves.step(run, cursor, 1).cursor
        assert run.timeline.times[cursor.step] == cycle


def test_kernel_stride_ends_with_the_sample_and_says_so() -> None:
    run = mlp_run()
    move = moves.step(run, moves.start(run), 99)
    assert run.timeline.times[move.cursor.step] == run.timeline.end[:, 0].max()
    assert "sample 1" in moves.step(run, move.cursor, 1).message


def test_stepping_back_undoes_stepping_forward() -> None:
    run = mlp_run()
    first = moves.step(run, moves.start(run), 1).cursor
    there = moves.step(run, first, 2).cursor
    assert moves.step(run, there, -2).cursor == first


def test_sample_stride_follows_the_sample() -> None:
    run = mlp_run()
    cursor = moves.set_stride(run, moves.start(run).at(0), "sample").cursor
    samples = []
    for _ in range(3):
        cursor = moves.step(run, cursor, 1).cursor
        samples.append(cursor.sample)
        assert run.timeline.times[cursor.step] == run.timeline.start[:, cursor.sample].min()
    assert samples == [0, 1, 2]


def test_event_stride_moves_one_step_and_stays_inside() -> None:
    run = mlp_run()
    cursor = moves.set_stride(run, moves.start(run).at(0), "event").cursor
    assert moves.step(run, cursor, 1).cursor.step == 1
    assert moves.step(run, cursor, -1).cursor.step == 0
    assert "first step" in moves.step(run, cursor, -1).message
    assert moves.step(run, cursor, 10**9).cursor.step == run.timeline.steps - 1


def test_seek_counts_from_the_end_and_refuses_what_is_outside() -> None:
    run = mlp_run()
    cursor = moves.start(run)
    assert moves.seek(run, cursor, -1).cursor.step == run.timeline.steps - 1
    with pytest.raises(CommandError, match=rf"steps 0\.\.{run.timeline.steps - 1}"):
        moves.seek(run, cursor, run.timeline.steps)


def test_seek_cycle_finds_the_step_that_holds_it() -> None:
    run = mlp_run()
    cycle = run.timeline.makespan // 2
    step = moves.seek_cycle(run, moves.start(run), cycle).cursor.step
    assert run.timeline.times[step] <= cycle < run.timeline.times[step + 1]


def test_session_begins_where_something_computes() -> None:
    run = mlp_run()
    cursor = moves.start(run)
    busy = run.execution.fields.sums("utilization")
    assert busy[cursor.step] > 0
    assert not busy[: cursor.step].any()
    assert f"opened at step {cursor.step}, the first" in moves.greeting(run, cursor)
    assert moves.greeting(run, cursor.at(0)) == ""


def test_peak_step_has_the_highest_value_of_all_steps() -> None:
    run = mlp_run()
    cursor = places.set_metric(moves.start(run), "sram_live").cursor
    step = moves.seek_peak(run, cursor).cursor.step
    fields = run.execution.fields
    tops = [int(fields.field("sram_live", s).max()) for s in range(run.timeline.steps)]
    assert tops[step] == max(tops)


def test_goto_takes_a_step_a_pe_or_a_kernel() -> None:
    run, cursor = mlp_run(), moves.start(mlp_run())
    assert moves.goto(run, cursor, "7").cursor.step == 7
    assert moves.goto(run, cursor, "3, 4").cursor.selection.pe == (3, 4)
    assert moves.goto(run, cursor, "sco").cursor.selection.kernel == "scores"


def test_selection_outside_another_run_is_dropped() -> None:
    run = mlp_run()
    cursor = places.select_pe(run, moves.start(run), 63, 63).cursor
    carried = moves.carry(run, mlp_run(8), cursor)
    assert carried.selection.pe == (63, 63)
    assert 0 <= carried.step < mlp_run(8).timeline.steps


def test_layer_stride_stops_where_the_sample_enters_another_layer() -> None:
    run = open_run(872, "transformer", mesh_config(96, 2), {}).run
    cursor = moves.select_sample(run, moves.start(run).at(0), 1).cursor
    cursor = moves.set_stride(run, cursor, "layer").cursor
    starts = {
        k.id: start[1] for k, start in zip(run.program.kernels, run.timeline.start, strict=True)
    }
    firsts = [min(at for name, at in starts.items() if name.startswith(head))
              for head in ("embed", "h0", "h1", "logits")]  # fmt: skip
    said = []
    for cycle in (*firsts, run.timeline.end[:, 1].max()):
        move = moves.step(run, cursor, 1)
        cursor = move.cursor
        said.append(move.message)
        assert run.timeline.step_at(cycle) == cursor.step
    assert said == [
        "sample 1 enters embed/token, outside of all layers", "sample 1 enters h0",
        "sample 1 enters h1", "sample 1 enters logits, outside of all layers", "sample 1 is done",
    ]  # fmt: skip
    assert moves.step(run, cursor, -2).message == said[2]
    assert moves.step(run, cursor, 1).message == "this is the last stop of the run"


def test_strides_in_a_streaming_run_stop_at_kernels_not_at_their_weights() -> None:
    config = replace(mesh_config(96, 1), mode="streaming")
    run = open_run(872, "transformer", config, {}).run
    starts = run.timeline.start[: len(run.program.kernels), 0]
    assert len(run.timeline.start) > len(starts)
    wanted = [run.timeline.step_at(cycle) for cycle in sorted({*starts.tolist()})]
    assert moves.stops_of(run, moves.start(run).at(0))[:-1].tolist() == wanted
    cursor = moves.set_stride(run, moves.start(run).at(0), "layer").cursor
    assert "enters h0" in [moves.step(run, cursor, n).message[9:] for n in (1, 2)]


def test_layer_stride_says_when_a_model_has_no_layers() -> None:
    run = mlp_run()
    lone = replace(run.program, kernels=run.program.kernels[:1])
    lone_run = replace(run, execution=replace(run.execution, program=lone))
    assert "has no layers" in moves.set_stride(lone_run, moves.start(run), "layer").message
    assert "has no layers" not in moves.set_stride(run, moves.start(run), "kernel").message
