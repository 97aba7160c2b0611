"""The wheel holds what a user needs from any folder, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("app", "engine", "lowering", "assets", "demo_models", "tests", "benchmarks", "docs")
FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
MAPPED = {"assets": "app/assets", "demo_models": "app/demo_models", "app/api": "waferscope"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """Names in a wheel built from a copy, so that no build folder is left in the tree."""
    work = tmp_path_factory.mktemp("wheel")
    source = work / "source"
    source.mkdir()
    for folder in FOLDERS:
        if (ROOT / folder).is_dir():
            skipped = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / folder, source / folder, ignore=skipped)
    for file in FILES:
        shutil.copy(ROOT / file, source / file)
    command = [
        sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
        "--disable-pip-version-check", "--wheel-dir", str(work), str(source),
    ]  # fmt: skip
    run = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    (built,) = work.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return frozenset(archive.namelist())


def installed_name(path: Path) -> str:
    """Where a file of the source tree lies after installation."""
    name = path.relative_to(ROOT).as_posix()
    for folder, package in MAPPED.items():
        if name.startswith(f"{folder}/"):
            return package + name.removeprefix(folder)
    return name


def test_every_module_is_packed(wheel: frozenset[str]) -> None:
    folders = ("app", "engine", "lowering", "assets", "demo_models")
    modules = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert {installed_name(path) for path in modules} - wheel == set()


def test_every_asset_and_model_is_packed(wheel: frozenset[str]) -> None:
    kinds = (
        "assets/*.css", "assets/*.js", "assets/*.json", "demo_models/*.onnx",
        "lowering/frontends/modelzoo/*.csv",
    )  # fmt: skip
    for kind in kinds:
        files = [installed_name(path) for path in ROOT.glob(kind)]
        assert files, f"the source tree has no {kind}"
        assert set(files) - wheel == set()


def test_public_package_and_type_marker_are_packed(wheel: frozenset[str]) -> None:
    assert {"waferscope/__init__.py", "engine/py.typed"} <= wheel


def test_nothing_else_is_packed(wheel: frozenset[str]) -> None:
    tops = {PurePosixPath(name).parts[0].split("-")[0] for name in wheel}
    assert tops == {"app", "engine", "lowering", "waferscope"}
    assert [name for name in wheel if name.startswith(("app/api/", "app/tests/"))] == []
