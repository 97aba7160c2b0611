"""The courier carries out orders in order, answers once, and survives faults."""

from __future__ import annotations

import threading

from app.debugger import Debugger
from app.tui.courier import Answer, Ask, Courier, Do, Fault, Look, Order, Page, Snapshot
from app.tui.glyphs import BLOCKS
from app.views.status import StatusView
from tests.app.tui.factory import small_session


def carry(session: Debugger, *orders: Order) -> list[Answer]:
    """Queue orders before the courier starts, and return its answers."""
    answers: list[Answer] = []
    done = threading.Event()

    def deliver(answer: Answer) -> None:
        answers.append(answer)
        done.set()

    courier = Courier(session, BLOCKS, deliver)
    for order in orders:
        courier.send(order)
    courier.start()
    assert done.wait(10)
    for _ in range(500):
        if courier.is_idle:
            break
        threading.Event().wait(0.01)
    courier.stop()
    return answers


def test_waiting_orders_are_answered_by_one_snapshot() -> None:
    session = small_session()
    answers = carry(session, Do("first"), Do("event"), Do("event"), Do("metric", ("traffic",)))
    assert len(answers) == 1
    (answer,) = answers
    assert isinstance(answer, Snapshot)
    assert (answer.status.step, answer.map.metric) == (2, "traffic")
    assert answer.timeline.step == 2


def test_a_refused_command_says_why() -> None:
    (answer,) = carry(small_session(), Do("seek", ("100000",)))
    assert isinstance(answer, Snapshot)
    assert "step 100000 does not exist" in answer.error


def test_a_page_follows_its_snapshot() -> None:
    answers = carry(small_session(), Look(), Ask("knobs"))
    assert [type(answer) for answer in answers] == [Snapshot, Page]


def test_a_fault_is_told_and_the_next_order_is_carried_out() -> None:
    class Broken(Debugger):
        failed = False

        def view_status(self) -> StatusView:
            if not self.failed:
                self.failed = True
                raise RuntimeError("the sums do not balance")
            return super().view_status()

    answers: list[Answer] = []
    courier = Courier(Broken(small_session().run), BLOCKS, answers.append)
    courier.start()
    for count in (1, 2):
        courier.send(Look())
        for _ in range(500):
            if len(answers) == count and courier.is_idle:
                break
            threading.Event().wait(0.01)
    courier.stop()
    fault, snapshot = answers
    assert isinstance(fault, Fault)
    assert "RuntimeError: the sums do not balance" in fault.message
    assert isinstance(snapshot, Snapshot)
