"""Events, and waits for objects. Source: libnx's svc.h, switchbrew SVC.

A wait does not clear an event. Programs do that themselves with ResetSignal, which tells whether there was something to
clear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.kernel import Process
from pocketgpu.guests.kernel.objects import Event, KernelObject, Reset, Waitable
from pocketgpu.guests.kernel.threads import CANCELLED, Thread
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.calls.register import Reply, call

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

MOST_OBJECTS: Final = 0x40
"""Of one wait."""


class WritableEnd(KernelObject):
    """What signals an event."""

    kind = "writable event"

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event

    def __repr__(self) -> str:
        return f"<WritableEnd of {self.event!r}>"


@call("CreateEvent")
def create_event(kernel: SwitchKernel, thread: Thread) -> Reply:
    event = Event(Reset.STICKY)
    writable = kernel.handles.add(WritableEnd(event))
    if writable is None:
        return Result.OUT_OF_HANDLES
    readable = kernel.handles.add(event)
    if readable is None:
        kernel.handles.close(writable)
        return Result.OUT_OF_HANDLES
    return Result.OK, writable, readable


@call("SignalEvent")
def signal_event(kernel: SwitchKernel, thread: Thread, handle: int) -> Reply:
    end = kernel.object_of(thread, handle)
    if not isinstance(end, WritableEnd):
        return Result.INVALID_HANDLE
    kernel.signal(end.event)
    return Result.OK


@call("ClearEvent")
def clear_event(kernel: SwitchKernel, thread: Thread, handle: int) -> Reply:
    end = kernel.object_of(thread, handle)
    event = end.event if isinstance(end, WritableEnd) else end
    if not isinstance(event, Event):
        return Result.INVALID_HANDLE
    event.on = False
    return Result.OK


@call("ResetSignal")
def reset_signal(kernel: SwitchKernel, thread: Thread, handle: int) -> Reply:
    """Of a process, too: that is signalled when it ends."""
    event = kernel.object_of(thread, handle)
    if isinstance(event, Process):
        return Result.INVALID_STATE
    if not isinstance(event, Event):
        return Result.INVALID_HANDLE
    if not event.on:
        return Result.INVALID_STATE
    event.on = False
    return Result.OK


# -- waits ------------------------------------------------------------------------------------------------------------
def _woken(thread: Thread, index: int | None) -> None:
    code = Result.TIMED_OUT if index is None else Result.CANCELLED if index == CANCELLED else Result.OK
    thread.answer.update({0: code, 1: index if index is not None and code is Result.OK else 0})


def waitables(kernel: SwitchKernel, handles: int, count: int) -> list[Waitable] | None:
    """The objects of a list of handles in memory; None if one is wrong. Handles that every thread has without asking
    are wrong here.

    :raises AddressError: the program does not have that memory.
    """
    found = [kernel.handles.get(number) for number in kernel.space.words(handles, count)]
    objects = [one for one in found if isinstance(one, Waitable)]
    return objects if len(objects) == count else None


@call("WaitSynchronization")
def wait_synchronization(kernel: SwitchKernel, thread: Thread, handles: int, count: int, nanoseconds: int) -> Reply:
    if count > MOST_OBJECTS:
        return Result.OUT_OF_RANGE
    objects = waitables(kernel, handles, count)
    if objects is None:
        return Result.INVALID_HANDLE
    kernel.wait(thread, objects, _woken, nanoseconds=nanoseconds)
    return None


@call("CancelSynchronization")
def cancel_synchronization(kernel: SwitchKernel, thread: Thread, handle: int) -> Reply:
    one = kernel.object_of(thread, handle)
    if not isinstance(one, Thread):
        return Result.INVALID_HANDLE
    kernel.cancel(one)
    return Result.OK
