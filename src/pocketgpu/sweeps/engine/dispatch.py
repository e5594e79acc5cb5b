"""Tasks on their way: so many at once that no worker waits, short ones in batches, lost ones again.

    for result in Dispatch(client, What("render"), limits).run(tasks):
        ...

A batch is one task of Dask. Results come in the order in which batches end.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from pocketgpu import __version__
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.sweeps.child.keeper import Limits
from pocketgpu.sweeps.engine.worker import Result, Runner, run_tasks, stop
from pocketgpu.sweeps.model.task import Task, What

if TYPE_CHECKING:
    from distributed import Client, Future

BATCH_SECONDS: Final = 1.0
"""How long a batch should take: what a batch costs the scheduler is a few milliseconds."""
MOST_IN_BATCH: Final = 64
SMALLER: Final = 4
"""How many times smaller the last batches are, so that workers end at about the same time."""
MOST_SHIPPED: Final = 8 << 20
"""Most bytes of files in a batch of several tasks."""
AHEAD: Final = 2
"""Batches on their way for each thread of a worker: one runs, one waits beside it."""
WORKER: Final = "dask worker --nthreads 1"
"""The command that starts a worker."""
TRIES: Final = 2
"""How often a task is sent whose worker goes away."""
_GONE: Final = ("KilledWorker", "CommClosedError", "CancelledError", "FutureCancelledError")
"""Dask's errors of a worker that is not there any more; they have no common base."""
_LOOK: Final = 0.5
"""Seconds between two looks at the connection."""
_COUNT: Final = 1.0
"""Seconds between two looks how many workers there are."""
_GATHER: Final = 60.0
"""Seconds to wait for results that are there."""
SILENT: Final = 5.0
"""Seconds without a worker before something is said: nannies start a worker again in less."""
_WEIGHT: Final = 0.2
"""How much a new time changes the expected time of a task."""


@dataclass
class _Batch:
    tasks: list[Task]
    future: Future


