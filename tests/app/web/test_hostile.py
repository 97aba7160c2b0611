"""Requests that mean harm: the right status, one sentence, and a server that goes on."""

from __future__ import annotations

import json
import random
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient

from app.debugger import Debugger
from app.web import Folders, Registry, create_app
from app.web.server import address_of
from tests.app.served import served_by_waitress
from tests.app.sessions import mlp_run
from tests.app.web.opened import ended

LOCAL = {"Host": "127.0.0.1:8050"}
UP = ("../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd",
      "....//etc/passwd", "..\\..\\etc\\passwd", "%00", "file:///etc/passwd")  # fmt: skip

BODIES = (
    b"", b"{", b"[]", b"null", b'{"command": 7}', b"\xff\xfe", b'{"box": [1]}',
    b'{"command": "seek", "args": [[1]]}', b'{"command": "seek", "args": ["1e999"]}',
    b'{"command": "__init__", "args": []}', b'{"box": [1e300, 0, 1, 1]}',
    b'{"box": [99999999999999999999, 0, 1, 1]}', b'{"command": "nope"}',
    b'{"command": "watch", "args": ["sram > 999999999999999999999999999999999"]}',
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "models"
    inside.mkdir()
    (tmp_path / "outside.wscope").write_bytes(b"secret of the host")
    return inside


@pytest.fixture
def client(registry: Registry, folder: Path) -> FlaskClient:
    app = create_app(registry, folders=Folders.of(folder), most_upload_bytes=1 << 20)
    client: FlaskClient = app.server.test_client()
    client.environ_base["HTTP_HOST"] = LOCAL["Host"]
    return client


def alive(client: FlaskClient, session: str) -> bool:
    return client.get(f"/api/state/{session}").status_code == 200


@pytest.mark.parametrize("tail", UP)
def test_no_route_leads_out_of_its_folder(client: FlaskClient, session: str, tail: str) -> None:
    routes = [
        str(rule)
        for rule in client.application.url_map.iter_rules()
        if "GET" in (rule.methods or ())
    ]
    for rule in routes:
        head = rule.split("<")[0]
        for path in (f"{head}{tail}", f"{head}{session}/{tail}", f"{head}{session}/1/{tail}/0"):
            answer = client.get(path)
            assert answer.status_code < 500, path
            assert b"root:" not in answer.data, path
    assert alive(client, session)


@pytest.mark.parametrize("name", ["../outside.wscope", "/etc/passwd", "..", "\0", "x" * 5000])
def test_file_outside_the_folders_is_neither_opened_nor_compared(
    client: FlaskClient, session: str, name: str
) -> None:
    answer = client.post(f"/api/open/{session}", json={"name": name})
    assert answer.status_code == 404
    assert "secret" not in answer.text
    for command in ("compare", "load-config", "save-config", "export-difference"):
        body = client.post(f"/api/do/{session}", json={"command": command, "args": [name]})
        assert body.status_code == 200
        assert body.get_json()["error"] != ""
    assert alive(client, session)


def test_page_cannot_write_outside(client: FlaskClient, session: str, folder: Path) -> None:
    outside = folder.parent / "new.yaml"
    for name in (str(outside), "../new.yaml"):
        client.post(f"/api/do/{session}", json={"command": "save-config", "args": [name]})
    assert not outside.exists()
    client.post(f"/api/do/{session}", json={"command": "save-config", "args": ["kept.yaml"]})
    assert (folder / "kept.yaml").is_file()


@pytest.mark.parametrize(
    ("name", "size", "status"),
    [("big.onnx", (1 << 20) + 1, 413), ("script.sh", 10, 415), ("a.onnx", 0, 411)],
)
def test_upload_is_bounded_in_size_and_kind(
    client: FlaskClient, session: str, name: str, size: int, status: int
) -> None:
    answer = client.post(f"/api/upload/{session}/{name}", data=b"x" * size)
    assert answer.status_code == status
    assert alive(client, session)


@pytest.mark.parametrize("ending", ["onnx", "wscope"])
@pytest.mark.parametrize("data", [b"\0" * 500, b"PK\x03\x04" + b"\xff" * 300, b"<script>" * 40])
def test_upload_of_nonsense_is_refused_in_a_sentence(
    client: FlaskClient, session: str, ending: str, data: bytes
) -> None:
    answer = client.post(f"/api/upload/{session}/a.{ending}", data=data)
    opening = ended(client, session, answer)
    assert opening["state"] == "failed"
    assert "/tmp" not in opening["message"]
    assert "waferscope-" not in opening["message"]
    assert "fault" not in opening["message"]
    assert alive(client, session)


def test_recording_that_lies_about_its_sizes_is_refused(
    client: FlaskClient, session: str, debugger: Debugger, tmp_path: Path
) -> None:
    path = debugger.export(tmp_path / "run.wscope")
    whole = path.read_bytes()
    rng = random.Random(5)
    for place in (len(whole) // 2, len(whole) - 40, *rng.sample(range(len(whole)), 6)):
        broken = bytearray(whole)
        broken[place : place + 8] = b"\xff" * len(broken[place : place + 8])
        answer = client.post(f"/api/upload/{session}/run.wscope", data=bytes(broken))
        assert "fault" not in ended(client, session, answer)["message"]
    cut = client.post(f"/api/upload/{session}/run.wscope", data=whole[: len(whole) // 3])
    assert ended(client, session, cut)["state"] == "failed"
    good = client.post(f"/api/upload/{session}/run.wscope", data=whole)
    assert ended(client, session, good)["state"] == "done"
    assert alive(client, session)


def test_opening_a_model_changes_one_tab_only(client: FlaskClient, registry: Registry) -> None:
    tabs = [f"{registry.epoch}-aaaaaaaa", f"{registry.epoch}-bbbbbbbb"]
    before = [client.get(f"/api/state/{tab}").get_json() for tab in tabs]
    answer = client.post(f"/api/open/{tabs[0]}", json={"name": "cnn"})
    assert ended(client, tabs[0], answer)["state"] == "done"
    after = [client.get(f"/api/state/{tab}").get_json() for tab in tabs]
    assert after[0]["status"]["model"] == "cnn"
    assert after[0]["born"] != before[0]["born"]
    assert after[1] == before[1]


def test_ten_thousand_bad_requests_leave_the_server_well(
    client: FlaskClient, session: str, capfd: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(1)
    bodies = [*BODIES, json.dumps({"command": "break", "args": ["(" * 3000]}).encode()]
    routes = ["do", "viewport", "open", "upload", "frame", "levels", "pe", "page", "timeline", "x",
              "read", "news", "sessions", "run", "difference", "export", "moment"]  # fmt: skip
    hosts = ["127.0.0.1", "evil.example", "", "127.0.0.1:x", "[::1", "a" * 900]
    tails = ["", "/1/2", "/-1/-1", "/999999999999999999999/1", "/traffic/0", "/view_map?height=0",
             "/view_pe?row=77&col=0", "/1/nope/0", "/1/9/1/0", "?face=" + "z" * 500]  # fmt: skip
    for _ in range(10_000):
        path = f"/api/{rng.choice(routes)}/{rng.choice([session, 'x', '%ff', '0-aaaaaaaa'])}"
        path += rng.choice(tails)
        answer = client.open(
            path, method=rng.choice(["GET", "POST", "PUT", "DELETE"]), data=rng.choice(bodies),
            headers={"Host": rng.choice(hosts), "Content-Type": "application/json"},
        )  # fmt: skip
        assert answer.status_code < 500, (path, answer.text)
        if answer.status_code >= 400 and answer.status_code != 405:
            assert answer.text.strip(), path
        assert "Traceback" not in answer.text
        assert "site-packages" not in answer.text
    assert alive(client, session)
    assert "fault" not in capfd.readouterr().err


@pytest.fixture
def port() -> Iterator[int]:
    with served_by_waitress(Debugger(mlp_run())) as address:
        yield urlsplit(address).port or 0


def talk(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), 10) as line:
        line.sendall(request)
        line.shutdown(socket.SHUT_WR)
        return line.recv(65_536)


def test_upload_cut_off_and_a_body_of_a_terabyte_are_survived(port: int) -> None:
    head = f"POST /api/upload/x/a.onnx HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    talk(port, f"{head}Content-Length: 5000\r\n\r\nhalf".encode())
    huge = talk(port, f"{head}Content-Length: 1099511627776\r\n\r\nx".encode())
    assert b" 413 " in huge.split(b"\r\n")[0]
    talk(port, b"\x16\x03\x01\x02\x00nonsense\r\n\r\n")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
        assert b"Waferscope" in answer.read()


def test_address_names_the_port(port: int) -> None:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        assert address_of(line).startswith("http://127.0.0.1:")
    assert port > 0
