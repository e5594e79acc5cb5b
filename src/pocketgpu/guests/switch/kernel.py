"""The kernel of the Switch, as one program sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.switch.supervisor import CALLS
from pocketgpu.guests.kernel.calls import RESULT_BITS
from pocketgpu.guests.kernel.kernel import End, Kernel
from pocketgpu.guests.kernel.memory import AddressError, AddressSpace, Area, Permission
from pocketgpu.guests.kernel.processor import Fault, Processor
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.kernel.service import Server
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.kernel.timeline import Timeline
from pocketgpu.guests.switch import start
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.calls import register, system
from pocketgpu.maxwell.gm20b import GM20B

_MODULES: Final = (system,)
"""Importing them registers their calls."""
CURRENT_THREAD: Final = 0xFFFF8000
CURRENT_PROCESS: Final = 0xFFFF8001


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
    ports: of ConnectToNamedPort. services: of `sm:`, by name.
    """

    own_handles = MappingProxyType({CURRENT_THREAD: "thread", CURRENT_PROCESS: "process"})

    def __init__(self, processor: Processor, machine: GM20B) -> None:
        super().__init__(processor, AddressSpace(layout.LIMIT), Timeline(layout.CLOCK), machine)
        self.machine = machine
        self.ram = machine.memory.allocate(layout.RAM)
        self.used = 0
        self.ports: dict[str, Server[CmifRequest, CmifAnswer]] = {}
        self.services: dict[str, Server[CmifRequest, CmifAnswer]] = {}
        self.calls: Mapping[int, Callable[[Thread], None]] = register.MODELLED.bound(self)
        if machine.choices["guest.call_time"] == "microsecond":
            self.call_ticks = layout.CALL_COST
        self.space.followers += [processor, _Sharing(machine)]
        both = Permission.READ | Permission.WRITE
        self.map_ram("TLS", layout.TLS, layout.TLS_SLOTS * layout.TLS_BYTES, both)
        self.time.now = layout.CLOCK
        self._free_tls = list(range(layout.TLS_SLOTS))

    def make_thread(self, priority: int, entry: int, argument: int, stack: int) -> Thread | None:
        """A new thread with clean thread-local storage; None if there are too many."""
        if not self._free_tls:
            return None
        tls = layout.TLS + layout.TLS_BYTES * self._free_tls.pop(0)
        self.space.view(tls, layout.TLS_BYTES)[:] = bytes(layout.TLS_BYTES)
        return self.new_thread(priority, entry, argument, stack, tls)

    def map_ram(self, name: str, base: int, size: int, permission: Permission) -> Area:
        """Map memory of the program that nothing else has; it is zero.

        :raises AddressError: there is no room, or it is no place for it.
        """
        if self.used + size > self.ram.size:
            raise AddressError(base, size, "no memory is left")
        offset = self.ram.offset + self.used
        view = self.machine.memory.arena[offset : offset + size].data
        area = self.space.map(Area(base, size, permission, name, view, 0, offset))
        self.used += size
        return area

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
            registers = self.processor.registers(thread)
            result = registers["x0"] & RESULT_BITS if registers is not None else 0
            self.finish(End("exit", f"the program returned {result:#x}" if result else ""))
        else:
            super().faulted(thread, fault)

    # -- what is not modelled ---------------------------------------------------------------------------------------
    def unknown_call(self, thread: Thread, number: int) -> None:
        known = CALLS.get(number)
        name = f"supervisor call {number:#04x}" + (f" {known.name}" if known else "")
        self.not_modelled("guest.call", name, thread.registers, thread)
        thread.answer[0] = Result.NOT_IMPLEMENTED

    def unknown_command(self, service: Interface, request: CmifRequest) -> CmifAnswer:
        """A command that a service does not have."""
        words = [int.from_bytes(request.data[at : at + 4], "little") for at in range(0, min(len(request.data), 32), 4)]
        self.not_modelled("guest.command", f"{service.name}: command {request.command}", words, request.thread)
        return CmifAnswer(result=Result.UNKNOWN_COMMAND)
