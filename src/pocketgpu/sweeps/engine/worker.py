"""What runs in a worker: a batch of tasks, each in the child process that the worker keeps.

Dask calls `run_tasks` in a thread of a worker. A thread has one child.
"""

from __future__ import annotations

import atexit
import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

from pocketgpu import __version__
from pocketgpu.late_dataclass import dataclass
from pocketgpu.sweeps.child.keeper import Ended, Keeper, Limits
from pocketgpu.sweeps.engine.scratch import Scratch, sweep_up
from pocketgpu.sweeps.model.rows import renamed
from pocketgpu.sweeps.model.task import Task, What

TRIES: Final = 2
"""How often a task is begun whose process ends without an answer."""
AGAIN: Final = ("crashed", "memory")
"""What is tried again, in a new process: the tasks before it may be at fault."""
FULL: Final = 0.75
"""The part of the limit of memory at which a child is replaced after a task."""
IDLE: Final = 10.0
"""Seconds after which a child without a task is ended: workers of a cluster stay when a sweep is over."""
_LOOK: Final = 1.0
_MOST_STOPPED: Final = 1000
_keepers: dict[int, _Seat] = {}
_stopped: dict[str, None] = {}
_watching = False
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


class _Seat:
    """A thread's keeper. lock: held while it has tasks. left: when the last one ended."""

    def __init__(self, limits: Limits) -> None:
        self.keeper = Keeper(limits)
        self.lock = threading.Lock()
        self.left = monotonic()


Runner = Callable[[Sequence[Task], What, Limits, str], "list[Result]"]


def run_tasks(tasks: Sequence[Task], what: What, limits: Limits, sweep: str = "") -> list[Result]:
    """Do tasks, one after another. Nothing that a capture does raises here. sweep: what `stop` names."""
    seat = _seat(limits)
    with seat.lock:
        _watch()
        _share_kernels()
        try:
            return [_run(seat.keeper, task, what, sweep) for task in tasks]
        finally:
            seat.left = monotonic()


def stop(sweep: str) -> None:
    """End the tasks of a sweep that was left; nobody waits for their results."""
    _stopped[sweep] = None
    while len(_stopped) > _MOST_STOPPED:
        _stopped.pop(next(iter(_stopped)))


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


def _seat(limits: Limits) -> _Seat:
    """The seat of this thread."""
    with _lock:
        seat = _keepers.get(threading.get_ident())
        if seat is None:
            if not _keepers:
                atexit.register(close_all)
                sweep_up()  # what a worker left that was killed
            seat = _keepers[threading.get_ident()] = _Seat(limits)
    seat.keeper.limits = limits
    return seat


def _watch() -> None:
    """End children that have no task for a while, in a thread that ends with the last child."""
    global _watching
    with _lock:
        if _watching:
            return
        _watching = True
    threading.Thread(target=_end_idle, daemon=True).start()


def _end_idle() -> None:
    global _watching
    while True:
        sleep(_LOOK)
        with _lock:
            busy = False
            for seat in _keepers.values():
                if not seat.lock.acquire(blocking=False):
                    busy = True
                    continue
                if monotonic() - seat.left > IDLE:
                    seat.keeper.close()
                busy |= seat.keeper.pid is not None
                seat.lock.release()
            if not busy:
                _watching = False
                return


def close_all() -> None:
    """End the children of this process."""
    with _lock:
        for seat in _keepers.values():
            seat.keeper.close()
        _keepers.clear()


def _run(keeper: Keeper, task: Task, what: What, sweep: str) -> Result:
    started = datetime.now(UTC).isoformat(timespec="milliseconds")
    worker = f"{socket.gethostname()}/{threading.get_native_id()}"

    def without_answer(state: str, message: str, tries: int) -> Result:
        return Result(task.key, {"state": state, "message": message}, {}, 0.0, (), False, tries, worker, started)

    if task.version != __version__:
        message = f"its worker has pocketgpu {__version__}, not {task.version}"
        return without_answer("lost", message, 1)
    with contextlib.ExitStack() as stack:
        paths = task.paths
        try:
            if task.files is not None:
                paths = _unpacked(task, stack.enter_context(Scratch("task")).path)
        except OSError as error:
            return without_answer("failed", f"its worker cannot store the capture: {error.strerror or error}", 1)
        request = {"paths": list(paths), "what": what.to_json()}
        tries = 0
        while True:
            answer, tries = keeper.ask(request, lambda: sweep in _stopped), tries + 1
            if not isinstance(answer, Ended) or answer.state not in AGAIN or tries == TRIES:
                break
        if isinstance(answer, Ended):
            return without_answer(answer.state, answer.message, tries)
        keeper.replace_if_above(FULL)
        data, blocks = answer
        found = data["found"]
        for here, there in zip(paths, task.paths, strict=True):
            if here != there:
                found = renamed(found, {f"{Path(here).parent}/": f"{Path(there).parent}/"})
        pictures = dict(zip(data["pictures"], blocks, strict=True))
        return Result(
            task.key, found, pictures, data["seconds"], tuple(data["frames"]), data["first"], tries, worker, started
        )


def _unpacked(task: Task, folder: Path) -> tuple[str, ...]:
    """Write the files that came with a task into a folder; returns the paths of the capture and of the other one."""
    assert task.files is not None
    for name, data in task.files.items():
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
    sides = ("a", "b")
    return tuple(str(folder / side / Path(path).name) for side, path in zip(sides, task.paths, strict=False))


__all__ = ["Result", "Runner", "close_all", "run_tasks", "stop"]


def __dir__() -> list[str]:
    return [*__all__]
