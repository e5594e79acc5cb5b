"""Memory: the heap, aliases, shared and transferred memory, questions about the map. Source: libnx's svc.h, switchbrew
SVC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.memory import PAGE, AddressError, Area, Permission
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.pages import OWN, Kind, Use, information, wrong_range
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.calls.register import Reply, call

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.switch.kernel import SwitchKernel

BOTH: Final = Permission.READ | Permission.WRITE
_GIVEN: Final = (Permission.NONE, Permission.READ, BOTH)
"""Permissions that a program may give."""
_CHANGED: Final = Use.UNCACHED | Use.FIXED
_SHARED: Final = (Permission.READ, BOTH)
_ANY_PERMISSION: Final = 1 << 28
_END: Final = 1 << 64


# -- the heap ---------------------------------------------------------------------------------------------------------
@call("SetHeapSize")
def set_heap_size(kernel: SwitchKernel, thread: Thread, size: int) -> Reply:
    if size % layout.HEAP_STEP or size > layout.HEAP_REGION_SIZE:
        return Result.INVALID_SIZE
    low, high = min(kernel.heap, size), max(kernel.heap, size)
    base, change = layout.HEAP + low, high - low
    try:
        if size > kernel.heap:
            last = kernel.space.find(base - 1)
            after = None
            if kernel.heap and last is not None and last.physical is not None:
                after = last.physical + last.size - kernel.ram.offset
            kernel.map_ram("heap", base, change, BOTH, Kind.HEAP, after=after)
        elif change:
            if not kernel.is_all(base, change, (Kind.HEAP,)) or kernel.uses.any(base, change) & Use.LENT:
                return Result.INVALID_MEMORY_STATE
            kernel.unmap_ram(base, change)
    except AddressError:
        return Result.OUT_OF_MEMORY
    kernel.heap = size
    return Result.OK, layout.HEAP


@call("MapPhysicalMemory")
@call("UnmapPhysicalMemory")
def physical_memory(kernel: SwitchKernel, thread: Thread, address: int, size: int) -> Reply:
    """Only for programs that have asked for a system resource, which homebrew has not."""
    return wrong_range(address, size) or Result.INVALID_STATE


# -- permissions ------------------------------------------------------------------------------------------------------
@call("SetMemoryPermission")
def set_memory_permission(kernel: SwitchKernel, thread: Thread, address: int, size: int, permission: int) -> Reply:
    if wrong := wrong_range(address, size):
        return wrong
    if permission not in _GIVEN:
        return Result.INVALID_PERMISSION
    if kernel.checks_pages and kernel.uses.any(address, size) & (Use.LENT | Use.FIXED):
        return Result.INVALID_MEMORY_STATE
    if not kernel.is_all(address, size, OWN):
        return Result.INVALID_MEMORY_STATE if kernel.checks_pages else Result.OK
    try:
        kernel.space.protect(address, size, Permission(permission))
    except AddressError:
        return Result.OUT_OF_RESOURCE
    return Result.OK


@call("SetMemoryAttribute")
def set_memory_attribute(kernel: SwitchKernel, thread: Thread, address: int, size: int, mask: int, value: int) -> Reply:
    if wrong := wrong_range(address, size):
        return wrong
    if value & ~mask or mask & ~_CHANGED:
        return Result.INVALID_COMBINATION
    if not kernel.checks_pages:
        return Result.OK
    if not kernel.is_all(address, size, (*OWN, Kind.STACK)) or kernel.uses.any(address, size) & Use.LENT:
        return Result.INVALID_MEMORY_STATE
    kernel.uses.set(address, size, mask, value)
    if mask & Use.UNCACHED and not value & Use.UNCACHED:
        kernel.flushed(address, size)  # what was written until now went to memory
    return Result.OK


# -- aliases ----------------------------------------------------------------------------------------------------------
def _is_stack_place(address: int, size: int) -> bool:
    return address >= layout.STACKS and address + size <= layout.STACKS + layout.STACKS_SIZE


def map_again(
    kernel: SwitchKernel, address: int, pieces: Sequence[tuple[int, int]], permission: Permission, name: str, kind: Kind
) -> None:
    """Show memory of the program at a further address. pieces: offsets in the GPU's memory, and lengths.

    :raises AddressError: there would be too many areas, or something is there; then nothing is mapped.
    """
    at = address
    try:
        for offset, length in pieces:
            view = kernel.machine.memory.arena[offset : offset + length].data
            kernel.space.map(Area(at, length, permission, name, view, kind, offset))
            at += length
    except AddressError:
        kernel.space.unmap(address, at - address)
        raise


@call("MapMemory")
def map_memory(kernel: SwitchKernel, thread: Thread, address: int, source: int, size: int) -> Reply:
    if wrong := wrong_range(address, size) or wrong_range(source, size):
        return wrong
    if not _is_stack_place(address, size):
        return Result.INVALID_MEMORY_RANGE
    if not kernel.is_all(source, size, OWN, BOTH) or kernel.uses.any(source, size) & Use.LENT:
        return Result.INVALID_MEMORY_STATE
    if any(kernel.space.within(address, size)):
        return Result.INVALID_MEMORY_STATE
    try:
        map_again(kernel, address, kernel.offsets(source, size), BOTH, "alias", Kind.STACK)
    except AddressError:
        return Result.OUT_OF_RESOURCE
    return Result.OK if lend(kernel, source, size) else undone(kernel, address, size)


def lend(kernel: SwitchKernel, address: int, size: int, permission: Permission = Permission.NONE) -> bool:
    """Take pages out of the program's reach, as they are used elsewhere; False if there would be too many areas."""
    if kernel.checks_pages:
        try:
            kernel.space.protect(address, size, permission)
        except AddressError:
            return False
        kernel.uses.set(address, size, Use.LENT, Use.LENT)
    return True


