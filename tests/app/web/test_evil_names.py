"""Scripts in the names of a model stay text in every answer and every file."""

from __future__ import annotations

import json

import pytest
from flask.testing import FlaskClient

from app.debugger import Debugger
from app.web import Registry
from app.web.pages import PAGES
from tests.app.web.evil import EVIL, evil_model
from tests.app.web.opened import ended


@pytest.fixture
def opened(client: FlaskClient, session: str, registry: Registry) -> Debugger:
    answer = client.post(f"/api/upload/{session}/evil.onnx", data=evil_model())
    assert ended(client, session, answer)["state"] == "done"
    debugger = registry.get(session)
    assert any(
        "onerror" in node for row in debugger.view_report().rows for node in row.source_nodes
    )
    return debugger


def test_answers_that_hold_names_are_no_pages(
    client: FlaskClient, session: str, opened: Debugger
) -> None:
    run = opened.run.id
    kernel = opened.run.program.kernels[0].id
    client.post(f"/api/do/{session}", json={"command": "kernel", "args": [kernel]})
    paths = [f"/api/{what}/{session}" for what in ("state", "news", "library")]
    paths += [f"/api/page/{session}/{name}" for name in PAGES]
    paths += [f"/api/read/{session}/view_{name}" for name in ("report", "kernel", "values")]
    paths += [f"/api/run/{session}/{run}", f"/api/moment/{session}/dark", "/api/sessions"]
    held = 0
    for path in paths:
        answer = client.get(path)
        assert answer.mimetype == "application/json", path
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        held += "onerror" in json.dumps(answer.get_json())
    assert held >= 3
    assert "onerror" not in client.get("/").text


def test_refusals_that_repeat_a_name_are_plain_text(
    client: FlaskClient, session: str, opened: Debugger
) -> None:
    for command in ("kernel", "goto", "search", "metric", "break"):
        body = client.post(f"/api/do/{session}", json={"command": command, "args": [EVIL]})
        assert body.mimetype == "application/json"
    for path in (f"/api/page/{session}/{EVIL}", f"/api/read/{session}/{EVIL}", f"/{EVIL}"):
        answer = client.get(path)
        assert answer.mimetype != "text/html" or "onerror" not in answer.text, path
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("ending", ["svg", "html"])
def test_files_that_a_browser_opens_hold_no_script_of_a_name(
    client: FlaskClient, session: str, opened: Debugger, ending: str
) -> None:
    kernel = opened.run.program.kernels[0].id
    client.post(f"/api/do/{session}", json={"command": "kernel", "args": [kernel]})
    text = client.get(f"/api/export/{session}/{ending}").text
    assert "product" in text or "graph" in text
    assert "<img src=x" not in text
    assert "<script>window.hacked" not in text
    assert "</script>'" not in text
