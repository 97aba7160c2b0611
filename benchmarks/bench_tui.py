"""CPU of a repaint of the terminal view: `python -m benchmarks.bench_tui [MODEL] [COLS ROWS]`.

The application runs in a pseudo-terminal of its own, steps through the run with each metric, and
counts the CPU a step: of all threads (the command, the views, the painting, the escape codes) and
of the screen's thread alone (painting and laying out), whose budget is 60 ms at 200x60.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pty
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

from app.debugger import Debugger
from app.tui.app import WaferscopeApp
from app.tui.courier import Do, Order
from app.tui.glyphs import BLOCKS

STEPS = 30
METRICS = ("utilization", "cause", "traffic", "sram_live")


class Bench(WaferscopeApp):
    """Steps by itself and notes the CPU it took."""

    def __init__(self, session: Debugger, target: Path) -> None:
        super().__init__(session, BLOCKS)
        self._target = target

    def on_ready(self) -> None:
        """Begin when the screen stands."""
        self.run_worker(self._measure())

    async def _answered(self, *orders: Order) -> None:
        for order in orders:
            self.courier.send(order)
        while not self.courier.is_idle:
            await asyncio.sleep(0.002)
        await asyncio.sleep(0.05)

    async def _measure(self) -> None:
        results = {}
        await self._answered(Do("pe", (20, 20)))
        for metric in METRICS:
            await self._answered(Do("metric", (metric,)), Do("seek", (0,)))
            await self._answered(Do("next"))
            whole, screen = time.process_time(), time.thread_time()
            for _ in range(STEPS):
                await self._answered(Do("next"))
            results[metric] = (
                (time.process_time() - whole) / STEPS * 1e3,
                (time.thread_time() - screen) / STEPS * 1e3,
            )
        self._target.write_text(json.dumps(results), encoding="utf-8")
        self.exit(0)


def measure(model: str, cols: int, rows: int) -> dict[str, tuple[float, float]]:
    """Return milliseconds of CPU a step for each metric: in all, and of the screen's thread."""
    target = Path(tempfile.mkstemp(suffix=".json")[1])
    session = Debugger.open(model)
    child, terminal = pty.fork()
    if child == 0:
        size = struct.pack("HHHH", rows, cols, 0, 0)
        fcntl.ioctl(0, termios.TIOCSWINSZ, size)
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
        Bench(session, target).run()
        os._exit(0)
    tail = b""
    try:
        while chunk := os.read(terminal, 65_536):
            tail = (tail + chunk)[-3000:]
    except OSError:  # how Linux says that the other end of a pseudo-terminal is closed
        os.close(terminal)
    os.waitpid(child, 0)
    if not target.stat().st_size:
        raise RuntimeError(f"the view ended early: {tail.decode(errors='replace')}")
    results: dict[str, tuple[float, float]] = json.loads(target.read_text(encoding="utf-8"))
    target.unlink()
    return results


def main() -> None:
    """Print the table."""
    model = sys.argv[1] if len(sys.argv) > 1 else "gpt2-small"
    cols, rows = (int(word) for word in sys.argv[2:4]) if len(sys.argv) > 3 else (200, 60)
    for metric, (whole, screen) in measure(model, cols, rows).items():
        print(f"{model} {cols}x{rows} {metric:<12} {whole:6.1f} ms CPU a step, "
              f"of which {screen:.1f} ms repaint")  # fmt: skip


if __name__ == "__main__":
    main()
