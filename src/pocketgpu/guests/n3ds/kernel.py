"""The kernel of the 3DS, as one program sees it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.services import command_name
from pocketgpu.facts.supervisor import CALLS
from pocketgpu.guests.backtrace.arm import ArmTracer
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.kernel import Kernel
from pocketgpu.guests.kernel.memory import PAGE, AddressError, AddressSpace, Area, Permission, host_memory
from pocketgpu.guests.kernel.processor import Processor
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.kernel.service import Server
from pocketgpu.guests.kernel.threads import Thread, TlsBlocks
from pocketgpu.guests.kernel.timeline import Timeline
from pocketgpu.guests.n3ds.abi import layout, pages
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service
from pocketgpu.guests.n3ds.abi.results import Result
from pocketgpu.guests.n3ds.calls import memory, register, system, threads, waiting
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.pica.n3ds import N3DS

_MODULES: Final = (memory, system, threads, waiting)
"""Importing them registers their calls."""
MAIN_PRIORITY: Final = 0x30
_HEAP, _LINEAR, _MIRROR = "heap", "linear memory", "mirror"
CURRENT_THREAD: Final = 0xFFFF8000
CURRENT_PROCESS: Final = 0xFFFF8001
_READ_WRITE: Final = Permission.READ | Permission.WRITE


class _Sharing:
    """Tells the GPU's memory which pages the program writes."""

    def __init__(self, memory: GuestMemory) -> None:
        self._memory = memory

    def mapped(self, area: Area) -> None:
        if area.physical is not None and area.permission & Permission.WRITE:
            offset = self._memory.offset_of(area.physical, area.size)
            if offset is not None:
                self._memory.share(offset, area.size)

    def unmapped(self, base: int, size: int) -> None:
        """What was written until now may have to be noticed later."""


