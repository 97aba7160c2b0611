"""Routes of the runs that a tab has had: its own alone, whole again, safe against any number."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.web import Registry
from demo_models import demo_path
from tests.app.web.opened import ended


def runs(client: FlaskClient, session: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/api/library/{session}").get_json()["runs"]
    return found


def state(client: FlaskClient, session: str) -> Any:
    return client.get(f"/api/state/{session}").get_json()


@pytest.fixture
def second(client: FlaskClient, session: str) -> None:
    """Leave the run of the start at step 7 and open another model."""
    client.post(f"/api/do/{session}", json={"command": "seek", "args": [7]})
    ended(client, session, client.post(f"/api/open/{session}", json={"name": "cnn"}))


def test_runs_are_listed_with_the_shown_one_first(
    client: FlaskClient, session: str, second: None
) -> None:
    shown, before = runs(client, session)
    status = state(client, session)["status"]
    assert (shown["model"], shown["machine"]) == (status["model"], status["machine"])
    assert shown["makespan_cycles"] == status["makespan"]
    assert (shown["number"], shown["is_shown"]) == (2, True)
    assert (before["number"], before["is_shown"]) == (1, False)
    assert before["model"] != shown["model"]
    assert 0 <= shown["opened_seconds_ago"] <= before["opened_seconds_ago"] < 600


def test_run_is_back_as_it_was_left_and_every_face_notices(
    client: FlaskClient, session: str, second: None, registry: Registry
) -> None:
    born = state(client, session)["born"]
    listed = client.post(f"/api/reopen/{session}/1").get_json()["runs"]
    assert [item["number"] for item in listed] == [1, 2]
    after = state(client, session)
    assert after["cursor"]["step"] == 7
    assert after["status"]["model"] == listed[0]["model"]
    assert after["born"] > born
    run = after["status"]["run_id"]
    assert client.get(f"/api/frame/{session}/{run}/traffic/7").status_code == 200


def test_deleted_run_is_gone_and_the_shown_one_stays(
    client: FlaskClient, session: str, second: None
) -> None:
    refused = client.post(f"/api/delete/{session}/2")
    assert refused.status_code == 409
    assert refused.text == "the run that is shown cannot be deleted; open another one first\n"
    listed = client.post(f"/api/delete/{session}/1").get_json()["runs"]
    assert [item["number"] for item in listed] == [2]
    for verb in ("reopen", "delete"):
        answer = client.post(f"/api/{verb}/{session}/1")
        assert answer.status_code == 409
        assert "open its file again" in answer.text


def test_no_tab_reaches_the_runs_of_another(
    client: FlaskClient, session: str, second: None, registry: Registry
) -> None:
    other = f"{registry.epoch}-bbbbbbbb"
    assert [item["number"] for item in runs(client, other)] == [1]
    for verb in ("reopen", "delete"):
        assert client.post(f"/api/{verb}/{other}/2").status_code == 409
        assert client.post(f"/api/{verb}/{'0' * 16}-bbbbbbbb/2").status_code == 410
    assert [item["number"] for item in runs(client, session)] == [2, 1]


@pytest.mark.parametrize("number", ["-1", "x", "1.5", "..%2f..%2fetc", "%00", "9" * 4000])
def test_hostile_numbers_are_refused(client: FlaskClient, session: str, number: str) -> None:
    born = state(client, session)["born"]
    for verb in ("reopen", "delete"):
        answer = client.post(f"/api/{verb}/{session}/{number}")
        assert answer.status_code in (404, 405, 409)
        client.get(f"/api/{verb}/{session}/1")  # only a post changes anything
    assert state(client, session)["born"] == born
    assert [item["number"] for item in runs(client, session)] == [1]


def test_uploaded_file_is_off_the_disk_while_its_run_is_on_the_list(
    client: FlaskClient, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = Path(demo_path("mlp"))
    data = own.read_bytes()
    ended(client, session, client.post(f"/api/upload/{session}/mine.onnx", data=data))
    assert list(tmp_path.iterdir()) == []
    model = state(client, session)["status"]["model"]
    client.post(f"/api/reopen/{session}/1")
    client.post(f"/api/reopen/{session}/2")
    assert state(client, session)["status"]["model"] == model
    client.post(f"/api/reopen/{session}/1")
    assert len(client.post(f"/api/delete/{session}/2").get_json()["runs"]) == 1
    assert own.read_bytes() == data