class Dispatch:
    """The tasks of a sweep, from the queue to their results.

    run_batch: what workers call. again: makes a new client when the connection is lost; None if it cannot be made
    again. patience: seconds to wait while there is no worker; None: without end, as a cluster may have a queue.
    """

    def __init__(
        self, client: Client, what: What, limits: Limits, run_batch: Runner = run_tasks,
        again: Callable[[], Client] | None = None, patience: float | None = None,
    ) -> None:  # fmt: skip
        self.client = self._given = client
        self._arguments = (what, limits)
        self._run_batch, self._again, self._patience = run_batch, again, patience
        self._waiting: deque[Task] = deque()
        self._tries: dict[str, int] = {}
        self._flying: dict[str, _Batch] = {}
        self._over: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._seconds: float | None = None  # expected, of a task
        self._left: int | None = None  # tasks of the source, if their number is known
        self._numbers = itertools.count()
        self._threads, self._counted = 1, float("-inf")
        self._alone: float | None = None  # since when there is no worker
        self._said = False
        self._known: set[str] = set()  # workers that were checked
        self._prefix = f"pocketgpu-sweep-{uuid.uuid4().hex[:12]}"

    def __repr__(self) -> str:
        return f"<Dispatch: {len(self._waiting)} wait, {len(self._flying)} batches on their way>"

    def run(self, tasks: Iterable[Task], count: int | None = None) -> Iterator[Result]:
        """Do all tasks. `tasks` is read as they are sent, so that their files need not all be in memory. count: how
        many they are; the last batches are small then, so that all workers end at about the same time."""
        source, self._left = iter(tasks), count
        try:
            while self._send(source) or self._flying:
                over = [self._flying.pop(key) for key in self._ended() if key in self._flying]
                results = self._gathered(over)
                self._send(source)
                for batch in over:
                    yield from self._results(batch, results)
        finally:
            self._stop()

    def _stop(self) -> None:
        """End what is on its way, as the sweep is left."""
        with contextlib.suppress(Exception):  # the scheduler may be gone
            if self._flying and self.client.status == "running":
                self.client.cancel([batch.future for batch in self._flying.values()], force=True)
                self.client.run(stop, self._prefix, on_error="ignore")
        self._flying.clear()
        if self.client is not self._given:
            with contextlib.suppress(Exception):
                self.client.close(timeout=1)

    # -- sending ------------------------------------------------------------------------------------------------------
    def _send(self, source: Iterator[Task]) -> bool:
        """Send batches until enough are on their way. Returns whether something may be left to send."""
        if self.client.status != "running":  # what is sent now would be lost without a word
            return True
        if monotonic() - self._counted > _COUNT:
            try:
                threads = self.client.nthreads()
            except (OSError, AttributeError):  # the connection has just gone
                return True
            self._threads, self._counted = max(1, sum(threads.values())), monotonic()
            self._watch(bool(threads))
            self._check({*threads})
        while len(self._flying) < AHEAD * self._threads:
            batch = self._next(source)
            if not batch:
                return False
            key = f"{self._prefix}-{next(self._numbers)}"
            with warnings.catch_warnings():  # files that are sent are large, and that is meant
                warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
                future = self.client.submit(
                    self._run_batch, batch, *self._arguments, self._prefix, key=key, pure=False
                )  # fmt: skip
            self._flying[key] = _Batch(batch, future)
            future.add_done_callback(lambda done: self._over.put(str(done.key)))
        return True

    def _watch(self, workers: bool) -> None:
        """Say that there is no worker, and give up after `patience`: else a sweep would wait without a word."""
        if workers:
            self._alone, self._said = None, False
            return
        if self._alone is None:
            self._alone = monotonic()
        seconds, address = monotonic() - self._alone, self._address()
        if self._patience is not None and seconds > self._patience:
            hint = f"Start one: {WORKER} {address}. Then go on with --resume."
            raise UsageError(f"there was no worker for {self._patience:g} s", location=address, hint=hint)
        if seconds > SILENT and not self._said:
            self._said = True
            warnings.warn(f"no worker at {address}, waiting for one: {WORKER} {address}", stacklevel=2)

    def _check(self, workers: set[str]) -> None:
        """Whether workers that have come can run this package. One without it could not even read its tasks, and they
        would wait there forever."""
        fresh, self._known = workers - self._known, workers
        if not fresh:
            return
        try:
            found = self.client.run(import_module, run_tasks.__module__, workers=[*fresh], on_error="return")
        except (OSError, KeyError, ValueError):  # one has just gone
            self._known = workers - fresh
            return
        for address, answer in sorted(found.items()):
            if isinstance(answer, ImportError):
                hint = f"Install it there: pip install 'pocketgpu[sweep]=={__version__}'. Then go on with --resume."
                what = f"a worker has no pocketgpu: {type(answer).__name__}: {answer}"
                raise UsageError(what, location=address, hint=hint)

    def _address(self) -> str:
        scheduler = self.client.scheduler
        return "the cluster" if scheduler is None else str(scheduler.address)

    def _next(self, source: Iterator[Task]) -> list[Task]:
        """The next batch: tasks that together take BATCH_SECONDS. The first ones go alone, as their time is unknown."""
        count = 1 if self._seconds is None else int(BATCH_SECONDS / max(self._seconds, 1e-6))
        count = min(count, MOST_IN_BATCH)
        if self._left is not None:
            count = min(count, max(-(-self._left // (AHEAD * self._threads)), count // SMALLER))
        count = max(1, count)
        batch: list[Task] = []
        shipped = 0
        while len(batch) < count and shipped < MOST_SHIPPED:
            task = self._waiting.popleft() if self._waiting else self._taken(source)
            if task is None:
                break
            batch.append(task)
            if self._tries.get(task.key):
                break  # a task that lost its worker goes alone, so that it takes no other one with it
            shipped += sum(map(len, (task.files or {}).values()))
        return batch

    def _taken(self, source: Iterator[Task]) -> Task | None:
        task = next(source, None)
        if task is not None and self._left is not None:
            self._left -= 1
        return task

    # -- receiving ----------------------------------------------------------------------------------------------------
    def _ended(self) -> list[str]:
        """Keys of batches that ended; none after a while, or after a loss of the connection."""
        with contextlib.suppress(queue.Empty):
            found = [self._over.get(timeout=_LOOK)]
            while not self._over.empty():
                found.append(self._over.get())
            return found
        if self.client.status in ("closed", "closing", "newly-created"):
            self._reconnect()
        return []

    def _gathered(self, over: list[_Batch]) -> dict[str, list[Result]]:
        """The results of batches that are finished, by key, in one request."""
        done = {str(batch.future.key): batch.future for batch in over if batch.future.status == "finished"}
        if not done:
            return {}
        try:
            found = self.client.gather(done, errors="skip", asynchronous=False)
        except Exception:  # a worker that had some of them is gone: ask for each
            found = {}
            for key, future in done.items():
                with contextlib.suppress(Exception):
                    found[key] = future.result(timeout=_GATHER)
        for results in found.values():
            self._learn(results)
        return dict(found)

    def _results(self, batch: _Batch, gathered: dict[str, list[Result]]) -> list[Result]:
        """The results of a batch that ended; none if its tasks have to be sent again."""
        key, status = str(batch.future.key), batch.future.status
        if key in gathered:
            return gathered[key]
        if status == "finished":
            return self._lost(batch, ConnectionError("its result is gone"))
        if status == "error":
            return self._lost(batch, batch.future.exception(timeout=_GATHER))
        self._return(batch)  # cancelled or lost: the scheduler was restarted
        return []

    def _learn(self, results: list[Result]) -> None:
        for one in results:
            if one.seconds and not one.first:
                known = one.seconds if self._seconds is None else self._seconds
                self._seconds = known + _WEIGHT * (one.seconds - known)

    def _lost(self, batch: _Batch, error: Any) -> list[Result]:
        """Dask gave up a batch: its workers went away. Its tasks are sent again, one by one, or are lost."""
        results = []
        for task in batch.tasks:
            tries = self._tries[task.key] = self._tries.get(task.key, 0) + 1
            if tries < TRIES:
                self._waiting.append(task)
            else:
                found = {"state": "lost"} | _why_lost(error, tries)
                results.append(Result(task.key, found, {}, 0.0, (), False, tries, "", ""))
        return results

    def _return(self, batch: _Batch) -> None:
        self._waiting.extendleft(reversed(batch.tasks))

    def _reconnect(self) -> None:
        """The scheduler is gone: wait for it, and send again what was on its way."""
        if self._again is None:
            hint = "Start it again, and go on with the results that are there (--resume)."
            raise UsageError("the scheduler of the cluster is gone", hint=hint)
        batches, self._flying = [*self._flying.values()], {}
        for batch in reversed(batches):
            self._return(batch)
        with contextlib.suppress(Exception):  # it is gone
            self.client.close(timeout=1)
        self.client = self._again()


def _why_lost(error: BaseException, tries: int) -> dict[str, str]:
    """What a row says about a batch that Dask gave up. A worker that is there and raises cannot start its child."""
    name = type(error).__name__
    if isinstance(error, ConnectionError | TimeoutError) or name in _GONE:
        return {"message": f"its worker went away {tries} times ({name})"}
    return {"message": f"its worker cannot do it: {name}: {error}"}


__all__ = ["Dispatch"]


def __dir__() -> list[str]:
    return [*__all__]
