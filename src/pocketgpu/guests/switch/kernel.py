"""The kernel of the Switch, as one program sees it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.switch.services import command_name
from pocketgpu.facts.switch.supervisor import CALLS
from pocketgpu.guests.kernel.kernel import End, Kernel
from pocketgpu.guests.kernel.memory import AddressError, AddressSpace, Area, Permission
from pocketgpu.guests.kernel.processor import Fault, Processor
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.kernel.threads import Thread, TlsBlocks
from pocketgpu.guests.kernel.timeline import Timeline
from pocketgpu.guests.switch import start
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface
from pocketgpu.guests.switch.abi.pages import Kind
from pocketgpu.guests.switch.abi.ports import ServerPort
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.calls import code, events, locks, memory, ports, processes, register, system, threads
from pocketgpu.guests.switch.exceptions import Exceptions
from pocketgpu.guests.switch.pages import PageUses, RamPages
from pocketgpu.maxwell.gm20b import GM20B

_MODULES: Final = (code, events, locks, memory, ports, processes, system, threads)
"""Importing them registers their calls."""
CURRENT_THREAD: Final = 0xFFFF8000
CURRENT_PROCESS: Final = 0xFFFF8001
SLICED: Final = 59
"""The priority whose threads take turns by time on the cores of programs. Source: libnx's thread.h."""
SLICE: Final = 10_000_000
"""Nanoseconds of such a turn."""
UNKNOWN_BYTES: Final = 64
"""Values of the trial kernel's answer to a command that it does not have."""


class _Sharing:
    """Tells the GPU's memory which pages the program writes."""

    def __init__(self, machine: GM20B) -> None:
        self._memory = machine.memory

    def mapped(self, area: Area) -> None:
        if area.physical is not None and area.permission & Permission.WRITE:
            self._memory.share(area.physical, area.size)

    def unmapped(self, base: int, size: int) -> None:
        """What was written until now may have to be noticed later."""


