"""Threads. Source: libnx's svc.h, switchbrew SVC."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.report import VectorRegisters
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
_CONTEXT: Final = struct.Struct("<29QQQQQI4x512sIIQ")
"""ThreadContext: x0 to x28, fp, lr, sp, pc, flags, vector registers, their control and state, TPIDR_EL0."""
_GENERAL, _NOT_IN_CALLS = 29, 19
"""General registers of a context; how many of them are 0 for a thread that is in a supervisor call."""
_VECTOR_BYTES: Final = 16
_NO_VECTORS: Final = VectorRegisters((0,) * 32, 0, 0, 0)


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
    made.core = made.preferred = max(wanted, 0)
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
    elif nanoseconds == _GIVE_TO_OTHER_CORES:
        kernel.scheduler.give_way_to_cores(thread)
    elif nanoseconds == _GIVE_TO_ALL:
        kernel.scheduler.give_way_to_all(thread, kernel.time.now)
    return None


def _slept(thread: Thread, index: int | None) -> None:
    """Nothing is told."""


# -- properties -------------------------------------------------------------------------------------------------------
@call("GetThreadPriority")
def get_thread_priority(kernel: SwitchKernel, thread: Thread, handle: int) -> Reply:
    """The priority that counts, which is that of a better thread while that waits for this one's mutex."""
    one = kernel.object_of(thread, handle)
    return (Result.OK, one.priority) if isinstance(one, Thread) else Result.INVALID_HANDLE


@call("SetThreadPriority")
def set_thread_priority(kernel: SwitchKernel, thread: Thread, handle: int, priority: int) -> Reply:
    one = kernel.object_of(thread, handle)
    if priority > LOWEST_PRIORITY:
        return Result.INVALID_PRIORITY
    if not isinstance(one, Thread):
        return Result.INVALID_HANDLE
    kernel.set_priority(one, priority)
    return Result.OK


@call("GetThreadCoreMask")
def get_thread_core_mask(kernel: SwitchKernel, thread: Thread, handle: int) -> Reply:
    one = kernel.object_of(thread, handle)
    if not isinstance(one, Thread):
        return Result.INVALID_HANDLE
    return Result.OK, one.preferred & 0xFFFFFFFF, one.cores


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
        if one.preferred >= 0 and not mask >> one.preferred & 1:
            return Result.INVALID_COMBINATION
        wanted = one.preferred
    one.preferred, one.cores = wanted, mask
    if not mask >> one.core & 1:
        one.core = wanted if wanted >= 0 else mask.bit_length() - 1
    return Result.OK


@call("GetCurrentProcessorNumber")
def get_current_processor_number(kernel: SwitchKernel, thread: Thread) -> Reply:
    return thread.core


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
    """Of a thread that is in a call, x0 to x18 are not told: they are the kernel's then."""
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
    if one.wait is not None or one.answer:
        general = (0,) * _NOT_IN_CALLS + general[_NOT_IN_CALLS:]
    more = (registers.values[_GENERAL], registers.values[_GENERAL + 1], registers["sp"], registers.pc)
    vectors = kernel.processor.vectors(one) or _NO_VECTORS
    wide = b"".join(value.to_bytes(_VECTOR_BYTES, "little") for value in vectors.values)
    flags, last = registers.flags & 0xFFFFFFFF, (vectors.control, vectors.status, vectors.own)
    kernel.space.write(context, _CONTEXT.pack(*general, *more, flags, wide, *last))
    return Result.OK
