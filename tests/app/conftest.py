"""Fixtures of the app's tests."""

from __future__ import annotations

import pytest

from app.debugger import Debugger
from tests.app.sessions import mlp_session


@pytest.fixture
def debugger() -> Debugger:
    """A fresh session on the mlp demo."""
    return mlp_session()
