"""Tensors, errors and tiles as views; on the mlp demo and on values spoilt by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from app.runs.computed import Computed
from app.runs.run import Run
from app.runs.values import compute_values, kept_values
from app.views.build_pe import view_pe
from app.views.build_values import FIRST_VALUES, error_severity, view_values
from lowering.evaluate import default_inputs
from tests.app.sessions import mlp_run


def valued(first: float | None = None) -> Run:
    """Return the run with values; `first` replaces the first number of each input."""
    run = mlp_run()
    inputs = default_inputs(run.compiled.graph, 3)
    for array in inputs.values():
        if first is not None:
            array.flat[0] = first
    computed = compute_values(run, inputs, 1)
    return replace(run, computed=computed, values=kept_values(computed.values, run.program))


def test_tiles_of_a_kernel_are_its_main_result() -> None:
    run = valued()
    assert run.computed is not None
    kernel = run.program.kernels[0]
    kept, lows, highs = 0, [], []
    for row in range(kernel.region.row, kernel.region.end_row):
        for col in range(kernel.region.col, kernel.region.end_col):
            view = view_pe(run, 0, row, col)
            assert view.values is not None
            assert len(view.values.first) == min(view.values.kept, FIRST_VALUES)
            kept += view.values.kept
            if view.values.minimum is not None and view.values.maximum is not None:
                lows.append(view.values.minimum)
                highs.append(view.values.maximum)
                assert view.values.error is not None
                assert view.values.error < 1e-5
    name = kernel.spec.main_op.outputs[0]
    whole = run.computed.reference[name]
    assert kept == whole.size
    np.testing.assert_allclose([min(lows), max(highs)], [whole.min(), whole.max()], rtol=1e-4)


def test_without_values_a_pe_says_which_key_computes_them() -> None:
    view = view_pe(mlp_run(), 0, 0, 0)
    assert view.values is None
    assert "V (values) computes" in view.values_note


def test_a_pe_without_kernel_has_no_note() -> None:
    run = valued()
    free = np.argwhere(run.execution.fields.field("sram_allocated", 0) == 0)
    row, col = (int(i) for i in free[0])
    assert view_pe(run, 0, row, col).values_note == ""


def test_outputs_are_summed_up() -> None:
    run = valued()
    scores = run.values["scores"]
    output = view_values(run).outputs[0]
    assert (output.tensor, output.shape) == ("scores", (4, 10))
    assert output.minimum == scores.min()
    assert output.maximum == scores.max()
    assert output.first == tuple(scores.ravel()[:8].tolist())


def test_rows_stand_in_the_order_of_the_kernels_after_the_inputs() -> None:
    rows = view_values(valued()).rows
    assert rows[0].kernel is None
    kernels = [kernel.id for kernel in mlp_run().program.kernels]
    assert [row.kernel for row in rows[1:]] == kernels
    assert all(row.max_error is not None for row in rows[1:])


def test_the_first_infinity_names_kernel_sample_and_pe() -> None:
    view = view_values(valued(float("inf")))
    assert view.severity == "alert"
    bad = view.nonfinite
    assert bad is not None
    assert bad.kernel == mlp_run().program.kernels[0].id
    assert bad.sample == 0
    assert bad.pe is not None
    assert mlp_run().region(bad.kernel).contains(*bad.pe)
    assert view.sentence == bad.sentence
    assert f"at PE ({bad.pe[0]}, {bad.pe[1]})" in bad.sentence
    json.dumps(view.to_json(), allow_nan=False)


def test_errors_are_judged_by_the_storage_dtype() -> None:
    assert error_severity(1e-3, "fp32") == "warn"
    assert error_severity(1e-3, "fp16") == "ok"
    assert error_severity(float("nan"), "fp16") == "alert"


def test_a_tile_is_the_same_whether_its_kernel_was_kept_or_is_computed_anew() -> None:
    run = valued()
    assert run.computed is not None
    kernel = run.program.kernels[1]
    place = kernel.id, kernel.region.row, kernel.region.col
    kept = run.computed.tiles.read(*place)
    assert kernel.id in run.computed.values.mains
    bare = replace(run.computed.values, mains={})
    anew = Computed(bare, "given inputs", run.computed.reference).tiles.read(*place)
    assert kept.tile.values.tobytes() == anew.tile.values.tobytes()
    assert kept.error == anew.error
