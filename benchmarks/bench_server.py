"""Twenty users at one server: `python -m benchmarks.bench_server [USERS] [SECONDS]`.

The server is a process of its own, started as a user starts it, without compiled kernels on disk.
All users come at once; each opens one of four models, then goes to a step of its own choice once a
second and fetches its map, and turns a knob once a minute. Every map is compared with what this
process computes for that run: a mix-up between two sessions fails the benchmark. Then one user
looks at maps without pause while knobs of the same tab recompile.
Budgets: no error, p95 of a frame within 300 ms, within 200 ms for the one user.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from benchmarks.crowd import SAMPLES, Truth, User, crowd

FRAME_BUDGET_MS, ALONE_BUDGET_MS = 300, 200
MODELS = ("transformer", "mlp", "cnn", "gpt2-small")
_LOOKS = 300
"""maps that the one user looks at"""
_MEMORY_SECONDS = 10.0


class Server:
    """The tool in a process of its own; memory is looked at while it serves."""

    def __init__(self, kernels: str) -> None:
        """`kernels` is the folder for compiled kernels."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app.cli.main", "demo", MODELS[0], "--no-open", "--port", "0"],
            stderr=subprocess.PIPE, text=True, env={**os.environ, "NUMBA_CACHE_DIR": kernels},
        )  # fmt: skip
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if "Waferscope is at" in line:
                address = next(word for word in line.split() if word.startswith("http"))
                break
        else:
            raise OSError(f"the server ended with {self.process.wait()}")
        self.port = int(address.rstrip("/").rpartition(":")[2])
        self.memory_mb: list[float] = []
        self._over = threading.Event()
        threading.Thread(target=self._drain, daemon=True).start()
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def epoch(self) -> str:
        """what its sessions begin with"""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/sessions") as answer:
            return str(json.load(answer)["epoch"])

    def stop(self) -> None:
        """End it."""
        self._over.set()
        self.process.terminate()
        self.process.wait(30)

    def _drain(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            print(f"server: {line.rstrip()}")

    def _watch(self) -> None:
        status = Path(f"/proc/{self.process.pid}/status")
        while not self._over.wait(_MEMORY_SECONDS):
            words = status.read_text(encoding="utf-8").split()
            self.memory_mb.append(int(words[words.index("VmRSS:") + 1]) / 1024)


def look_while_compiling(user: User) -> list[float]:
    """Return the times of maps looked at while a knob of the same tab is compiled."""
    user.open_model()
    user.found.frame_ms.clear()
    wanted = 0
    while len(user.found.frame_ms) < _LOOKS:
        job = user.job()
        if job is None or job["state"] != "running":
            if job is not None and job["state"] == "done":
                user.samples = SAMPLES[(wanted - 1) % len(SAMPLES)]
            user.start_knob(SAMPLES[wanted % len(SAMPLES)])
            wanted += 1
        try:
            user.look()
        except ValueError:  # the run was replaced between the seek and the frame
            continue
    return user.found.frame_ms


def p95(values: list[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def spread(values: list[float]) -> str:
    """Return median, 95th percentile and maximum."""
    if len(values) < 2:
        return f"{values[0]:.1f}" if values else "none"
    return (
        f"median {statistics.median(values):.1f}, p95 {p95(values):.1f}, highest {max(values):.1f}"
    )


def main(count: int, seconds: float) -> int:
    """Run both parts and print the figures; 1 when an answer was wrong."""
    truth = Truth(MODELS)
    with tempfile.TemporaryDirectory(prefix="waferscope-bench-") as kernels:
        server = Server(kernels)
        epoch = server.epoch
        users = [
            User(server.port, epoch, number, MODELS[number % len(MODELS)], truth)
            for number in range(count)
        ]
        began = time.monotonic()
        crowd(users, began + seconds)
        memory = list(server.memory_mb)
        alone = User(server.port, epoch, count, "gpt2-small", truth)
        times = look_while_compiling(alone)
        server.stop()
    wrong = [text for user in users for text in user.found.wrong]
    frames = [ms for user in users for ms in user.found.frame_ms]
    print(f"{count} users, {seconds:.0f} s, {', '.join(MODELS)}; load {os.getloadavg()[0]:.1f}")
    print(f"frames {len(frames)}, ms: {spread(frames)} (budget p95 {FRAME_BUDGET_MS})")
    print(f"seeks, ms: {spread([ms for user in users for ms in user.found.step_ms])}")
    print(f"models, s: {spread([s for user in users for s in user.found.open_seconds])}")
    print(f"knobs, s: {spread([s for user in users for s in user.found.knob_seconds])}")
    third = max(1, len(memory) // 3)
    highest = [f"{max(memory[at : at + third]):.0f}" for at in range(0, len(memory), third)]
    print("memory, MB, highest of each third:", ", ".join(highest))
    print(f"one user while compiling, frames {len(times)}, ms: {spread(times)} "
          f"(budget p95 {ALONE_BUDGET_MS})")  # fmt: skip
    print(f"wrong answers: {len(wrong)}", *wrong[:5], sep="\n  ")
    return 1 if wrong or not frames else 0


if __name__ == "__main__":
    words = sys.argv[1:]
    raise SystemExit(
        main(int(words[0]) if words else 20, float(words[1]) if len(words) > 1 else 180.0)
    )
