"""Where the points of a sweep run: here, in processes, or on a Dask cluster. Rows as they finish.

Knows no tables.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack

from app.sweep.sweep import Point, Row, run_point
from lowering.config import KnobError
from lowering.graph import Graph

Rows = Generator[Row, None, None]
"""ends what runs its points when it is closed"""
CONNECT_SECONDS = 15.0
"""how long a scheduler may take to answer"""
_graph: list[Graph] = []
"""the model of a worker process, set once when it starts"""


def run_points(graph: Graph, points: Sequence[Point], jobs: int = 0, scheduler: str = "") -> Rows:
    """Yield a row for each point as it finishes; `jobs` 0: as many as there are cores.

    Raises:
        KnobError: no scheduler answers, or a process died.
    """
    if scheduler:
        yield from _on_cluster(graph, points, scheduler)
        return
    count = min(jobs or os.cpu_count() or 1, len(points))
    if count <= 1:
        yield from (run_point(graph, point) for point in points)
    else:
        yield from _in_processes(graph, points, count)


def _start_worker(graph: Graph) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _graph.append(graph)


def _run_here(point: Point) -> Row:
    return run_point(_graph[0], point)


def _in_processes(graph: Graph, points: Sequence[Point], count: int) -> Rows:
    """Run points in fresh processes; they end with the generator, however that ends."""
    context = multiprocessing.get_context("spawn")
    others = {process.pid for process in multiprocessing.active_children()}
    pool = ProcessPoolExecutor(count, context, _start_worker, (graph,))
    finished = False
    try:
        futures = [pool.submit(_run_here, point) for point in points]
        for future in as_completed(futures):
            yield future.result()
        finished = True
    except BrokenProcessPool as error:
        raise KnobError(
            "a process of the sweep died, perhaps for lack of memory; what is finished is in the "
            "table: go on with --resume and fewer --jobs"
        ) from error
    finally:
        if not finished:
            for process in multiprocessing.active_children():
                if process.pid not in others:
                    process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


def _on_cluster(graph: Graph, points: Sequence[Point], scheduler: str) -> Rows:
    try:
        from distributed import Client
        from distributed import as_completed as completed
    except ImportError as error:
        raise KnobError(
            "--scheduler needs dask.distributed: pip install 'waferscope[cluster]'"
        ) from error
    with ExitStack() as stack:
        try:
            client = stack.enter_context(Client(scheduler, timeout=CONNECT_SECONDS))
        except (OSError, ValueError, TimeoutError) as error:
            raise KnobError(f"no Dask scheduler answers at {scheduler}: {error}") from error
        shared = client.scatter(graph, broadcast=True, hash=False)
        futures = [client.submit(run_point, shared, point, pure=False) for point in points]
        stack.callback(client.cancel, futures)
        for future in completed(futures):
            yield future.result()
