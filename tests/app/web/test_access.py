"""Names, tokens and base paths of a server."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from app.debugger import Debugger
from app.web import Access, AccessError, Registry, create_app, make_access
from app.web.access import COOKIE, base_path

LOCAL = {"Host": "127.0.0.1:8050"}


def client_of(debugger: Debugger, access: Access) -> tuple[FlaskClient, str]:
    registry = Registry(debugger)
    client: FlaskClient = create_app(registry, access).server.test_client()
    return client, f"{registry.epoch}-0123456789"


def test_other_machines_need_a_token() -> None:
    with pytest.raises(AccessError, match="token"):
        Access("0.0.0.0")
    assert make_access("127.0.0.1").token == ""
    assert len(make_access("0.0.0.0").token) >= 32
    assert make_access("0.0.0.0").token != make_access("0.0.0.0").token


@pytest.mark.parametrize("text", ["/a/../b", "/a b/", "/<x>/", "a?b"])
def test_base_path_holds_nothing_but_names(text: str) -> None:
    with pytest.raises(AccessError, match="base-path"):
        base_path(text)


def test_base_path_gets_its_slashes() -> None:
    assert [base_path(text) for text in ("", "/", "tool", "/a/b/")] == [
        "/", "/", "/tool/", "/a/b/"
    ]  # fmt: skip


def test_open_server_answers_to_addresses_but_not_to_foreign_names() -> None:
    access = Access("0.0.0.0", "secret", names=("wafer.example",))
    assert access.answers_to("192.0.2.7:8050")
    assert access.answers_to("[2001:db8::1]:8050")
    assert access.answers_to("wafer.example")
    assert not access.answers_to("evil.example:8050")
    assert not access.answers_to("192.0.2.7.evil.example")


@pytest.mark.parametrize("path", ["/", "/api/state/{}", "/assets/mesh.js", "/_dash-layout"])
def test_nothing_is_shown_without_the_token(debugger: Debugger, path: str) -> None:
    client, session = client_of(debugger, Access("0.0.0.0", "secret"))
    answer = client.get(path.format(session), headers=LOCAL)
    assert answer.status_code == 401
    assert "token" in answer.text
    assert "secret" not in answer.text
    assert client.get("/?token=wrong", headers=LOCAL).status_code == 401


def test_token_is_shown_once_and_a_cookie_follows(debugger: Debugger) -> None:
    client, session = client_of(debugger, Access("0.0.0.0", "secret"))
    answer = client.get("/?token=secret", headers=LOCAL)
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/"
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "secret" not in cookie
    kept = {**LOCAL, "Cookie": cookie.split(";")[0]}
    assert client.get("/", headers=kept).status_code == 200
    assert client.get(f"/api/state/{session}", headers=kept).status_code == 200


def test_cookie_of_another_server_opens_nothing(debugger: Debugger) -> None:
    client, _ = client_of(debugger, Access("0.0.0.0", "secret"))
    other = Access("0.0.0.0", "secret").cookie()
    answer = client.get("/", headers={**LOCAL, "Cookie": f"{COOKIE}={other}"})
    assert answer.status_code == 401


def test_everything_lies_below_the_base_path(debugger: Debugger) -> None:
    client, session = client_of(debugger, Access(base="/tool/"))
    page = client.get("/tool/", headers=LOCAL)
    assert page.status_code == 200
    assert "/tool/assets/mesh.js" in page.text
    assert client.get(f"/tool/api/state/{session}", headers=LOCAL).status_code == 200
    assert client.get(f"/api/state/{session}", headers=LOCAL).status_code == 404
    refused = client.get(
        f"/tool/api/state/{session}", headers={**LOCAL, "Origin": "http://evil.example"}
    )
    assert refused.status_code == 403
