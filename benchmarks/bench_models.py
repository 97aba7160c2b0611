"""Load, compile and execute whole models: `python -m benchmarks.bench_models [MODEL...]`.

Without arguments the graphs of the tests and the full-size configs. Each model has a process of its
own, so that nothing is known from another one; compiled kernels wait on disk. Figures are seconds
of processor time and the most memory the process held.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from engine.jit import warm_up
from engine.machine import parse_machine
from engine.models import program_profiles
from engine.run import execute
from engine.timing.clock import simulate
from engine.timing.net import build_net
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.frontends.load import LoadOptions, load_with_notes
from lowering.frontends.transformer.options import ModelOptions

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
FULL_SIZE = DATA / "huggingface" / "full_size.json"
TASKS = {"prefill": 2048, "decode": 4096, "training": 128, "longer": 2048, "prompt": 16_384}
"""what the full-size configs are asked to do, and over how many tokens at most; longer: a training
step, prompt: a prefill, whose activations do not fit all at once"""
BUDGET = 5.0
"""seconds of loading, compiling and the timeline, for the largest"""


@dataclass(frozen=True, slots=True)
class Case:
    """A model to measure."""

    path: Path
    task: str = ""
    """key of TASKS; empty: the file says what it does"""

    def options(self) -> ModelOptions:
        """Return the task, over as many tokens as the model has positions for."""
        if not self.task:
            return ModelOptions()
        known = json.loads((self.path / "config.json").read_text())
        tokens = min(TASKS[self.task], known.get("n_positions", TASKS[self.task]))
        if self.task == "decode":
            return ModelOptions(task="decode", kv_length=tokens)
        task = {"longer": "training", "prompt": "prefill"}.get(self.task, self.task)
        return ModelOptions(task=task, sequence=tokens)

    def config(self) -> CompileConfig:
        """Return wse2 for graphs of the tests, wse3 in fp16 for full-size configs."""
        if not self.task:
            return CompileConfig(values="none")
        return CompileConfig(machine=parse_machine("wse3"), storage="fp16", values="none")


def main() -> None:
    """Measure every model named, or the default set, each in a process of its own."""
    if sys.argv[1:2] == ["--here"]:
        print(measure(Case(Path(sys.argv[2]), sys.argv[3])))
        return
    warm_up()
    with tempfile.TemporaryDirectory() as folder:
        named = [Case(Path(path)) for path in sys.argv[1:]]
        for case in named or default_cases(Path(folder)):
            here = (sys.executable, "-m", "benchmarks.bench_models", "--here")
            subprocess.run((*here, str(case.path), case.task), check=True)


def default_cases(folder: Path) -> list[Case]:
    """Return the graphs of the tests, and the full-size configs written into a folder."""
    cases = [
        Case(path)
        for part in ("train_steps", "models")
        for path in sorted((DATA / part).glob("*.onnx"))
    ]
    for model in json.loads(FULL_SIZE.read_text()):
        place = folder / model["model"]
        place.mkdir()
        (place / "config.json").write_text(json.dumps(model["config"]))
        cases += [Case(place, task) for task in TASKS]
    return cases


def measure(case: Case) -> str:
    """Return one line: the seconds of each part and the most memory.

    The budget is that of loading, compiling and the timeline; executing makes the timeline again
    and adds causes, step tables and the ledger.
    """
    marks = [time.process_time()]
    graph = load_with_notes(case.path, LoadOptions(case.options(), values=False)).graph
    marks.append(time.process_time())
    compiled = compile_graph(graph, case.config())
    marks.append(time.process_time())
    program = compiled.program
    profiles = program_profiles(program)
    simulate(build_net(program, {name: found.length for name, found in profiles.items()}))
    marks.append(time.process_time())
    run = execute(program, compiled.store)
    marks.append(time.process_time())
    load, compile_, timeline, rest = (after - before for before, after in pairwise(marks))
    total = load + compile_ + timeline
    name = f"{case.path.parent.name}/{case.path.name}" if not case.task else case.path.name
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return (
        f"{name:<32} {case.task:<8} {load:6.2f} {compile_:6.2f} {timeline:6.2f} {total:7.2f} s "
        f"{rest:6.2f} s  {most:6,} MB  {run.timeline.steps:7,} steps  {program.mode:<9} "
        f"{'fits' if compiled.fits else 'short'}  {'ok' if total <= BUDGET else 'OVER'}"
    )


if __name__ == "__main__":
    main()
