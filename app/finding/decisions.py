"""What the compiler decided, in sentences: buffer, slots, route, placement, fusion, source nodes.

The links of the chain from a pixel back to the model. Reads the program and its report; judges
nothing. Knows no steps and no screen.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.runs.run import Run
from app.units import count, size
from engine.program import HOST, Buffer, Kernel, Leg, Transfer, WeightStream
from engine.traffic import Flow

_MOST_NODES = 8


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing that the compiler chose."""

    level: str
    """pixel | cause | profile | buffer | route | placement | fusion | source | compile"""
    name: str
    """what it is about: a tensor, a transfer, a kernel, a node"""
    sentence: str


def chain(run: Run, kernel: Kernel) -> tuple[Decision, ...]:
    """Return placement, fusion and source nodes of a kernel."""
    return placement(run, kernel), fusion(kernel), source(kernel)


def placement(run: Run, kernel: Kernel) -> Decision:
    """Say where a kernel lies and how it is cut."""
    box, tiling = kernel.region, kernel.tiling
    text = (
        f"{kernel.id} was placed on rows {box.row}..{box.end_row - 1}, cols "
        f"{box.col}..{box.end_col - 1} ({count(box.area)} PE{'s' if box.area != 1 else ''}), "
        f"cut into {tiling.m_parts} x "
        f"{tiling.k_parts} x {tiling.n_parts} parts of M x K x N"
    )
    cap = run.config.cap(kernel.id)
    if cap is not None:
        text += f"; its PE cap is {count(cap)}"
    row = next((row for row in run.compiled.report.rows if row.name == kernel.id), None)
    if row is not None:
        text += f"; alone it gives {row.samples_per_mcycle:,.4g} samples/Mcycle"
    return Decision("placement", kernel.id, text)


def fusion(kernel: Kernel) -> Decision:
    """Say which operations were fused into a kernel."""
    kinds = [type(op).__name__.lower() for op in kernel.spec.ops]
    if len(kinds) == 1:
        return Decision("fusion", kernel.id, f"{kernel.id} is one operation: {kinds[0]}")
    return Decision(
        "fusion", kernel.id, f"{kernel.id} fuses {len(kinds)} operations: {', '.join(kinds)}"
    )


def source(kernel: Kernel) -> Decision:
    """Name the source nodes of a kernel."""
    nodes = kernel.origin[:_MOST_NODES]
    more = f" and {len(kernel.origin) - len(nodes)} more" if len(kernel.origin) > len(nodes) else ""
    text = ", ".join(nodes) + more if nodes else "no node of the model: the compiler made it"
    return Decision("source", ", ".join(nodes), f"source nodes of {kernel.id}: {text}")


def buffer(run: Run, held: Buffer) -> Decision:
    """Say what a buffer is for and why it has its size."""
    text = f"{held.role} '{held.name}' of {held.kernel}: {size(held.size)} at byte {held.offset:,}"
    if held.count > 1 or "slot" in held.role:
        text += f", {held.count} slot{'s' if held.count != 1 else ''} of " \
                f"{size(held.size // held.count)}"  # fmt: skip
    return Decision("buffer", held.name, text + _asked(run, held))


def _asked(run: Run, held: Buffer) -> str:
    if held.role == "in slot":
        chosen = run.config.in_slots
        return " (sized by the compiler)" if chosen is None else f" (slots asked for: {chosen})"
    if held.role == "out slot":
        chosen = run.config.out_slots
        return " (the default)" if chosen is None else f" (slots asked for: {chosen})"
    return " (resident for the whole run)" if held.role == "weights" else ""


def transfers_of(run: Run, held: Buffer) -> tuple[Transfer, ...]:
    """Return the transfers that fill or empty a slot."""
    if held.role == "in slot":
        return tuple(t for t in run.program.transfers
                     if t.tensor == held.name and held.kernel in t.consumers)  # fmt: skip
    if held.role == "out slot":
        return tuple(t for t in run.program.transfers
                     if t.tensor == held.name and t.producer == held.kernel)  # fmt: skip
    return ()


def end_name(name: str) -> str:
    """Return a kernel's id, 'the host' for the host."""
    return "the host" if name == HOST else name


def source_name(transfer: Transfer) -> str:
    """Return whom a transfer comes from; what comes back has waited outside."""
    return "outside" if transfer.comes_back else end_name(transfer.producer)


