"""Fixtures of the app's tests."""

from __future__ import annotations

import signal

import pytest

from app.debugger import Debugger
from tests.app.sessions import mlp_session


@pytest.fixture(scope="session", autouse=True)
def heard_interrupts() -> None:
    """Hear Ctrl-C in programs that tests start: a run in the background would leave it ignored."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def debugger() -> Debugger:
    """A fresh session on the mlp demo."""
    return mlp_session()
