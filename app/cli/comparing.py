"""Options of `compare` and `sweep`, and the gate's, which run and check share. Imports nothing."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

P = TypeVar("P", bound=argparse.ArgumentParser)


def add_gate(verb: argparse.ArgumentParser) -> None:
    """Add --fail-on and --junit."""
    verb.add_argument(
        "--fail-on",
        action="append",
        default=[],
        metavar="EXPR",
        help="exit with 4 when this holds, such as 'makespan > 2000 or sram > 46 KB'",
    )
    verb.add_argument("--junit", metavar="F.xml", help="write the checks as JUnit XML")


def add_comparing(
    verbs: argparse._SubParsersAction[P],
    add_choices: Callable[[argparse.ArgumentParser], None],
) -> None:
    """Add the verbs compare and sweep."""
    compare = verbs.add_parser("compare", help="measure a recording against another")
    compare.add_argument("before", metavar="A.wscope")
    compare.add_argument("after", metavar="B.wscope")
    compare.add_argument("--json", action="store_true", help="as JSON")
    compare.add_argument("-o", "--output", metavar="D.png|svg", help="write a map of B less A")
    compare.add_argument("--metric", default="utilization", help="metric of the map")
    compare.add_argument("--theme", choices=("light", "dark"), default="light")
    add_gate(compare)
    sweep = verbs.add_parser("sweep", help="run a model with many settings of the knobs")
    sweep.add_argument("model", help="an .onnx file, config.json, model folder, YAML or demo")
    sweep.add_argument("--vary", action="append", default=[], required=True,
                       metavar="KNOB=V1,V2,...", help="values of a knob; every combination is "
                       "run; values with commas are separated by ';'")  # fmt: skip
    sweep.add_argument("-o", "--output", required=True, metavar="T.csv", help="table to write")
    sweep.add_argument("--jobs", type=int, metavar="N", help="processes (default: the cores)")
    sweep.add_argument("--resume", action="store_true", help="keep the rows the table has already")
    sweep.add_argument("--scheduler", metavar="tcp://HOST:PORT", help="run on a Dask cluster")
    sweep.add_argument("--json", action="store_true", help="print the rows as JSON")
    add_choices(sweep)
