"""/dev/nvhost-ctrl: syncpoints, and events that are signalled when one is reached. Source: libnx's nv/fence.c and
nvidia/ioctl/nvhost-ctrl.c."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.nvdrv import NvError
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.kernel.waits import FOREVER
from pocketgpu.guests.switch.services.nvdrv.device import Device, Later, request
from pocketgpu.guests.switch.services.nvdrv.driver import SYNCPOINTS
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.switch.services.nvdrv.driver import NvDriver

_SLOTS: Final = 64
_MICROSECOND: Final = 1000
"""In nanoseconds."""
_SLOT_MASK: Final = 0xFF
_ASYNC_EVENT: Final = 1 << 28
"""In numbers of events: the slot is in the low bits. Without it, too."""
_SYNCPOINT_SHIFT: Final = 16
"""Of the syncpoint in an event's number."""


@dataclass(slots=True, eq=False)
class _Slot:
    """An event of a program. waits: for a syncpoint and its value."""

    event: Event
    waits: tuple[int, int] | None = None


class HostControl(Device):
    """The device."""

    path = "/dev/nvhost-ctrl"

    def __init__(self, driver: NvDriver, fd: int) -> None:
        super().__init__(driver, fd)
        self._slots: dict[int, _Slot] = {}
        self._waits: list[tuple[Event, int, int]] = []
        """Threads that wait in a request: their events, and the syncpoint and value of each."""
        driver.controls.append(self)

    def closed(self) -> None:
        self.driver.controls.remove(self)
        for event, _, _ in tuple(self._waits):
            self.driver.kernel.signal(event)

    def event(self, number: int) -> Event | None:
        slot = self._slots.get(number & _SLOT_MASK)
        return slot.event if slot is not None else None

    def look(self) -> None:
        """Signal the events of what is reached."""
        for slot in self._slots.values():
            if slot.waits is not None and self.driver.gpu.syncpoints.reached(*slot.waits):
                slot.waits = None
                self.driver.kernel.signal(slot.event)
        for event, id, threshold in tuple(self._waits):
            if self.driver.gpu.syncpoints.reached(id, threshold):
                self.driver.kernel.signal(event)

    def waited(self, event: Event) -> None:
        self._waits = [one for one in self._waits if one[0] is not event]

    # -- syncpoints -------------------------------------------------------------------------------------------------
    @request("SyncptRead")
    def read(self, one: Record) -> NvError:
        if one["id"] >= SYNCPOINTS:
            return NvError.BAD_PARAMETER
        one["value"] = self.driver.gpu.syncpoints[one["id"]]
        return NvError.SUCCESS

    @request("SyncptIncr")
    def increment(self, one: Record) -> NvError:
        if one["id"] >= SYNCPOINTS:
            return NvError.BAD_PARAMETER
        self.driver.gpu.syncpoints[one["id"]] += 1  # not counted as a channel's: see `Syncpoints.foreign_reached`
        self.driver.go_on()
        return NvError.SUCCESS

    @request("SyncptWait")
    def wait(self, one: Record) -> NvError | Later:
        """The caller waits in the request."""
        id, threshold, timeout = one["id"], one["threshold"], one["timeout"]
        if id >= SYNCPOINTS:
            return NvError.BAD_PARAMETER
        if self.driver.reached(id, threshold):
            return NvError.SUCCESS
        if timeout == 0:
            return NvError.TIMEOUT
        event = Event(Reset.STICKY, f"syncpoint {id} at {threshold}")
        self._waits.append((event, id, threshold))
        return Later(event, timeout * _MICROSECOND if timeout > 0 else FOREVER)

    # -- events -----------------------------------------------------------------------------------------------------
    @request("EventRegister")
    def register(self, one: Record) -> NvError:
        number = one["slot"]
        if number >= _SLOTS:
            return NvError.BAD_PARAMETER
        if number in self._slots:
            return NvError.BUSY if self._slots[number].waits is not None else NvError.SUCCESS
        self._slots[number] = _Slot(Event(Reset.STICKY, f"syncpoint event {number}"))
        return NvError.SUCCESS

    @request("EventUnregister")
    def unregister(self, one: Record) -> NvError:
        return self._unregister(one["slot"])

    @request("EventUnregisterBatch")
    def unregister_batch(self, one: Record) -> NvError:
        chosen = [number for number in range(_SLOTS) if one["slots"] >> number & 1]
        errors = [self._unregister(number) for number in chosen]
        return max(errors, default=NvError.SUCCESS)

    def _unregister(self, number: int) -> NvError:
        if number not in self._slots:
            return NvError.BAD_PARAMETER
        if self._slots[number].waits is not None:
            return NvError.BUSY
        del self._slots[number]
        return NvError.SUCCESS

    @request("EventSignal")
    def end_wait(self, one: Record) -> NvError:
        slot = self._slots.get(one["slot"] & _SLOT_MASK)
        if slot is None:
            return NvError.BAD_PARAMETER
        slot.waits = None
        return NvError.SUCCESS

    @request("EventWaitAsync")
    def wait_later(self, one: Record) -> NvError:
        return self._wait(one, one["value"] & _SLOT_MASK)

    @request("EventWait")
    def wait_by_event(self, one: Record) -> NvError:
        """The driver picks the event: one that nobody waits for."""
        if one["id"] >= SYNCPOINTS:
            return NvError.BAD_PARAMETER
        free = (n for n in range(_SLOTS) if n not in self._slots or self._slots[n].waits is None)
        number = next(free, None)
        if number is None:
            return NvError.INSUFFICIENT_MEMORY
        if number not in self._slots:
            self._slots[number] = _Slot(Event(Reset.STICKY, f"syncpoint event {number}"))
        error = self._wait(one, number)
        if error == NvError.SUCCESS:
            one["value"] = self.driver.gpu.syncpoints[one["id"]]
        elif error == NvError.TIMEOUT and one["timeout"]:
            one["value"] = _ASYNC_EVENT | one["id"] << _SYNCPOINT_SHIFT | number
        return error

    def _wait(self, one: Record, number: int) -> NvError:
        if one["id"] >= SYNCPOINTS:
            return NvError.BAD_PARAMETER
        if self.driver.reached(one["id"], one["threshold"]):
            return NvError.SUCCESS
        if one["timeout"] == 0:
            return NvError.TIMEOUT
        slot = self._slots.get(number)
        if slot is None:
            return NvError.BAD_PARAMETER
        if slot.waits is not None:
            return NvError.BUSY
        slot.event.on = False
        slot.waits = one["id"], one["threshold"]
        return NvError.TIMEOUT
