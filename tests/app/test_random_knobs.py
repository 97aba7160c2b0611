"""Many knob changes in a row leave a run whose results equal a fresh compile's."""

from __future__ import annotations

import random
from contextlib import suppress

import numpy as np
import pytest

from app.debugger import Debugger
from app.runs.opening import open_run
from app.runs.run import Run
from app.runs.values import compute_values
from engine.machine import generic_mesh
from lowering.config import CompileConfig, KnobError

TURNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("samples", ("2", "3", "4", "6")), ("slots", ("1", "2", "3", "auto")),
    ("max_chunks", ("1", "2", "4", "8")), ("route_order", ("xy", "yx")),
    ("host_wavelets_per_cycle", ("0.5", "1", "4")), ("clock_hz", ("1e9", "8.5e8")),
    ("hop_cycles", ("1", "2", "3")), ("link_bits", ("32", "64")), ("fp32_rate", ("1", "2")),
    ("sram_bytes", ("20000", "49152")), ("aspect", ("1", "2", "4")),
    ("square_weight", ("0", "25", "80")), ("dtype", ("fp16", "fp32")),
    ("fusion", ("none", "bias", "bias+activation")), ("machine", ("mesh-32x48", "mesh-64x64")),
    ("decode_rate", ("auto", "1e5", "4e5")), ("loader_workers", ("1", "3")),
    ("loader_prefetch", ("1", "2")), ("host_channels", ("auto", "1")),
    ("optimizer", ("wafer", "host")), ("activation_mb", ("auto", "0.01")),
    ("spill_mb", ("auto", "0")), ("tile_loops", ("auto", "off")),
    ("micro_batches", ("1", "2")), ("embedding", ("wafer", "host")),
    ("prefetch", ("1", "2")), ("mode", ("pipeline", "streaming", "auto")),
    ("weights", ("int8", "stored")), ("harvests_sparsity", ("on", "off")), ("seed", ("0", "5")),
)  # fmt: skip


def _walk(session: Debugger, changes: int, seed: int) -> int:
    """Turn knobs, now and then undo or redo; return how many changes led to a run."""
    chance = random.Random(seed)
    made = 0
    for _ in range(changes):
        kind = chance.random()
        if kind < 0.1:
            session.do("undo")
        elif kind < 0.15:
            session.do("redo")
        else:
            name, values = chance.choice(TURNS)
            with suppress(KnobError):  # some figures do not go together; then nothing changes
                session.do("set", name, chance.choice(values))
        state = session.wait(60)
        assert state is None or state.state in ("done", "failed", "cancelled")
        made += state is not None and state.state == "done"
    return made


def _assert_equal(ours: Run, fresh: Run) -> None:
    assert ours.program == fresh.program
    assert ours.execution.ledger.ok
    for name, array in fresh.timeline.to_arrays().items():
        np.testing.assert_array_equal(ours.timeline.to_arrays()[name], array, err_msg=name)
    values, again = (compute_values(run, None, 1).values.outputs() for run in (ours, fresh))
    for name, array in again.items():
        np.testing.assert_array_equal(values[name], array, err_msg=name)


@pytest.mark.parametrize(
    ("changes", "seed"), [(40, 1), (200, 2), pytest.param(200, 3, marks=pytest.mark.slow)]
)
def test_results_equal_a_fresh_compile_s(changes: int, seed: int) -> None:
    start = CompileConfig(machine=generic_mesh(32, 48), samples=3)
    session = Debugger(open_run(1, "mlp", start, {}).run)
    assert _walk(session, changes, seed) > changes // 2
    _assert_equal(session.run, open_run(2, "mlp", session.run.config, {}).run)
