"""A hand-written Program of three kernels on an 8x8 mesh, its cycles chosen for paper.

One vector element a cycle, set-up 2, task start 3, no loop cost. Cycles of the fullest PE:
`up` 48 + 51 + 32 = 131, `act` 4 + 7 + 8 = 19, `down` 16 + 19 + 28 and 5 along the chain = 68.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.geometry import Rect
from engine.kernels.dot.spec import Dot
from engine.kernels.pointwise.spec import Map
from engine.kernels.spec import KernelSpec
from engine.machine import MachineSpec, SimdRate, parse_machine
from engine.program import HOST, Buffer, Kernel, Leg, Program, Tensor, Tiling, Transfer
from engine.run import Execution, execute
from engine.store import TensorStore

UP, ACT, DOWN = 131, 19, 68
"""cycles of an instance of each kernel, worked out by hand"""


@dataclass(frozen=True, slots=True, eq=False)
class Small:
    """A program with its weights and an input."""

    program: Program
    store: TensorStore
    x: np.ndarray
    """float32 (4, 6)"""

    def run(self) -> Execution:
        """Execute it, the ledger looking at every step."""
        return execute(self.program, self.store, every_step=True)


def paper_machine() -> MachineSpec:
    """Return an 8x8 mesh whose vector operations cost 2 + n cycles; PE (7, 7) is dead."""
    return replace(
        parse_machine("mesh-8x8"), simd=(SimdRate("fp32", 1.0, 2.0),), task_start_cycles=3,
        loop_cycles=0, defects=((7, 7),),
    )  # fmt: skip


def three_kernels(samples: int = 3, slots: int = 2) -> Small:
    """Return x (4, 6) @ w_up -> relu -> @ w_down -> y (4, 2), one chunk an edge."""
    rng = np.random.default_rng(7)
    store = TensorStore()
    weights = {
        "w_up": rng.standard_normal((6, 4)).astype(np.float32),
        "w_down": rng.standard_normal((4, 2)).astype(np.float32),
    }
    content = {name: store.put(array) for name, array in weights.items()}
    program = Program(
        machine=paper_machine(), tensors=_tensors(content), kernels=_kernels(),
        transfers=_transfers(slots), buffers=_buffers(slots),
        order=(("up",), ("act",), ("down",)), conflicts=(), samples=samples, storage="fp32",
    )  # fmt: skip
    return Small(program, store, rng.standard_normal((4, 6)).astype(np.float32))


def _tensors(content: dict[str, str]) -> tuple[Tensor, ...]:
    shapes = {"x": (4, 6), "h": (4, 4), "r": (4, 4), "y": (4, 2)}
    roles = {"x": "input", "h": "activation", "r": "activation", "y": "output"}
    tensors = [Tensor(n, s, "float32", "fp32", roles[n]) for n, s in shapes.items()]
    tensors.append(Tensor("w_up", (6, 4), "float32", "fp32", "weight", content["w_up"]))
    tensors.append(Tensor("w_down", (4, 2), "float32", "fp32", "weight", content["w_down"]))
    return tuple(tensors)


def _kernels() -> tuple[Kernel, ...]:
    chain = Leg("reduce", "y", 5, 1, 2, 2, 2, 2, words=8)
    return (
        Kernel("up", "dot", _spec(Dot(inputs=("x", "w_up"), outputs=("h",))), Rect(0, 1, 1, 2),
               Tiling(1, 1, 2), ("x",), ("h",), ("w_up",)),
        Kernel("act", "pointwise", _spec(Map(inputs=("h",), outputs=("r",), fn="relu")),
               Rect(2, 1, 2, 2), Tiling(2, 1, 2), ("h",), ("r",)),
        Kernel("down", "dot", _spec(Dot(inputs=("r", "w_down"), outputs=("y",))),
               Rect(2, 5, 2, 1), Tiling(1, 2, 1), ("r",), ("y",), ("w_down",), (chain,)),
    )  # fmt: skip


def _spec(op: Dot | Map) -> KernelSpec:
    return KernelSpec((op,), 0)


def _transfers(slots: int) -> tuple[Transfer, ...]:
    def edge(
        tensor: str, ends: tuple[str, str], leg: Leg, give: int, sizes: tuple[int, int]
    ) -> Transfer:
        return Transfer(
            tensor, tensor, ends[0], (ends[1],), (leg,), 1, slots, (slots,), sizes[0],
            (sizes[1],), (give, give), ((0, 0),),
        )  # fmt: skip

    return (
        edge("x", (HOST, "up"), Leg("host broadcast", "x", 0, 1, 0, 1, 1, 2, 24), 0, (0, 96)),
        edge("h", ("up", "act"), Leg("shift", "y", 1, 2, 0, 1, 2, 2, 16, groups=0), UP, (32, 16)),
        edge("r", ("act", "down"), Leg("exchange", "x", 2, 2, 1, 2, 5, 1, 16), ACT, (16, 32)),
        edge("y", ("down", HOST), Leg("host", "x", 2, 2, 5, 1, 7, 1, 8, groups=0), DOWN, (16, 0)),
    )


def _buffers(slots: int) -> tuple[Buffer, ...]:
    sizes = (
        ("up", "weights", "weights", 48, 1), ("up", "in slot", "x", 96, slots),
        ("up", "out slot", "h", 32, slots), ("act", "in slot", "h", 16, slots),
        ("act", "out slot", "r", 16, slots), ("act", "work", "sums", 8, 1),
        ("down", "weights", "weights", 16, 1), ("down", "in slot", "r", 32, slots),
        ("down", "out slot", "y", 16, slots), ("down", "work", "partial sums", 32, 1),
    )  # fmt: skip
    offsets: dict[str, int] = {}
    made = []
    for kernel, role, name, size, count in sizes:
        offset = offsets.get(kernel, 0)
        made.append(Buffer(kernel, role, name, offset, size * count, count))
        offsets[kernel] = offset + size * count
    return tuple(made)
