"""From what a user names (a model file, a demo, a recording) to a run. Knows no screen."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

from app.run import make_run
from app.saving import Opened, load_run
from engine.archive import RecordingError
from engine.machine import MachineError
from engine.progress import NO_PROGRESS, Progress
from engine.run import ProgramDeadlock
from lowering.cache import StageCache
from lowering.config import CompileConfig, KnobError
from lowering.errors import ModelImportError, UnsupportedOpError
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

_NOT_YET = {
    ".json": "a config.json", ".yaml": "a YAML model", ".yml": "a YAML model",
    ".pt": "a PyTorch file", ".pth": "a PyTorch file", ".pt2": "a PyTorch file",
    ".safetensors": "a weight file",
}  # fmt: skip


def open_run(
    run_id: int,
    source: str | Path,
    config: CompileConfig | None,
    dims: Mapping[str, int],
    progress: Progress = NO_PROGRESS,
    cache: StageCache | None = None,
) -> Opened:
    """Return the run of a model, a demo or a recording.

    Raises:
        ModelImportError, UnsupportedOpError, RecordingError, DoesNotFit, Cancelled.
    """
    if str(source).lower().endswith(".wscope"):
        return load_run(run_id, Path(source), progress)
    chosen = config or CompileConfig()
    graph = load_graph(source, dims, shape_only=chosen.values == "none")
    return Opened(make_run(run_id, graph, chosen, Path(source).name, progress, cache))


def load_graph(source: str | Path, dims: Mapping[str, int], *, shape_only: bool = False) -> Graph:
    """Return the graph of a model file or a demo's name (any case).

    Raises:
        ModelImportError: no such file or demo, or a kind of file that is not read yet.
    """
    from app.demo_models import DEMOS, demo_path
    from lowering.frontends.onnx import load_onnx

    path = Path(source)
    name = str(source).lower()
    if name in DEMOS and not path.is_file():
        values = not (shape_only or DEMOS[name].shape_only)
        return load_onnx(demo_path(name), dims, values=values)
    kind = path.suffix.lower()
    if kind in _NOT_YET:
        raise ModelImportError(
            f"{source}: {_NOT_YET[kind]} cannot be read yet; export the model to ONNX"
        )
    if not path.exists():
        near = difflib.get_close_matches(name, DEMOS, n=1, cutoff=0.4)
        hint = f"did you mean the demo '{near[0]}'?" if near else f"demos: {', '.join(DEMOS)}"
        raise ModelImportError(f"there is no file or demo '{source}'; {hint}")
    return load_onnx(path, dims, values=not shape_only)