class N3DSKernel(Kernel):
    """One program on a 3DS.

    machine: its GPU and the memory that both see. events: what the program did that is not modelled. flush_listeners:
    called with address and size of what the program writes back from its caches by a call.
    """

    own_handles = MappingProxyType({CURRENT_THREAD: "thread", CURRENT_PROCESS: "process"})
    out_of_handles = Result.OUT_OF_HANDLES

    def __init__(self, processor: Processor, machine: N3DS) -> None:
        tls = TlsBlocks(layout.TLS, layout.TLS_BYTES, layout.TLS_SLOTS)
        super().__init__(processor, AddressSpace(layout.LIMIT), Timeline(layout.CLOCK), machine, tls)
        self.machine = machine
        self.ports: dict[str, Server[Request, Answer]] = {}
        self.services: dict[str, Server[Request, Answer]] = {}
        self.used = layout.SYSTEM_USED
        self.font: MemoryBlock | None = None
        self.calls: Mapping[int, Callable[[Thread], None]] = register.MODELLED.bound(self)
        if machine.choices["guest.call_time"] == "microsecond":
            self.call_ticks = layout.CALL_COST
        self.space.followers += [processor, _Sharing(machine.memory)]
        self._fixed_areas()

    def _fixed_areas(self) -> None:
        """What every program finds mapped."""
        read, both = Permission.READ, _READ_WRITE
        self._map("first stack", layout.STACK_TOP - layout.STACK_SIZE, layout.STACK_SIZE, both)
        self._map("loader's page", layout.LOADER_PAGE, PAGE, both)
        self._map("DSP memory", layout.DSP, layout.DSP_SIZE, both, physical=layout.DSP)
        self._map("VRAM", layout.VRAM_VIRTUAL, 6 << 20, both, physical=layout.VRAM_PHYSICAL)
        self.kernel_page = self._map("kernel page", layout.KERNEL_PAGE, PAGE, read).view
        self.shared_page = self._map("shared page", layout.SHARED_PAGE, PAGE, read).view
        self._map("TLS", layout.TLS, layout.TLS_SLOTS * layout.TLS_BYTES, both)

    def _map(
        self, name: str, base: int, size: int, permission: Permission, *, physical: int | None = None, state: int = 0
    ) -> Area:
        view = host_memory(size) if physical is None else self.machine.memory.view(physical, size).data
        return self.space.map(Area(base, size, permission, name, view, state, physical))

    def load(self, program: Program, arguments: Sequence[str] = ()) -> None:
        """Map a program's segments, fill the pages that it finds, and make its first thread.

        :param arguments: what it is started with; the first is its own place on the card.
        """
        self.tracer = ArmTracer(self.space, program)
        for warning in program.warnings:
            self.events.report("warning", "guest.file", warning)
        pages.fill_kernel_page(self.kernel_page)
        pages.fill_shared_page(self.shared_page)
        for segment in program.segments:
            low = segment.address // PAGE * PAGE
            size = -(-(segment.address + segment.size - low) // PAGE) * PAGE
            area = self._map(segment.name, low, size, segment.permission)
            at = segment.address - low
            area.view[at : at + len(segment.data)] = segment.data
        code = self.space.find(program.entry)
        page = self.space.find(layout.LOADER_PAGE)
        if code is not None and page is not None:
            at = program.entry - code.base
            pages.fill_loader_page(page.view, code.view[at:], arguments)
        self.make_thread(MAIN_PRIORITY, program.entry, 0, layout.STACK_TOP)

    # -- memory -----------------------------------------------------------------------------------------------------
    def allocate(self, address: int, size: int, permission: Permission, *, linear: bool) -> int | None:
        """Memory of a program: heap at an address, or linear memory, by default at the next free place."""
        if size == 0 or self.used + size > layout.APPLICATION_MEMORY:
            return None
        if linear:
            place = address or self.space.free(layout.LINEAR, layout.LINEAR_END, size)
            if place is None or not layout.LINEAR <= place <= layout.LINEAR_END - size:
                return None
            physical: int | None = place - layout.LINEAR + layout.LINEAR_PHYSICAL
            name = _LINEAR
        else:
            place, physical, name = address, None, _HEAP
            if not place >= layout.HEAP or place + size > layout.HEAP_END:
                return None
        self._map(name, place, size, permission, physical=physical)
        self.used += size
        return place

    def free(self, address: int, size: int) -> bool:
        """Give memory back; whether all of it was the program's heap or linear memory."""
        if not self._is_all(address, size, (_HEAP, _LINEAR)):
            return False
        self.space.unmap(address, size)
        self.used -= size
        return True

    def _is_all(self, address: int, size: int, names: Collection[str]) -> bool:
        """Whether a range is mapped, all of it as one of these."""
        areas = [one for one in self.space.within(address, size) if one.name in names]
        return sum(min(one.end, address + size) - max(one.base, address) for one in areas) == size

    @staticmethod
    def is_own(address: int, size: int) -> bool:
        """Whether a program may change what is mapped in a range: its code, heap, mirrors and linear memory. The rest
        is the kernel's, such as thread-local storage, or memory that is always there."""
        low = address >= layout.CODE and address + size <= layout.LOADER_PAGE
        return low or (address >= layout.LINEAR and address + size <= layout.LINEAR_END)

    def mirror(self, address: int, source: int, size: int, permission: Permission) -> None:
        """Map memory of the program at a second place.

        :raises AddressError: that is no place for it, or there is nothing to be mapped.
        """
        if not self.is_own(address, size):
            raise AddressError(address, size, "no place for a mirror")
        area = self.space.find(source)
        view = self.space.view(source, size)
        physical = None if area is None or area.physical is None else area.physical + source - area.base
        self.space.map(Area(address, size, permission, _MIRROR, view, 0, physical))

    def remove_mirror(self, address: int, size: int) -> bool:
        """Take a mirror away; whether it was one."""
        if not self._is_all(address, size, (_MIRROR,)):
            return False
        self.space.unmap(address, size)
        return True

    # -- what is not modelled ---------------------------------------------------------------------------------------
    def unknown_call(self, thread: Thread, number: int) -> None:
        known = CALLS.get(number)
        name = f"supervisor call {number:#04x}" + (f" {known.name}" if known else "")
        self.not_modelled("guest.call", name, thread.registers, thread)
        thread.answer[0] = Result.NOT_IMPLEMENTED

    def unknown_command(self, service: Service, request: Request) -> Answer:
        """A command that a service does not have."""
        name = f"{service.name}: {command_name(service.name, request.words[0])}"
        self.not_modelled("guest.command", name, request.words[: request.size], request.thread)
        return Answer(Result.INVALID_COMMAND)
