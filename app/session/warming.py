"""Compiling the jit kernels with progress, once a machine. Knows no session and no screen.

Small runs need none of it: they are timed in plain Python while kernels compile beside them.
"""

from __future__ import annotations

import threading

from engine.jit import compiling_is_off, is_cached, ready_count, warm_up
from engine.program import Program
from engine.progress import NO_PROGRESS, Progress
from engine.timing.clock import INTERPRETED_CHUNKS, is_heavy

COMPILING = "compiling kernels for this machine, once"
"""the stage's name, as people read it"""
_LOOK_SECONDS = 0.1
"""between two looks at how many are done"""


def must_compile() -> bool:
    """Tell whether compiled kernels are neither in this process nor on disk."""
    return not compiling_is_off() and not is_cached()


def compile_if_needed(program: Program, progress: Progress = NO_PROGRESS) -> None:
    """Compile now when the program is too large to be timed in plain Python meanwhile."""
    moves = program.samples * sum(transfer.chunks for transfer in program.transfers)
    items = len(program.kernels) + len(program.transfers)
    terms = sum(len(conflict.terms) for conflict in program.conflicts)
    if (moves > INTERPRETED_CHUNKS or is_heavy(moves, items, terms)) and must_compile():
        compile_kernels(progress)


def compile_kernels(progress: Progress = NO_PROGRESS) -> None:
    """Compile or load every kernel, reporting how many are done.

    A kernel cannot be left half compiled: on `Cancelled` the rest goes on in a daemon thread.

    Raises:
        Cancelled: the progress was asked to stop.
    """
    faults: list[Exception] = []

    def work() -> None:
        try:
            warm_up()
        except Exception as fault:
            faults.append(fault)

    progress.stage(COMPILING, ready_count()[1], "kernels")
    thread = threading.Thread(target=work, name="waferscope-jit", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK_SECONDS)
        progress.advance(ready_count()[0])
    if faults:
        raise faults[0]
