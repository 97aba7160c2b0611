"""Compiling is late, cached by source, and can be left out."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine import jit
from engine.jit import (
    JitKernel,
    cache_folder,
    jit_kernel,
    lean_kernel,
    register_warm_up,
    warm_up,
)


@pytest.fixture(autouse=True)
def own_tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(jit, "_KERNELS", [])
    monkeypatch.setattr(jit, "_WARM_UPS", {})
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    cache_folder.cache_clear()
    yield
    cache_folder.cache_clear()


def _double(x: int) -> int:
    return 2 * x


def make_pair() -> tuple[JitKernel[[int], int], JitKernel[[int], int]]:
    """A kernel, and one that calls it."""
    inner = jit_kernel(_double)

    def outer(x: int) -> int:
        return inner(x) + 1

    return inner, jit_kernel(outer)


def test_importing_the_engine_does_not_import_numba() -> None:
    code = "import engine.jit, engine.timing.clock, sys; sys.exit('numba' in sys.modules)"
    root = Path(jit.__file__).resolve().parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_a_kernel_runs_compiled_and_is_kept_on_disk() -> None:
    inner, _ = make_pair()
    assert (inner.ready, inner.cached) == (False, False)
    assert inner(4) == 8
    assert (inner.ready, inner.cached) == (True, True)
    assert jit_kernel(_double).cached
    assert Path(str(inner.compiled.stats.cache_path)).is_relative_to(jit._user_cache())


def test_interpreting_covers_the_kernels_called() -> None:
    inner, outer = make_pair()
    assert outer.interpret(4) == 9
    states = [inner.ready]
    assert outer.py_func(4) == 9
    states.append(inner.ready)
    assert states == [False, True]


def test_a_kernel_calls_a_kernel_compiled() -> None:
    _, outer = make_pair()
    assert outer(20) == 41
    assert outer.ready


def test_a_lean_kernel_writes_the_arrays_it_is_given() -> None:
    def fill(values: np.ndarray, value: int) -> None:
        for place in range(len(values)):
            values[place] = value

    values = np.zeros(3, np.int64)
    lean_kernel(fill)(values, 7)
    assert values.tolist() == [7, 7, 7]


def test_compiling_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    inner, outer = make_pair()
    assert outer(4) == 9
    assert inner.ready
    assert inner.compiled is inner.py_func


def test_threads_share_one_dispatcher() -> None:
    inner, _ = make_pair()
    seen: list[object] = []
    threads = [threading.Thread(target=lambda: seen.append(inner.compiled)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one is seen[0] for one in seen)


def test_warm_up_reports_and_can_be_stopped() -> None:
    inner, _ = make_pair()
    register_warm_up("double", lambda: np.testing.assert_equal(inner(1), 2))
    seen: list[tuple[int, int]] = []
    warm_up(lambda done, total: seen.append((done, total)))
    assert seen == [(0, 1), (1, 1)]
    assert inner.ready
    assert not jit.is_cached()


def test_the_folder_follows_the_source_and_what_it_imports(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "engine"
    package.mkdir()
    (package / "units.py").write_text("UNIT = 1\n")
    (package / "kernel.py").write_text("from engine.units import UNIT\n")
    monkeypatch.setattr(jit, "_ENGINE", package)
    before = cache_folder(package / "kernel.py")
    (package / "units.py").write_text("UNIT = 2\n")
    cache_folder.cache_clear()
    assert cache_folder(package / "kernel.py") != before


def test_a_folder_that_cannot_be_written_falls_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocker))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "temp"))
    assert cache_folder(Path(jit.__file__)).is_relative_to(tmp_path / "temp")