def ends_of(transfer: Transfer) -> str:
    """Return "A to B"; what passes the weight ports comes from outside or goes there."""
    readers = "outside" if transfer.leaves else ", ".join(map(end_name, transfer.consumers))
    return f"{source_name(transfer)} to {readers}"


def route(transfer: Transfer) -> Decision:
    """Say how a transfer moves."""
    legs = ", then ".join(_leg(leg) for leg in transfer.legs) or "no leg: it stays where it is"
    text = (
        f"'{transfer.tensor}' goes from {ends_of(transfer)} in {transfer.chunks} "
        f"chunk{'s' if transfer.chunks != 1 else ''} a sample (slots {transfer.out_slots} out, "
        f"{', '.join(map(str, transfer.in_slots))} in): {legs}"
    )
    return Decision("route", transfer.id, text)


def flow_ends(run: Run, flow: str) -> tuple[str, ...]:
    """Return the kernels (or HOST) between which a flow moves: one for what stays inside it."""
    for transfer in run.program.transfers:
        if transfer.id == flow:
            return transfer.producer, *transfer.consumers
    return next(((s.kernel,) for s in run.program.streams if s.id == flow), (flow,))


def kernels_of(run: Run, flow: Flow) -> tuple[str, ...]:
    """Return the kernels (or HOST) between which a flow of the fabric moves."""
    if not flow.is_kernel:
        transfer = run.program.transfers[flow.index]
        return transfer.producer, *transfer.consumers
    stream = flow.index - len(run.program.kernels)
    return (run.program.streams[stream].kernel if stream >= 0 else flow.name,)


def flow_route(run: Run, flow: str) -> Decision:
    """Say how a transfer, a kernel's own words or streamed weights move, by the flow's name."""
    for transfer in run.program.transfers:
        if transfer.id == flow:
            return route(transfer)
    for stream in run.program.streams:
        if stream.id == flow:
            return _stream_route(stream)
    return inner_route(run.program.kernel(flow))


def _stream_route(stream: WeightStream) -> Decision:
    legs = ", then ".join(_leg(leg) for leg in stream.legs) or "no leg"
    text = f"the {stream.id}, {count(stream.words)} wavelets a sample, come in through the ports"
    room = f", once {stream.gate} has freed their SRAM" if stream.gate else ""
    return Decision("route", stream.id, f"{text}{room}: {legs}")


def inner_route(kernel: Kernel) -> Decision:
    """Say how a kernel moves words inside its own region."""
    legs = ", then ".join(_leg(leg) for leg in kernel.legs)
    return Decision("route", kernel.id, f"{kernel.id} moves words inside its region: {legs}")


def _leg(leg: Leg) -> str:
    along, unit = ("rows", "cols") if leg.axis == "x" else ("cols", "rows")
    color = f" on color {leg.color}" if leg.color >= 0 else ""
    return (
        f"{leg.kind} of {count(leg.words)} wavelets along {along} "
        f"{leg.lines_start}..{leg.lines_start + leg.lines - 1}, {unit} "
        f"{leg.src_start}..{leg.src_start + leg.src - 1} to "
        f"{leg.dst_start}..{leg.dst_start + leg.dst - 1}{color}"
    )


def layout(run: Run, kernel: Kernel) -> tuple[Buffer, ...]:
    """Return the buffers of a kernel's fullest PE, largest first."""
    mine = [item for item in run.program.buffers if item.kernel == kernel.id]
    return tuple(sorted(mine, key=lambda item: (-item.size, item.offset)))


def memory_decision(run: Run, kernel: Kernel) -> Decision:
    """Say what the memory stage gave away on a kernel's fullest PE."""
    items = layout(run, kernel)
    total = max((item.offset + item.size for item in items), default=0)
    capacity = run.machine.sram_bytes
    fits = "fits" if total <= capacity else f"is short by {count(total - capacity)} B"
    listed = ", ".join(f"{item.role} '{item.name}' {count(item.size)} B" for item in items)
    return Decision(
        "compile", kernel.id,
        f"the memory stage allocated {count(total)} of {count(capacity)} B on {kernel.id}'s "
        f"fullest PE ({fits}), the same in every step: {listed}",
    )  # fmt: skip
