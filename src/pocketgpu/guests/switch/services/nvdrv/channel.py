"""/dev/nvhost-gpu: a channel. What a program submits runs at once, so its fences are reached before it looks.

A pushbuffer may wait for something that never comes. It then stays in its channel; after the channel's time-out the
machine reports a hang, and the channel's error notifier is signalled. Source: libnx's nv/gpu_channel.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.nvdrv import NvError, SubmitFlag
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.kernel.timeline import NANOSECONDS, Due
from pocketgpu.guests.switch.services.nvdrv.device import Device, request
from pocketgpu.maxwell.host.error_codes import ILLEGAL, PAGE_FAULT, TIMED_OUT, error_code
from pocketgpu.maxwell.host.layout import CHANNEL_COUNT

if TYPE_CHECKING:
    from pocketgpu.guests.switch.services.nvdrv.driver import NvDriver

_ENTRY: Final = 8
"""Bytes of a GPFIFO entry."""
_MOST_ENTRIES: Final = 1 << 16
_MOST_INCREMENTS: Final = 1 << 20
_USUAL_TIMEOUT: Final = 3000
"""Milliseconds that a channel may wait."""
_MILLISECOND: Final = 1_000_000
_ERROR_NOTIFIER: Final = 3
"""The number of its event; 1 and 2 are of single-step debugging."""
_EVENTS: Final = (1, 2, _ERROR_NOTIFIER)
_NOTIFIED: Final = 0xFFFF
_KINDS: Final = {PAGE_FAULT: 1, ILLEGAL: 2, TIMED_OUT: 4}
"""What GetErrorInfo calls them; 3 is of rejected lists. Source: deko3d's gpu_error.cpp."""


