"""What kernels wrote: by sample, several tensors joined, claims from a kernel's end on."""

from __future__ import annotations

import numpy as np
import pytest

from app.commands import CommandError
from app.watch.value_ranges import ranges, true_after
from tests.factories.worked import with_values, worked_run


def test_ranges_are_by_kernel_and_sample() -> None:
    run = with_values(worked_run(1, 1), h1=np.array([1.0, 5.0]), h2=np.array([np.inf, 2.0]))
    found = ranges(run, "value")
    assert (found[0][0].low, found[0][0].high) == (1.0, 5.0)
    assert found[1][0].has_inf
    assert found[2] == {}
    assert ranges(run, "value", "h1")[1] == {}


def test_a_claim_holds_until_the_next_sample_is_written() -> None:
    run = with_values(worked_run(1, 1), h1=np.ones(2))
    found = true_after(run, ranges(run, "value"), lambda held: held.high == 1.0)
    begin = run.timeline.times[:-1]
    assert begin[found[0]].tolist() == [10, 15]  # k1 ends sample 0 at 10, sample 1 at 25
    assert not found[1:].any()


def test_without_values_or_writer_it_is_said() -> None:
    with pytest.raises(CommandError, match="'nan' needs values"):
        ranges(worked_run(1, 1), "nan")
    with pytest.raises(CommandError, match="no kernel writes 'x'"):
        ranges(with_values(worked_run(1, 1), h1=np.ones(1)), "nan", "x")
