"""Processes, limits and the system as a whole: what homebrew is told, and what is refused. Source: libnx's svc.h,
switchbrew SVC; nx-hbloader's hbl.json for what homebrew may do.

There is one process here. A console has more, but their numbers would be of no use: it refuses to let them be changed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from pocketgpu.facts.switch.supervisor import CALLS
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.calls.register import Reply, call
from pocketgpu.guests.switch.calls.system import ResourceLimit

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.switch.kernel import SwitchKernel

_MOST_NUMBERS: Final = 0x7FFFFFFF // 8
"""Of 64 bits, in a list."""


# -- lists ------------------------------------------------------------------------------------------------------------
def _listed(kernel: SwitchKernel, place: int, most: int, numbers: Sequence[int]) -> Reply:
    """Store as many numbers as there is room for; how many there are."""
    if most > _MOST_NUMBERS:
        return Result.OUT_OF_RANGE
    told = numbers[:most]
    kernel.space.write(place, struct.pack(f"<{len(told)}Q", *told))
    return Result.OK, len(numbers)


@call("GetProcessList")
def get_process_list(kernel: SwitchKernel, thread: Thread, ids: int, most: int) -> Reply:
    return _listed(kernel, ids, most, [kernel.process_id])


@call("GetThreadList")
def get_thread_list(kernel: SwitchKernel, thread: Thread, ids: int, most: int, debug: int) -> Reply:
    if debug:
        return Result.INVALID_HANDLE
    return _listed(kernel, ids, most, [one.number for one in kernel.scheduler.threads])


# -- limits -----------------------------------------------------------------------------------------------------------
class Resource(IntEnum):
    """What there is a limit of."""

    MEMORY = 0
    THREADS = 1
    EVENTS = 2
    TRANSFER_MEMORIES = 3
    SESSIONS = 4


_KINDS: Final[Mapping[int, tuple[str, ...]]] = {
    Resource.EVENTS: ("event", "writable event"), Resource.TRANSFER_MEMORIES: ("transfer memory",),
    Resource.SESSIONS: ("session", "client session", "server session"),
}  # fmt: skip


def _limit(kernel: SwitchKernel, thread: Thread, limit: int, resource: int) -> Result | None:
    """What is wrong with the arguments."""
    if resource not in tuple(Resource):
        return Result.INVALID_ENUM
    return None if isinstance(kernel.object_of(thread, limit), ResourceLimit) else Result.INVALID_HANDLE


@call("GetResourceLimitLimitValue")
def get_limit(kernel: SwitchKernel, thread: Thread, limit: int, resource: int) -> Reply:
    if wrong := _limit(kernel, thread, limit, resource):
        return wrong
    most = {Resource.MEMORY: layout.TOTAL_MEMORY, Resource.THREADS: layout.TLS_SLOTS}
    return Result.OK, most.get(Resource(resource), kernel.handles.limit)


@call("GetResourceLimitCurrentValue")
def get_current(kernel: SwitchKernel, thread: Thread, limit: int, resource: int) -> Reply:
    if wrong := _limit(kernel, thread, limit, resource):
        return wrong
    if resource == Resource.MEMORY:
        return Result.OK, layout.SYSTEM_USED + kernel.heap
    if resource == Resource.THREADS:
        return Result.OK, layout.TLS_SLOTS - kernel.tls.left
    return Result.OK, sum(one.kind in _KINDS[resource] for one in kernel.handles.objects())


# -- the system -------------------------------------------------------------------------------------------------------
class SystemInfo(IntEnum):
    """What GetSystemInfo is asked."""

    TOTAL_MEMORY = 0
    USED_MEMORY = 1
    FIRST_PROCESSES = 2


_POOLS: Final = 4
"""Of memory; the first is that of programs, of which the others here have none."""
_FIRST_PROCESSES: Final = (1, layout.PROCESS_ID - 1)
"""The least and the greatest number of a process of the system."""


@call("GetSystemInfo")
def get_system_info(kernel: SwitchKernel, thread: Thread, type: int, handle: int, subtype: int) -> Reply:
    if type not in tuple(SystemInfo):
        return Result.INVALID_ENUM
    if handle:
        return Result.INVALID_HANDLE
    if subtype >= (len(_FIRST_PROCESSES) if type == SystemInfo.FIRST_PROCESSES else _POOLS):
        return Result.INVALID_COMBINATION
    if type == SystemInfo.FIRST_PROCESSES:
        return Result.OK, _FIRST_PROCESSES[subtype]
    value = layout.TOTAL_MEMORY if type == SystemInfo.TOTAL_MEMORY else layout.SYSTEM_USED + kernel.heap
    return Result.OK, 0 if subtype else value


@call("SynchronizePreemptionState")
@call("KernelDebug")
@call("ChangeKernelTraceState")
def nothing(kernel: SwitchKernel, thread: Thread) -> Reply:
    """On a console for customers it does nothing, and has no result."""
    return None


# -- what is refused --------------------------------------------------------------------------------------------------
@call("SetProcessActivity")
def set_process_activity(kernel: SwitchKernel, thread: Thread, process: int, activity: int) -> Reply:
    if kernel.object_of(thread, process) is not kernel.process:
        return Result.INVALID_HANDLE
    return Result.INVALID_ENUM if activity > 1 else Result.BUSY


_REFUSED: Final = {
    "DebugActiveProcess": Result.INVALID_PROCESS_ID, "GetDebugEvent": Result.INVALID_HANDLE,
    "GetDebugThreadContext": Result.INVALID_HANDLE, "QueryDebugProcessMemory": Result.INVALID_HANDLE,
    "ReadDebugProcessMemory": Result.INVALID_HANDLE, "GetDebugThreadParam": Result.INVALID_HANDLE,
    "ReadWriteRegister": Result.INVALID_ADDRESS,
}  # fmt: skip
"""There is no other process to debug, so there are no handles for it; registers are not for programs. Calls that are
not here and have no function have the result NOT_IMPLEMENTED, as debuggers' calls on a console for customers."""


def _refused(number: int, result: Result) -> Callable[[SwitchKernel, Thread], Reply]:
    def refuse(kernel: SwitchKernel, thread: Thread) -> Reply:
        kernel.unknown_call(thread, number)
        return result

    return refuse


_NUMBERS: Final = {one.name: one.number for one in CALLS.values()}
for _name, _result in _REFUSED.items():
    call(_name)(_refused(_NUMBERS[_name], _result))
