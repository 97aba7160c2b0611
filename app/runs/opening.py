"""From what a user names (a model file, a demo, a recording) to a run. Knows no screen."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from app.runs.run import make_run
from app.runs.saving import Opened, load_run
from engine.archive import RecordingError
from engine.machine import MachineError
from engine.progress import NO_PROGRESS, Progress
from engine.run import ProgramDeadlock
from lowering.cache import StageCache
from lowering.config import CompileConfig, KnobError
from lowering.errors import ModelImportError, UnsupportedOpError
from lowering.frontends.transformer.options import ModelOptions
from lowering.graph import Graph
from lowering.stages.plan import DoesNotFit

USER_ERRORS: tuple[type[Exception], ...] = (
    ModelImportError,
    UnsupportedOpError,
    RecordingError,
    MachineError,
    KnobError,
    DoesNotFit,
    ProgramDeadlock,
)
"""errors that a user can cause; their message is the whole answer"""


def _say_nothing(sentence: str) -> None:
    """Drop a sentence."""


def open_run(
    run_id: int,
    source: str | Path,
    config: CompileConfig | None,
    dims: Mapping[str, int],
    progress: Progress = NO_PROGRESS,
    cache: StageCache | None = None,
    shape: ModelOptions | None = None,
    tell: Callable[[str], None] = _say_nothing,
    fed: Mapping[str, np.ndarray] | None = None,
) -> Opened:
    """Return the run of a model, a demo or a recording.

    `shape` has the task and lengths of a model whose file leaves them open; `tell` gets sentences
    about the file; of the arrays in `fed` those that say how to lay out become part of the program.

    Raises:
        ModelImportError, UnsupportedOpError, RecordingError, DoesNotFit, Cancelled.
    """
    if str(source).lower().endswith(".wscope"):
        return load_run(run_id, Path(source), progress)
    chosen = config or CompileConfig()
    graph = load_graph(
        source, dims, shape_only=chosen.values == "none", shape=shape, tell=tell, fed=fed
    )
    return Opened(make_run(run_id, graph, chosen, Path(source).name, progress, cache))


def _exists(path: Path) -> bool:
    """Return whether there is such a file; names too long for one count as none."""
    try:
        return path.exists()
    except OSError:
        return False


def load_graph(
    source: str | Path,
    dims: Mapping[str, int],
    *,
    shape_only: bool = False,
    shape: ModelOptions | None = None,
    tell: Callable[[str], None] = _say_nothing,
    fed: Mapping[str, np.ndarray] | None = None,
) -> Graph:
    """Return the graph of a model file, a model's folder or a demo's name (any case).

    Raises:
        ModelImportError: no such file or demo, a kind of file that is not read, or options that
            do not suit it.
    """
    from app.demo_models import DEMOS, demo_path
    from lowering.frontends.load import LoadOptions, load_with_notes

    path = Path(source)
    options = LoadOptions(shape or ModelOptions(), dims, not shape_only, fed or {})
    name = str(source).lower()
    if name in DEMOS and not path.is_file():
        values = not (shape_only or DEMOS[name].shape_only)
        return load_with_notes(demo_path(name), replace(options, values=values)).graph
    if not _exists(path):
        near = difflib.get_close_matches(name, DEMOS, n=1, cutoff=0.4)
        hint = f"did you mean the demo '{near[0]}'?" if near else f"demos: {', '.join(DEMOS)}"
        raise ModelImportError(f"there is no file or demo '{source}'; {hint}")
    loaded = load_with_notes(path, options)
    for note in loaded.notes:
        tell(f"{path.name}: {note}")
    return loaded.graph
