"""The first run on a machine: what is compiled is told, and it ends well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_CODE = (
    "import sys\nfrom app.session import warming\nwarming.INTERPRETED_CHUNKS = 1\n"
    "warming.warm_up = lambda: None\n"
    "from app.cli.main import main\nsys.exit(main(['run', 'mlp', '--machine', 'mesh-64x64']))"
)
"""a program counts as too large for plain Python; the compiler itself is left out"""


def test_a_cold_cache_is_told_on_stderr(tmp_path: Path) -> None:
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _CODE], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "compiling kernels for this machine, once"
    assert "compiling" not in done.stdout
    assert "makespan" in done.stdout
