"""Waits for words in memory: mutexes, condition variables, the address arbiter.

A mutex is a word that programs change themselves as long as nobody waits: 0, or the handle of its owner. With the bit
`WAITERS` others wait, and the owner has to call the kernel to hand it on. A condition variable is a word, too: 1 if
somebody may wait for it. Source: libnx's svc.h, mutex.c, condvar.c; switchbrew SVC.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.memory import AddressError
from pocketgpu.guests.kernel.threads import Thread, Wait, Word
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.calls.register import Reply, call

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

WAITERS: Final = 0x40000000
_WORD: Final = 4
_ALL: Final = -1


def _signed(value: int) -> int:
    return value - (value >> 31 << 32)


def _woken(thread: Thread, index: int | None) -> None:
    thread.answer[0] = Result.TIMED_OUT if index is None else Result.OK


# -- mutexes ----------------------------------------------------------------------------------------------------------
@call("ArbitrateLock")
def arbitrate_lock(kernel: SwitchKernel, thread: Thread, owner: int, address: int, own: int) -> Reply:
    if address % _WORD:
        return Result.INVALID_ADDRESS
    try:
        word = kernel.space.word(address)
    except AddressError:
        return Result.INVALID_MEMORY_STATE
    if word != owner | WAITERS:
        return Result.OK
    holder = kernel.object_of(thread, owner)
    if not isinstance(holder, Thread):
        return Result.INVALID_HANDLE
    wait = kernel.sleep(thread, _ALL, _woken, address=address)
    wait.word, wait.tag = Word.MUTEX, own
    _waits_for(kernel, wait, holder)
    return None


def _waits_for(kernel: SwitchKernel, wait: Wait, owner: Thread) -> None:
    """A wait for a mutex that a thread has: its priority is passed on."""
    if kernel.inherits:
        wait.owner = owner
        kernel.inherit(owner)


def _hand_on(kernel: SwitchKernel, address: int) -> None:
    """Give a mutex to the best one that waits for it.

    :raises AddressError: the program cannot write there.
    """
    waiting = kernel.waiting_for(address, Word.MUTEX)
    word = 0
    if waiting:
        first = waiting[0].wait
        word = (first.tag if first is not None else 0) | (WAITERS if len(waiting) > 1 else 0)
    kernel.space.set_words(address, word)
    if waiting:
        kernel.resume(waiting[0], 0)
    for one in waiting[1:]:
        if one.wait is not None and (before := one.wait.owner) is not None:
            one.wait.owner = waiting[0]
            kernel.inherit(before)
    if waiting[1:]:
        kernel.inherit(waiting[0])


@call("ArbitrateUnlock")
def arbitrate_unlock(kernel: SwitchKernel, thread: Thread, address: int) -> Reply:
    if address % _WORD:
        return Result.INVALID_ADDRESS
    try:
        _hand_on(kernel, address)
    except AddressError:
        return Result.INVALID_MEMORY_STATE
    return Result.OK


# -- condition variables ----------------------------------------------------------------------------------------------
@call("WaitProcessWideKeyAtomic")
def wait_process_wide_key(
    kernel: SwitchKernel, thread: Thread, mutex: int, key: int, own: int, nanoseconds: int
) -> Reply:
    if mutex % _WORD or key % _WORD:
        return Result.INVALID_ADDRESS
    try:
        kernel.space.words(mutex, 1)
        kernel.space.set_words(key, 1)
        _hand_on(kernel, mutex)
    except AddressError:
        return Result.INVALID_MEMORY_STATE
    if nanoseconds == 0:
        return Result.TIMED_OUT
    wait = kernel.sleep(thread, nanoseconds, _woken, address=key)
    wait.word, wait.tag, wait.mutex = Word.CONDITION, own, mutex
    return None


@call("SignalProcessWideKey")
def signal_process_wide_key(kernel: SwitchKernel, thread: Thread, key: int, count: int) -> Reply:
    waiting = kernel.waiting_for(key, Word.CONDITION)
    number = _signed(count)
    woken = waiting if number <= 0 else waiting[:number]
    for one in woken:
        _let_have_mutex(kernel, one)
    if len(woken) == len(waiting):
        try:
            kernel.space.set_words(key, 0)
        except AddressError:
            return Result.OK  # A console's kernel does not tell either.
    return Result.OK


def _let_have_mutex(kernel: SwitchKernel, thread: Thread) -> None:
    """A thread that was woken gets its mutex, or waits for it. Its time-out still holds."""
    wait = thread.wait
    assert wait is not None
    try:
        owner = kernel.space.word(wait.mutex)
        kernel.space.set_words(wait.mutex, owner | WAITERS if owner else wait.tag)
    except AddressError:
        kernel.resume(thread, 0)
        thread.answer[0] = Result.INVALID_MEMORY_STATE
        return
    if owner == 0:
        kernel.resume(thread, 0)
    elif isinstance(holder := kernel.object_of(thread, owner & ~WAITERS), Thread):
        wait.address, wait.word, wait.order = wait.mutex, Word.MUTEX, kernel.scheduler.next_order()
        _waits_for(kernel, wait, holder)
    else:
        kernel.resume(thread, 0)
        thread.answer[0] = Result.INVALID_STATE


# -- the address arbiter ----------------------------------------------------------------------------------------------
class Arbitration(IntEnum):
    """Kinds of WaitForAddress."""

    WAIT_IF_LESS = 0
    DECREMENT_AND_WAIT_IF_LESS = 1
    WAIT_IF_EQUAL = 2


class Signal(IntEnum):
    """Kinds of SignalToAddress."""

    SIGNAL = 0
    INCREMENT_IF_EQUAL = 1
    MODIFY_BY_WAITERS_IF_EQUAL = 2


@call("WaitForAddress")
def wait_for_address(
    kernel: SwitchKernel, thread: Thread, address: int, kind: int, value: int, nanoseconds: int
) -> Reply:
    if address % _WORD:
        return Result.INVALID_ADDRESS
    if kind not in tuple(Arbitration):
        return Result.INVALID_ENUM
    try:
        word = _signed(kernel.space.word(address))
        waits = word == _signed(value) if kind == Arbitration.WAIT_IF_EQUAL else word < _signed(value)
        if waits and kind == Arbitration.DECREMENT_AND_WAIT_IF_LESS:
            kernel.space.set_words(address, word - 1)
    except AddressError:
        return Result.INVALID_MEMORY_STATE
    if not waits:
        return Result.INVALID_STATE
    if nanoseconds == 0:
        return Result.TIMED_OUT
    kernel.sleep(thread, nanoseconds, _woken, address=address)
    return None


@call("SignalToAddress")
def signal_to_address(kernel: SwitchKernel, thread: Thread, address: int, kind: int, value: int, count: int) -> Reply:
    if address % _WORD:
        return Result.INVALID_ADDRESS
    if kind not in tuple(Signal):
        return Result.INVALID_ENUM
    number = _signed(count)
    if kind != Signal.SIGNAL:
        try:
            if _signed(kernel.space.word(address)) != _signed(value):
                return Result.INVALID_STATE
            change = 1 if kind == Signal.INCREMENT_IF_EQUAL else _change_by_waiters(kernel, address, number)
            kernel.space.set_words(address, _signed(value) + change)
        except AddressError:
            return Result.INVALID_MEMORY_STATE
    kernel.wake_address(address, number if number > 0 else _ALL)
    return Result.OK


def _change_by_waiters(kernel: SwitchKernel, address: int, count: int) -> int:
    """What is added to the word: more if nobody waits, less if nobody will be left."""
    waiting = len(kernel.waiting_for(address))
    if not waiting:
        return 1
    if count <= 0:
        return -2
    return -1 if waiting <= count else 0