class GpuChannel(Device):
    """The device. space: the address space that it is bound to. number: of the machine's channel, and syncpoint: that
    counts its work, once AllocGpfifoEx2 was asked. value: of the syncpoint when all submitted work is done."""

    path = "/dev/nvhost-gpu"

    def __init__(self, driver: NvDriver, fd: int) -> None:
        super().__init__(driver, fd)
        self.space: int | None = None
        self.number: int | None = None
        self.syncpoint, self.value = 0, 0
        self._entries = self._waiting_entries = self._user_data = 0
        self._timeout, self._class = _USUAL_TIMEOUT, 0
        self._increments = 0
        self._watch: Due | None = None
        self._error: tuple[int, int] | None = None
        self._notifies = False
        self._events: dict[int, Event] = {}
        driver.channels.append(self)

    def closed(self) -> None:
        driver = self.driver
        driver.channels.remove(self)
        if self._watch is not None:
            self._watch.cancelled = True
        if self.number is not None:
            machine = driver.gpu.channels.get(self.number)
            if machine is not None and machine.waiting is not None:
                machine.drop()
            driver.free_channels.append(self.number)
            driver.syncpoints.remove(self.syncpoint)

    def event(self, number: int) -> Event | None:
        if number not in _EVENTS:
            return None
        return self._events.setdefault(number, Event(Reset.STICKY, f"channel event {number}"))

    # -- set-up -----------------------------------------------------------------------------------------------------
    @request("SetNvmapFd", "SetPriority", "SetTimeslice", "ZCullBind")
    def accept(self, one: Record) -> NvError:
        """Nothing depends on it."""
        return NvError.SUCCESS

    @request("SetTimeout")
    def set_timeout(self, one: Record) -> NvError:
        self._timeout = one["milliseconds"] or _USUAL_TIMEOUT
        return NvError.SUCCESS

    @request("SetUserData")
    def set_user_data(self, one: Record) -> NvError:
        self._user_data = one["value"]
        return NvError.SUCCESS

    @request("GetUserData")
    def get_user_data(self, one: Record) -> NvError:
        one["value"] = self._user_data
        return NvError.SUCCESS

    @request("AllocGpfifoEx", "AllocGpfifoEx2")
    def alloc_gpfifo(self, one: Record) -> NvError:
        driver = self.driver
        if self.number is not None:
            return NvError.ALREADY_ALLOCATED
        if not 0 < one["entries"] <= _MOST_ENTRIES:
            return NvError.BAD_PARAMETER
        taken = driver.take_channel(CHANNEL_COUNT)
        syncpoint = driver.take_syncpoint() if taken is not None else None
        if taken is None or syncpoint is None:
            driver.kernel.events.report(
                "warning", "guest.channels", f"the program has {CHANNEL_COUNT} channels and wants another one"
            )
            return NvError.INSUFFICIENT_MEMORY
        self.number, used = taken
        if used:
            driver.gpu.renew(self.number)
            if driver.followers:
                message = "a channel was closed and its number is used again; in the recording it keeps its registers"
                driver.kernel.events.report("warning", "guest.channel-again", message)
        self._entries, self.syncpoint = one["entries"], syncpoint
        self.value = driver.gpu.syncpoints[syncpoint]
        one["syncpoint"], one["value"] = syncpoint, self.value
        return NvError.SUCCESS

    @request("AllocObjCtx")
    def alloc_object(self, one: Record) -> NvError:
        self._class = one["class"]
        one["id"] = 0
        return NvError.SUCCESS

    # -- errors -----------------------------------------------------------------------------------------------------
    @request("SetErrorNotifier")
    def set_error_notifier(self, one: Record) -> NvError:
        self._notifies = bool(one["on"])
        return NvError.SUCCESS

    @request("GetErrorInfo")
    def error_info(self, one: Record) -> NvError:
        one.data[: one.layout.size] = one.layout.start
        one["type"] = _KINDS[self._error[1]] if self._error is not None else 0
        return NvError.SUCCESS

    @request("GetErrorNotification")
    def error_notification(self, one: Record) -> NvError:
        one.data[: one.layout.size] = one.layout.start
        if self._error is not None:
            time, code = self._error
            one["nanoseconds"], one["info"], one["code"], one["status"] = time, code, code, _NOTIFIED
        return NvError.SUCCESS

    def _faults(self) -> dict[str, int]:
        return {one.id: one.count for one in self.driver.gpu.events if one.kind != "warning"}

    def _notify(self, before: dict[str, int]) -> None:
        """Tell the program of faults that are new."""
        for id, count in self._faults().items():
            if count > before.get(id, 0):
                code = error_code(id)
                time = self.driver.kernel.time
                self._error = time.now * NANOSECONDS // time.hertz, code
                if self._notifies and (event := self.event(_ERROR_NOTIFIER)) is not None:
                    self.driver.kernel.signal(event)
                return

    # -- work -------------------------------------------------------------------------------------------------------
    @request("KickoffPb")
    def kickoff(self, one: Record, more: bytes) -> NvError:
        return self._submit(one, more)

    @request("SubmitGpfifo")
    def submit(self, one: Record, more: bytes) -> NvError:
        return self._submit(one, bytes(one.data[one.layout.size :]))

    def _submit(self, one: Record, data: bytes) -> NvError:
        driver, count, flags, by = self.driver, one["entries"], one["flags"], one["value"]
        if self.number is None or self.space is None:
            return NvError.INVALID_STATE
        if count > self._entries or _ENTRY * count > len(data):
            return NvError.BAD_PARAMETER
        if flags & SubmitFlag.FENCE_WAIT and not driver.reached(one["syncpoint"], by):
            return NvError.BUSY
        if flags & SubmitFlag.INCREMENTS and by > _MOST_INCREMENTS:
            return NvError.BAD_PARAMETER
        self.look()
        if self._waiting_entries + count > self._entries:
            return NvError.BUSY  # its ring is full
        if flags & SubmitFlag.INCREMENTS:
            self.value += by
        elif flags & SubmitFlag.FENCE_GET:
            self.value += 1
            self._increments += 1
        self.value &= 0xFFFFFFFF
        before = self._faults()
        self._waiting_entries += count
        driver.submit(self.number, np.frombuffer(data, np.uint64, count))
        self._notify(before)
        self.look()
        driver.tell()
        one["syncpoint"], one["value"] = self.syncpoint, self.value
        return NvError.SUCCESS

    def look(self) -> None:
        """Note whether all its work is done; if not, it is looked at again after its time-out."""
        machine = self.driver.gpu.channels.get(self.number) if self.number is not None else None
        if machine is None:
            return
        if machine.waiting is None:
            self._waiting_entries = 0
            while self._increments:  # the program wanted a fence, and did not increment the syncpoint itself
                self.driver.gpu.syncpoints[self.syncpoint] += 1
                self._increments -= 1
            if self._watch is not None:
                self._watch.cancelled = True
                self._watch = None
        elif self._watch is None:
            time = self.driver.kernel.time
            self._watch = time.after(time.ticks(self._timeout * _MILLISECOND), self._timed_out)

    def _timed_out(self, tick: int) -> None:
        """The channel has waited too long, if it still does: a console's driver resets it."""
        self._watch = None
        machine = self.driver.gpu.channels.get(self.number) if self.number is not None else None
        self.driver.go_on()
        if machine is None or machine.waiting is None:
            return
        before = self._faults()
        self.driver.end_waits()
        self._notify(before)
        self.look()
        if not self.driver.gpu.syncpoints.reached(self.syncpoint, self.value):
            self.driver.gpu.syncpoints[self.syncpoint] = self.value  # nothing is left that could count it
        self.driver.go_on()
