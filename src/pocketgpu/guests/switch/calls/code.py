"""Code that a program writes itself. Source: libnx's svc.h and jit.c; switchbrew SVC.

There are two ways. Code memory is shown twice: where it is written, and where it runs. Or pages of the heap become
code, and are out of the program's reach until they are heap again. After it has written, a program says so with
`ic ivau`; see `processors/unicorn_arm64.py`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.memory import AddressError, Permission
from pocketgpu.guests.kernel.objects import KernelObject
from pocketgpu.guests.switch.abi.pages import OWN, Kind, Use, wrong_range
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.calls.memory import BOTH, is_free_place, lend, map_again, take_back, undone, unmap_again
from pocketgpu.guests.switch.calls.register import Reply, call

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.switch.kernel import SwitchKernel

_RUN: Final = Permission.READ | Permission.EXECUTE
_NEW: Final = 0xFF
"""Bytes of code memory at its beginning."""
_OF_CODE: Final = (Permission.NONE, Permission.READ, BOTH, _RUN)
_AS_DATA: Final = {Kind.CODE: Kind.CODE_DATA, Kind.MODULE_CODE: Kind.MODULE_DATA}
"""What code is once it may be written."""
_OF_PROCESS: Final = (Kind.CODE, Kind.CODE_DATA, Kind.MODULE_CODE, Kind.MODULE_DATA)


# -- code memory ------------------------------------------------------------------------------------------------------
class Side(IntEnum):
    """Of code memory."""

    WRITTEN = 0
    RUN = 1


_SIDES: Final = {
    Side.WRITTEN: (Kind.CODE_WRITTEN, (BOTH,)), Side.RUN: (Kind.CODE_RUN, (Permission.READ, _RUN)),
}  # fmt: skip
"""Its kind, and what may be given."""


class Operation(IntEnum):
    """Of ControlCodeMemory."""

    MAP_WRITTEN = 0
    MAP_RUN = 1
    UNMAP_WRITTEN = 2
    UNMAP_RUN = 3

    @property
    def side(self) -> Side:
        """Which one it is about."""
        return Side(self % 2)

    @property
    def maps(self) -> bool:
        """Whether it maps that."""
        return self < Operation.UNMAP_WRITTEN


class CodeMemory(KernelObject):
    """Pages of the program that are code. address, size: where they were; places: of its sides that are mapped."""

    kind = "code memory"

    def __init__(self, kernel: SwitchKernel, address: int, size: int) -> None:
        super().__init__()
        self.kernel, self.address, self.size = kernel, address, size
        self.pieces = kernel.offsets(address, size)
        self.places: dict[Side, int] = {}

    def __repr__(self) -> str:
        return f"<CodeMemory of {self.address:#x}+{self.size:#x}>"

    def closed(self) -> None:
        """The program has its pages again, unless they are still mapped."""
        if not self.places:
            take_back(self.kernel, self.address, self.size)


@call("CreateCodeMemory")
def create_code_memory(kernel: SwitchKernel, thread: Thread, address: int, size: int) -> Reply:
    if wrong := wrong_range(address, size):
        return wrong
    if not kernel.is_all(address, size, OWN, BOTH) or kernel.uses.any(address, size):
        return Result.INVALID_MEMORY_STATE
    if len(kernel.handles) >= kernel.handles.limit:
        return Result.OUT_OF_HANDLES
    made = CodeMemory(kernel, address, size)
    if not lend(kernel, address, size):
        return Result.OUT_OF_RESOURCE
    for offset, length in made.pieces:
        kernel.machine.memory.arena[offset : offset + length] = _NEW
    return kernel.give(made)


@call("ControlCodeMemory")
def control_code_memory(
    kernel: SwitchKernel, thread: Thread, handle: int, operation: int, address: int, size: int, permission: int
) -> Reply:
    if wrong := wrong_range(address, size):
        return wrong
    if operation not in tuple(Operation):
        return Result.INVALID_ENUM
    wanted = Operation(operation)
    code = kernel.object_of(thread, handle)
    if not isinstance(code, CodeMemory):
        return Result.INVALID_HANDLE
    if size != code.size:
        return Result.INVALID_SIZE
    kind, given = _SIDES[wanted.side]
    if not wanted.maps:
        return Result.INVALID_PERMISSION if permission else _unmap_side(kernel, code, wanted.side, address)
    if permission not in given:
        return Result.INVALID_PERMISSION
    if not is_free_place(address, size):
        return Result.INVALID_MEMORY_RANGE
    if wanted.side in code.places:
        return Result.INVALID_STATE
    if any(kernel.space.within(address, size)):
        return Result.INVALID_MEMORY_STATE
    try:
        map_again(kernel, address, code.pieces, Permission(permission), "code memory", kind)
    except AddressError:
        return Result.OUT_OF_RESOURCE
    code.places[wanted.side] = address
    return Result.OK


def _unmap_side(kernel: SwitchKernel, code: CodeMemory, side: Side, address: int) -> Reply:
    if code.places.get(side) != address:
        return Result.INVALID_MEMORY_STATE
    try:
        kernel.space.unmap(address, code.size)
    except AddressError:
        return Result.OUT_OF_RESOURCE
    kernel.uses.clear(address, code.size)
    del code.places[side]
    return Result.OK


# -- heap that becomes code -------------------------------------------------------------------------------------------
def _wrong(kernel: SwitchKernel, process: int, size: int, *addresses: int) -> Result | None:
    """What is wrong with ranges of the program, or with a handle of it. The one that every thread has without asking is
    no process here."""
    for address in addresses:
        if found := wrong_range(address, size):
            return found
    return None if kernel.handles.get(process) is kernel.process else Result.INVALID_HANDLE


@call("MapProcessCodeMemory")
def map_process_code_memory(
    kernel: SwitchKernel, thread: Thread, process: int, address: int, source: int, size: int
) -> Reply:
    if wrong := _wrong(kernel, process, size, address, source):
        return wrong
    if not is_free_place(address, size):
        return Result.INVALID_MEMORY_RANGE
    if not kernel.is_all(source, size, (Kind.HEAP,), BOTH) or kernel.uses.any(source, size):
        return Result.INVALID_MEMORY_STATE
    if any(kernel.space.within(address, size)):
        return Result.INVALID_MEMORY_STATE
    try:
        map_again(kernel, address, kernel.offsets(source, size), Permission.NONE, "code", Kind.MODULE_CODE)
    except AddressError:
        return Result.OUT_OF_RESOURCE
    return Result.OK if lend(kernel, source, size) else undone(kernel, address, size)


@call("UnmapProcessCodeMemory")
def unmap_process_code_memory(
    kernel: SwitchKernel, thread: Thread, process: int, address: int, source: int, size: int
) -> Reply:
    if wrong := _wrong(kernel, process, size, address, source):
        return wrong
    if not kernel.is_all(address, size, (Kind.MODULE_CODE, Kind.MODULE_DATA)):
        return Result.INVALID_MEMORY_STATE
    if not kernel.is_all(source, size, (Kind.HEAP,)) or kernel.uses.any(address, size) & Use.LENT:
        return Result.INVALID_MEMORY_STATE
    if kernel.offsets(address, size) != kernel.offsets(source, size):
        return Result.INVALID_MEMORY_RANGE
    return unmap_again(kernel, address, source, size)


@call("SetProcessMemoryPermission")
def set_process_memory_permission(
    kernel: SwitchKernel, thread: Thread, process: int, address: int, size: int, permission: int
) -> Reply:
    if wrong := wrong_range(address, size):
        return wrong
    if permission not in _OF_CODE:
        return Result.INVALID_PERMISSION
    if wrong := _wrong(kernel, process, size, address):
        return wrong
    kinds = {area.state for area in kernel.space.within(address, size)}
    if len(kinds) != 1 or not kernel.is_all(address, size, tuple(_AS_DATA)) or kernel.uses.any(address, size):
        return Result.INVALID_MEMORY_STATE
    kind = Kind(kinds.pop())
    try:
        kernel.space.protect(
            address, size, Permission(permission), _AS_DATA[kind] if permission & Permission.WRITE else kind
        )
    except AddressError:
        return Result.OUT_OF_RESOURCE
    return Result.OK


# -- code that is written where it runs -------------------------------------------------------------------------------
@call("MapProcessMemory")
def map_process_memory(
    kernel: SwitchKernel, thread: Thread, address: int, process: int, source: int, size: int
) -> Reply:
    if wrong := _wrong(kernel, process, size, address, source):
        return wrong
    if not is_free_place(address, size):
        return Result.INVALID_MEMORY_RANGE
    if not kernel.is_all(source, size, _OF_PROCESS) or any(kernel.space.within(address, size)):
        return Result.INVALID_MEMORY_STATE
    try:
        map_again(kernel, address, kernel.offsets(source, size), BOTH, "memory of the process", Kind.OF_PROCESS)
    except AddressError:
        return Result.OUT_OF_RESOURCE
    return Result.OK


@call("UnmapProcessMemory")
def unmap_process_memory(
    kernel: SwitchKernel, thread: Thread, address: int, process: int, source: int, size: int
) -> Reply:
    if wrong := _wrong(kernel, process, size, address, source):
        return wrong
    if not kernel.is_all(address, size, (Kind.OF_PROCESS,)) or not kernel.is_all(source, size, _OF_PROCESS):
        return Result.INVALID_MEMORY_STATE
    if kernel.offsets(address, size) != kernel.offsets(source, size):
        return Result.INVALID_MEMORY_RANGE
    try:
        kernel.space.unmap(address, size)
    except AddressError:
        return Result.OUT_OF_RESOURCE
    kernel.uses.clear(address, size)
    return Result.OK
