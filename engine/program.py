"""The Program: what the machine will do, as frozen data. The contract between compiler and engine.

A Program names kernels on regions, transfers made of legs between them, and the buffers of each
PE class. It holds no arrays: weights live in a `TensorStore` beside it, by content hash.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.geometry import Rect
from engine.kernels.spec import KernelSpec
from engine.machine import MachineSpec

HOST = ""
"""producer or consumer id of the host"""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of the running program."""

    id: str
    shape: tuple[int, ...]
    dtype: str
    """numpy dtype name of the model: float32, int64, bool"""
    storage: str
    """storage dtype on the mesh, a name in `engine.dtypes`"""
    role: str
    """input | output | weight | activation"""
    content: str | None = None
    """content hash in the TensorStore, None where it is computed or unknown (shape-only)"""

    @property
    def elements(self) -> int:
        """number of elements"""
        count = 1
        for side in self.shape:
            count *= side
        return count


@dataclass(frozen=True, slots=True)
class Tiling:
    """How a kernel is cut over its region.

    The region's rows are `m_parts` groups of `k_parts` rows, its columns `n_parts`: row
    `mi * k_parts + ki` and column `ni` hold rows `mi` of M, `ki` of K and `ni` of N
    (balanced splits). The results of a group are spread over its rows.
    """

    m_parts: int
    k_parts: int
    n_parts: int


@dataclass(frozen=True, slots=True)
class Leg:
    """Words moved along parallel lines of PEs, the same 1-D flow on every line.

    A leg along "x" runs on rows [lines_start, +lines) from columns [src_start, +src) to columns
    [dst_start, +dst); a leg along "y" on columns, from rows to rows. The words are shared evenly
    by the lines, on a line evenly by its sources and (unless broadcast or reduced) its
    destinations.
    """

    kind: str
    """name in `engine.transfers.LEG_KINDS`"""
    axis: str
    """x | y"""
    lines_start: int
    lines: int
    src_start: int
    src: int
    dst_start: int
    dst: int
    words: int
    """wavelets a chunk, over all lines (a kernel's own leg: an instance)"""
    groups: int = 1
    """the line's words fall into this many equal groups in order, which do not mix: an exchange
    or reduction happens inside each; 0 = order kept word by word"""
    share: int = 1
    """a broadcast's destination keeps one in `share` of the words (a filter on the color)"""
    color: int = -1
    """color of its links, -1 until assigned"""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A (fused) layer on a region of PEs."""

    id: str
    family: str
    """family of the main operation, a folder of engine/kernels"""
    spec: KernelSpec
    region: Rect
    tiling: Tiling
    reads: tuple[str, ...]
    """activation tensors, in order"""
    writes: tuple[str, ...]
    """tensors that leave the kernel"""
    weights: tuple[str, ...] = ()
    """resident tensors"""
    legs: tuple[Leg, ...] = ()
    """traffic inside the region, words an instance"""
    experts: tuple[tuple[int, ...], ...] = ()
    """tokens that each expert of a mixture takes, for each of the tiling's `m_parts`; empty: no
    mixture, or nothing computed that tells: they are assumed to spread evenly"""
    tags: tuple[tuple[str, str], ...] = ()
    """opaque (key, value) from above, such as ("phase", "forward")"""
    origin: tuple[str, ...] = ()
    """names of the source nodes of the model"""


@dataclass(frozen=True, slots=True)
class Transfer:
    """A tensor on its way from one kernel (or the host) to others (or the host)."""

    id: str
    tensor: str
    producer: str
    """kernel id or HOST"""
    consumers: tuple[str, ...]
    """kernel ids or HOST"""
    legs: tuple[Leg, ...]
    chunks: int
    """equal chunks a sample"""
    out_slots: int
    """chunks that fit at the producer"""
    in_slots: tuple[int, ...]
    """chunks that fit at each consumer"""
    out_bytes: int = 0
    """bytes of one out slot on the fullest PE of the producer"""
    in_bytes: tuple[int, ...] = ()
    """bytes of one in slot on the fullest PE of each consumer"""
    give: tuple[int, int] = (0, 0)
    """(first, last) progress cycles of the producer at which chunks are given"""
    need: tuple[tuple[int, int], ...] = ()
    """(first, last) progress cycles at which each consumer needs chunks"""
    whole: bool = False
    """True when a reader needs the whole tensor before it starts"""
    port: str = "host"
    """border that it crosses where one end is the host: host | weights"""
    after: str = ""
    """kernel that must have ended before it moves, which gives it its SRAM; empty: none"""
    until: str = ""
    """kernel that starts only when all of it has left the wafer, because it needs its SRAM; empty:
    none, but through the weight ports it has left before the next sample's weights come"""

    @property
    def leaves(self) -> bool:
        """True for what leaves through the weight ports: gradients, new state, activations"""
        return self.port == "weights" and HOST in self.consumers

    @property
    def comes_back(self) -> bool:
        """True for activations that come back through the weight ports, once `after` has ended"""
        return self.port == "weights" and self.producer == HOST


@dataclass(frozen=True, slots=True)
class Buffer:
    """A range of SRAM on the PEs of one kernel."""

    kernel: str
    role: str
    """weights | in slot | out slot | work | code"""
    name: str
    """tensor or purpose"""
    offset: int
    """bytes from the start of SRAM"""
    size: int
    """bytes on the fullest PE of the kernel"""
    count: int = 1
    """slots that make up the size"""
    live: tuple[int, int] = (0, 0)
    """first and last operation of the kernel that needs it, in program order"""


