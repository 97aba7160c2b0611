"""The public API as a user imports it."""

from __future__ import annotations

from pathlib import Path

import pytest
import waferscope


def test_run_summary_save_and_verify(tmp_path: Path) -> None:
    run = waferscope.run("mlp", "mesh-64x64", samples=2)
    assert waferscope.summary(run)["samples"] == 2
    waferscope.save(run, tmp_path / "r.wscope")
    assert all(check.ok for check in waferscope.verify(tmp_path / "r.wscope"))


def test_open_gives_a_session() -> None:
    session = waferscope.open("mlp", "mesh-64x64")
    session.step()
    assert session.cursor.step > 0


def test_wrong_machine_names_the_nearest() -> None:
    with pytest.raises(waferscope.MachineError, match="wse2"):
        waferscope.open("mlp", "wse22")


def test_machines_are_listed() -> None:
    assert {"wse1", "wse2", "wse3"} <= waferscope.machines().keys()


def test_everything_promised_is_there() -> None:
    assert all(hasattr(waferscope, name) for name in waferscope.__all__)
