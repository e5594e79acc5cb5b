"""Memory of machines that nobody holds any more.

The parts of a machine refer to each other. So it goes when Python's garbage collector finds it, which looks when there
are many new objects: a machine has few of them, and tens of megabytes. A process that makes one machine after the other
would hold some gigabytes.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Final

_GROWTH: Final = 128 << 20
"""Bytes by which a process may grow until its garbage is collected."""
_SHARE: Final = 4
"""A large process may grow by this part of it, so that its many objects are not looked at for nothing."""
_MOST_MADE: Final = 64
"""The same in machines, where the system does not say how large the process is."""
_least = 0
_made = 0


def look() -> None:
    """Collect garbage if the process has grown much since the last time. Called when a machine is made."""
    global _least, _made
    if not gc.isenabled():
        return
    now = _resident()
    if now is None:
        _made += 1
        if _made >= _MOST_MADE:
            _made = 0
            gc.collect()
    elif not _least:
        _least = now
    elif now > _least + max(_GROWTH, _least // _SHARE):
        gc.collect()
        _least = _resident() or now
    else:
        _least = min(_least, now)


def _resident() -> int | None:
    """Bytes of this process in memory; None: the system does not say."""
    if sys.platform != "linux":
        return None
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return None
    try:
        return int(os.read(file, 64).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    finally:
        os.close(file)


__all__ = ["look"]
