"""Why something was not opened: operators with rewrites, and what helps for other errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.runs.opening import load_graph
from app.views.build_refusal import MOST_NODES, MOST_OPS, view_refusal
from engine.archive import RecordingError
from lowering.errors import ModelImportError, UnsupportedOp, UnsupportedOpError
from lowering.stages.infeasible import Infeasible
from lowering.stages.plan import DoesNotFit
from tests.factories.refused import refused_model


def test_operators_are_listed_with_nodes_and_rewrites(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedOpError) as caught:
        load_graph(refused_model(tmp_path), {})
    view = view_refusal("mine.onnx", caught.value, str(caught.value))
    assert "3 nodes that no mesh operation covers" in view.sentence
    assert "\n" not in view.sentence
    rows = {row.op: row for row in view.ops}
    assert (rows["Det"].count, rows["Det"].nodes) == (2, ("det1", "det2"))
    assert rows["Det"].rewrite == ""
    assert rows["NonZero"].blocked_outputs == 1
    assert "Where" in rows["NonZero"].rewrite
    assert "Det x 2: " in view.text
    assert "  nodes: det1, det2\n" in view.text
    assert f"  instead: {rows['NonZero'].rewrite}\n" in view.text
    assert all(f"what helps: {help_}" in view.text for help_ in view.helps)


def test_long_lists_and_names_are_cut_and_counted() -> None:
    nodes = tuple("n" * 500 for _ in range(MOST_NODES + 7))
    ops = tuple(UnsupportedOp(f"Op{i}", nodes, "why", 1) for i in range(MOST_OPS + 3))
    error = UnsupportedOpError("big", ops)
    view = view_refusal("big.onnx", error, str(error))
    assert (len(view.ops), view.ops_left_off) == (MOST_OPS, 3)
    assert (view.ops[0].count, len(view.ops[0].nodes)) == (MOST_NODES + 7, MOST_NODES)
    assert len(view.ops[0].nodes[0]) < 130
    assert " and 7 more\n" in view.text
    assert "and 3 more operators\n" in view.text


def test_value_that_would_have_to_be_known_is_the_rewrite() -> None:
    op = UnsupportedOp("Reshape", ("r",), "its shape is computed", 1, "never this", ("x1",))
    row = view_refusal("a", UnsupportedOpError("a", [op]), "a").ops[0]
    assert row.rewrite == "it would do if 'x1' had a fixed value (an initializer)"


@pytest.mark.parametrize(
    ("error", "help_"),
    [
        (ModelImportError("no open dimension"), "--dim NAME=NUMBER"),
        (RecordingError("cut short"), "save the recording again"),
        (DoesNotFit(Infeasible("PEs", 9, 4, "PEs", "here", (), ("ask for more",))), "ask for more"),
    ],
)
def test_other_errors_say_what_helps(error: Exception, help_: str) -> None:
    view = view_refusal("a.onnx", error, str(error))
    assert (view.sentence, view.ops) == (str(error), ())
    assert help_ in view.helps[0]
    assert view.text.startswith(f"a.onnx was not opened: {error}\nwhat helps: ")


def test_fault_of_ours_promises_nothing() -> None:
    view = view_refusal("a.onnx", RuntimeError("inside"), "the server has a fault")
    assert view.helps == ()
    assert view.text == "a.onnx was not opened: the server has a fault"
