"""Threads, processes and their properties. Source: libctru's svc.h; 3dbrew SVC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.guests.kernel.kernel import End
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.n3ds.abi.results import Result
from pocketgpu.guests.n3ds.calls.register import Reply, call

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

LOWEST_PRIORITY = 0x3F
PROCESS_ID = 0x20
_REASONS = {0: "panic", 1: "assertion failed", 2: "user break"}
_LIBRARY_REASONS = (3, 4)
"""A library was loaded or unloaded: this tells a debugger so, and the program goes on. Source: libctru's svc.h."""


@call("ExitProcess")
def exit_process(kernel: N3DSKernel, thread: Thread) -> Reply:
    kernel.finish(End("exit"))
    return None


@call("CreateThread")
def create_thread(
    kernel: N3DSKernel, thread: Thread, priority: int, entry: int, argument: int, stack: int, core: int
) -> Reply:
    if priority > LOWEST_PRIORITY:
        return Result.OUT_OF_RANGE
    made = kernel.make_thread(priority, entry, argument, stack)
    return Result.OUT_OF_THREADS if made is None else kernel.give(made)


@call("ExitThread")
def exit_thread(kernel: N3DSKernel, thread: Thread) -> Reply:
    kernel.end_thread(thread)
    return None


@call("SleepThread")
def sleep_thread(kernel: N3DSKernel, thread: Thread, nanoseconds: int) -> Reply:
    if nanoseconds == 0:
        kernel.scheduler.give_way(thread)
        return Result.OK
    kernel.sleep(thread, nanoseconds, _slept)
    return None


def _slept(thread: Thread, index: int | None) -> None:
    thread.answer[0] = Result.OK


@call("GetThreadPriority")
def get_thread_priority(kernel: N3DSKernel, thread: Thread, handle: int) -> Reply:
    one = kernel.object_of(thread, handle)
    return (Result.OK, one.priority) if isinstance(one, Thread) else Result.INVALID_HANDLE


@call("SetThreadPriority")
def set_thread_priority(kernel: N3DSKernel, thread: Thread, handle: int, priority: int) -> Reply:
    one = kernel.object_of(thread, handle)
    if not isinstance(one, Thread):
        return Result.INVALID_HANDLE
    if priority > LOWEST_PRIORITY:
        return Result.OUT_OF_RANGE
    kernel.set_priority(one, priority)
    return Result.OK


@call("GetThreadAffinityMask")
@call("SetThreadAffinityMask")
def affinity(kernel: N3DSKernel, thread: Thread, handle: int) -> Reply:
    return Result.OK


@call("GetThreadIdealProcessor")
def get_ideal_processor(kernel: N3DSKernel, thread: Thread, handle: int) -> Reply:
    return Result.OK, 0


@call("SetThreadIdealProcessor")
def set_ideal_processor(kernel: N3DSKernel, thread: Thread, handle: int, core: int) -> Reply:
    return Result.OK


@call("GetProcessorID")
def get_processor_id(kernel: N3DSKernel, thread: Thread) -> Reply:
    return 0


@call("OpenProcess")
def open_process(kernel: N3DSKernel, thread: Thread, number: int) -> Reply:
    return kernel.give(kernel.process) if number == PROCESS_ID else Result.NOT_FOUND_PORT


@call("OpenThread")
def open_thread(kernel: N3DSKernel, thread: Thread, process: int, number: int) -> Reply:
    for one in kernel.scheduler.threads:
        if one.number == number:
            return kernel.give(one)
    return Result.NOT_FOUND_PORT


@call("GetProcessId")
@call("GetProcessIdOfThread")
def get_process_id(kernel: N3DSKernel, thread: Thread, handle: int) -> Reply:
    return Result.INVALID_HANDLE if kernel.object_of(thread, handle) is None else (Result.OK, PROCESS_ID)


@call("GetThreadId")
def get_thread_id(kernel: N3DSKernel, thread: Thread, handle: int) -> Reply:
    one = kernel.object_of(thread, handle)
    return (Result.OK, one.number) if isinstance(one, Thread) else Result.INVALID_HANDLE


@call("Break")
def stop(kernel: N3DSKernel, thread: Thread, reason: int) -> Reply:
    if reason in _LIBRARY_REASONS:
        return Result.OK
    kernel.finish(End("break", f"{_REASONS.get(reason, f'reason {reason}')}, thread {thread.number}"))
    return None


@call("OutputDebugString")
def output_debug_string(kernel: N3DSKernel, thread: Thread, text: int, length: int) -> Reply:
    size = min(length - (length >> 31 << 32), 1 << 16)
    if size > 0:
        kernel.printed(kernel.space.read(text, size))
    return Result.OK
