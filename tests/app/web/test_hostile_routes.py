"""Every route there is, found in the app itself, against those who may not and those who mean harm.

A route that is added is covered by that alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from app.debugger import Debugger
from app.web import Access, Folders, Registry, create_app
from tests.app.sessions import mlp_session

LOCAL = {"Host": "127.0.0.1:8050"}
SECRET = "what only the host may read"
UP = ("../../{}", "..%2f..%2f{}", "%2e%2e/%2e%2e/{}", "....//....//{}", "..\\..\\{}",
      "..%5c..%5c{}", "/{}", "//{}", "%2f{}", "..%252f..%252f{}", "..%c0%af{}", "%00{}", "file://{}",
      "~/{}", "{}%00.onnx", "{}")  # fmt: skip
FOREIGN = ("evil.example", "evil.example:8050", "127.0.0.1.evil.example", "192.0.2.9:8050", "")
NOT_IN: tuple[dict[str, str], ...] = (
    {}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic c2VjcmV0LXRva2Vu"},
    {"Authorization": "Bearer"}, {"Cookie": "waferscope=00"},
)  # fmt: skip
LEAKS = ("Traceback", "site-packages", "werkzeug.", '.py"', 'File "')


class Place:
    """An app with a secret next to its folder."""

    def __init__(self, folder: Path, access: Access | None = None) -> None:
        self.inside = folder / "models"
        self.inside.mkdir()
        self.secret = folder / "secret.wscope"
        self.secret.write_text(SECRET, encoding="utf-8")
        self.registry = Registry(mlp_session())
        app = create_app(self.registry, access, Folders.of(self.inside), 1 << 20)
        self.client: FlaskClient = app.server.test_client()
        self.session = f"{self.registry.epoch}-0123456789"
        self.run = self.debugger.run.id

    @property
    def debugger(self) -> Debugger:
        return self.registry.get(self.session)

    def rules(self) -> list[Rule]:
        """Return all routes."""
        return list(self.client.application.url_map.iter_rules())

    def requests(self) -> Iterator[tuple[str, str]]:
        """Return (method, path) of a request to each route that is right in all its parts."""
        for rule in self.rules():
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
                yield method, self.fill(rule, {})

    def fill(self, rule: Rule, parts: dict[str, str]) -> str:
        """Return a route's path, each part as given or as it should be."""
        right: dict[str, Any] = {
            "session": self.session, "run": self.run, "name": "view_status", "metric": "traffic",
            "step": 0, "row": 0, "col": 0, "theme": "dark", "ending": "png", "log": 0, "start": 0,
            "end": 9, "bins": 3, "what": "run", "epoch": self.registry.epoch, "path": "a",
        }  # fmt: skip
        words = []
        for is_part, text in rule._trace:
            words.append(str(parts.get(text, right.get(text, "x"))) if is_part else text)
        return "".join(words).lstrip("|")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def locked(tmp_path: Path) -> Place:
    return Place(tmp_path, Access("0.0.0.0", "secret-token"))


def test_the_routes_are_found_and_right_requests_are_answered(place: Place) -> None:
    paths = {path.split("/")[2] for _, path in place.requests() if path.startswith("/api/")}
    assert {"state", "do", "viewport", "frame", "read", "news", "sessions", "open", "upload"} <= (
        paths
    )
    for method, path in place.requests():
        if method == "GET" and path.startswith("/api/") and "/page/" not in path:
            assert place.client.get(path, headers=LOCAL).status_code in (200, 204), path


@pytest.mark.parametrize("host", FOREIGN)
def test_no_route_answers_to_a_foreign_name(place: Place, host: str) -> None:
    for method, path in place.requests():
        answer = place.client.open(path, method=method, headers={"Host": host}, json={})
        assert answer.status_code == 403, (method, path)
        assert "--allow-name" in answer.text


