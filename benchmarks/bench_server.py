"""Twenty users at one server: `python -m benchmarks.bench_server [MODEL] [USERS] [SECONDS]`.

Each user is a thread with a tab of its own. Once a second it goes to a step of its own choice and
fetches the map; once a minute it turns a knob. Every answer is checked by its content: the cursor
must be where this user put it, the frame's bytes must be those that the engine gives for that step.
A mix-up between two sessions fails the run. Budgets: no error, p95 of a frame within 300 ms.
"""

from __future__ import annotations

import http.client
import json
import random
import resource
import statistics
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from app.debugger import Debugger
from app.runs.run import Run
from app.web.registry import Registry
from app.web.server import listen, make_server

FRAME_BUDGET_MS = 300
METRICS = ("utilization", "cause", "traffic")
_KNOB_SECONDS = 60.0
_KNOB_LIMIT_SECONDS = 60.0


@dataclass(slots=True)
class Found:
    """What one user saw."""

    frame_ms: list[float] = field(default_factory=list)
    """time of a frame, from request to last byte"""
    step_ms: list[float] = field(default_factory=list)
    """time of a seek, from request to state"""
    knob_seconds: list[float] = field(default_factory=list)
    """time from a knob to the run it gives"""
    wrong: list[str] = field(default_factory=list)
    """errors and answers that were another's"""


class User:
    """One tab, with its own connection."""

    def __init__(self, port: int, registry: Registry, number: int, until: float) -> None:
        self.session = f"{registry.epoch}-user{number:06d}"
        self.found = Found()
        self._registry, self._until = registry, until
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._rng = random.Random(number)
        self._knob_at = time.monotonic() + self._rng.uniform(0.1, 0.9) * min(
            _KNOB_SECONDS, until - time.monotonic()
        )

    def work(self) -> None:
        """Act like a user until the time is over."""
        time.sleep(self._rng.random())
        while time.monotonic() < self._until:
            began = time.monotonic()
            try:
                self._move()
                if began > self._knob_at:
                    self._turn_knob()
            except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
                self.found.wrong.append(f"{self.session}: {type(error).__name__}: {error}")
            time.sleep(max(0.0, 1 - (time.monotonic() - began)))
        self._line.close()

    def _ask(self, method: str, path: str, body: object = None) -> bytes:
        data = None if body is None else json.dumps(body)
        self._line.request(method, path, data, {"Content-Type": "application/json"})
        answer = self._line.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise ValueError(f"{method} {path}: status {answer.status}: {content[:200]!r}")
        return content

    def _do(self, command: str, *arguments: object) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(
            self._ask(
                "POST", f"/api/do/{self.session}", {"command": command, "args": list(arguments)}
            )
        )
        if state["error"]:
            raise ValueError(f"{command} {arguments}: {state['error']}")
        return state

    def _move(self) -> None:
        run = self._registry.get(self.session).run
        step, metric = self._rng.randrange(run.timeline.steps), self._rng.choice(METRICS)
        began = time.perf_counter()
        state = self._do("seek", step)
        self.found.step_ms.append(1000 * (time.perf_counter() - began))
        if state["cursor"]["step"] != step:
            self.found.wrong.append(f"asked for step {step}, got {state['cursor']['step']}")
        began = time.perf_counter()
        shown = self._ask("GET", f"/api/frame/{self.session}/{run.id}/{metric}/{step}")
        self.found.frame_ms.append(1000 * (time.perf_counter() - began))
        if shown != self._registry.get(self.session).frame_bytes(metric, step):
            self.found.wrong.append(f"{metric} of step {step} is not that of run {run.id}")

    def _turn_knob(self) -> None:
        self._knob_at += _KNOB_SECONDS
        wanted = self._rng.randrange(2, 7)
        began = time.monotonic()
        self._do("set", "samples", wanted)
        while time.monotonic() - began < _KNOB_LIMIT_SECONDS:
            state = json.loads(self._ask("GET", f"/api/state/{self.session}"))
            if state["status"]["job"]["state"] != "running":
                break
            time.sleep(0.2)
        self.found.knob_seconds.append(time.monotonic() - began)
        if state["status"]["samples"] != wanted:
            self.found.wrong.append(f"samples {wanted} set, {state['status']['samples']} shown")


def crowd(run: Run, users: int, seconds: float) -> list[Found]:
    """Return what each of some users saw of one server."""
    listener = listen(0)
    registry = Registry(Debugger(run))
    server = make_server(Debugger(run), listener, registry)
    threading.Thread(target=server.run, daemon=True).start()
    until = time.monotonic() + seconds
    people = [User(listener.getsockname()[1], registry, i, until) for i in range(users)]
    threads = [threading.Thread(target=person.work) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    registry.close()
    server.close()
    return [person.found for person in people]


def spread(values: list[float]) -> str:
    """Return median, 95th percentile and maximum."""
    if len(values) < 2:
        return f"{values[0]:.1f}" if values else "none"
    p95 = statistics.quantiles(values, n=20, method="inclusive")[-1]
    return f"median {statistics.median(values):.1f}, p95 {p95:.1f}, highest {max(values):.1f}"


def main(model: str, users: int, seconds: float) -> int:
    """Run the crowd and print the figures; 1 when an answer was wrong."""
    run = Debugger.open(model).run
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = crowd(run, users, seconds)
    frames = [value for one in found for value in one.frame_ms]
    steps = [value for one in found for value in one.step_ms]
    knobs = [value for one in found for value in one.knob_seconds]
    wrong = [text for one in found for text in one.wrong]
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{model} on {run.machine.name}, {users} users, {seconds:.0f} s")
    print(f"frames {len(frames)}, ms: {spread(frames)} (budget p95 {FRAME_BUDGET_MS})")
    print(f"seeks {len(steps)}, ms: {spread(steps)}")
    print(f"knobs {len(knobs)}, s: {spread(knobs)}")
    print(f"peak memory {before:.0f} MB before, {after:.0f} MB after")
    print(f"wrong answers: {len(wrong)}", *wrong[:5], sep="\n  ")
    return 1 if wrong or not frames else 0


if __name__ == "__main__":
    words = sys.argv[1:]
    raise SystemExit(
        main(
            words[0] if words else "transformer",
            int(words[1]) if len(words) > 1 else 20,
            float(words[2]) if len(words) > 2 else 180.0,
        )
    )
