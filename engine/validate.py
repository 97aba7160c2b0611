"""What is wrong with a Program: every violation of the contract, each as a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import prod

from engine.geometry import Rect, Split
from engine.kernels.moe.spec import Moe
from engine.machine import DTYPE_BYTES
from engine.program import HOST, Kernel, Leg, Program, Transfer
from engine.transfers import LEG_KINDS


class ProgramError(ValueError):
    """A Program that no machine can run; the message lists what is wrong."""

    def __init__(self, violations: tuple[str, ...]) -> None:
        self.violations = violations
        more = f" (and {len(violations) - 3} more)" if len(violations) > 3 else ""
        super().__init__("the program is not well formed: " + "; ".join(violations[:3]) + more)


def validate(program: Program) -> tuple[str, ...]:
    """Return every violation, none for a program that can run."""
    return (
        *_names(program),
        *_kernels(program),
        *_order(program),
        *_transfers(program),
        *_buffers(program),
        *_conflicts(program),
    )


def require_valid(program: Program) -> None:
    """Raise ProgramError unless a program is well formed."""
    violations = validate(program)
    if violations:
        raise ProgramError(violations)


def _names(program: Program) -> Iterator[str]:
    for what, names in (
        ("tensor", [tensor.id for tensor in program.tensors]),
        ("kernel", [kernel.id for kernel in program.kernels]),
        ("transfer", [transfer.id for transfer in program.transfers]),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                yield f"{what} '{name}' is there {count} times"
    if program.samples < 1:
        yield f"samples is {program.samples}, must be >= 1"
    if program.storage not in DTYPE_BYTES:
        yield f"storage '{program.storage}' is not one of {', '.join(DTYPE_BYTES)}"


def _kernels(program: Program) -> Iterator[str]:
    grid = Rect(0, 0, program.machine.rows, program.machine.cols)
    tensors = {tensor.id for tensor in program.tensors}
    shapes = {tensor.id: tensor.shape for tensor in program.tensors}
    for kernel in program.kernels:
        if not _inside(kernel.region, grid):
            yield (
                f"kernel '{kernel.id}': its region ends at row {kernel.region.end_row}, column "
                f"{kernel.region.end_col}, outside the {grid.rows}x{grid.cols} grid"
            )
        tiling = kernel.tiling
        if min(tiling.m_parts, tiling.k_parts, tiling.n_parts) < 1:
            yield f"kernel '{kernel.id}': a tiling has parts >= 1"
        if not 0 <= kernel.spec.main < len(kernel.spec.ops):
            yield f"kernel '{kernel.id}': operation {kernel.spec.main} does not exist"
        yield from (f"kernel '{kernel.id}': {text}" for text in _experts(kernel, shapes))
        for name in _touched(kernel):
            if name not in tensors:
                yield f"kernel '{kernel.id}': tensor '{name}' does not exist"
        yield from (f"kernel '{kernel.id}': {text}" for text in _legs(kernel.legs, grid))


def _experts(kernel: Kernel, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    if not kernel.experts:
        return
    op = kernel.spec.main_op
    if not isinstance(op, Moe):
        yield f"tokens of experts are given to an operation {type(op).__name__}"
        return
    if not all(name in shapes and shapes[name] for name in op.inputs[:2]):
        return
    parts, experts = kernel.tiling.m_parts, shapes[op.inputs[1]][-1]
    if len(kernel.experts) != parts:
        yield f"{len(kernel.experts)} groups of tokens, its tiling has {parts}"
        return
    if any(len(counts) != experts or min(counts) < 0 for counts in kernel.experts):
        yield f"tokens of {experts} experts, none below 0, are wanted for each group"
    tokens = Split(prod(shapes[op.inputs[0]][:-1]), parts).sizes() * op.active
    if [sum(counts) for counts in kernel.experts] != tokens.tolist():
        yield f"the experts of a group do not take its tokens, {op.active} experts each"


def _touched(kernel: Kernel) -> dict[str, None]:
    inside = (name for op in kernel.spec.ops for name in (*op.inputs, *op.outputs))
    return dict.fromkeys((*kernel.reads, *kernel.writes, *kernel.weights, *inside))


def _inside(rect: Rect, grid: Rect) -> bool:
    return (
        rect.row >= 0 and rect.col >= 0
        and rect.end_row <= grid.end_row and rect.end_col <= grid.end_col
    )  # fmt: skip


def _legs(legs: tuple[Leg, ...], grid: Rect) -> Iterator[str]:
    for leg in legs:
        if leg.kind not in LEG_KINDS:
            yield f"leg kind '{leg.kind}' is not one of {', '.join(LEG_KINDS)}"
        across, along = (grid.rows, grid.cols) if leg.axis == "x" else (grid.cols, grid.rows)
        ends = (
            (leg.lines_start, leg.lines, across),
            (leg.src_start, leg.src, along),
            (leg.dst_start, leg.dst, along),
        )
        if any(start < 0 or count < 1 or start + count > most for start, count, most in ends):
            yield f"a leg of {leg.kind} along {leg.axis} leaves the grid"
        if leg.words < 0 or leg.share < 1 or leg.groups < 0:
            yield f"a leg of {leg.kind} has {leg.words} words, share {leg.share}"


def _order(program: Program) -> Iterator[str]:
    known = Counter(kernel.id for kernel in program.kernels)
    placed = Counter(name for region in program.order for name in region)
    for name in known - placed:
        yield f"kernel '{name}' is in no region's order"
    for name in placed - known:
        yield f"the order names kernel '{name}' once too often or without need"
    if known != placed:
        return
    if program.regions and len(program.regions) != len(program.order):
        yield f"{len(program.regions)} regions for {len(program.order)} orders"
        return
    rects = [rect for rect, _ in program.areas()]
    for index, rect in enumerate(rects):
        if any(rect.overlaps(other) for other in rects[index + 1 :]):
            yield f"region {index} overlaps another one"


def _transfers(program: Program) -> Iterator[str]:
    grid = Rect(0, 0, program.machine.rows, program.machine.cols)
    kernels = {kernel.id for kernel in program.kernels} | {HOST}
    tensors = {tensor.id for tensor in program.tensors}
    for transfer in program.transfers:
        label = f"transfer '{transfer.id}'"
        if transfer.tensor not in tensors:
            yield f"{label}: tensor '{transfer.tensor}' does not exist"
        for name in (transfer.producer, *transfer.consumers, transfer.until, transfer.after):
            if name not in kernels:
                yield f"{label}: kernel '{name}' does not exist"
        if transfer.comes_back and not transfer.after:
            yield f"{label}: it comes back through the weight ports and waits for no kernel"
        yield from (
            f"{label}: {text}" for text in (*_counts(transfer), *_legs(transfer.legs, grid))
        )


def _counts(transfer: Transfer) -> Iterator[str]:
    count = len(transfer.consumers)
    if not count or len(transfer.in_slots) != count or len(transfer.need) != count:
        yield f"{count} consumers, {len(transfer.in_slots)} in slots, {len(transfer.need)} needs"
    if min((transfer.chunks, transfer.out_slots, *transfer.in_slots)) < 1:
        yield "chunks and slots must be >= 1"
    for first, last in (transfer.give, *transfer.need):
        if not 0 <= first <= last:
            yield f"chunks are given or needed from cycle {first} to {last}"


def _buffers(program: Program) -> Iterator[str]:
    kernels = {kernel.id for kernel in program.kernels}
    for buffer in program.buffers:
        if buffer.kernel not in kernels:
            yield f"buffer '{buffer.name}': kernel '{buffer.kernel}' does not exist"
        if buffer.offset < 0 or buffer.size < 0 or buffer.count < 1:
            yield f"buffer '{buffer.name}' of '{buffer.kernel}': offset, size >= 0 and count >= 1"


def _conflicts(program: Program) -> Iterator[str]:
    flows = {k.id for k in program.kernels} | {t.id for t in program.transfers}
    flows |= {stream.id for stream in program.streams}
    for conflict in program.conflicts:
        for term in conflict.terms:
            if term.flow not in flows:
                yield f"a conflict names '{term.flow}', which does not exist"
