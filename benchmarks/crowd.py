"""Users of a server for `bench_server`: each a tab with its own connection, its own run.

What a user is shown is compared, byte by byte, with what this process computes for the run that
the user should see.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from app.debugger import Debugger

METRICS = ("utilization", "cause", "traffic")
SAMPLES = (2, 3, 5)
"""values that the knob is turned to"""
KNOB_SECONDS = 60.0
"""time between two knobs of a user"""
_LIMIT_SECONDS = 120.0
"""time that a compile may take before it counts as an error"""


class Truth:
    """What each run is, computed here: model and samples -> session."""

    def __init__(self, models: tuple[str, ...]) -> None:
        self._sessions: dict[tuple[str, int], Debugger] = {}
        for model in models:
            session = Debugger.open(model)
            self._sessions[model, 0] = session
            for samples in SAMPLES:
                other = Debugger(session.run)
                other.do("set", "samples", samples)
                other.wait()
                self._sessions[model, samples] = other

    def steps(self, model: str, samples: int) -> int:
        """Return the steps of a run; samples 0 are the model's own."""
        return self._sessions[model, samples].run.timeline.steps

    def frame(self, model: str, samples: int, metric: str, step: int) -> bytes:
        """Return the bytes of a map."""
        return self._sessions[model, samples].frame_bytes(metric, step)


@dataclass(slots=True)
class Found:
    """What one user saw."""

    frame_ms: list[float] = field(default_factory=list)
    """time of a frame, from request to last byte"""
    step_ms: list[float] = field(default_factory=list)
    """time of a seek, from request to state"""
    knob_seconds: list[float] = field(default_factory=list)
    """time from a knob to the run it gives"""
    open_seconds: list[float] = field(default_factory=list)
    """time from the wish for a model to its run"""
    wrong: list[str] = field(default_factory=list)
    """errors, and answers that were another's"""


class User:
    """One tab."""

    def __init__(self, port: int, epoch: str, number: int, model: str, truth: Truth) -> None:
        self.session = f"{epoch}-user{number:06d}"
        self.found = Found()
        self.model, self.samples = model, 0
        self._truth = truth
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._rng = random.Random(number)

    def work(self, until: float) -> None:
        """Open the model, then act like a user until the time is over."""
        try:
            self.open_model()
            knob_at = time.monotonic() + self._rng.uniform(0.1, 0.9) * KNOB_SECONDS
            while (began := time.monotonic()) < until:
                self.look()
                if began > knob_at:
                    knob_at += KNOB_SECONDS
                    self.turn_knob()
                time.sleep(max(0.0, 1 - (time.monotonic() - began)))
        except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
            self.found.wrong.append(f"{self.session}: {type(error).__name__}: {error}")
        finally:
            self._line.close()

    def open_model(self) -> None:
        """Open the model in this tab and wait until it is there."""
        began = time.monotonic()
        self._ask("POST", f"/api/open/{self.session}", {"name": self.model}, 202)
        opening = self._wait("opening")
        self.found.open_seconds.append(time.monotonic() - began)
        if opening["state"] != "done":
            raise ValueError(f"{self.model} was not opened: {opening['message']}")

    def look(self) -> None:
        """Go to a step and fetch its map; check both."""
        step = self._rng.randrange(self._truth.steps(self.model, self.samples))
        metric = self._rng.choice(METRICS)
        began = time.perf_counter()
        state = self._do("seek", step)
        self.found.step_ms.append(1000 * (time.perf_counter() - began))
        if state["cursor"]["step"] != step:
            self.found.wrong.append(f"asked for step {step}, got {state['cursor']['step']}")
        began = time.perf_counter()
        run = state["status"]["run_id"]
        shown = self._ask("GET", f"/api/frame/{self.session}/{run}/{metric}/{step}")
        self.found.frame_ms.append(1000 * (time.perf_counter() - began))
        if shown != self._truth.frame(self.model, self.samples, metric, step):
            self.found.wrong.append(
                f"{metric} of step {step} is not that of {self.model}, {self.samples} samples"
            )

    def turn_knob(self) -> None:
        """Turn a knob and wait for its run."""
        wanted = self._rng.choice([count for count in SAMPLES if count != self.samples])
        began = time.monotonic()
        self.start_knob(wanted)
        job = self._wait("job")
        self.found.knob_seconds.append(time.monotonic() - began)
        if job["state"] != "done":
            raise ValueError(f"{wanted} samples of {self.model}: {job['message']}")
        self.samples = wanted

    def start_knob(self, samples: int) -> None:
        """Turn a knob."""
        self._do("set", "samples", samples)

    def job(self) -> Any:
        """Return how the tab's job stands."""
        return json.loads(self._ask("GET", f"/api/news/{self.session}"))["job"]

    def _wait(self, what: str) -> Any:
        end = time.monotonic() + _LIMIT_SECONDS
        while time.monotonic() < end:
            state = json.loads(self._ask("GET", f"/api/news/{self.session}"))[what]
            if state["state"] != "running":
                return state
            time.sleep(0.2)
        raise ValueError(f"{what} of {self.session} has not ended in {_LIMIT_SECONDS:.0f} s")

    def _ask(self, method: str, path: str, body: object = None, wanted: int = 200) -> bytes:
        data = None if body is None else json.dumps(body)
        self._line.request(method, path, data, {"Content-Type": "application/json"})
        answer = self._line.getresponse()
        content = answer.read()
        if answer.status != wanted:
            raise ValueError(f"{method} {path}: status {answer.status}: {content[:200]!r}")
        return content

    def _do(self, command: str, *arguments: object) -> dict[str, Any]:
        body = {"command": command, "args": list(arguments)}
        state: dict[str, Any] = json.loads(self._ask("POST", f"/api/do/{self.session}", body))
        if state["error"]:
            raise ValueError(f"{command} {arguments}: {state['error']}")
        return state


def crowd(users: list[User], until: float) -> None:
    """Let all users work at once, to the end."""
    threads = [threading.Thread(target=user.work, args=(until,)) for user in users]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