def test_no_route_answers_without_the_token(locked: Place) -> None:
    for given in NOT_IN:
        for method, path in locked.requests():
            answer = locked.client.open(path, method=method, headers={**LOCAL, **given}, json={})
            assert answer.status_code == 401, (method, path, given)
            assert "secret-token" not in answer.text + str(answer.headers)
    right = {**LOCAL, "Authorization": "Bearer secret-token"}
    assert locked.client.get(f"/api/state/{locked.session}", headers=right).status_code == 200


@pytest.mark.parametrize(
    "sign",
    [
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:9"},
        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)  # fmt: skip
def test_nothing_that_changes_is_done_for_a_page_of_another_site(
    place: Place, sign: dict[str, str]
) -> None:
    before = place.debugger.cursor, place.debugger.revision
    body = {"command": "last", "args": [], "box": [0, 0, 2, 2], "name": "cnn"}
    guarded = 0
    for method, path in place.requests():
        if method == "GET" and not path.startswith("/api/"):
            continue
        answer = place.client.open(path, method=method, headers={**LOCAL, **sign}, json=body)
        assert answer.status_code == 403, (method, path)
        guarded += 1
    assert guarded > 12
    assert (place.debugger.cursor, place.debugger.revision) == before


@pytest.mark.parametrize("shape", UP)
def test_no_part_of_any_route_leads_outside(place: Place, shape: str) -> None:
    targets = (str(place.secret)[1:], "secret.wscope", "etc/passwd")
    for rule, target in itertools.product(place.rules(), targets):
        for part in rule.arguments:
            path = place.fill(rule, {part: shape.format(target)})
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
                answer = place.client.open(path, method=method, headers=LOCAL, data=b"x")
                seen = answer.text
                assert answer.status_code < 500, (method, path, seen)
                assert SECRET not in seen, (method, path)
                assert "root:" not in seen, (method, path)
                assert not any(leak in seen for leak in LEAKS), (method, path)


@pytest.mark.parametrize("shape", UP)
def test_no_name_in_a_body_or_question_leads_outside(place: Place, shape: str) -> None:
    for target in (str(place.secret)[1:], "secret.wscope", "etc/passwd"):
        name = shape.format(target)
        opened = place.client.post(f"/api/open/{place.session}", json={"name": name}, headers=LOCAL)
        assert opened.status_code == 404
        assert SECRET not in opened.text
        for command in ("compare", "load-config", "save-config", "export-difference"):
            answer = place.client.post(
                f"/api/do/{place.session}", json={"command": command, "args": [name]}, headers=LOCAL
            )
            assert answer.get_json()["error"], (command, name)
        asked = place.client.get(
            f"/api/read/{place.session}/view_kernel", query_string={"name": name}, headers=LOCAL
        )
        assert asked.status_code in (200, 422)
        assert SECRET not in asked.text
    assert place.secret.read_text(encoding="utf-8") == SECRET
    assert [item.name for item in place.inside.parent.iterdir() if item != place.inside] == [
        "secret.wscope"
    ]


def test_every_view_refuses_what_it_does_not_take(place: Place) -> None:
    names = ("view_map", "view_pe", "view_timeline", "view_explain", "view_difference", "find_hot")
    odd = ("", "0", "-1", "1e9", "999999999", "9" * 40, "nan", "<b>", "x" * 5000, "\x00", "None")
    for name, text in itertools.product(names, odd):
        for word in ("height", "row", "bins", "start", "target", "scope", "what", "self", "__x"):
            answer = place.client.get(
                f"/api/read/{place.session}/{name}",
                query_string={word: text, "width": "8"}, headers=LOCAL,
            )  # fmt: skip
            assert answer.status_code in (200, 422), (name, word, text, answer.text)
            assert not any(leak in answer.text for leak in LEAKS)
    for name in ("do", "export", "_lock", "__init__", "view_page", "save_config", "open"):
        answer = place.client.get(f"/api/read/{place.session}/{name}", headers=LOCAL)
        assert answer.status_code == 404
