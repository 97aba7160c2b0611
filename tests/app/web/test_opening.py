"""Another model in a tab: opened by a worker, with progress and cancel, while others go on."""

from __future__ import annotations

import tempfile
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.debugger import Debugger
from app.web import Registry
from app.web.opening import MOST_UNPACKED_BYTES, check_unpacked
from app.web.tab import OpeningError
from engine.progress import Progress
from tests.app.served import until
from tests.app.web.opened import ended
from tests.factories.refused import refused_model


class Gate:
    """Stands for a model that takes long to compile: it is there when the test lets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        monkeypatch.setattr(Debugger, "open", self.open)
        self._run: Any = None

    def open(self, source: object, config: object, progress: Progress) -> Debugger:
        progress.stage("placement", 10, "kernels")
        self.begun.set()
        while not self.may_end.wait(0.01):
            progress.advance(4)
        return Debugger(self._run)

    def gives(self, debugger: Debugger) -> None:
        self._run = debugger.run


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch, debugger: Debugger) -> Gate:
    found = Gate(monkeypatch)
    found.gives(debugger)
    return found


def opening_of(client: FlaskClient, session: str) -> Any:
    return client.get(f"/api/news/{session}").get_json()["opening"]


def test_steps_go_on_in_every_tab_while_a_model_is_opened(
    client: FlaskClient, session: str, registry: Registry, gate: Gate
) -> None:
    other = f"{registry.epoch}-bbbbbbbb"
    born = client.get(f"/api/state/{session}").get_json()["born"]
    answer = client.post(f"/api/open/{session}", json={"name": "cnn"})
    assert answer.status_code == 202
    assert gate.begun.wait(20)
    for tab in (session, other):
        for step in (3, 4):
            body = {"command": "seek", "args": [step]}
            state = client.post(f"/api/do/{tab}", json=body).get_json()
            assert state["cursor"]["step"] == step
            run = state["status"]["run_id"]
            assert client.get(f"/api/frame/{tab}/{run}/traffic/{step}").status_code == 200
    until(lambda: opening_of(client, session)["progress"]["done"] == 4, "the progress is told")
    assert opening_of(client, session)["state"] == "running"
    assert opening_of(client, session)["progress"]["stage"] == "placement"
    assert client.get(f"/api/state/{session}").get_json()["born"] == born
    gate.may_end.set()
    assert ended(client, session, answer)["state"] == "done"
    assert client.get(f"/api/state/{session}").get_json()["born"] != born


def test_opening_is_cancelled_and_the_run_stays(
    client: FlaskClient, session: str, gate: Gate
) -> None:
    before = client.get(f"/api/state/{session}").get_json()
    answer = client.post(f"/api/open/{session}", json={"name": "cnn"})
    assert gate.begun.wait(20)
    assert client.post(f"/api/cancel-open/{session}").get_json() == {"cancelled": True}
    assert ended(client, session, answer)["state"] == "cancelled"
    after = client.get(f"/api/state/{session}").get_json()
    assert (after["born"], after["cursor"]) == (before["born"], before["cursor"])
    assert client.post(f"/api/cancel-open/{session}").get_json() == {"cancelled": False}


def test_one_file_is_opened_at_a_time_and_who_waits_may_stop(
    client: FlaskClient, session: str, registry: Registry, gate: Gate
) -> None:
    other = f"{registry.epoch}-bbbbbbbb"
    first = client.post(f"/api/open/{session}", json={"name": "cnn"})
    assert gate.begun.wait(20)
    gate.begun.clear()
    second = client.post(f"/api/open/{other}", json={"name": "cnn"})
    until(
        lambda: opening_of(client, other)["progress"]["stage"] == "waiting for another file",
        "the second waits",
    )
    assert not gate.begun.is_set()
    client.post(f"/api/cancel-open/{other}")
    assert ended(client, other, second)["state"] == "cancelled"
    gate.may_end.set()
    assert ended(client, session, first)["state"] == "done"


def test_upload_leaves_no_file_however_it_ends(
    client: FlaskClient, session: str, gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    answer = client.post(f"/api/upload/{session}/a.onnx", data=b"x" * 100)
    assert gate.begun.wait(20)
    assert len(list(tmp_path.iterdir())) == 1
    client.post(f"/api/cancel-open/{session}")
    assert ended(client, session, answer)["state"] == "cancelled"
    assert list(tmp_path.iterdir()) == []
    gate.may_end.set()
    answer = client.post(f"/api/upload/{session}/a.onnx", data=b"x" * 100)
    assert ended(client, session, answer)["state"] == "done"
    until(lambda: not list(tmp_path.iterdir()), "the file is gone")


def test_fault_of_ours_is_told_without_its_inside(
    client: FlaskClient,
    session: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def broken(*words: object, **named: object) -> Debugger:
        raise RuntimeError("secret place /home/someone")

    monkeypatch.setattr(Debugger, "open", broken)
    answer = client.post(f"/api/open/{session}", json={"name": "cnn"})
    message = ended(client, session, answer)["message"]
    assert message == "the server has a fault; the terminal it runs in says which"
    assert "secret place" not in client.get(f"/api/refusal/{session}").text
    assert "secret place" in capfd.readouterr().err


def test_report_of_what_was_refused_is_its_tabs_own(
    client: FlaskClient, session: str, registry: Registry, tmp_path: Path
) -> None:
    assert client.get(f"/api/refusal/{session}").get_json() == {"refusal": None}
    data = refused_model(tmp_path).read_bytes()
    answer = client.post(f"/api/upload/{session}/mine.onnx", data=data)
    assert ended(client, session, answer)["state"] == "failed"
    told = client.get(f"/api/refusal/{session}").get_json()["refusal"]
    assert told["what"] == "mine.onnx"
    assert sorted(row["op"] for row in told["ops"]) == ["Det", "NonZero"]
    assert tempfile.gettempdir() not in str(told)
    other = client.get(f"/api/refusal/{registry.epoch}-bbbbbbbb").get_json()
    assert other == {"refusal": None}
    broken = client.post(f"/api/upload/{session}/broken.onnx", data=b"no model")
    ended(client, session, broken)
    told = client.get(f"/api/refusal/{session}").get_json()["refusal"]
    assert (told["what"], told["ops"]) == ("broken.onnx", [])
    assert tempfile.gettempdir() not in str(told)


def test_recording_that_unpacks_to_gigabytes_is_refused_before_it_is_read(
    client: FlaskClient, session: str, tmp_path: Path
) -> None:
    path = tmp_path / "bomb.wscope"
    block = bytes(1 << 20)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bundle:
        bundle.writestr("manifest.json", "{}")
        bundle.writestr("timeline.npy", block)
        for item in bundle.infolist():
            item.file_size = MOST_UNPACKED_BYTES  # the table claims more than there is
    with pytest.raises(OpeningError, match="at most 2,147,483,648 B"):
        check_unpacked(path)
    answer = client.post(f"/api/upload/{session}/bomb.wscope", data=path.read_bytes())
    opening = ended(client, session, answer)
    assert opening["state"] == "failed"
    assert "at most 2,147,483,648 B are unpacked here" in opening["message"]
    assert opening["message"].count("bomb") == 0
