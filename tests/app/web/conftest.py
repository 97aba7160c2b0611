"""Fixtures of the browser face: an app on a fresh session, its client, a tab's id."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from app.debugger import Debugger
from app.web import Registry, create_app
from tests.app.sessions import mlp_session


@pytest.fixture
def debugger() -> Debugger:
    return mlp_session()


@pytest.fixture
def registry(debugger: Debugger) -> Registry:
    return Registry(debugger)


@pytest.fixture
def client(registry: Registry) -> FlaskClient:
    client: FlaskClient = create_app(registry).server.test_client()
    client.environ_base["HTTP_HOST"] = "127.0.0.1:8050"
    return client


@pytest.fixture
def session(registry: Registry) -> str:
    return f"{registry.epoch}-0123456789"
