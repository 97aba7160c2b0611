"""The one place where plain functions become compiled jit kernels.

`@jit_kernel` keeps the Python source beside its compiled form; numba is imported only when a
kernel is compiled for the first time, so that starting the program stays quick. Compiled code is
kept on disk in a folder named by the sources it was made from. Knows no kernel by name.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import platform
import sys
import tempfile
import threading
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_LOCK = threading.RLock()
_LOCAL = threading.local()
_KERNELS: list[JitKernel[Any, Any]] = []
_WARM_UPS: dict[str, Callable[[], None]] = {}
_ENGINE = Path(__file__).resolve().parent


class JitKernel(Generic[P, R]):
    """A function that runs compiled, or as the plain Python it was written in."""

    def __init__(self, py_func: Callable[P, R], allocates: bool) -> None:
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self._allocates = allocates
        self._dispatcher: Any = None

    @property
    def compiled(self) -> Any:
        """The numba dispatcher, made on first use; the plain function if compiling is off."""
        if self._dispatcher is None:
            with _LOCK:
                if self._dispatcher is None:
                    self._dispatcher = _declare(self.py_func, self._allocates)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What numba asks for when one jit kernel calls another."""
        return self.compiled._numba_type_

    @property
    def ready(self) -> bool:
        """Whether a call runs at once: compiled or loaded in this process, or compiling is off."""
        return compiling_is_off() or bool(getattr(self._dispatcher, "signatures", ()))

    @property
    def cached(self) -> bool:
        """Whether compiled code from an earlier process waits on disk."""
        folder = cache_folder(Path(self.py_func.__code__.co_filename))
        name = self.py_func.__qualname__
        return folder.is_dir() and any(folder.rglob(f"*.{name}-*.nbc"))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run compiled, compiling first if need be; interpreted inside `interpret`."""
        if getattr(_LOCAL, "interpreting", False):
            return self.py_func(*args, **kwargs)
        result: R = self.compiled(*args, **kwargs)
        return result

    def interpret(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run as plain Python, with every jit kernel it calls."""
        before = getattr(_LOCAL, "interpreting", False)
        _LOCAL.interpreting = True
        try:
            return self.py_func(*args, **kwargs)
        finally:
            _LOCAL.interpreting = before


def jit_kernel(py_func: Callable[P, R]) -> JitKernel[P, R]:
    """Declare a jit kernel: arrays, scalars and named tuples in, no objects, GIL released."""
    return _register(JitKernel(py_func, allocates=True))


def lean_kernel(py_func: Callable[P, R]) -> JitKernel[P, R]:
    """Declare a jit kernel that makes no array: nothing counts references to its arguments.

    Ten times quicker where kernels hand each other named tuples of many arrays (measured on the
    timing kernels: 12 to 1 us a step); numba refuses to compile one that allocates.
    """
    return _register(JitKernel(py_func, allocates=False))


def compiling_is_off() -> bool:
    """Tell whether NUMBA_DISABLE_JIT asks for plain Python everywhere."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def register_warm_up(name: str, run: Callable[[], None]) -> None:
    """Name a function that runs a module's kernels, compiled, on tiny inputs."""
    with _LOCK:
        _WARM_UPS[name] = run


def warm_up(progress: Callable[[int, int], None] | None = None) -> None:
    """Compile or load the kernels of every imported module; meant for a worker thread.

    `progress(done, total)` is called between modules and may raise to stop.
    """
    with _LOCK:
        runs = [_WARM_UPS[name] for name in sorted(_WARM_UPS)]
    for done, run in enumerate(runs):
        if progress is not None:
            progress(done, len(runs))
        run()
    if progress is not None:
        progress(len(runs), len(runs))


def is_cached() -> bool:
    """Tell whether every declared kernel is ready or waits compiled on disk."""
    return all(kernel.ready or kernel.cached for kernel in tuple(_KERNELS))


def ready_count() -> tuple[int, int]:
    """Return how many of the declared kernels run at once, and how many there are."""
    kernels = tuple(_KERNELS)
    return sum(kernel.ready for kernel in kernels), len(kernels)


@functools.cache
def cache_folder(source: Path) -> Path:
    """Return the folder of the compiled kernels of one source file, made if possible.

    Its name hashes the file, the engine modules it imports, numba, Python and the processor:
    numba itself would miss a change in an imported constant or callee.
    """
    digest = hashlib.sha256()
    for path in sorted(_with_imports(source)):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    for word in (metadata.version("numba"), sys.version, platform.machine()):
        digest.update(word.encode())
    digest.update(os.environ.get("NUMBA_BOUNDSCHECK", "").encode())
    leaf = f"{source.stem}-{digest.hexdigest()[:20]}"
    for root in (_user_cache(), Path(tempfile.gettempdir()) / f"waferscope-{_user_name()}"):
        folder = root / leaf
        if _is_writable(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="waferscope-"))


def _register(kernel: JitKernel[P, R]) -> JitKernel[P, R]:
    with _LOCK:
        _KERNELS.append(kernel)
    return kernel


def _declare(py_func: Callable[..., Any], allocates: bool) -> Any:
    if compiling_is_off():
        return py_func
    import numba

    folder = str(cache_folder(Path(py_func.__code__.co_filename)))
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
    try:
        return numba.njit(
            nogil=True, cache=True, fastmath=False, no_cfunc_wrapper=True, _nrt=allocates
        )(py_func)
    finally:
        numba.config.CACHE_DIR = before


def _with_imports(source: Path) -> set[Path]:
    found: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        waiting += [other for name in _imported(path) if (other := _module_file(name))]
    return found


def _imported(path: Path) -> list[str]:
    names = []
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return names


def _module_file(name: str) -> Path | None:
    package, *parts = name.split(".")
    if package != _ENGINE.name or not parts:
        return None
    path = _ENGINE.joinpath(*parts).with_suffix(".py")
    return path if path.is_file() and path != Path(__file__).resolve() else None


def _user_cache() -> Path:
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen) / "waferscope"
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen) / "waferscope"
    return Path(os.path.expanduser("~")) / ".cache" / "waferscope"


def _user_name() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
