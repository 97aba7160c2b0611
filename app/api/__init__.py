"""The public Python API, installed as `import waferscope`.

import waferscope
run = waferscope.run("model.onnx", machine="wse2", samples=8)
print(run.timeline.makespan, waferscope.summary(run)["utilization"])
session = waferscope.open("model.onnx")
session.step(); print(session.view_status().sentence)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from app.configs.file import ConfigFileError, read_config, write_config
from app.debugger import Debugger
from app.export import ExportError, Request, export_request
from app.runs.opening import open_run
from app.runs.run import Run
from app.runs.saving import save_run, verify_recording
from app.runs.summary import run_summary as summary
from app.version import VERSION
from app.views.build_compare import view_compare
from engine.machine import PRESETS, MachineError, MachineSpec
from engine.recording import RecordingError
from lowering.config import CompileConfig, KnobError, apply_knob
from lowering.errors import ModelImportError, UnsupportedOpError
from lowering.frontends.transformer.options import ModelOptions
from lowering.machine_file import find_machine

__all__ = [
    "CompileConfig", "ConfigFileError", "Debugger", "ExportError", "KnobError", "MachineError",
    "MachineSpec", "ModelImportError", "ModelOptions", "RecordingError", "Request", "Run",
    "UnsupportedOpError", "__version__", "compare", "config", "export", "machines", "open",
    "read_config", "run", "save", "summary", "verify", "write_config",
]  # fmt: skip

__version__ = VERSION
save = save_run
verify = verify_recording
export = export_request
compare = view_compare


def machines() -> dict[str, MachineSpec]:
    """Return the machines that come with Waferscope, by name."""
    return dict(PRESETS)


def config(machine: str | MachineSpec = "wse2", **knobs: str | int) -> CompileConfig:
    """Return a config: a machine (name or YAML file) and any knobs by name.

    Raises:
        MachineError, KnobError: what is wrong, in a sentence.
    """
    spec = machine if isinstance(machine, MachineSpec) else find_machine(machine)
    made = CompileConfig(machine=spec)
    for name, value in knobs.items():
        made = apply_knob(made, name, value)
    return made


def open(  # noqa: A001
    source: str | Path,
    machine: str | MachineSpec = "wse2",
    *,
    dims: Mapping[str, int] | None = None,
    shape: ModelOptions | None = None,
    **knobs: str | int,
) -> Debugger:
    """Open a model, a demo or a recording in a debugging session."""
    return Debugger.open(source, config(machine, **knobs), dims=dict(dims or {}), shape=shape)


def run(
    model: str | Path,
    machine: str | MachineSpec = "wse2",
    *,
    dims: Mapping[str, int] | None = None,
    shape: ModelOptions | None = None,
    **knobs: str | int,
) -> Run:
    """Compile and execute a model (or open a recording) and return the run."""
    return open_run(0, model, config(machine, **knobs), dict(dims or {}), shape=shape).run


def __dir__() -> list[str]:
    return list(__all__)
