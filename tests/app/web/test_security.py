"""Who is let in: this machine's pages of our own address."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from app.web.access import Access
from app.web.security import is_same_site


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8050", "localhost", "LOCALHOST:1", "[::1]", "[::1]:8050"]
)
def test_this_machine_is_let_in(host: str) -> None:
    assert Access().answers_to(host)


@pytest.mark.parametrize(
    "host", ["", "evil.example", "evil.example:8050", "127.0.0.1.evil.example", "127.0.0.1:8050:x",
             "127.0.0.1:", "localhost.evil.example:80", "10.0.0.1:8050"],
)  # fmt: skip
def test_other_names_are_refused(host: str) -> None:
    assert not Access().answers_to(host)


def test_same_site_needs_the_same_origin() -> None:
    host = "127.0.0.1:8050"
    assert is_same_site(None, None, host)
    assert is_same_site("http://127.0.0.1:8050", "same-origin", host)
    assert not is_same_site("http://127.0.0.1:9999", None, host)
    assert not is_same_site("null", None, host)
    assert not is_same_site(None, "cross-site", host)
    assert not is_same_site(None, "same-site", host)


def test_rebound_name_gets_no_page(client: FlaskClient) -> None:
    answer = client.get("/", headers={"Host": "evil.example:8050"})
    assert answer.status_code == 403
    assert "ssh -L" in answer.text


def test_cross_site_post_changes_nothing(client: FlaskClient, session: str) -> None:
    before = client.get(f"/api/state/{session}").get_json()["cursor"]
    answer = client.post(
        f"/api/do/{session}", json={"command": "last"}, headers={"Origin": "http://evil.example"}
    )
    assert answer.status_code == 403
    assert client.get(f"/api/state/{session}").get_json()["cursor"] == before


def test_cross_site_post_to_a_callback_is_refused(client: FlaskClient) -> None:
    answer = client.post(
        "/_dash-update-component", json={}, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert answer.status_code == 403


def test_page_may_not_call_elsewhere(client: FlaskClient) -> None:
    policy = client.get("/").headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "connect-src 'self'" in policy
    assert "https:" not in policy
