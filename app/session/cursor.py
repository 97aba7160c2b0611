"""Where the user is and what they look at, as frozen values. Knows no run and no screen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engine.geometry import Rect

STRIDES = ("kernel", "event", "sample", "layer")
"""what one step forward means: next kernel of the selected sample, next event, next sample, next
layer that the selected sample enters"""


@dataclass(frozen=True, slots=True)
class Viewport:
    """The rectangle of PEs on screen, always inside the grid."""

    row: int
    """northmost row shown"""
    col: int
    """westmost column shown"""
    rows: int
    """height in PEs, >= 1"""
    cols: int
    """width in PEs, >= 1"""

    @property
    def rect(self) -> Rect:
        """the same rectangle as geometry"""
        return Rect(self.row, self.col, self.rows, self.cols)

    def clamped(self, rows: int, cols: int) -> Viewport:
        """Return the nearest viewport inside a grid of rows x cols PEs."""
        height = min(max(self.rows, 1), rows)
        width = min(max(self.cols, 1), cols)
        row = min(max(self.row, 0), rows - height)
        col = min(max(self.col, 0), cols - width)
        return Viewport(row, col, height, width)

    def zoomed(self, factor: float) -> Viewport:
        """Return a viewport `factor` times smaller around the same middle, at least 2x2 PEs."""
        rows = max(2, round(self.rows / factor))
        cols = max(2, round(self.cols / factor))
        row = self.row + (self.rows - rows) // 2
        col = self.col + (self.cols - cols) // 2
        return Viewport(row, col, rows, cols)


@dataclass(frozen=True, slots=True)
class Selection:
    """What is selected: nothing, a PE, a kernel, or a region."""

    kind: str = "none"
    """none | pe | kernel | region"""
    pe: tuple[int, int] | None = None
    """(row, col) when a PE is selected"""
    kernel: str | None = None
    """kernel id: the selected one, or the one the selected PE belongs to"""
    region: Rect | None = None
    """rectangle of a selected region or kernel"""


@dataclass(frozen=True, slots=True)
class Cursor:
    """One moment of a debugging session; moving makes a new one."""

    step: int
    """index of the step shown"""
    sample: int
    """sample that the strides by kernel and by layer follow"""
    stride: str
    """one of STRIDES"""
    metric: str
    """id in app.runs.map_metrics.MAP_METRICS"""
    viewport: Viewport
    """PEs on screen"""
    selection: Selection = field(default_factory=Selection)
    """what is selected"""
    log: bool = False
    """True: colours follow log(1 + value)"""

    def at(self, step: int) -> Cursor:
        """Return the same cursor at another step."""
        return replace(self, step=step)


@dataclass(frozen=True, slots=True)
class Move:
    """A new cursor and the sentence that goes with it."""

    cursor: Cursor
    message: str = ""
    """empty when there is nothing to say"""
