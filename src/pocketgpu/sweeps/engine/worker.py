"""What runs in a worker: a batch of tasks, each in the child process that the worker keeps.

Dask calls `run_tasks` in a thread of a worker. A thread has one child.
"""

from __future__ import annotations

import atexit
import contextlib
import socket
import tempfile
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pocketgpu.late_dataclass import dataclass
from pocketgpu.sweeps.child.keeper import Ended, Keeper, Limits
from pocketgpu.sweeps.model.task import Task, What

TRIES: Final = 2
"""How often a task is begun whose process ends without an answer."""
AGAIN: Final = ("crashed", "memory")
"""What is tried again, in a new process: the tasks before it may be at fault."""
FULL: Final = 0.75
"""The part of the limit of memory at which a child is replaced after a task."""
_keepers: dict[int, Keeper] = {}
_exchange: Any = None
_lock = threading.Lock()


@dataclass(frozen=True)
class Result:
    """What became of a task. found: fields of the row. pictures: PNG files by the SHA-256 of their pixels. seconds: of
    the work; first: its process was new; frames: milliseconds of each frame."""

    key: str
    found: dict[str, Any]
    pictures: dict[str, bytes]
    seconds: float
    frames: tuple[float, ...]
    first: bool
    tries: int
    worker: str
    started: str


Runner = Callable[[Sequence[Task], What, Limits], "list[Result]"]


def run_tasks(tasks: Sequence[Task], what: What, limits: Limits) -> list[Result]:
    """Do tasks, one after another. Nothing that a capture does raises here."""
    keeper = _keeper(limits)
    _share_kernels()
    return [_run(keeper, task, what) for task in tasks]


def _share_kernels() -> None:
    """Give and take compiled kernels, if this is a worker of a cluster whose scheduler keeps them."""
    global _exchange
    from distributed import get_worker

    from pocketgpu.sweeps.engine.kernels import Exchange

    try:
        worker = get_worker()
    except ValueError:  # no worker: a test, or a call in this process
        return
    if _exchange is None:
        _exchange = Exchange()
    _exchange.work(worker)


def _keeper(limits: Limits) -> Keeper:
    """The keeper of this thread."""
    with _lock:
        keeper = _keepers.get(threading.get_ident())
        if keeper is None:
            if not _keepers:
                atexit.register(close_all)
            keeper = _keepers[threading.get_ident()] = Keeper(limits)
    keeper.limits = limits
    return keeper


def close_all() -> None:
    """End the children of this process."""
    with _lock:
        for keeper in _keepers.values():
            keeper.close()
        _keepers.clear()


def _run(keeper: Keeper, task: Task, what: What) -> Result:
    with contextlib.ExitStack() as stack:
        paths = task.paths
        if task.files is not None:
            paths = _unpacked(task, Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pocketgpu-"))))
        request = {"paths": list(paths), "names": list(task.paths), "what": what.to_json()}
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        answer, tries = keeper.ask(request), 1
        while isinstance(answer, Ended) and answer.state in AGAIN and tries < TRIES:
            answer, tries = keeper.ask(request), tries + 1
        worker = f"{socket.gethostname()}/{threading.get_native_id()}"
        if isinstance(answer, Ended):
            found = {"state": answer.state, "message": answer.message}
            return Result(task.key, found, {}, 0.0, (), False, tries, worker, started)
        keeper.replace_if_above(FULL)
        data, blocks = answer
        pictures = dict(zip(data["pictures"], blocks, strict=True))
        return Result(
            task.key, data["found"], pictures, data["seconds"], tuple(data["frames"]), data["first"], tries, worker,
            started,
        )  # fmt: skip


def _unpacked(task: Task, folder: Path) -> tuple[str, ...]:
    """Write the files that came with a task into a folder; returns the paths of the capture and of the other one."""
    assert task.files is not None
    for name, data in task.files.items():
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
    sides = ("a", "b")
    return tuple(str(folder / side / Path(path).name) for side, path in zip(sides, task.paths, strict=False))


__all__ = ["Result", "Runner", "close_all", "run_tasks"]


def __dir__() -> list[str]:
    return [*__all__]
