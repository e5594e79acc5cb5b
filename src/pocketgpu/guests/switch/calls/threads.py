"""Threads. Source: libnx's svc.h, switchbrew SVC."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.threads import State, Thread
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.calls.register import Reply, call

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

LOWEST_PRIORITY: Final = 0x3F
CORES: Final = 3
"""Cores that programs may have."""
ALL_CORES: Final = (1 << CORES) - 1
_DEFAULT_CORE: Final = -2
_KEEP_CORE: Final = -3
_ANY_CORE: Final = -1
_GIVE_WAY, _GIVE_TO_OTHER_CORES, _GIVE_TO_ALL = 0, -1, -2
_YIELD_NS: Final = 10_000
"""How long a thread leaves out that lets those of other cores run: here all have one core."""
_CONTEXT: Final = struct.Struct("<29QQQQQI4x512sIIQ")
"""ThreadContext: x0 to x28, fp, lr, sp, pc, flags, vector registers, their control and state, TPIDR_EL0."""
_GENERAL: Final = 29
_VECTORS: Final = bytes(512)


def _signed(value: int) -> int:
    return value - (value >> 31 << 32)


@call("CreateThread")
def create_thread(
    kernel: SwitchKernel, thread: Thread, entry: int, argument: int, stack: int, priority: int, core: int
) -> Reply:
    wanted = _signed(core)
    if wanted != _DEFAULT_CORE and not 0 <= wanted < CORES:
        return Result.INVALID_CORE
    if priority > LOWEST_PRIORITY:
        return Result.INVALID_PRIORITY
    made = kernel.make_thread(priority, entry, argument, stack, starts=False)
    if made is None:
        return Result.LIMIT_REACHED
    made.core = max(wanted, 0)
    made.cores = 1 << made.core
    reply = kernel.give(made)
    if not isinstance(reply, tuple):
        kernel.tls.give_back(made.tls)
    return reply


@call("StartThread")
def start_thread(kernel: SwitchKernel, thread: Thread, handle: int) -> Reply:
    one = kernel.object_of(thread, handle)
    if not isinstance(one, Thread):
        return Result.INVALID_HANDLE
    if one.state is not State.NEW:
        return Result.INVALID_STATE
    kernel.scheduler.add(one)
    return Result.OK


@call("ExitThread")
def exit_thread(kernel: SwitchKernel, thread: Thread) -> Reply:
    kernel.end_thread(thread)
    return None


@call("SleepThread")
def sleep_thread(kernel: SwitchKernel, thread: Thread, nanoseconds: int) -> Reply:
    """It has no result."""
    if nanoseconds > 0:
        kernel.sleep(thread, nanoseconds, _slept)
    elif nanoseconds == _GIVE_WAY:
        kernel.scheduler.give_way(thread)
    elif nanoseconds in (_GIVE_TO_OTHER_CORES, _GIVE_TO_ALL):
        kernel.sleep(thread, _YIELD_NS, _slept)
    return None


def _slept(thread: Thread, index: int | None) -> None:
    """Nothing is told."""


# -- properties -------------------------------------------------------------------------------------------------------
@call("GetThreadPriority")
def get_thread_priority(kernel: SwitchKernel, thread: Thread, handle: int) -> Reply:
    one = kernel.object_of(thread, handle)
    return (Result.OK, one.priority) if isinstance(one, Thread) else Result.INVALID_HANDLE


@call("SetThreadPriority")
def set_thread_priority(kernel: SwitchKernel, thread: Thread, handle: int, priority: int) -> Reply:
    one = kernel.object_of(thread, handle)
    if priority > LOWEST_PRIORITY:
        return Result.INVALID_PRIORITY
    if not isinstance(one, Thread):
        return Result.INVALID_HANDLE
    one.priority = priority
    return Result.OK


@call("GetThreadCoreMask")
def get_thread_core_mask(kernel: SwitchKernel, thread: Thread, handle: int) -> Reply:
    one = kernel.object_of(thread, handle)
    if not isinstance(one, Thread):
        return Result.INVALID_HANDLE
    return Result.OK, one.core & 0xFFFFFFFF, one.cores


@call("SetThreadCoreMask")
def set_thread_core_mask(kernel: SwitchKernel, thread: Thread, handle: int, core: int, mask: int) -> Reply:
    wanted = _signed(core)
    if wanted == _DEFAULT_CORE:
        wanted, mask = 0, 1
    elif mask & ~ALL_CORES or not mask:
        return Result.INVALID_CORE if mask else Result.INVALID_COMBINATION
    elif wanted not in (_KEEP_CORE, _ANY_CORE):
        if not 0 <= wanted < CORES:
            return Result.INVALID_CORE
        if not mask >> wanted & 1:
            return Result.INVALID_COMBINATION
    one = kernel.object_of(thread, handle)
    if not isinstance(one, Thread):
        return Result.INVALID_HANDLE
    if wanted == _KEEP_CORE:
        if one.core >= 0 and not mask >> one.core & 1:
            return Result.INVALID_COMBINATION
        wanted = one.core
    one.core, one.cores = wanted, mask
    return Result.OK


@call("GetCurrentProcessorNumber")
def get_current_processor_number(kernel: SwitchKernel, thread: Thread) -> Reply:
    return max(thread.core, 0)


@call("GetThreadId")
def get_thread_id(kernel: SwitchKernel, thread: Thread, handle: int) -> Reply:
    one = kernel.object_of(thread, handle)
    return (Result.OK, one.number) if isinstance(one, Thread) else Result.INVALID_HANDLE


# -- pauses -----------------------------------------------------------------------------------------------------------
@call("SetThreadActivity")
def set_thread_activity(kernel: SwitchKernel, thread: Thread, handle: int, activity: int) -> Reply:
    if activity > 1:
        return Result.INVALID_ENUM
    one = kernel.object_of(thread, handle)
    if not isinstance(one, Thread):
        return Result.INVALID_HANDLE
    if one is thread:
        return Result.BUSY
    if one.paused is bool(activity) or one.state is State.ENDED:
        return Result.INVALID_STATE
    one.paused = bool(activity)
    return Result.OK


@call("GetThreadContext3")
def get_thread_context(kernel: SwitchKernel, thread: Thread, context: int, handle: int) -> Reply:
    """Vector registers are told as zeros."""
    one = kernel.object_of(thread, handle)
    if not isinstance(one, Thread):
        return Result.INVALID_HANDLE
    if one is thread:
        return Result.BUSY
    if not one.paused:
        return Result.INVALID_STATE
    registers = kernel.processor.registers(one) if one.state is not State.ENDED else None
    if registers is None:
        return Result.INVALID_STATE
    general = registers.values[:_GENERAL]
    more = (registers.values[_GENERAL], registers.values[_GENERAL + 1], registers["sp"], registers.pc)
    kernel.space.write(context, _CONTEXT.pack(*general, *more, registers.flags & 0xFFFFFFFF, _VECTORS, 0, 0, 0))
    return Result.OK
