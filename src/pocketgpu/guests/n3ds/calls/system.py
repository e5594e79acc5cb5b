"""Handles, ports, messages, and questions about the system. Source: libctru's svc.h; 3dbrew SVC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.guests.kernel import emulator
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.abi.messages import Request, Session
from pocketgpu.guests.n3ds.abi.results import Result
from pocketgpu.guests.n3ds.calls.register import Reply, call

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

_PORT_NAME = 12
_LINEAR_OFFSET = 20
"""Type of GetProcessInfo: what to add to an address of linear memory to get its physical one."""


@call("CloseHandle")
def close_handle(kernel: N3DSKernel, thread: Thread, handle: int) -> Reply:
    return Result.OK if kernel.handles.close(handle) else Result.INVALID_HANDLE


@call("DuplicateHandle")
def duplicate_handle(kernel: N3DSKernel, thread: Thread, handle: int) -> Reply:
    one = kernel.object_of(thread, handle)
    return Result.INVALID_HANDLE if one is None else kernel.give(one)


@call("GetSystemTick")
def get_system_tick(kernel: N3DSKernel, thread: Thread) -> Reply:
    kernel.time.pass_ticks(layout.GET_TICK_COST)
    tick = kernel.time.now
    thread.answer.update({0: tick & 0xFFFFFFFF, 1: tick >> 32})
    return None


@call("GetSystemInfo")
def get_system_info(kernel: N3DSKernel, thread: Thread, type: int, parameter: int) -> Reply:
    if type == emulator.INFO_TYPE:
        known = {emulator.MARK: emulator.MARK, emulator.VERSION_OF: emulator.version_word()}
        return Result.OK, known.get(parameter, 0)
    return (Result.OK, kernel.used) if type == 0 else (Result.OK, 0)


@call("GetProcessInfo")
def get_process_info(kernel: N3DSKernel, thread: Thread, handle: int, type: int) -> Reply:
    if type == _LINEAR_OFFSET:
        return Result.OK, layout.LINEAR_PHYSICAL - layout.LINEAR
    return Result.OK, 0


@call("ConnectToPort")
def connect_to_port(kernel: N3DSKernel, thread: Thread, name: int) -> Reply:
    server = kernel.ports.get(kernel.space.text(name, _PORT_NAME))
    return Result.NOT_FOUND_PORT if server is None else kernel.give(Session(server))


@call("SendSyncRequest")
def send_sync_request(kernel: N3DSKernel, thread: Thread, handle: int) -> Reply:
    session = kernel.object_of(thread, handle)
    if not isinstance(session, Session):
        return Result.INVALID_HANDLE
    request = Request(kernel, thread)
    answer = session.server.handle(request)
    if answer is None:
        return None
    request.answer(answer)
    return Result.OK
