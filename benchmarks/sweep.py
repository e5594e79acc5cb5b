"""Sweeps: captures per second with 1, 2 and 4 workers, what a task costs beside its work, and a large cluster.

The corpus is that of `corpus.py`. A sweep is timed from its first row to its last one, as a cluster takes seconds to
start whatever is swept; the start is told apart. Workers have run every capture once before, so that code is in the
cache and in their memory: each sweep is the second one of its workers.

The cost of a task: processor and waiting time of the worker beside its child's work. With one worker, the time between
two rows minus the work of the second one.

The large cluster: 64 workers, threads of one process, whose tasks only sleep: half a second each, then 20 ms each in
batches. Busy is the time that they sleep divided by the time that they have.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Final

from common import Report, run
from corpus import make

from pocketgpu.sweeps.child.keeper import Limits
from pocketgpu.sweeps.engine import clusters
from pocketgpu.sweeps.engine.dispatch import Dispatch
from pocketgpu.sweeps.engine.worker import Result
from pocketgpu.sweeps.model.task import Task, What
from pocketgpu.sweeps.sweep import sweep

WORKERS: Final = (1, 2, 4)
SCALING, OVERHEAD, BUSY = 1.7, 10.0, 90.0
"""What was promised: times faster with two workers; milliseconds of a task beside its work; percent."""
MANY: Final = 64
LONG, SHORT = 0.5, 0.02
"""Seconds that tasks of the large cluster sleep."""


def swept(paths: Sequence[str], workers: int) -> tuple[float, float, list[float], int]:
    """A sweep with workers that have done it before. Returns seconds of start and of the sweep, what each task cost
    beside its work in ms if there is one worker, and how many captures could not be rendered."""
    begin = perf_counter()
    with clusters.local(workers) as client, tempfile.TemporaryDirectory() as folder:
        start = perf_counter() - begin
        for _ in sweep(paths, "render", client, out=Path(folder) / "first"):
            pass
        second = sweep(paths, "render", client, out=Path(folder) / "second")
        arrived, begin = [], perf_counter()
        for row in second:
            arrived.append((perf_counter(), second.store.times[row.capture].seconds))
        whole = arrived[-1][0] - begin
        refused = sum(row.state != "done" for row in second.rows)
        worked = sum(seconds for _, seconds in arrived)
        costs = [1e3 * (whole - worked) / len(arrived)] if workers == 1 else []
        return start, whole, costs, refused


def sleeping(tasks: Sequence[Task], what: What, limits: Limits, sweep: str) -> list[Result]:
    """What a worker of the large cluster does: it sleeps.

    A task ends when it would end on a processor of its own: it does not count that threads of this process wake late
    because others work, as 64 workers have 64 processes.
    """
    found, end = [], monotonic()
    for task in tasks:
        seconds = float(task.paths[0])
        end += seconds
        sleep(max(0.0, end - monotonic()))
        found.append(Result(task.key, {"state": "done"}, {}, seconds, (), False, 1, "", ""))
    return found


def busy(seconds: float, each: int) -> float:
    """Percent of their time that MANY workers sleep, each `each` times."""
    import dask
    from distributed import Client, LocalCluster

    tasks = [Task(f"{seconds}-{number}", ("",), (str(seconds),)) for number in range(MANY * each)]
    # No limit of memory: each worker would take the whole process for its own, and pause for good. Each also measures
    # the process: they would do so 128 times a second, where real workers have a process each.
    with dask.config.set({"distributed.admin.system-monitor.interval": "10s"}):
        cluster = LocalCluster(n_workers=MANY, threads_per_worker=1, processes=False, dashboard_address=":0",
                               memory_limit=0, silence_logs=logging.CRITICAL)  # fmt: skip
    with cluster, Client(cluster) as client:
        begin = perf_counter()
        done = list(Dispatch(client, What("render"), Limits(60, 1), sleeping).run(tasks, len(tasks)))
        whole = perf_counter() - begin
    assert [one.found["state"] for one in done] == ["done"] * len(tasks)
    return 100 * seconds * each / whole


def measure(report: Report, arguments: argparse.Namespace) -> None:
    report.add(f"{MANY} workers, tasks of {LONG} s: busy", busy(LONG, 20), "%", target=BUSY)
    report.add(f"{MANY} workers, tasks of {SHORT} s: busy", busy(SHORT, 1000), "%", target=BUSY)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(arguments.folder or folder)
        paths = [str(path) for path in make(place, arguments.count)]
        seconds: dict[int, list[float]] = {workers: [] for workers in WORKERS}
        for _ in range(arguments.repeat):
            for workers in WORKERS:
                start, whole, costs, refused = swept(paths, workers)
                seconds[workers].append(whole)
                print(f"{workers} workers: {whole:.1f} s for {len(paths)} captures", file=sys.stderr, flush=True)
                report.notes.append(f"{workers} workers: {start:.2f} s to start; {refused} captures refused")
                for cost in costs:
                    report.add("a task beside its work", cost, "ms", target=OVERHEAD, more=False)
    for workers, found in seconds.items():
        rates = [len(paths) / one for one in found]
        report.add(f"{len(paths)} captures, {workers} workers", statistics.median(rates), "/s", best=max(rates))
    pairs = [one / two for one, two in zip(seconds[1], seconds[2], strict=True)]
    report.add("two workers, times one", statistics.median(pairs), "x", best=max(pairs), target=SCALING)


if __name__ == "__main__":
    run("sweep", measure, count=1000, repeat=1, folder="")
