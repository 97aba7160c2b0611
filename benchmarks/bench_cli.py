"""Whole processes: `python -m benchmarks.bench_cli`."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.measure import least, line


def main() -> None:
    """Print the figures."""
    python = [sys.executable, "-c", "pass"]
    cli = [sys.executable, "-m", "app.cli.main"]
    small = [*cli, "run", "gpt2-small", "--samples", "4", "--json"]
    baseline = least(lambda: _run(python), 5)
    print(line("waferscope --help", least(lambda: _run([*cli, "--help"]), 5), 0.3, baseline))
    _run(small)
    print(line("waferscope run gpt2-small --json", least(lambda: _run(small), 3), 4.0))


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
