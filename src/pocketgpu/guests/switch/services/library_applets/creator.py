"""Where programs create library applets and storages, and the applets that run.

Source: libnx's services/applet.c; switchbrew Applet Manager services.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.input.answers import Answers
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel
    from pocketgpu.guests.switch.services.library_applets.accessors import LibraryAppletAccessor

MOST_BYTES: Final = 16 << 20
"""Of all storages at a time that are no memory of the program."""


class Budget:
    """Bytes of the host that storages take."""

    def __init__(self) -> None:
        self.used = 0

    def __repr__(self) -> str:
        return f"<Budget: {self.used} of {MOST_BYTES} bytes used>"

    def take(self, size: int) -> bool:
        """Use some more; whether there is room."""
        if not 0 <= size <= MOST_BYTES - self.used:
            return False
        self.used += size
        return True


class LibraryApplets:
    """The library applets of a console. answers: what the player says to them. cover: is told whether some applet is in
    front of the program. running: those that were started and have not ended."""

    def __init__(self, kernel: SwitchKernel, answers: Answers, cover: Callable[[bool], None]) -> None:
        self.kernel, self.answers, self.cover = kernel, answers, cover
        self.budget = Budget()
        self.running: list[LibraryAppletAccessor] = []

    def __repr__(self) -> str:
        return f"<LibraryApplets: {len(self.running)} running>"

    def answer(self, text: str | None) -> None:
        """What the player says to the applet that waits, or else to the next one. None cancels it."""
        self.answers.scripted.append(text)
        for one in self.running:
            if one.waits:
                one.go_on()
                return

    def started(self, one: LibraryAppletAccessor) -> None:
        """An applet runs."""
        self.running.append(one)
        self._look()

    def ended(self, one: LibraryAppletAccessor) -> None:
        """It does no more."""
        self.running.remove(one)
        self._look()

    def _look(self) -> None:
        self.cover(any(one.in_front for one in self.running))


class LibraryAppletCreator(Interface):
    """Creates applets and storages."""

    name = "ILibraryAppletCreator"

    def __init__(self, kernel: SwitchKernel, applets: LibraryApplets) -> None:
        super().__init__(kernel)
        self.applets = applets

    @command(0)
    def create_library_applet(self, request: CmifRequest) -> CmifAnswer:
        """Its number and its mode."""
        if self.kernel.machine.choices["guest.applets"] == "absent":
            return self.kernel.unknown_command(self, request)
        from pocketgpu.guests.switch.services.library_applets.accessors import LibraryAppletAccessor

        id, mode = request.values("II")
        return CmifAnswer(objects=(LibraryAppletAccessor(self.kernel, self.applets, id, mode),))

    @command(1)
    def terminate_all_library_applets(self, request: CmifRequest) -> CmifAnswer:
        for one in list(self.applets.running):
            one.end(Result.APPLET_CANCELLED)
        return CmifAnswer()

    @command(2)
    def are_any_library_applets_left(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", bool(self.applets.running)))

    @command(10)
    def create_storage(self, request: CmifRequest) -> CmifAnswer:
        from pocketgpu.guests.switch.services.library_applets.storages import OwnStorage

        (size,) = request.values("q")
        if not self.applets.budget.take(size):
            return CmifAnswer(result=Result.BAD_STORAGE)
        return CmifAnswer(objects=(OwnStorage(self.kernel, bytes(size), self.applets.budget),))

    @command(11)
    def create_transfer_memory_storage(self, request: CmifRequest) -> CmifAnswer:
        """Whether the applet may change it; the size."""
        writable, size = request.values("B7xq")
        return self._lent(request, size, bool(writable & 1))

    @command(12)
    def create_handle_storage(self, request: CmifRequest) -> CmifAnswer:
        (size,) = request.values("q")
        return self._lent(request, size, writable=False)

    def _lent(self, request: CmifRequest, size: int, writable: bool) -> CmifAnswer:
        from pocketgpu.guests.switch.services.library_applets.storages import LentStorage

        block = request.copies[0] if request.copies else None
        if not isinstance(block, MemoryBlock):
            return CmifAnswer(result=Result.INVALID_HANDLE)
        if not 0 <= size <= len(block.view):
            return CmifAnswer(result=Result.BAD_STORAGE)
        return CmifAnswer(objects=(LentStorage(self.kernel, block, size, writable=writable),))
