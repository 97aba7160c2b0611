"""The routes of the page's scripts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from app.debugger import Debugger


def do(client: FlaskClient, session: str, command: str, *args: str | int) -> dict[str, Any]:
    answer = client.post(f"/api/do/{session}", json={"command": command, "args": list(args)})
    assert answer.status_code == 200
    plain: dict[str, Any] = answer.get_json()
    return plain


def test_page_is_served_with_its_scripts(client: FlaskClient) -> None:
    page = client.get("/").text
    assert "assets/mesh.js" in page
    assert 'lang="en"' in page
    assert "https://" not in page.replace("http://www.w3.org", "")


def test_frame_is_the_debuggers_bytes_and_kept_for_ever(
    client: FlaskClient, session: str, debugger: Debugger
) -> None:
    run = debugger.run.id
    answer = client.get(f"/api/frame/{session}/{run}/utilization/3")
    assert answer.data == debugger.frame_bytes("utilization", 3)
    assert len(answer.data) == 64 * 64
    assert "immutable" in answer.headers["Cache-Control"]


def test_bytes_metric_has_two_bytes_a_pe(
    client: FlaskClient, session: str, debugger: Debugger
) -> None:
    data = client.get(f"/api/frame/{session}/{debugger.run.id}/sram_allocated/0").data
    codes = np.frombuffer(data, "<u2").reshape(64, 64)
    assert codes.max() == debugger.run.execution.fields.field("sram_allocated", 0).max()


def test_metric_with_a_colon_has_a_frame(
    client: FlaskClient, session: str, debugger: Debugger
) -> None:
    answer = client.get(f"/api/frame/{session}/{debugger.run.id}/cause:wait-input/2")
    assert answer.status_code == 200


def test_frame_of_another_run_is_gone(client: FlaskClient, session: str) -> None:
    answer = client.get(f"/api/frame/{session}/123456/utilization/0")
    assert answer.status_code == 204
    assert "immutable" not in answer.headers["Cache-Control"]


@pytest.mark.parametrize("tail", ["utilization/999999", "no-such-metric/0"])
def test_frame_that_does_not_exist_says_so(
    client: FlaskClient, session: str, debugger: Debugger, tail: str
) -> None:
    answer = client.get(f"/api/frame/{session}/{debugger.run.id}/{tail}")
    assert answer.status_code == 404
    assert "there is no metric" in answer.text or "does not exist" in answer.text


def test_levels_cover_every_code(client: FlaskClient, session: str, debugger: Debugger) -> None:
    run = debugger.run.id
    small = client.get(f"/api/levels/{session}/{run}/utilization/0")
    wide = client.get(f"/api/levels/{session}/{run}/traffic/1")
    assert small.data == bytes(range(256))
    assert float(small.headers["X-Unit-Per-Code"]) == pytest.approx(1 / 255)
    assert len(wide.data) == 65_536
    assert wide.data[0] == 0
    assert wide.data[-1] == 255


def test_commands_move_the_debugger(client: FlaskClient, session: str, debugger: Debugger) -> None:
    do(client, session, "first")
    state = do(client, session, "event")
    assert state["cursor"]["step"] == debugger.cursor.step == 1
    assert state["error"] == ""
    assert do(client, session, "event-back")["cursor"]["step"] == 0


def test_state_names_the_steps_to_fetch_ahead(client: FlaskClient, session: str) -> None:
    do(client, session, "stride", "event")
    assert do(client, session, "seek", 5)["around"] == [6, 4, 7]


def test_wrong_command_is_answered_with_a_sentence(client: FlaskClient, session: str) -> None:
    state = do(client, session, "sek", 3)
    assert "did you mean 'seek'" in state["error"]
    assert "must be 1..4,096 samples or auto" in do(client, session, "set", "samples", "0")["error"]


@pytest.mark.parametrize("body", [None, [], {}, {"command": 3}, {"command": "seek", "args": [{}]}])
def test_malformed_request_is_answered_with_a_sentence(
    client: FlaskClient, session: str, body: Any
) -> None:
    answer = client.post(f"/api/do/{session}", json=body)
    assert answer.status_code == 200
    assert answer.get_json()["error"]


def test_page_cannot_write_files_by_path(client: FlaskClient, session: str) -> None:
    assert "downloads" in do(client, session, "export", "stolen.png")["error"]


def test_knob_answers_at_once_and_the_delta_follows(
    client: FlaskClient, session: str, debugger: Debugger
) -> None:
    first = do(client, session, "set", "samples", "2")
    assert first["status"]["job"]["what"] == "samples = 2"
    debugger.wait(60)
    status = client.get(f"/api/state/{session}").get_json()["status"]
    assert status["samples"] == 2
    assert status["delta"]["rows"][0]["name"] == "makespan"


def test_viewport_follows_the_canvas(client: FlaskClient, session: str, debugger: Debugger) -> None:
    client.post(f"/api/viewport/{session}", json={"box": [4, 6, 10, 12]})
    view = debugger.cursor.viewport
    assert (view.row, view.col, view.rows, view.cols) == (4, 6, 10, 12)


def test_viewport_that_is_no_box_is_refused(client: FlaskClient, session: str) -> None:
    answer = client.post(f"/api/viewport/{session}", json={"box": ["x"]})
    assert "four whole numbers" in answer.get_json()["error"]


def test_run_facts_hold_the_whole_mesh(
    client: FlaskClient, session: str, debugger: Debugger
) -> None:
    debugger.set_viewport(0, 0, 3, 3)
    facts = client.get(f"/api/run/{session}/{debugger.run.id}").get_json()
    names = {name for item in facts["outlines"] for name in item["name"].split(", ")}
    assert names == {kernel.id for kernel in debugger.run.program.kernels}
    assert facts["grid"] == [64, 64]


def test_timeline_of_a_part(client: FlaskClient, session: str, debugger: Debugger) -> None:
    run = debugger.run.id
    part = client.get(f"/api/timeline/{session}/{run}/10/60/25").get_json()
    assert (part["start"], part["end"]) == (10, 60)
    assert len(part["series"][0]["mean"]) == 25
    assert client.get(f"/api/timeline/{session}/{run}/60/10/25").status_code == 404


def test_pe_outside_the_mesh_is_nothing(client: FlaskClient, session: str) -> None:
    assert client.get(f"/api/pe/{session}/64/0").get_json() is None
    assert client.get(f"/api/pe/{session}/63/63").get_json()["row"] == 63


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("svg", b"<"), ("npz", b"PK")])
def test_export_is_a_download(client: FlaskClient, session: str, ending: str, magic: bytes) -> None:
    answer = client.get(f"/api/export/{session}/{ending}")
    assert answer.data.startswith(magic)
    assert f'filename="mlp-utilization-step3.{ending}"' in answer.headers["Content-Disposition"]


def test_export_of_an_unknown_kind_names_those_there_are(client: FlaskClient, session: str) -> None:
    answer = client.get(f"/api/export/{session}/exe")
    assert answer.status_code == 404
    assert "png, svg" in answer.text


def test_tables_hold_colours_metrics_and_commands(client: FlaskClient) -> None:
    tables = client.get("/api/tables/x").get_json()
    assert len(tables["themes"]["dark"]["tables"]["viridis"]) == 256
    assert tables["themes"]["light"]["tables"]["category"][2] == "#00825f"
    assert {"n", "right"} <= {key for row in tables["commands"] for key in row["keys"]}


def test_unknown_session_is_gone(client: FlaskClient) -> None:
    answer = client.get("/api/state/0-aaaaaaaa")
    assert answer.status_code == 410
    assert "reload" in answer.get_json()["error"]