def take_back(kernel: SwitchKernel, address: int, size: int) -> None:
    """The end of `lend`.

    :raises AddressError: there would be too many areas.
    """
    if kernel.checks_pages:
        kernel.space.protect(address, size, BOTH)
        kernel.uses.set(address, size, Use.LENT, 0)


def unmap_again(kernel: SwitchKernel, address: int, source: int, size: int) -> Result:
    """End a mapping of memory that was lent."""
    try:
        kernel.space.unmap(address, size)
        kernel.uses.clear(address, size)
        take_back(kernel, source, size)
    except AddressError:
        return Result.OUT_OF_RESOURCE
    return Result.OK


def undone(kernel: SwitchKernel, address: int, size: int) -> Result:
    """What was mapped cannot stay."""
    kernel.space.unmap(address, size)
    return Result.OUT_OF_RESOURCE


@call("UnmapMemory")
def unmap_memory(kernel: SwitchKernel, thread: Thread, address: int, source: int, size: int) -> Reply:
    lends = kernel.checks_pages
    wrong = wrong_range(address, size) or wrong_range(source, size)
    if wrong is None and not _is_stack_place(address, size):
        wrong = Result.INVALID_MEMORY_RANGE
    if wrong is None and not (kernel.is_all(address, size, (Kind.STACK,)) and kernel.is_all(source, size, OWN)):
        wrong = Result.INVALID_MEMORY_STATE
    if wrong is None and kernel.offsets(address, size) != kernel.offsets(source, size):
        wrong = Result.INVALID_MEMORY_RANGE
    if wrong is not None:
        return wrong if lends else Result.OK
    return unmap_again(kernel, address, source, size)


# -- questions --------------------------------------------------------------------------------------------------------
@call("QueryProcessMemory")
def query_process_memory(kernel: SwitchKernel, thread: Thread, result: int, process: int, address: int) -> Reply:
    if kernel.object_of(thread, process) is not kernel.process:
        return Result.INVALID_HANDLE
    return query_memory(kernel, thread, result, address)


