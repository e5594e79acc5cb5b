"""What the devices of nvdrv share: memory objects, addresses, syncpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from pocketgpu.guests.kernel.memory import PAGE, Permission
from pocketgpu.guests.switch.services.nvdrv.addresses import Addresses
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel
    from pocketgpu.guests.switch.services.nvdrv.channel import GpuChannel
    from pocketgpu.guests.switch.services.nvdrv.control import HostControl

FIRST_SYNCPOINT: Final = 8
"""Of channels; the system has those before."""
SYNCPOINTS: Final = 192
"""Of a Tegra X1."""
MOST_OBJECTS: Final = 8192
LARGEST: Final = 1 << 32
_GPU_TIMER: Final = 614_400_000
"""Ticks of `GM20B.timestamp` in a second."""
_LONGEST_WORK: Final = 10
"""Seconds that one piece of work takes at most."""


@dataclass(slots=True, eq=False)
class MemoryObject:
    """An nvmap object. size: as asked for. place: where its memory is in the arena, once it has some. address: where
    the program sees it."""

    id: int
    size: int
    references: int = 1
    address: int = 0
    place: int | None = None
    align: int = 0
    heap: int = 0
    kind: int = 0
    flags: int = 0

    @property
    def room(self) -> int:
        """Bytes of memory: whole pages."""
        return self.size + -self.size % PAGE


class GpuFollower(Protocol):
    """Who wants to know when the GPU works: a recorder."""

    def submitting(self, channel: int, entries: NDArray[np.uint64]) -> None:
        """A channel is about to get entries."""
        ...

    def resuming(self) -> None:
        """Channels that waited are about to go on."""
        ...

    def worked(self) -> None:
        """The GPU has done what it can."""
        ...


class NvDriver:
    """The driver, for one program. objects: memory by id. addresses: of the GPU's address space. channels, controls:
    opened devices of these kinds."""

    outside_state = frozenset({"followers"})

    def __init__(self, kernel: SwitchKernel) -> None:
        self.kernel, self.gpu = kernel, kernel.machine
        self.followers: list[GpuFollower] = []
        self.objects: dict[int, MemoryObject] = {}
        self.addresses = Addresses()
        self.channels: list[GpuChannel] = []
        self.controls: list[HostControl] = []
        self.syncpoints: list[int] = []
        self.free_channels: list[int] = []
        self._objects = self._channels = 0
        self._takes_time = self.gpu.choices["guest.clock"] == "counted"

    def __repr__(self) -> str:
        return f"<NvDriver: {len(self.objects)} memory objects, {len(self.channels)} channels>"

    # -- memory -----------------------------------------------------------------------------------------------------
    def new_object(self, size: int) -> MemoryObject | None:
        """A memory object without memory; None if it cannot be."""
        if not 0 < size <= LARGEST or len(self.objects) >= MOST_OBJECTS:
            return None
        self._objects += 1
        one = self.objects[self._objects] = MemoryObject(self._objects, size)
        return one

    def place_of(self, address: int, size: int) -> int | None:
        """Where memory of the program is in the arena: one mapped, writable range of it; None if it is not that."""
        wanted = Permission.READ | Permission.WRITE
        ram, at, place = self.kernel.ram, address, None
        for area in self.kernel.space.within(address, size):
            if area.base > at or area.physical is None or wanted & ~area.permission:
                return None
            here = area.physical + at - area.base
            if place is None:
                place = here
            elif here != place + at - address:
                return None
            at = min(area.end, address + size)
        if place is None or at != address + size:
            return None
        return place if ram.offset <= place and place + size <= ram.offset + ram.size else None

    # -- syncpoints -------------------------------------------------------------------------------------------------
    def take_syncpoint(self) -> int | None:
        """A syncpoint for a channel; None if all are taken."""
        id = next((n for n in range(FIRST_SYNCPOINT, SYNCPOINTS) if n not in self.syncpoints), None)
        if id is not None:
            self.syncpoints.append(id)
        return id

    def take_channel(self, most: int) -> tuple[int, bool] | None:
        """The number of a channel of the machine, and whether it was used before; None if there are too many."""
        if self._channels < most:
            self._channels += 1
            return self._channels - 1, False
        return (self.free_channels.pop(0), True) if self.free_channels else None

    def reached(self, id: int, threshold: int) -> bool:
        """Whether a syncpoint has a value, after all that can run has run."""
        if not self.gpu.syncpoints.reached(id, threshold):
            self.go_on()
        return self.gpu.syncpoints.reached(id, threshold)

    def go_on(self) -> None:
        """Let channels go on whose waits are over, and wake the threads that wait for them."""
        if any(channel.waiting is not None for channel in self.gpu.channels.values()):
            self._work(self.gpu.run)
        self.tell()

    def submit(self, channel: int, entries: NDArray[np.uint64]) -> None:
        """Give a channel of the machine work; what can run has run then."""
        for one in self.followers:
            one.submitting(channel, entries)
        self._done(lambda: self.gpu.submit(entries, channel))

    def end_waits(self) -> None:
        """Nothing will release the channels that wait: the machine reports them, and drops their work or goes on."""
        self._work(self.gpu.finish)

    def _work(self, run: Callable[[], None]) -> None:
        for one in self.followers:
            one.resuming()
        self._done(run)

    def _done(self, run: Callable[[], object]) -> None:
        """Let the GPU work. That takes time, or a program that only submits would never get to the next frame."""
        before = self.gpu.timestamp()
        run()
        if self._takes_time:
            time = self.kernel.time
            spent = (self.gpu.timestamp() - before) * time.hertz // _GPU_TIMER
            time.pass_ticks(min(spent, _LONGEST_WORK * time.hertz))
        for one in self.followers:
            one.worked()

    def tell(self) -> None:
        """Signal the events of syncpoints that are reached."""
        for one in self.channels:
            one.look()
        for control in self.controls:
            control.look()
