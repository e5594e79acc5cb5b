"""Memory: heap, linear memory, shared blocks, questions about the map. Source: libctru's svc.h; 3dbrew SVC."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.memory import PAGE, AddressError, Permission
from pocketgpu.guests.kernel.objects import KernelObject
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.abi.results import Result
from pocketgpu.guests.n3ds.calls.register import Reply, call

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

_KIND: Final = 0xFF
_LINEAR: Final = 0x10000
_DEFAULT_PERMISSION: Final = 0x10000000


class Operation(IntEnum):
    """Of ControlMemory."""

    FREE = 1
    ALLOCATE = 3
    MAP = 4
    UNMAP = 5
    PROTECT = 6


def permission_of(word: int) -> Permission:
    """What a program asks for."""
    return Permission.READ | Permission.WRITE if word & _DEFAULT_PERMISSION else Permission(word & 7)


@call("ControlMemory")
def control_memory(
    kernel: N3DSKernel, thread: Thread, operation: int, address: int, source: int, size: int, permission: int
) -> Reply:
    if address % PAGE or source % PAGE:
        return Result.MISALIGNED_ADDRESS
    if size % PAGE:
        return Result.MISALIGNED_SIZE
    kind = operation & _KIND
    try:
        if kind == Operation.ALLOCATE:
            place = kernel.allocate(address, size, permission_of(permission), linear=bool(operation & _LINEAR))
            return Result.OUT_OF_MEMORY if place is None else (Result.OK, place)
        if kind == Operation.FREE:
            return (Result.OK, address) if kernel.free(address, size) else Result.INVALID_ADDRESS
        if kind == Operation.MAP:
            kernel.mirror(address, source, size, permission_of(permission))
        elif kind == Operation.UNMAP:
            return (Result.OK, address) if kernel.remove_mirror(address, size) else Result.INVALID_ADDRESS
        elif kind == Operation.PROTECT and kernel.is_own(address, size):
            kernel.space.protect(address, size, permission_of(permission))
        else:
            return Result.INVALID_COMBINATION
    except AddressError:
        return Result.INVALID_ADDRESS
    return Result.OK, address


@call("QueryMemory")
def query_memory(kernel: N3DSKernel, thread: Thread, address: int) -> Reply:
    area = kernel.space.find(address)
    if area is None:
        base, size = kernel.space.gap(address)
        return Result.OK, base, min(size, 0xFFFFF000), 0, 0, 0
    return Result.OK, area.base, area.size, int(area.permission), area.state, 0


@call("CreateMemoryBlock")
def create_memory_block(
    kernel: N3DSKernel, thread: Thread, others: int, address: int, size: int, permission: int
) -> Reply:
    if address % PAGE and kernel.machine.choices["guest.block_alignment"] == "checked":
        return Result.MISALIGNED_ADDRESS
    if size % PAGE or not size:
        return Result.MISALIGNED_SIZE
    if address == 0:
        return Result.INVALID_ADDRESS
    return kernel.give(MemoryBlock("program's", kernel.space.view(address, size), place=address))


@call("MapMemoryBlock")
def map_memory_block(
    kernel: N3DSKernel, thread: Thread, handle: int, address: int, permission: int, others: int
) -> Reply:
    block = kernel.object_of(thread, handle)
    if not isinstance(block, MemoryBlock):
        return Result.INVALID_HANDLE
    place = block.place if block.place is not None and address == 0 else address
    if block.place is not None and place == block.place and kernel.space.find(place) is not None:
        return Result.OK
    if not layout.MAPPABLE <= place < layout.MAPPABLE_END and place != block.place:
        return Result.INVALID_ADDRESS
    try:
        kernel.map_block(block, place, permission_of(permission))
    except AddressError:
        return Result.INVALID_ADDRESS
    return Result.OK


@call("UnmapMemoryBlock")
def unmap_memory_block(kernel: N3DSKernel, thread: Thread, handle: int, address: int) -> Reply:
    block = kernel.object_of(thread, handle)
    if not isinstance(block, MemoryBlock):
        return Result.INVALID_HANDLE
    if kernel.blocks.get(address) is block:
        del kernel.blocks[address]
        kernel.space.unmap(address, len(block.view))
    return Result.OK


# -- limits and caches ------------------------------------------------------------------------------------------------
class ResourceLimit(KernelObject):
    """What a program may use."""

    kind = "resource limit"


_PRIORITY, _COMMIT = 0, 1


@call("GetResourceLimit")
def get_resource_limit(kernel: N3DSKernel, thread: Thread, process: int) -> Reply:
    return kernel.give(ResourceLimit())


def _limits(kernel: N3DSKernel, values: int, names: int, count: int, known: dict[int, int]) -> Reply:
    if count > len(_NAMES):
        return Result.OUT_OF_RANGE
    for at, name in enumerate(kernel.space.words(names, count)):
        value = known.get(name, 0)
        kernel.space.write(values + 8 * at, value.to_bytes(8, "little"))
    return Result.OK


_NAMES: Final = range(10)


@call("GetResourceLimitLimitValues")
def get_limit_values(kernel: N3DSKernel, thread: Thread, values: int, handle: int, names: int, count: int) -> Reply:
    return _limits(kernel, values, names, count, {_PRIORITY: 0x18, _COMMIT: layout.APPLICATION_MEMORY})


@call("GetResourceLimitCurrentValues")
def get_current_values(kernel: N3DSKernel, thread: Thread, values: int, handle: int, names: int, count: int) -> Reply:
    return _limits(kernel, values, names, count, {_COMMIT: kernel.used})


@call("InvalidateProcessDataCache")
@call("StoreProcessDataCache")
@call("FlushProcessDataCache")
def data_cache(kernel: N3DSKernel, thread: Thread, process: int, address: int, size: int) -> Reply:
    return Result.OK


@call("InvalidateInstructionCacheRange")
def instruction_cache(kernel: N3DSKernel, thread: Thread, address: int, size: int) -> Reply:
    return Result.OK


@call("InvalidateEntireInstructionCache")
def whole_instruction_cache(kernel: N3DSKernel, thread: Thread) -> Reply:
    return Result.OK
