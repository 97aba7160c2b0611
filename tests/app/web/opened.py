"""Opening a file in a tab, to its end."""

from __future__ import annotations

from time import monotonic, sleep
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

WAIT_SECONDS = 60.0


def ended(client: FlaskClient, session: str, answer: TestResponse) -> Any:
    """Return how an opening that was accepted has ended."""
    assert answer.status_code == 202, answer.text
    number = answer.get_json()["opening"]["id"]
    end = monotonic() + WAIT_SECONDS
    while monotonic() < end:
        opening = client.get(f"/api/news/{session}").get_json()["opening"]
        assert opening["id"] == number
        if opening["state"] != "running":
            return opening
        sleep(0.01)
    raise AssertionError(f"not opened in {WAIT_SECONDS:g} s: {opening}")