@call("QueryMemory")
def query_memory(kernel: SwitchKernel, thread: Thread, result: int, address: int) -> Reply:
    if address >= layout.LIMIT:
        told = information(layout.LIMIT, _END - layout.LIMIT, Kind.OUTSIDE)
    elif (area := kernel.space.find(address)) is None:
        told = information(*kernel.space.gap(address))
    else:
        use, first, end = kernel.uses.at(address)
        low, high = kernel.space.alike(area)
        low, high = max(low, first), min(high, end)
        told = information(low, high - low, area.state, use, int(area.permission))
    kernel.space.write(result, told)
    return Result.OK, 0


# -- shared memory ----------------------------------------------------------------------------------------------------
def is_free_place(address: int, size: int) -> bool:
    """Whether shared memory and code may lie there: not where heap and aliases are."""
    inside = address >= layout.ASLR and address + size <= layout.ASLR + layout.ASLR_SIZE
    taken = ((layout.HEAP, layout.HEAP_REGION_SIZE), (layout.ALIAS, layout.ALIAS_SIZE))
    return inside and not any(address < base + length and base < address + size for base, length in taken)


def _map_block(kernel: SwitchKernel, block: MemoryBlock, address: int, size: int, permission: int, kind: Kind) -> Reply:
    if wrong := wrong_range(address, size):
        return wrong
    if permission not in _GIVEN:
        return Result.INVALID_PERMISSION
    if size != len(block.view):
        return Result.INVALID_SIZE
    if not is_free_place(address, size):
        return Result.INVALID_MEMORY_RANGE
    try:
        kernel.map_block(block, address, Permission(permission), kind)
    except AddressError:
        return Result.INVALID_MEMORY_STATE
    block.references += 1
    return Result.OK


def _unmap_block(kernel: SwitchKernel, block: MemoryBlock, address: int, size: int) -> Reply:
    if wrong := wrong_range(address, size):
        return wrong
    if kernel.blocks.get(address) is not block or size != len(block.view):
        return Result.INVALID_MEMORY_STATE
    try:
        kernel.space.unmap(address, size)
    except AddressError:
        return Result.OUT_OF_RESOURCE
    del kernel.blocks[address]
    block.references -= 1
    if block.references == 0:
        block.closed()
    return Result.OK


class OwnSharedMemory(MemoryBlock):
    """Shared memory that the program has made. It is gone when there is no handle of it and it is not mapped. own: what
    this program may do with it, and others: what the programs may that get a handle."""

    def __init__(self, kernel: SwitchKernel, view: memoryview, physical: int, own: int, others: int) -> None:
        super().__init__("shared memory", view, None, physical)
        self.kernel, self.own, self.others = kernel, own, others

    def closed(self) -> None:
        assert self.physical is not None
        self.kernel.free_ram.give_back(self.physical - self.kernel.ram.offset, len(self.view))


@call("CreateSharedMemory")
def create_shared_memory(kernel: SwitchKernel, thread: Thread, size: int, own: int, others: int) -> Reply:
    if size % PAGE or not 0 < size < layout.LIMIT:
        return Result.INVALID_SIZE
    if own not in _SHARED or others not in (*_SHARED, _ANY_PERMISSION):
        return Result.INVALID_PERMISSION
    if len(kernel.handles) >= kernel.handles.limit:
        return Result.OUT_OF_HANDLES
    found = kernel.zeros(size)
    if found is None:
        return Result.OUT_OF_MEMORY
    view, offset = found
    return kernel.give(OwnSharedMemory(kernel, view, offset, own, others))


@call("MapSharedMemory")
def map_shared_memory(
    kernel: SwitchKernel, thread: Thread, handle: int, address: int, size: int, permission: int
) -> Reply:
    block = kernel.object_of(thread, handle)
    if not isinstance(block, MemoryBlock) or isinstance(block, TransferMemory):
        return Result.INVALID_HANDLE
    if isinstance(block, OwnSharedMemory) and permission != block.own:
        return Result.INVALID_PERMISSION
    return _map_block(kernel, block, address, size, permission, Kind.SHARED)


