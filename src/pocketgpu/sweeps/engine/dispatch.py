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
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from pocketgpu.late_dataclass import dataclass
from pocketgpu.sweeps.child.keeper import Limits
from pocketgpu.sweeps.engine.worker import Result, Runner, run_tasks
from pocketgpu.sweeps.model.task import Task, What

if TYPE_CHECKING:
    from distributed import Client, Future

BATCH_SECONDS: Final = 0.5
"""How long a batch should take."""
MOST_IN_BATCH: Final = 32
MOST_SHIPPED: Final = 8 << 20
"""Most bytes of files in a batch of several tasks."""
AHEAD: Final = 2
"""Batches on their way for each thread of a worker: one runs, one waits beside it."""
TRIES: Final = 2
"""How often a task is sent whose worker goes away."""
_LOOK: Final = 0.5
"""Seconds between two looks at the connection."""
_COUNT: Final = 1.0
"""Seconds between two looks how many workers there are."""
_GATHER: Final = 60.0
"""Seconds to wait for results that are there."""
_WEIGHT: Final = 0.2
"""How much a new time changes the expected time of a task."""


@dataclass
class _Batch:
    tasks: list[Task]
    future: Future


class Dispatch:
    """The tasks of a sweep, from the queue to their results.

    run_batch: what workers call. again: makes a new client when the connection is lost; None if it cannot be made
    again.
    """

    def __init__(
        self, client: Client, what: What, limits: Limits, run_batch: Runner = run_tasks,
        again: Callable[[], Client] | None = None,
    ) -> None:  # fmt: skip
        self.client = client
        self._arguments = (what, limits)
        self._run_batch, self._again = run_batch, again
        self._waiting: deque[Task] = deque()
        self._tries: dict[str, int] = {}
        self._flying: dict[str, _Batch] = {}
        self._over: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._seconds: float | None = None  # expected, of a task
        self._numbers = itertools.count()
        self._threads, self._counted = 1, float("-inf")
        self._prefix = f"pocketgpu-sweep-{uuid.uuid4().hex[:12]}"

    def __repr__(self) -> str:
        return f"<Dispatch: {len(self._waiting)} wait, {len(self._flying)} batches on their way>"

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """Do all tasks. `tasks` is read as they are sent, so that their files need not all be in memory."""
        source = iter(tasks)
        try:
            self._send(source)
            while self._flying:
                over = [self._flying.pop(key) for key in self._ended() if key in self._flying]
                results = self._gathered(over)
                self._send(source)
                for batch in over:
                    yield from self._results(batch, results)
                self._send(source)
        finally:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self.client.cancel([batch.future for batch in self._flying.values()], force=True)
            self._flying.clear()

    # -- sending ------------------------------------------------------------------------------------------------------
    def _send(self, source: Iterator[Task]) -> None:
        """Send batches until enough are on their way."""
        if monotonic() - self._counted > _COUNT:
            self._threads = max(1, sum(self.client.nthreads().values()))
            self._counted = monotonic()
        while len(self._flying) < AHEAD * self._threads:
            batch = self._next(source)
            if not batch:
                return
            key = f"{self._prefix}-{next(self._numbers)}"
            future = self.client.submit(self._run_batch, batch, *self._arguments, key=key, pure=False)
            self._flying[key] = _Batch(batch, future)
            future.add_done_callback(lambda done: self._over.put(str(done.key)))

    def _next(self, source: Iterator[Task]) -> list[Task]:
        """The next batch: tasks that together take BATCH_SECONDS. The first ones go alone, as their time is unknown."""
        count = 1 if self._seconds is None else int(BATCH_SECONDS / max(self._seconds, 1e-6))
        count = max(1, min(count, MOST_IN_BATCH))
        batch: list[Task] = []
        shipped = 0
        while len(batch) < count and shipped < MOST_SHIPPED:
            task = self._waiting.popleft() if self._waiting else next(source, None)
            if task is None:
                break
            batch.append(task)
            if self._tries.get(task.key):
                break  # a task that lost its worker goes alone, so that it takes no other one with it
            shipped += sum(map(len, (task.files or {}).values()))
        return batch

    # -- receiving ----------------------------------------------------------------------------------------------------
    def _ended(self) -> list[str]:
        """Keys of batches that ended, at least one; after a loss of the connection, those that have to be sent again
        are."""
        while True:
            with contextlib.suppress(queue.Empty):
                found = [self._over.get(timeout=_LOOK)]
                while not self._over.empty():
                    found.append(self._over.get())
                return found
            if self.client.status in ("closed", "closing", "newly-created") or not self._flying:
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
                name = type(error).__name__
                found = {"state": "lost", "message": f"its worker went away {tries} times ({name})"}
                results.append(Result(task.key, found, {}, 0.0, (), False, tries, "", ""))
        return results

    def _return(self, batch: _Batch) -> None:
        self._waiting.extendleft(reversed(batch.tasks))

    def _reconnect(self) -> None:
        """The scheduler is gone: wait for it, and send again what was on its way."""
        if self._again is None:
            raise ConnectionError("the cluster is gone")
        batches, self._flying = [*self._flying.values()], {}
        for batch in reversed(batches):
            self._return(batch)
        with contextlib.suppress(Exception):  # it is gone
            self.client.close(timeout=1)
        self.client = self._again()


__all__ = ["Dispatch"]


def __dir__() -> list[str]:
    return [*__all__]
