"""Records a running 3DS as the contents of a `.pgc`: each GX command, each register write, and what the processor wrote
before them.

How it finds those is in `guests/kernel/recorder.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.formats.pgc.contents import Contents, Event, FrameContents, Gx, Load, Writes, digest
from pocketgpu.capture.formats.pgc.numbers import FULL_COVERAGE, PICTURES_COVERED, SCREENS
from pocketgpu.capture.pgc.snapshot import memory_of, state_of
from pocketgpu.guests.kernel.memory import Area
from pocketgpu.guests.kernel.recorder import MemoryRecorder
from pocketgpu.pica.core.observer import Observer

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.kernel import Kernel
    from pocketgpu.pica.n3ds import N3DS

_CONSOLE: Final = "3DS"


class N3DSRecorder(MemoryRecorder, Observer):
    """Follows a machine and the kernel of its program from a moment on at which the GPU has nothing to do. frames:
    those that are over."""

    def __init__(self, machine: N3DS, kernel: Kernel) -> None:
        super().__init__(machine.memory, kernel)
        self._kernel, self._memory = kernel, machine.memory
        self._events: list[Event] = []
        self._command: list[Event] | None = None
        self._state = state_of(machine)
        self.frames: list[FrameContents] = []
        machine.observe(self)
        for area in kernel.space:
            self.mapped(area)
        kernel.space.followers.append(self)
        self._keep_unshared()

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
    def _keep_unshared(self) -> None:
        """Loads for what is in memory that the program does not see, such as what the GPU has drawn until now. Pages
        that it sees are compared with zeros when the GPU works the next time."""
        for load in memory_of(self.machine):
            data = b"".join(load.pieces)
            place = self._memory.offset_of(load.address, len(data))
            assert place is not None, "a load is inside one region"
            self.keep_unshared(place, data)

    def mapped(self, area: Area) -> None:
        """An area of the program is new."""
        if area.physical is not None:
            offset = self._memory.offset_of(area.physical, area.size)
            if offset is not None:
                self.share(offset, area.size)

    def unmapped(self, base: int, size: int) -> None:
        """An area is gone; what the program wrote there before still counts."""

    def stored(self, place: int, data: bytes) -> None:
        """A load, joined with the one before if it goes on there."""
        address = self._memory.address_of(place)
        assert address is not None, "shared pages are the guest's"
        last = self._events[-1] if self._events else None
        if isinstance(last, Load) and last.address + sum(map(len, last.pieces)) == address:
            self._events[-1] = Load(last.address, (*last.pieces, data))
        else:
            self._events.append(Load(address, (data,)))

    # -- what happens -----------------------------------------------------------------------------------------------
    def command_starts(self, words: Sequence[int]) -> None:
        self.find_written()
        self._events.append(Gx(tuple(words)))
        self._command = []

    def command_ended(self, words: Sequence[int], result: int) -> None:
        self.gpu_worked()
        if result:  # a refused command does nothing
            self._events.pop()
        self._events += self._command or ()
        self._command = None

    def writes_start(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        if self._command is None:
            self.find_written()
            self._events.append(Writes(addresses.copy(), values.copy()))

    def display_written(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        if self._command is not None:  # framebuffers that are swapped at a transfer: a replay has no clients
            self._command.append(Writes(addresses.copy(), values.copy()))

    def unit_ended(self, unit: str, words: Mapping[str, int]) -> None:
        self.gpu_worked()

    def vblank(self, frame: int) -> None:
        self.find_written()
        names = SCREENS[_CONSOLE]
        pictures = {
            names.index(name): digest(screen.array.tobytes(), Contents(_CONSOLE).digest_size)
            for name, screen in self.machine.screens.items()
        }
        self.frames.append(FrameContents(tuple(self._events), pictures))
        self._events = []