class SwitchKernel(Kernel):
    """One program on a Switch.

    machine: its GPU. ram: the program's memory, a part of the GPU's; `Area.physical` is an offset in the arena of both.
    free_ram: its pages that are not mapped, by offset from its start. uses: what mapped pages are used for. heap: bytes
    of the heap. ports: of ConnectToNamedPort. services: of `sm:`, by name.
    own_ports, own_services: those that the program has made itself. pointer_buffer_size: what sessions say about
    themselves; clients send buffers up to this size as pointers. process_id: the program's.
    """

    own_handles = MappingProxyType({CURRENT_THREAD: "thread", CURRENT_PROCESS: "process"})
    out_of_handles = Result.OUT_OF_HANDLES

    def __init__(self, processor: Processor, machine: GM20B) -> None:
        tls = TlsBlocks(layout.TLS, layout.TLS_BYTES, layout.TLS_SLOTS)
        super().__init__(processor, AddressSpace(layout.LIMIT), Timeline(layout.CLOCK), machine, tls)
        self.time.now = layout.START
        self.machine = machine
        self.ram = machine.memory.allocate(layout.RAM)
        self.free_ram, self.uses = RamPages(layout.RAM), PageUses()
        self.heap = 0
        self.ports: dict[str, Interface] = {}
        self.services: dict[str, Interface] = {}
        self.own_ports: dict[str, ServerPort] = {}
        self.own_services: dict[str, ServerPort] = {}
        self.process_id = layout.PROCESS_ID
        tells_size = machine.choices["guest.pointer_buffers"] == "console"
        self.pointer_buffer_size = layout.POINTER_BUFFER if tells_size else 0
        self.calls: Mapping[int, Callable[[Thread], None]] = register.MODELLED.bound(self)
        if machine.choices["guest.call_time"] == "microsecond":
            self.call_ticks = layout.CALL_COST
        self.checks_pages = machine.choices["guest.page_states"] == "kept"
        """Whether pages that are lent or of another kind are refused."""
        self.inherits = machine.choices["guest.priorities"] == "inherited"
        """Whether a thread that has a mutex gets the priority of a better one that waits for it."""
        if not self.scheduler.first_come:
            self.scheduler.slices = SLICED, self.time.ticks(SLICE)
        self.exceptions = Exceptions(self)
        self.space.join = self._joined
        self.space.followers += [processor, _Sharing(machine)]
        both = Permission.READ | Permission.WRITE
        self.map_ram("TLS", layout.TLS, layout.TLS_SLOTS * layout.TLS_BYTES, both, Kind.THREAD_LOCAL)

    @property
    def counter(self) -> int:
        """CNTPCT_EL0: steps of 19.2 MHz."""
        return self.time.now * layout.COUNTER // layout.CLOCK

    # -- memory -----------------------------------------------------------------------------------------------------
    def map_ram(
        self, name: str, base: int, size: int, permission: Permission, kind: Kind | None = None, *,
        after: int | None = None,
    ) -> Area:  # fmt: skip
        """Map memory of the program that nothing else has; it is zero.

        :param kind: what QueryMemory says of it; without it: a module's code, or its data if it can be written.
        :param after: the offset in the RAM where it should lie if there is room.
        :raises AddressError: there is no room, or it is no place for it.
        """
        if kind is None:
            kind = Kind.MODULE_DATA if permission & Permission.WRITE else Kind.MODULE_CODE
        found = self.zeros(size, after)
        if found is None:
            raise AddressError(base, size, "no memory is left")
        view, offset = found
        try:
            return self.space.map(Area(base, size, permission, name, view, kind, offset))
        except AddressError:
            self.free_ram.give_back(offset - self.ram.offset, size)
            raise

    def zeros(self, size: int, after: int | None = None) -> tuple[memoryview, int] | None:
        """Memory that nothing else has: its bytes, which are zero, and their offset in the arena; None if there is not
        as much in one piece. after: see `map_ram`."""
        place = self.free_ram.take(size, after) if after is not None else None
        if place is None and (place := self.free_ram.take(size)) is None:
            return None
        offset = self.ram.offset + place
        data = self.machine.memory.arena[offset : offset + size]
        data[: max(0, self.free_ram.used_up_to - place)] = 0
        return data.data, offset

    def _joined(self, one: Area, other: Area) -> memoryview | None:
        """The bytes of two areas that follow each other in the RAM, too."""
        if one.physical is None or other.physical != one.physical + one.size or one.name != other.name:
            return None
        return self.machine.memory.arena[one.physical : other.physical + other.size].data

    def unmap_ram(self, base: int, size: int) -> None:
        """Take memory of `map_ram` away.

        :raises AddressError: there would be too many pieces.
        """
        pieces = self.offsets(base, size)
        self.space.unmap(base, size)
        self.uses.clear(base, size)
        for offset, length in pieces:
            self.free_ram.give_back(offset - self.ram.offset, length)

    def offsets(self, base: int, size: int) -> list[tuple[int, int]]:
        """Where the bytes of a range lie in the arena: offsets and lengths, as few as possible."""
        found: list[tuple[int, int]] = []
        for area in self.space.within(base, size):
            low, high = max(area.base, base), min(area.end, base + size)
            if area.physical is not None:
                offset = area.physical + low - area.base
                if found and sum(found[-1]) == offset:
                    found[-1] = found[-1][0], found[-1][1] + high - low
                else:
                    found.append((offset, high - low))
        return found

    def is_all(self, base: int, size: int, kinds: Collection[int], permission: Permission | None = None) -> bool:
        """Whether a range is mapped, all of it as one of these kinds, and with a permission."""
        covered = 0
        for area in self.space.within(base, size):
            if area.state not in kinds or permission not in (None, area.permission):
                return False
            covered += min(area.end, base + size) - max(area.base, base)
        return covered == size

    # -- the program ------------------------------------------------------------------------------------------------
    def load(self, program: Program, arguments: Sequence[str] = ()) -> None:
        """Map a program's segments, heap and stack, leave what it finds as homebrew, and make its first thread.

        :param arguments: what it is started with; the first is its own place on the card.
        :raises UsageError: the arguments do not fit.
        """
        start.load(self, program, arguments)

    def faulted(self, thread: Thread, fault: Fault) -> None:
        """A thread cannot go on; a jump to where the loader was is the end of the program."""
        if fault.pc == fault.address == layout.RETURN:
            self.finish(End("exit", start.farewell(self, thread)))
        elif not self.exceptions.raised(thread, fault):
            self.ends_by(thread, fault)

    def ends_by(self, thread: Thread, fault: Fault) -> None:
        """A fault ends the program: nobody handles it."""
        super().faulted(thread, fault)

    def finish(self, end: End) -> None:
        if self.exceptions.told and not end.well:
            text = f"Before that its handler of exceptions was told: {self.exceptions.told}."
            end = replace(end, details=(*end.details, text))
        super().finish(end)

    # -- what is not modelled ---------------------------------------------------------------------------------------
    def unknown_call(self, thread: Thread, number: int) -> None:
        known = CALLS.get(number)
        name = f"supervisor call {number:#04x}" + (f" {known.name}" if known else "")
        self.not_modelled("guest.call", name, thread.registers, thread)
        thread.answer[0] = Result.NOT_IMPLEMENTED

    def unknown_command(self, service: Interface, request: CmifRequest) -> CmifAnswer:
        """A command that a service does not have."""
        words = [int.from_bytes(request.data[at : at + 4], "little") for at in range(0, min(len(request.data), 32), 4)]
        name = f"{service.name}: {command_name(service.name, request.command)}"
        self.not_modelled("guest.command", name, words, request.thread)
        if self.machine.choices["guest.unknown_switch_command"] == "zeros":
            return CmifAnswer(bytes(UNKNOWN_BYTES))
        return CmifAnswer(result=Result.UNKNOWN_COMMAND)
