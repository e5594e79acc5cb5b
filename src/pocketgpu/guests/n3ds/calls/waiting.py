"""Objects that threads wait for: mutexes, semaphores, events, timers; waits; the address arbiter.

Source: libctru's svc.h and synchronization.c; 3dbrew SVC.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from pocketgpu.guests.kernel.objects import Event, KernelObject, Mutex, Reset, Semaphore, Timer, Waitable
from pocketgpu.guests.n3ds.abi.results import Result
from pocketgpu.guests.n3ds.calls.register import Reply, call

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

_MOST_OBJECTS = 256
"""Of one wait."""


def _signed(value: int) -> int:
    return value - (value >> 31 << 32)


# -- objects ----------------------------------------------------------------------------------------------------------
@call("CreateMutex")
def create_mutex(kernel: N3DSKernel, thread: Thread, locked: int) -> Reply:
    return kernel.give(Mutex(thread if locked & 0xFF else None))


@call("ReleaseMutex")
def release_mutex(kernel: N3DSKernel, thread: Thread, handle: int) -> Reply:
    mutex = kernel.object_of(thread, handle)
    if not isinstance(mutex, Mutex):
        return Result.INVALID_HANDLE
    if mutex.owner is not thread:
        return Result.NOT_OWNER
    if mutex.release():
        kernel.wake(mutex)
    return Result.OK


@call("CreateSemaphore")
def create_semaphore(kernel: N3DSKernel, thread: Thread, count: int, limit: int) -> Reply:
    if _signed(count) < 0 or _signed(limit) < _signed(count):
        return Result.INVALID_COMBINATION
    return kernel.give(Semaphore(count, limit))


@call("ReleaseSemaphore")
def release_semaphore(kernel: N3DSKernel, thread: Thread, handle: int, count: int) -> Reply:
    semaphore = kernel.object_of(thread, handle)
    if not isinstance(semaphore, Semaphore):
        return Result.INVALID_HANDLE
    before = semaphore.count
    if _signed(count) < 0 or before + count > semaphore.limit:
        return Result.OUT_OF_RANGE_KERNEL
    semaphore.count += count
    kernel.wake(semaphore)
    return Result.OK, before


@call("CreateEvent")
def create_event(kernel: N3DSKernel, thread: Thread, reset: int) -> Reply:
    return kernel.give(Event(Reset(reset))) if reset in tuple(Reset) else Result.OUT_OF_RANGE


@call("SignalEvent")
def signal_event(kernel: N3DSKernel, thread: Thread, handle: int) -> Reply:
    event = kernel.object_of(thread, handle)
    if not isinstance(event, Event) or isinstance(event, Timer):
        return Result.INVALID_HANDLE
    kernel.signal(event)
    return Result.OK


@call("ClearEvent")
def clear_event(kernel: N3DSKernel, thread: Thread, handle: int) -> Reply:
    event = kernel.object_of(thread, handle)
    if not isinstance(event, Event) or isinstance(event, Timer):
        return Result.INVALID_HANDLE
    event.on = False
    return Result.OK


@call("CreateTimer")
def create_timer(kernel: N3DSKernel, thread: Thread, reset: int) -> Reply:
    return kernel.give(Timer(Reset(reset))) if reset in tuple(Reset) else Result.OUT_OF_RANGE


@call("SetTimer")
def set_timer(kernel: N3DSKernel, thread: Thread, handle: int, first: int, interval: int) -> Reply:
    timer = kernel.object_of(thread, handle)
    if not isinstance(timer, Timer):
        return Result.INVALID_HANDLE
    if first < 0 or interval < 0:
        return Result.OUT_OF_RANGE_KERNEL
    kernel.set_timer(timer, first, interval)
    return Result.OK


@call("CancelTimer")
def cancel_timer(kernel: N3DSKernel, thread: Thread, handle: int) -> Reply:
    timer = kernel.object_of(thread, handle)
    if not isinstance(timer, Timer):
        return Result.INVALID_HANDLE
    kernel.cancel_timer(timer)
    return Result.OK


@call("ClearTimer")
def clear_timer(kernel: N3DSKernel, thread: Thread, handle: int) -> Reply:
    timer = kernel.object_of(thread, handle)
    if not isinstance(timer, Timer):
        return Result.INVALID_HANDLE
    timer.on = False
    return Result.OK


# -- waits ------------------------------------------------------------------------------------------------------------
def _woken(thread: Thread, index: int | None) -> None:
    thread.answer[0] = Result.TIMEOUT if index is None else Result.OK


def _woken_by_one(thread: Thread, index: int | None) -> None:
    thread.answer[0] = Result.TIMEOUT if index is None else Result.OK
    thread.answer[1] = 0xFFFFFFFF if index is None else index


@call("WaitSynchronization")
def wait_synchronization(kernel: N3DSKernel, thread: Thread, handle: int, nanoseconds: int) -> Reply:
    one = kernel.object_of(thread, handle)
    if not isinstance(one, Waitable):
        return Result.INVALID_HANDLE
    kernel.wait(thread, (one,), _woken, nanoseconds=nanoseconds)
    return None


@call("WaitSynchronizationN")
def wait_synchronization_n(
    kernel: N3DSKernel, thread: Thread, handles: int, count: int, all: int, nanoseconds: int
) -> Reply:
    if _signed(count) < 0 or count > _MOST_OBJECTS:
        return Result.OUT_OF_RANGE
    found: list[KernelObject | None] = [
        kernel.object_of(thread, number) for number in kernel.space.words(handles, count)
    ]
    objects = [one for one in found if isinstance(one, Waitable)]
    if len(objects) != count:
        return Result.INVALID_HANDLE
    kernel.wait(thread, objects, _woken_by_one, all=bool(all & 0xFF), nanoseconds=nanoseconds)
    return None


# -- the address arbiter ----------------------------------------------------------------------------------------------
class Arbiter(KernelObject):
    """Lets threads wait for words in memory."""

    kind = "arbiter"


class Arbitration(IntEnum):
    """What ArbitrateAddress does."""

    SIGNAL = 0
    WAIT_IF_LESS = 1
    DECREMENT_AND_WAIT_IF_LESS = 2
    WAIT_IF_LESS_TIMEOUT = 3
    DECREMENT_AND_WAIT_IF_LESS_TIMEOUT = 4


_DECREMENTS = (Arbitration.DECREMENT_AND_WAIT_IF_LESS, Arbitration.DECREMENT_AND_WAIT_IF_LESS_TIMEOUT)
_WITHOUT_END = (Arbitration.WAIT_IF_LESS, Arbitration.DECREMENT_AND_WAIT_IF_LESS)


@call("CreateAddressArbiter")
def create_address_arbiter(kernel: N3DSKernel, thread: Thread) -> Reply:
    return kernel.give(Arbiter())


@call("ArbitrateAddress")
def arbitrate_address(
    kernel: N3DSKernel, thread: Thread, handle: int, address: int, type: int, value: int, nanoseconds: int
) -> Reply:
    if not isinstance(kernel.object_of(thread, handle), Arbiter):
        return Result.INVALID_HANDLE
    if address & 3:
        return Result.MISALIGNED_ADDRESS
    if type == Arbitration.SIGNAL:
        kernel.wake_address(address, _signed(value))
        return Result.OK
    if type not in tuple(Arbitration):
        return Result.OUT_OF_RANGE
    word = _signed(kernel.space.word(address))
    if word >= _signed(value):
        return Result.OK
    if type in _DECREMENTS:
        kernel.space.set_words(address, word - 1)
    if type in _WITHOUT_END:
        nanoseconds = -1
    elif nanoseconds == 0:
        return Result.TIMEOUT
    kernel.sleep(thread, nanoseconds, _woken, address=address)
    return None
