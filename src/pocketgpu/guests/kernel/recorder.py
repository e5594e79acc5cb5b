"""What recorders of both consoles share: they find what the processor wrote into memory that the GPU sees.

A recorder keeps a copy of that memory. Before the GPU works, and at the end of a frame, memory is compared with it:
what differs was written by the processor. After the GPU has worked, its pages are copied.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import TYPE_CHECKING, Final

import numpy as np

from pocketgpu.arena import BLOCK, PAGE_SHIFT, PAGE_SIZE, Arena

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.kernel import Kernel

_NEAR: Final = 32
"""Words between two changes that are stored with them: a store of their own would take more."""
_MANY: Final = 512
"""Pages from which on it pays to ask the host which of them it has memory for."""
_compare = ctypes.CDLL(None).memcmp
_compare.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class MemoryRecorder:
    """Follows the memory of a machine. Recorders say what they do with what was written, in `stored`. copies_all:
    whether what the GPU writes elsewhere counts, too, because the processor may get to see it later. stored_bytes: how
    many bytes were given to `stored`."""

    copies_all = True

    def __init__(self, memory: Arena, kernel: Kernel) -> None:
        self._arena, self._runner = memory, kernel
        self._copy = np.frombuffer(_zeros(memory.guest_end), np.uint8)
        self._shared = np.zeros(memory.guest_end >> PAGE_SHIFT, bool)
        self._known = np.zeros_like(self._shared)
        self._versions = memory.page_versions.copy()
        self._compared = -1
        self.stored_bytes = 0

    def stored(self, place: int, data: bytes) -> None:
        """The processor has written bytes; place: their offset in the arena. They may contain some that are as they
        were."""
        raise NotImplementedError

    def share(self, place: int, size: int) -> None:
        """From now on a range of pages is of interest; what was written there before counts."""
        part = slice(place >> PAGE_SHIFT, (place + size + PAGE_SIZE - 1) >> PAGE_SHIFT)
        new = np.flatnonzero(~self._shared[part]) + part.start
        if len(new):
            self._shared[new] = True
            self._versions[new] = self._arena.page_versions[new]
            self._compared = -1

    def keep_unshared(self, place: int, data: bytes) -> None:
        """Whole pages that have bytes when the recording begins: those of no interest so far are stored now."""
        first = place >> PAGE_SHIFT
        pages = np.flatnonzero(~self._shared[first : first + (len(data) >> PAGE_SHIFT)])
        for run in np.split(pages, np.flatnonzero(np.diff(pages) > 1) + 1):
            if len(run):
                part = slice(int(run[0]) << PAGE_SHIFT, (int(run[-1]) + 1) << PAGE_SHIFT)
                self._copy[place + part.start : place + part.stop] = np.frombuffer(data[part], np.uint8)
                self._known[first + run] = True
                self.stored_bytes += part.stop - part.start
                self.stored(place + part.start, data[part])

    def find_written(self) -> None:
        """Find what the processor has written, if it has run."""
        if self._compared == self._runner.steps:
            return
        self._compared = self._runner.steps
        pages = np.flatnonzero(self._shared)
        if len(pages) > _MANY:
            pages = self._arena.used(pages)  # what nobody has touched is as it was: zero
        for run in np.split(pages, np.flatnonzero(np.diff(pages) > 1) + 1):
            if len(run):
                self._compare(int(run[0]) << PAGE_SHIFT, (int(run[-1]) + 1) << PAGE_SHIFT)

    def _compare(self, start: int, end: int) -> None:
        now, before = self._arena.address, int(self._copy.ctypes.data)
        for at in range(start, end, BLOCK):
            size = min(BLOCK, end - at)
            if _compare(now + at, before + at, size):
                self._differs(at, size)

    def _differs(self, at: int, size: int) -> None:
        """Stores for the words of a block that differ, and once for all words of each page that the program uses:
        zeros that it has stored would be missing otherwise."""
        now = self._arena.arena[at : at + size].view(np.uint32)
        differs = (now != self._copy[at : at + size].view(np.uint32)).reshape(-1, PAGE_SIZE // 4)
        known = self._known[at >> PAGE_SHIFT : (at + size) >> PAGE_SHIFT]
        used = differs.any(axis=1)
        differs[used & ~known] = True
        known |= used
        differing = np.flatnonzero(differs)
        for run in np.split(differing, np.flatnonzero(np.diff(differing) > _NEAR) + 1):
            first, end = int(run[0]), int(run[-1]) + 1
            data = now[first:end].tobytes()
            self.stored_bytes += len(data)
            self.stored(at + 4 * first, data)
        self._copy[at : at + size] = self._arena.arena[at : at + size]

    def gpu_worked(self) -> None:
        """Copy what the GPU has written."""
        versions = self._arena.page_versions
        changed = versions != self._versions
        if not self.copies_all:
            changed &= self._shared
        pages = np.flatnonzero(changed)
        for run in np.split(pages, np.flatnonzero(np.diff(pages) > 1) + 1):
            if len(run):
                part = slice(int(run[0]) << PAGE_SHIFT, (int(run[-1]) + 1) << PAGE_SHIFT)
                self._copy[part] = self._arena.arena[part]
        self._versions[:] = versions


def _zeros(size: int) -> mmap.mmap:
    """Zeros that use memory only where they are written; comparing them must not do that."""
    if sys.platform == "win32":
        return mmap.mmap(-1, size)
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
