"""Memory of the test process: what tests have left goes back to the system."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from pathlib import Path

_GROWTH = 64 << 20
"""Bytes by which a process may have grown until its garbage is collected."""
_MUCH = 96 << 20
"""Bytes by which it may have grown after that until also old objects are looked at again."""


def resident() -> int:
    """Resident bytes of this process; elsewhere than on Linux always enough to look for garbage."""
    place = Path("/proc/self/statm")
    if not place.exists():
        return 1 << 62
    return int(place.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def settled() -> int:
    """Resident bytes once what nobody holds any more went back to the system."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc, which keeps what was freed
        if trim is not None:
            trim(0)
    return resident()


class Resident:
    """Watches how much memory the process has.

    Machines are in circles of references and have hundreds of megabytes each, but few objects, by whose number Python
    decides when to look for garbage. So it is looked for here. What is left between two files of tests is modules and
    caches, mostly: hundreds of thousands of objects, which are set aside, so that nobody looks at them again and again.
    """

    def __init__(self) -> None:
        self._least = self._after_all = 0

    def settle(self) -> None:
        """Free what nobody holds any more, if the process has grown since the last time."""
        if resident() < self._least + _GROWTH:
            return
        self._least = settled()
        if self._least >= self._after_all + _MUCH:
            gc.unfreeze()
            self._least = self._after_all = settled()
        gc.freeze()
