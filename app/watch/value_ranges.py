"""What kernels wrote, by sample, and where in a run a claim about it holds. Knows no conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from app.commands import CommandError
from app.nearest import hint
from app.runs import series
from app.runs.run import Run
from app.runs.series import ValueRange

Ranges = list[dict[int, ValueRange]]
"""of each kernel: sample -> what its tensors hold"""


def ranges(run: Run, what: str, tensor: str = "") -> Ranges:
    """Return what each kernel's tensors hold, by sample; only one tensor if it is named.

    Raises:
        CommandError: there are no values (`what` needs them), or no kernel writes the tensor.
    """
    if not series.has_values(run):
        raise CommandError(f"'{what}' needs values; the command 'values' computes them")
    made = {name: index for index, k in enumerate(run.program.kernels) for name in k.writes}
    if tensor and tensor not in made:
        raise CommandError(f"no kernel writes '{tensor}'{hint(tensor, made)}")
    found: Ranges = [{} for _ in run.program.kernels]
    for name in [tensor] if tensor else made:
        for sample in range(run.program.samples):
            held = series.value_range(run, name, sample)
            if held is not None:
                mine = found[made[name]]
                mine[sample] = _joined(mine[sample], held) if sample in mine else held
    return found


def true_after(
    run: Run, found: Ranges, test: Callable[[ValueRange], bool], rows: slice = series.ALL
) -> np.ndarray:
    """Tell where a claim about what a kernel wrote last holds, bool (kernels, steps)."""
    done = series.samples_done(run, rows)
    holds = np.zeros(done.shape, bool)
    for index, samples in enumerate(found[rows]):
        for sample, held in samples.items():
            if test(held):
                holds[index] |= done[index] == sample
    return holds


def _joined(one: ValueRange, other: ValueRange) -> ValueRange:
    return replace(
        one, low=float(np.fmin(one.low, other.low)), high=float(np.fmax(one.high, other.high)),
        has_nan=one.has_nan or other.has_nan, has_inf=one.has_inf or other.has_inf,
    )  # fmt: skip
