"""/dev/nvhost-as-gpu: the GPU's address space. Mappings show the program's memory without a copy.

The machine has one address space; all that a program opens are the same one. Source: libnx's nv/addr_space.c.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final

from pocketgpu.errors import UsageError
from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.maxwell.page_kinds import HIGHEST
from pocketgpu.facts.switch.nvdrv import MapFlag, NvError
from pocketgpu.guests.kernel.memory import PAGE
from pocketgpu.guests.switch.services.nvdrv.addresses import STEP
from pocketgpu.guests.switch.services.nvdrv.device import Device, request
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.memory.page_table import ADDRESS_SPACE

if TYPE_CHECKING:
    from pocketgpu.guests.switch.services.nvdrv.driver import NvDriver
    from pocketgpu.maxwell.memory.gpu_memory import Mapping

_PAGE_SIZES: Final = (0, PAGE, STEP, 2 * STEP)
_OF_OBJECT: Final = 0xFFFFFFFF
"""The kind that the memory object has."""
_MOST_PARTS: Final = 256
"""Parts of a mapping that have a kind of their own."""


@dataclass(slots=True, eq=False)
class _Mapped:
    """A mapping of the program. own: it has a range of addresses to itself. parts: mappings with other kinds over it,
    by offset and size."""

    mapping: Mapping
    own: bool
    parts: dict[tuple[int, int], Mapping] = field(default_factory=dict)


class AddressSpace(Device):
    """The device. big_page_size: as the program wants it."""

    path = "/dev/nvhost-as-gpu"

    def __init__(self, driver: NvDriver, fd: int) -> None:
        super().__init__(driver, fd)
        self.big_page_size = STEP
        self._mapped: dict[int, _Mapped] = {}
        self._spaces: list[int] = []

    def closed(self) -> None:
        for address in tuple(self._mapped):
            self._unmap(address)
        for start in self._spaces:
            self.driver.addresses.release(start)

    @request("InitializeEx")
    def initialize(self, one: Record) -> NvError:
        if one["big_page_size"] not in _PAGE_SIZES:
            return NvError.BAD_PARAMETER
        self.big_page_size = one["big_page_size"] or STEP
        return NvError.SUCCESS

    @request("BindChannel")
    def bind_channel(self, one: Record) -> NvError:
        for channel in self.driver.channels:
            if channel.fd == one["channel"]:
                channel.space = self.fd
                return NvError.SUCCESS
        return NvError.BAD_PARAMETER

    @request("GetVARegions")
    def regions(self, one: Record) -> NvError:
        first = one.layout.start
        one.data[:] = first
        one["big_page_size"] = self.big_page_size
        one["big_pages"] = (ADDRESS_SPACE - one["big_offset"]) // self.big_page_size
        return NvError.SUCCESS

    # -- ranges of addresses ----------------------------------------------------------------------------------------
    @request("AllocSpace")
    def alloc_space(self, one: Record) -> NvError:
        size, page = one["pages"] * one["page_size"], one["page_size"]
        if not size or page not in _PAGE_SIZES:
            return NvError.BAD_PARAMETER
        if one["flags"] & MapFlag.FIXED:
            start: int | None = one["offset"]
            if one["offset"] % page or not self.driver.addresses.take_at(one["offset"], size):
                return NvError.BAD_PARAMETER
        else:
            start = self.driver.addresses.take(size, max(page, one["offset"]))
        if start is None:
            return NvError.INSUFFICIENT_MEMORY
        self._spaces.append(start)
        one["offset"] = start
        return NvError.SUCCESS

    @request("FreeSpace")
    def free_space(self, one: Record) -> NvError:
        start, size = one["offset"], self.driver.addresses.size_at(one["offset"])
        if start not in self._spaces or size is None:
            return NvError.BAD_PARAMETER
        for address in [address for address in self._mapped if start <= address < start + size]:
            self._unmap(address)
        self._spaces.remove(start)
        self.driver.addresses.release(start)
        return NvError.SUCCESS

    # -- mappings ---------------------------------------------------------------------------------------------------
    @request("MapBufferEx")
    def map_buffer(self, one: Record) -> NvError:
        if one["page_size"] not in _PAGE_SIZES:
            return NvError.BAD_PARAMETER
        if one["flags"] & MapFlag.MODIFY:
            return self._modify(one)
        found = self.driver.objects.get(one["handle"])
        if found is None or found.place is None:
            return NvError.BAD_PARAMETER
        kind = found.kind if one["kind"] == _OF_OBJECT else one["kind"]
        offset, size = one["buffer_offset"], one["size"]
        if offset % PAGE or offset >= found.room or kind > HIGHEST:
            return NvError.BAD_PARAMETER
        size = size + -size % PAGE if size else found.room - offset
        if offset + size > found.room:
            return NvError.BAD_PARAMETER
        fixed = bool(one["flags"] & MapFlag.FIXED)
        start = one["offset"] if fixed else self.driver.addresses.take(size, one["page_size"])
        if start is None:
            return NvError.INSUFFICIENT_MEMORY
        if fixed and not self._room_at(start, size):
            return NvError.BAD_PARAMETER
        mapping = self._map(start, size, found.place + offset, kind)
        if mapping is None:
            if not fixed:
                self.driver.addresses.release(start)
            return NvError.INSUFFICIENT_MEMORY
        self._mapped[start] = _Mapped(mapping, own=not fixed)
        one["offset"] = start
        return NvError.SUCCESS

    def _room_at(self, start: int, size: int) -> bool:
        """Whether a range lies in addresses that the program has allocated, and nothing is mapped there."""
        if start % PAGE:
            return False
        for low in self._spaces:
            space = self.driver.addresses.size_at(low) or 0
            if low <= start and start + size <= low + space:
                mapped = (known.mapping for known in self._mapped.values())
                return not any(known.address < start + size and start < known.end for known in mapped)
        return False

    def _map(self, start: int, size: int, place: int, kind: int) -> Mapping | None:
        ram = self.driver.kernel.ram
        try:
            return self.driver.gpu.map(start, size, ram, place - ram.offset, kind)
        except UsageError:
            return None

    def _modify(self, one: Record) -> NvError:
        """Another kind for a part of a mapping."""
        found, offset, size = self._mapped.get(one["offset"]), one["buffer_offset"], one["size"]
        if found is None or offset % PAGE or one["kind"] > HIGHEST:
            return NvError.BAD_PARAMETER
        mapping = found.mapping
        size = size + -size % PAGE if size else mapping.size - offset
        if size <= 0 or offset + size > mapping.size:
            return NvError.BAD_PARAMETER
        before = found.parts.pop((offset, size), None)
        if before is not None:
            self.driver.gpu.memory.unmap(before)
        elif len(found.parts) >= _MOST_PARTS:
            return NvError.INSUFFICIENT_MEMORY
        if one["kind"] == mapping.kind and not found.parts:
            return NvError.SUCCESS
        place = mapping.backing.offset + mapping.offset + offset
        part = self._map(mapping.address + offset, size, place, one["kind"])
        if part is None:
            return NvError.INSUFFICIENT_MEMORY
        found.parts[offset, size] = part
        return NvError.SUCCESS

    @request("UnmapBuffer")
    def unmap_buffer(self, one: Record) -> NvError:
        if one["offset"] not in self._mapped:
            return NvError.BAD_PARAMETER
        self._unmap(one["offset"])
        return NvError.SUCCESS

    def _unmap(self, address: int) -> None:
        found, memory = self._mapped.pop(address), self.driver.gpu.memory
        for part in reversed(found.parts.values()):
            memory.unmap(part)
        memory.unmap(found.mapping)
        if found.own:
            self.driver.addresses.release(address)
