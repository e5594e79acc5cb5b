"""Records a running 3DS as the contents of a `.pgc`: each GX command, each register write, and what the processor wrote
before them.

The recorder keeps a copy of all memory that processor and GPU share. Before the GPU works, and at each VBlank, memory
is compared with it: what differs was written by the processor, and becomes a load. After the GPU has worked, its pages
are copied.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import BLOCK, PAGE_SHIFT, PAGE_SIZE
from pocketgpu.capture.formats.pgc.contents import Contents, Event, FrameContents, Gx, Load, Writes, digest
from pocketgpu.capture.formats.pgc.numbers import FULL_COVERAGE, PICTURES_COVERED, SCREENS
from pocketgpu.capture.pgc.snapshot import state_of
from pocketgpu.guests.kernel.memory import Area
from pocketgpu.pica.core.observer import Observer

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.kernel import Kernel
    from pocketgpu.pica.n3ds import N3DS

_CONSOLE: Final = "3DS"
_NEAR: Final = 32
"""Words between two changes that are loaded with them: a load of their own would take more."""
_compare = ctypes.CDLL(None).memcmp
_compare.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class N3DSRecorder(Observer):
    """Follows a machine and the kernel of its program from their start on. frames: those that are over."""

    def __init__(self, machine: N3DS, kernel: Kernel) -> None:
        self._kernel, self._memory = kernel, machine.memory
        self._copy = np.frombuffer(mmap.mmap(-1, machine.memory.guest_end), np.uint8)
        self._shared = np.zeros(machine.memory.guest_end >> PAGE_SHIFT, bool)
        self._known = np.zeros_like(self._shared)
        self._versions = machine.memory.page_versions.copy()
        self._compared = -1
        self._events: list[Event] = []
        self._command: list[Event] | None = None
        self._state = state_of(machine)
        self.frames: list[FrameContents] = []
        machine.observe(self)
        for area in kernel.space:
            self.mapped(area)
        kernel.space.followers.append(self)

    def __repr__(self) -> str:
        return f"<N3DSRecorder: {len(self.frames)} frames>"

    def stop(self) -> None:
        """Follow no longer."""
        self.machine.dismiss(self)
        self._kernel.space.followers.remove(self)

    def contents(self, about: Mapping[str, str]) -> Contents:
        """The capture so far; what came after the last VBlank is its tail. about: key and value of notes."""
        found = Contents(_CONSOLE, coverage=FULL_COVERAGE[_CONSOLE] | PICTURES_COVERED, about=dict(about))
        found.state, found.frames, found.tail = list(self._state), list(self.frames), tuple(self._events)
        return found

    # -- memory -----------------------------------------------------------------------------------------------------
    def mapped(self, area: Area) -> None:
        """An area of the program is new."""
        if area.physical is not None:
            offset = self._memory.offset_of(area.physical, area.size)
            if offset is not None:
                self._shared[offset >> PAGE_SHIFT : (offset + area.size) >> PAGE_SHIFT] = True

    def unmapped(self, base: int, size: int) -> None:
        """An area is gone; what the program wrote there before still counts."""

    def _written(self) -> None:
        """Make loads of what the processor has written, if it has run."""
        if self._compared == self._kernel.steps:
            return
        self._compared = self._kernel.steps
        pages = np.flatnonzero(self._shared)
        for run in np.split(pages, np.flatnonzero(np.diff(pages) > 1) + 1):
            if len(run):
                self._compare(int(run[0]) << PAGE_SHIFT, (int(run[-1]) + 1) << PAGE_SHIFT)

    def _compare(self, start: int, end: int) -> None:
        now, before = self._memory.address, int(self._copy.ctypes.data)
        for at in range(start, end, BLOCK):
            size = min(BLOCK, end - at)
            if _compare(now + at, before + at, size):
                self._load(at, size)

    def _load(self, at: int, size: int) -> None:
        """Loads for the words of a block that differ, and once for all words of each page that the program uses: zeros
        that it has stored would be missing otherwise."""
        now = self._memory.arena[at : at + size].view(np.uint32)
        differs = (now != self._copy[at : at + size].view(np.uint32)).reshape(-1, PAGE_SIZE // 4)
        known = self._known[at >> PAGE_SHIFT : (at + size) >> PAGE_SHIFT]
        used = differs.any(axis=1)
        differs[used & ~known] = True
        known |= used
        differing = np.flatnonzero(differs)
        for run in np.split(differing, np.flatnonzero(np.diff(differing) > _NEAR) + 1):
            first, end = int(run[0]), int(run[-1]) + 1
            address = self._memory.address_of(at + 4 * first)
            assert address is not None, "shared pages are the guest's"
            self._add(address, now[first:end].tobytes())
        self._copy[at : at + size] = self._memory.arena[at : at + size]

    def _add(self, address: int, data: bytes) -> None:
        """A load, joined with the one before if it goes on there."""
        last = self._events[-1] if self._events else None
        if isinstance(last, Load) and last.address + sum(map(len, last.pieces)) == address:
            self._events[-1] = Load(last.address, (*last.pieces, data))
        else:
            self._events.append(Load(address, (data,)))

    def _gpu_worked(self) -> None:
        """Copy what the GPU has written."""
        versions = self._memory.page_versions
        for page in np.flatnonzero(versions != self._versions).tolist():
            at = page << PAGE_SHIFT
            self._copy[at : at + PAGE_SIZE] = self._memory.arena[at : at + PAGE_SIZE]
        self._versions[:] = versions

    # -- what happens -----------------------------------------------------------------------------------------------
    def command_starts(self, words: Sequence[int]) -> None:
        self._written()
        self._events.append(Gx(tuple(words)))
        self._command = []

    def command_ended(self, words: Sequence[int], result: int) -> None:
        self._gpu_worked()
        if result:  # a refused command does nothing
            self._events.pop()
        self._events += self._command or ()
        self._command = None

    def writes_start(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        if self._command is None:
            self._written()
            self._events.append(Writes(addresses.copy(), values.copy()))

    def display_written(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        if self._command is not None:  # framebuffers that are swapped at a transfer: a replay has no clients
            self._command.append(Writes(addresses.copy(), values.copy()))

    def unit_ended(self, unit: str, words: Mapping[str, int]) -> None:
        self._gpu_worked()

    def vblank(self, frame: int) -> None:
        self._written()
        names = SCREENS[_CONSOLE]
        pictures = {
            names.index(name): digest(screen.array.tobytes(), Contents(_CONSOLE).digest_size)
            for name, screen in self.machine.screens.items()
        }
        self.frames.append(FrameContents(tuple(self._events), pictures))
        self._events = []
