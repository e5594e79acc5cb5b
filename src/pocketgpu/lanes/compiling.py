"""A compiler process (`compilers.py` starts it): it makes code that the other process asks for, and keeps it in the
cache, where the other one finds it.

It ends at once when its input ends, but not while it writes a file.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
from importlib import import_module
from typing import Any, BinaryIO, Final

from pocketgpu.lanes.compilers import FAILED, LENGTH, MADE
from pocketgpu.lanes.kernel import Kernel, make_entry

_PRIORITY: Final = 10
"""How much nicer than the other process it is, as `nice` counts: drawing comes first."""
_LIMIT: Final = 60
"""Seconds for one piece of code; what takes longer is given up, together with the process."""
_writing = threading.Lock()


def serve() -> None:
    """Answer orders from standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the other process, which then closes the input
    if hasattr(os, "nice"):
        os.nice(_PRIORITY)
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # nothing else goes to the other process
    orders: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(os.fdopen(0, "rb", closefd=False), orders), daemon=True).start()
    while True:
        cache, *order = orders.get()
        if cache is None:
            os.environ.pop("POCKETGPU_CACHE", None)
        else:
            os.environ["POCKETGPU_CACHE"] = cache
        _limit(_LIMIT)
        try:
            made = make(*order)
        except Exception:  # the other process goes on with general code
            made = False
        _limit(0)
        answers.write(MADE if made else FAILED)


def make(module: str, name: str, static: dict[str, Any]) -> bool:
    """Make a specialisation of the kernel that a module of the package calls `name`. False: there is no cache."""
    kernel = getattr(import_module(module), name)
    assert isinstance(kernel, Kernel)
    return make_entry(kernel, static, _writing)


def _read(source: BinaryIO, orders: queue.SimpleQueue[tuple[Any, ...]]) -> None:
    """Read orders in a thread of its own, which notices the end of the input while code is being made."""
    while True:
        head = source.read(LENGTH.size)
        data = source.read(*LENGTH.unpack(head)) if len(head) == LENGTH.size else b""
        if not data:
            with _writing:
                os._exit(0)
        orders.put(pickle.loads(data))


def _limit(seconds: int) -> None:
    """The system ends this process after some seconds (0: it does not)."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)