@dataclass(frozen=True, slots=True)
class ConflictTerm:
    """What one flow puts on a shared resource."""

    flow: str
    """transfer id, or kernel id for traffic inside its region"""
    words: int
    """words of a chunk (kernel: of an instance) on the resource"""


@dataclass(frozen=True, slots=True)
class Conflict:
    """An undominated load vector: flows that meet on one link or ramp."""

    plane: str
    """east | west | north | south | inject | deliver, or color where flows take turns on one"""
    row: int
    col: int
    """where the vector was found"""
    terms: tuple[ConflictTerm, ...]


@dataclass(frozen=True, slots=True)
class WeightStream:
    """The weights of one kernel on their way in through the weight ports, a sample at a time."""

    id: str
    kernel: str
    """kernel that waits for them"""
    words: int
    """distinct wavelets through the ports"""
    cycles: int
    """cycles the ports need for them"""
    latency: int
    """cycles from their departure to their arrival"""
    legs: tuple[Leg, ...]
    """their way over the fabric; words are copies included"""
    gate: str = ""
    """kernel that must have ended before they start: it frees their SRAM; empty: none"""


@dataclass(frozen=True, slots=True)
class Outside:
    """A kernel whose work is done outside the wafer; it takes no cycles here."""

    id: str
    spec: KernelSpec
    reads: tuple[str, ...]
    """tensors that the wafer sends out, or inputs"""
    writes: tuple[str, ...]
    weights: tuple[str, ...] = ()
    before: bool = False
    """True when it is done before the wafer starts, from inputs alone"""


@dataclass(frozen=True, slots=True)
class Loader:
    """What reads and decodes the samples on the host."""

    workers: int
    """samples decoded at once, each by one worker; samples fall to the workers in turn"""
    cycles: int
    """cycles in which one worker decodes a sample"""
    prefetch: int
    """samples of one worker that are in decoding or wait on the host for their departure"""


@dataclass(frozen=True, slots=True)
class Program:
    """What the machine will do."""

    machine: MachineSpec
    tensors: tuple[Tensor, ...]
    kernels: tuple[Kernel, ...]
    transfers: tuple[Transfer, ...]
    buffers: tuple[Buffer, ...]
    order: tuple[tuple[str, ...], ...]
    """kernel ids of each region, in running order"""
    conflicts: tuple[Conflict, ...]
    samples: int
    storage: str
    """storage dtype of activations and weights"""
    admit_every: int = 0
    """cycles between host samples, 0: all there from cycle 0"""
    outside: tuple[Outside, ...] = ()
    """work that is not done on the wafer, in order"""
    loader: Loader | None = None
    """None: host samples need no decoding"""
    host_channels: int = 0
    """ways between host and wafer, each a wavelet a cycle at most; 0: as many as the port takes"""
    would_run: bool = True
    """False when something does not fit: the run is a what-if"""
    mode: str = "pipeline"
    """pipeline: every kernel on a region of its own; streaming: kernels take turns"""
    regions: tuple[Rect, ...] = ()
    """PEs of each region in `order`; empty: those of its only kernel"""
    streams: tuple[WeightStream, ...] = ()
    """weights that arrive while the program runs, in the order of the ports"""
    accumulate: str = "fp32"
    """dtype of partial sums, a name in `engine.dtypes`"""
    notes: tuple[str, ...] = field(default=())
    """modelling notes a reader of the run should see"""

    @property
    def host_rate(self) -> float:
        """wavelets a cycle between host and wafer, either way"""
        port = self.machine.host_wavelets_per_cycle
        return min(port, self.host_channels) if self.host_channels else port

    @property
    def waiting(self) -> frozenset[str]:
        """tensors that leave the wafer, wait outside and come back"""
        return frozenset(t.tensor for t in self.transfers if t.comes_back)

    def areas(self) -> tuple[tuple[Rect, tuple[int, ...]], ...]:
        """Return (PEs, indexes of the kernels that take turns on them) of every region."""
        index = {kernel.id: i for i, kernel in enumerate(self.kernels)}
        found = []
        for place, names in enumerate(self.order):
            kernels = tuple(index[name] for name in names)
            rect = self.regions[place] if self.regions else self.kernels[kernels[0]].region
            found.append((rect, kernels))
        return tuple(found)

    def regions_of_kernels(self) -> tuple[int, ...]:
        """Return the index of the region, in `order`, of every kernel."""
        places = {index: place for place, (_, own) in enumerate(self.areas()) for index in own}
        return tuple(places[index] for index in range(len(self.kernels)))

    def kernel(self, kernel_id: str) -> Kernel:
        """Return the kernel called `kernel_id`; KeyError if there is none."""
        for kernel in self.kernels:
            if kernel.id == kernel_id:
                return kernel
        raise KeyError(kernel_id)

    def tensor(self, tensor_id: str) -> Tensor:
        """Return the tensor called `tensor_id`; KeyError if there is none."""
        for tensor in self.tensors:
            if tensor.id == tensor_id:
                return tensor
        raise KeyError(tensor_id)