@call("UnmapSharedMemory")
def unmap_shared_memory(kernel: SwitchKernel, thread: Thread, handle: int, address: int, size: int) -> Reply:
    block = kernel.object_of(thread, handle)
    if not isinstance(block, MemoryBlock) or isinstance(block, TransferMemory):
        return Result.INVALID_HANDLE
    return _unmap_block(kernel, block, address, size)


# -- memory that is handed to a service -------------------------------------------------------------------------------
class TransferMemory(MemoryBlock):
    """Memory of the program that a service gets. The program has it again when the last handle is closed, and it is not
    mapped. permission: what the program may do with it meanwhile."""

    kind = "transfer memory"

    def __init__(
        self, kernel: SwitchKernel, address: int, view: memoryview, physical: int, permission: Permission
    ) -> None:
        super().__init__(self.kind, view, None, physical)
        self.kernel, self.address, self.permission = kernel, address, permission

    def closed(self) -> None:
        take_back(self.kernel, self.address, len(self.view))


@call("CreateTransferMemory")
def create_transfer_memory(kernel: SwitchKernel, thread: Thread, address: int, size: int, permission: int) -> Reply:
    if wrong := wrong_range(address, size):
        return wrong
    if permission not in _GIVEN:
        return Result.INVALID_PERMISSION
    if not kernel.is_all(address, size, OWN, BOTH) or kernel.uses.any(address, size) & Use.LENT:
        return Result.INVALID_MEMORY_STATE
    pieces = kernel.offsets(address, size)
    if len(pieces) != 1:
        return Result.INVALID_MEMORY_STATE
    ((offset, length),) = pieces
    view = kernel.machine.memory.arena[offset : offset + length].data
    if len(kernel.handles) >= kernel.handles.limit:
        return Result.OUT_OF_HANDLES
    if not lend(kernel, address, size, Permission(permission)):
        return Result.OUT_OF_RESOURCE
    return kernel.give(TransferMemory(kernel, address, view, offset, Permission(permission)))


@call("MapTransferMemory")
def map_transfer_memory(
    kernel: SwitchKernel, thread: Thread, handle: int, address: int, size: int, permission: int
) -> Reply:
    """Once, and with the permission that the memory was made with; the other side may write in any case."""
    block = kernel.object_of(thread, handle)
    if not isinstance(block, TransferMemory):
        return Result.INVALID_HANDLE
    if permission in _GIVEN and (permission != block.permission or block in kernel.blocks.values()):
        return Result.INVALID_STATE
    kind = Kind.TRANSFERRED if permission else Kind.TRANSFERRED_ALONE
    return _map_block(kernel, block, address, size, BOTH if permission in _GIVEN else permission, kind)


@call("UnmapTransferMemory")
def unmap_transfer_memory(kernel: SwitchKernel, thread: Thread, handle: int, address: int, size: int) -> Reply:
    block = kernel.object_of(thread, handle)
    if not isinstance(block, TransferMemory):
        return Result.INVALID_HANDLE
    return _unmap_block(kernel, block, address, size)


# -- caches -----------------------------------------------------------------------------------------------------------
@call("FlushEntireDataCache")
def flush_all(kernel: SwitchKernel, thread: Thread) -> Reply:
    for area in kernel.space:
        kernel.flushed(area.base, area.size)
    return Result.OK


@call("FlushDataCache")
def flush(kernel: SwitchKernel, thread: Thread, address: int, size: int) -> Reply:
    kernel.space.check(address, size)
    kernel.flushed(address, size)
    return Result.OK


@call("StoreProcessDataCache")
@call("FlushProcessDataCache")
def flush_process(kernel: SwitchKernel, thread: Thread, process: int, address: int, size: int) -> Reply:
    if kernel.object_of(thread, process) is not kernel.process:
        return Result.INVALID_HANDLE
    return flush(kernel, thread, address, size)


@call("InvalidateProcessDataCache")
def invalidate_process(kernel: SwitchKernel, thread: Thread, process: int, address: int, size: int) -> Reply:
    if kernel.object_of(thread, process) is not kernel.process:
        return Result.INVALID_HANDLE
    kernel.space.check(address, size)
    return Result.OK
