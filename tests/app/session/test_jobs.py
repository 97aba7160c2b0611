"""The worker: newest wins, cancel, failures in a sentence."""

from __future__ import annotations

import threading

from app.session.jobs import Jobs
from engine.progress import Progress


def _wait_for_cancel(progress: Progress) -> int:
    while True:
        progress.check()
        threading.Event().wait(0.001)


def _fail(progress: Progress) -> int:
    raise ValueError("region 8x12 has no room")


def _break(progress: Progress) -> int:
    raise ZeroDivisionError("oops")


def test_result_is_handed_over_and_progress_is_seen() -> None:
    jobs, found = Jobs((ValueError,)), list[int]()

    def work(progress: Progress) -> int:
        progress.stage("placement", 4, "kernels")
        progress.advance(4)
        return 7

    jobs.start("samples = 8", work, found.append)
    state = jobs.wait(10)
    assert found == [7]
    assert state is not None
    assert (state.state, state.what, state.progress.done) == ("done", "samples = 8", 4)


def test_newest_job_wins() -> None:
    jobs, found = Jobs((ValueError,)), list[str]()
    jobs.start("old", _wait_for_cancel, lambda n: found.append("old"))
    jobs.start("new", lambda progress: 1, lambda n: found.append("new"))
    state = jobs.wait(10)
    assert found == ["new"]
    assert state is not None
    assert (state.id, state.state) == (2, "done")


def test_cancelled_job_hands_over_nothing() -> None:
    jobs, found = Jobs((ValueError,)), list[int]()
    jobs.start("slow", _wait_for_cancel, found.append)
    assert jobs.cancel()
    state = jobs.wait(10)
    assert found == []
    assert state is not None
    assert state.state == "cancelled"
    assert not jobs.cancel()


def test_failure_is_the_users_sentence() -> None:
    jobs, said = Jobs((ValueError,)), list[str]()
    jobs.start("x", _fail, lambda n: None, said.append)
    state = jobs.wait(10)
    assert state is not None
    assert (state.state, state.message) == ("failed", "region 8x12 has no room")
    assert said == ["region 8x12 has no room"]


def test_fault_of_ours_is_called_one() -> None:
    jobs = Jobs((ValueError,))
    jobs.start("x", _break, lambda n: None)
    state = jobs.wait(10)
    assert state is not None
    assert "internal fault: ZeroDivisionError" in state.message
