"""Handles, questions about the system, and the end of a program. Source: libnx's svc.h, switchbrew SVC."""

from __future__ import annotations

from contextlib import suppress
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.kernel import End, Process
from pocketgpu.guests.kernel.memory import AddressError
from pocketgpu.guests.kernel.objects import KernelObject
from pocketgpu.guests.kernel.threads import State, Thread
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.results import Result, result_text
from pocketgpu.guests.switch.calls.register import Reply, call
from pocketgpu.guests.switch.calls.threads import ALL_CORES

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

MOST_TEXT: Final = 1 << 16
PROGRAM_ID: Final = 0x01000000_00001000
_PRIORITIES: Final = 0x0FFFFFFF_F0000000
"""A bit for each priority that an application may have: 28 to 59."""
_ENTROPY: Final = 0x9E3779B97F4A7C15
_ENTROPY_WORDS: Final = 4
_ALL_BITS: Final = (1 << 64) - 1
_NOTIFICATION: Final = 1 << 31
"""Of a reason: a debugger is told, and the program goes on."""
_REASONS: Final = {
    0: "panic", 1: "assertion failed", 2: "user break", 3: "a library is to be loaded", 4: "a library was loaded",
    5: "a library is to be unloaded", 6: "a library was unloaded", 7: "C++ exception",
}  # fmt: skip
_RESULT_SIZE: Final = 4
_PREEMPTION: Final = 0x36
"""The only call of which GetInfo tells whether it is permitted."""


# -- handles ----------------------------------------------------------------------------------------------------------
@call("CloseHandle")
def close_handle(kernel: SwitchKernel, thread: Thread, handle: int) -> Reply:
    one = kernel.handles.get(handle)
    if one is None:
        return Result.INVALID_HANDLE
    kernel.handles.close(handle)
    if isinstance(one, Thread) and one.state is State.NEW and not one.references:
        one.state = State.ENDED
        kernel.tls.give_back(one.tls)
    return Result.OK


@call("GetProcessId")
def get_process_id(kernel: SwitchKernel, thread: Thread, handle: int) -> Reply:
    one = kernel.object_of(thread, handle)
    return (Result.OK, kernel.process_id) if isinstance(one, Process | Thread) else Result.INVALID_HANDLE


# -- questions --------------------------------------------------------------------------------------------------------
@call("GetSystemTick")
def get_system_tick(kernel: SwitchKernel, thread: Thread) -> Reply:
    thread.answer[0] = kernel.counter
    return None


class ResourceLimit(KernelObject):
    """What a program may have of something, for handles."""

    kind = "resource limit"


class Info(IntEnum):
    """What GetInfo is asked."""

    CORE_MASK = 0
    PRIORITY_MASK = 1
    ALIAS_ADDRESS = 2
    ALIAS_SIZE = 3
    HEAP_ADDRESS = 4
    HEAP_SIZE = 5
    TOTAL_MEMORY = 6
    USED_MEMORY = 7
    DEBUGGER = 8
    RESOURCE_LIMIT = 9
    IDLE_TICKS = 10
    ENTROPY = 11
    ASLR_ADDRESS = 12
    ASLR_SIZE = 13
    STACK_ADDRESS = 14
    STACK_SIZE = 15
    SYSTEM_RESOURCE = 16
    SYSTEM_RESOURCE_USED = 17
    PROGRAM = 18
    EXCEPTION_CONTEXT = 20
    TOTAL_APPLICATION_MEMORY = 21
    USED_APPLICATION_MEMORY = 22
    IS_APPLICATION = 23
    FREE_THREADS = 24
    THREAD_TICKS = 25
    IS_CALL_PERMITTED = 26
    ALIAS_EXTRA = 28


_FIXED: Final = {
    Info.CORE_MASK: ALL_CORES, Info.PRIORITY_MASK: _PRIORITIES, Info.ALIAS_ADDRESS: layout.ALIAS,
    Info.ALIAS_SIZE: layout.ALIAS_SIZE, Info.HEAP_ADDRESS: layout.HEAP, Info.HEAP_SIZE: layout.HEAP_REGION_SIZE,
    Info.TOTAL_MEMORY: layout.TOTAL_MEMORY, Info.ASLR_ADDRESS: layout.ASLR, Info.ASLR_SIZE: layout.ASLR_SIZE,
    Info.STACK_ADDRESS: layout.STACKS, Info.STACK_SIZE: layout.STACKS_SIZE, Info.SYSTEM_RESOURCE: 0,
    Info.SYSTEM_RESOURCE_USED: 0, Info.PROGRAM: PROGRAM_ID, Info.EXCEPTION_CONTEXT: 0,
    Info.TOTAL_APPLICATION_MEMORY: layout.TOTAL_MEMORY, Info.IS_APPLICATION: 1, Info.ALIAS_EXTRA: 0,
}  # fmt: skip
"""Of the process, the same for all programs."""


@call("GetInfo")
def get_info(kernel: SwitchKernel, thread: Thread, type: int, handle: int, subtype: int) -> Reply:
    if type not in tuple(Info):
        return Result.INVALID_ENUM
    info = Info(type)
    one: KernelObject | None = kernel.object_of(thread, handle)
    if info is Info.THREAD_TICKS:
        return (Result.OK, one.executed) if isinstance(one, Thread) else Result.INVALID_HANDLE
    if info is Info.RESOURCE_LIMIT and not handle and not subtype:
        return kernel.give(ResourceLimit())
    if info is Info.IS_CALL_PERMITTED and not handle:
        return (Result.OK, 1) if subtype == _PREEMPTION else Result.INVALID_COMBINATION
    if info in (Info.DEBUGGER, Info.RESOURCE_LIMIT, Info.IDLE_TICKS, Info.ENTROPY, Info.IS_CALL_PERMITTED):
        if handle:
            return Result.INVALID_HANDLE
        if subtype >= _ENTROPY_WORDS if info is Info.ENTROPY else subtype and info is not Info.IDLE_TICKS:
            return Result.INVALID_COMBINATION
        return Result.OK, (subtype + 1) * _ENTROPY & _ALL_BITS if info is Info.ENTROPY else 0
    if one is not kernel.process:
        return Result.INVALID_HANDLE
    if subtype:
        return Result.INVALID_COMBINATION
    if info is Info.FREE_THREADS:
        return Result.OK, kernel.tls.left
    if info in (Info.USED_MEMORY, Info.USED_APPLICATION_MEMORY):
        return Result.OK, layout.SYSTEM_USED + kernel.heap
    return Result.OK, _FIXED[info]


# -- the end ----------------------------------------------------------------------------------------------------------
@call("ExitProcess")
def exit_process(kernel: SwitchKernel, thread: Thread) -> Reply:
    kernel.finish(End("exit"))
    return None


@call("Break")
def stop(kernel: SwitchKernel, thread: Thread, reason: int, address: int, size: int) -> Reply:
    if reason & _NOTIFICATION:
        return Result.OK
    text = _REASONS.get(reason, f"reason {reason:#x}")
    if size == _RESULT_SIZE:
        with suppress(AddressError):
            text += f", result {result_text(kernel.space.word(address))}"
    kernel.finish(End("break", f"{text}, thread {thread.number}"))
    return None


@call("ReturnFromException")
def return_from_exception(kernel: SwitchKernel, thread: Thread, result: int) -> Reply:
    return kernel.exceptions.returned(thread, result)


@call("OutputDebugString")
def output_debug_string(kernel: SwitchKernel, thread: Thread, text: int, length: int) -> Reply:
    kernel.printed(kernel.space.read(text, min(length, MOST_TEXT)))
    return Result.OK
