"""The kernel of the Switch, as one program sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.switch.services import command_name
from pocketgpu.facts.switch.supervisor import CALLS
from pocketgpu.guests.kernel.kernel import Kernel
from pocketgpu.guests.kernel.memory import AddressError, AddressSpace, Area, Permission
from pocketgpu.guests.kernel.processor import Processor
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.kernel.timeline import Timeline
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.calls import register, system
from pocketgpu.maxwell.gm20b import GM20B

_MODULES: Final = (system,)
"""Importing them registers their calls."""
CURRENT_THREAD: Final = 0xFFFF8000
CURRENT_PROCESS: Final = 0xFFFF8001
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
    ports: of ConnectToNamedPort. services: of `sm:`, by name. pointer_buffer_size: what sessions tell about themselves;
    clients send buffers up to this size as pointers. process_id: the program's.
    """

    own_handles = MappingProxyType({CURRENT_THREAD: "thread", CURRENT_PROCESS: "process"})

    def __init__(self, processor: Processor, machine: GM20B) -> None:
        super().__init__(processor, AddressSpace(layout.LIMIT), Timeline(layout.CLOCK), machine)
        self.machine = machine
        self.ram = machine.memory.allocate(layout.RAM)
        self.used = 0
        self.ports: dict[str, Interface] = {}
        self.services: dict[str, Interface] = {}
        self.process_id = layout.PROCESS_ID
        tells_size = machine.choices["guest.pointer_buffers"] == "console"
        self.pointer_buffer_size = layout.POINTER_BUFFER if tells_size else 0
        self.calls: Mapping[int, Callable[[Thread], None]] = register.MODELLED.bound(self)
        if machine.choices["guest.call_time"] == "microsecond":
            self.call_ticks = layout.CALL_COST
        self.space.followers += [processor, _Sharing(machine)]

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
