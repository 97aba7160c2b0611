"""The model graph: which boxes are seen, what they hold, which kernels run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.commands import CommandError
from app.debugger import Debugger
from app.model_graph.node_kernels import kernels_of_nodes
from app.runs.opening import open_run
from app.runs.run import Run
from app.views.build_graph import MOST_BOXES, scopes_of, view_graph
from lowering.config import CompileConfig
from tests.app.sessions import mesh_config, mlp_run


@pytest.fixture(scope="module")
def run() -> Run:
    return open_run(991, "transformer", mesh_config(256), {}).run


@pytest.fixture
def session(run: Run) -> Debugger:
    return Debugger(run)


def test_every_node_is_run_by_the_kernel_that_makes_its_tensor(run: Run) -> None:
    makers = {name: kernel.id for kernel in run.program.kernels
              for op in kernel.spec.ops for name in op.outputs}  # fmt: skip
    for node, kernel in zip(run.compiled.graph.nodes, kernels_of_nodes(run), strict=True):
        assert kernel
        for name in node.op.outputs:
            assert makers.get(name, kernel) == kernel


def test_closed_scopes_hold_all_nodes_and_all_kernels(run: Run) -> None:
    view = view_graph(run)
    assert sum(box.nodes for box in view.boxes) == len(run.compiled.graph.nodes)
    assert {name for box in view.boxes for name in box.kernels} == {
        kernel.id for kernel in run.program.kernels
    }
    assert {box.label for box in view.boxes if box.is_scope} == {"embed", "h0", "h1"}


def test_edges_are_the_tensors_between_boxes(run: Run) -> None:
    graph = run.compiled.graph
    view = view_graph(run, scopes_of(run))
    made = {name: node.name for node in graph.nodes for name in node.op.outputs}
    wanted = {(made[name], node.name) for node in graph.nodes for name in node.op.inputs
              if name in made}  # fmt: skip
    assert {(edge.source, edge.target) for edge in view.edges} == wanted
    assert not any(edge.is_back for edge in view.edges)


def test_place_of_a_scope_is_around_its_kernels(run: Run) -> None:
    box = next(box for box in view_graph(run).boxes if box.label == "h1")
    assert box.place is not None
    row, col, rows, cols = box.place
    for name in box.kernels:
        region = run.region(name)
        assert row <= region.row
        assert col <= region.col
        assert region.end_row <= row + rows
        assert region.end_col <= col + cols


def test_fold_opens_and_closes_and_refuses_what_is_not_there(session: Debugger) -> None:
    session.do("fold", "h0")
    view = session.view_graph()
    assert [scope.id for scope in view.opened] == ["h0"]
    assert {box.scope for box in view.boxes} == {"", "h0"}
    session.do("fold", "h0")
    assert session.view_graph().opened == ()
    with pytest.raises(CommandError, match="did you mean 'h0/mlp'"):
        session.do("fold", "h0/mpl")


def test_reveal_shows_the_nodes_of_the_selected_kernel(session: Debugger) -> None:
    with pytest.raises(CommandError, match="no kernel is selected"):
        session.do("reveal")
    session.do("kernel", "h1/attn/q/matmul")
    before = session.view_graph()
    assert not before.is_seen
    assert "kernel h1/attn/q/matmul" in before.sentence
    session.do("reveal")
    view = session.view_graph()
    assert view.is_seen
    chosen = [box for box in view.boxes if box.is_selected]
    assert {box.kernels for box in chosen} == {("h1/attn/q/matmul",)}
    session.do("fold")
    assert session.view_graph().opened == ()


def test_a_large_graph_without_scopes_is_bounded() -> None:
    path = Path(__file__).parents[2] / "data" / "train_steps" / "convnext.onnx"
    session = Debugger(open_run(992, path, CompileConfig(), {}).run)
    view = session.view_graph()
    assert view.nodes > 1500
    assert len(view.boxes) < 50
    with pytest.raises(CommandError, match=f"at most {MOST_BOXES}"):
        _open_all(session)
    assert len(session.view_graph().boxes) <= MOST_BOXES


def _open_all(session: Debugger) -> None:
    for name in scopes_of(session.run):
        session.do("fold", name)


def test_nothing_selected_is_seen() -> None:
    assert view_graph(mlp_run()).is_seen
