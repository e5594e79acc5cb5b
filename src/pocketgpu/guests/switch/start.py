"""Starts a program: its segments, heap, stack, the start block, and its first thread. And what it leaves at its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.backtrace.arm64 import Arm64Tracer
from pocketgpu.guests.kernel.calls import RESULT_BITS
from pocketgpu.guests.kernel.elf_program import pages_up
from pocketgpu.guests.kernel.memory import PAGE, AddressError, Permission
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.pages import Kind
from pocketgpu.guests.switch.abi.results import result_text
from pocketgpu.guests.switch.abi.start_block import NEXT_PATH, NEXT_PATH_ROOM, start_block

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.switch.kernel import SwitchKernel

MAIN_PRIORITY: Final = 0x2C
_FROM_A_LOADER: Final = (1 << 64) - 1
"""x1 of a program that is started as homebrew."""
_LINK: Final = 30
_READ_WRITE: Final = Permission.READ | Permission.WRITE


def load(kernel: SwitchKernel, program: Program, arguments: Sequence[str]) -> None:
    """See `SwitchKernel.load`."""
    kernel.tracer = Arm64Tracer(kernel.space, program)
    if kernel.machine.choices["guest.exceptions"] == "handler":
        kernel.exceptions.program = program
    for warning in program.warnings:
        kernel.events.report("warning", "guest.file", warning)
    for segment in program.segments:
        low = segment.address // PAGE * PAGE
        area = kernel.map_ram(
            segment.name, low, pages_up(segment.address + segment.size - low), segment.permission
        )  # fmt: skip
        at = segment.address - low
        area.view[at : at + len(segment.data)] = segment.data
    kernel.map_ram("heap", layout.HEAP, layout.HEAP_SIZE, _READ_WRITE, Kind.HEAP)
    kernel.heap = layout.HEAP_SIZE
    kernel.map_ram("stack", layout.STACKS, layout.STACK_SIZE, _READ_WRITE, Kind.STACK)
    thread = kernel.make_thread(MAIN_PRIORITY, program.entry, layout.START_BLOCK, layout.FIRST_SP)
    assert thread is not None, "no other thread is there"
    thread.answer = {1: _FROM_A_LOADER, _LINK: layout.RETURN}
    first, process = kernel.handles.add(thread), kernel.handles.add(kernel.process)
    assert first is not None and process is not None, "there are no others yet"
    block = start_block(arguments, first, process, (layout.HEAP, layout.HEAP_SIZE))
    kernel.space.write(layout.START_BLOCK, block)


def farewell(kernel: SwitchKernel, thread: Thread) -> str:
    """What a program says when it returns to its loader: its result, if that is not 0, and what is to be started
    next."""
    registers = kernel.processor.registers(thread)
    result = registers["x0"] & RESULT_BITS if registers is not None else 0
    said = [f"the program returned {result_text(result)}"] if result else []
    try:
        following = kernel.space.text(NEXT_PATH, NEXT_PATH_ROOM)
    except AddressError:
        following = ""
    return ", ".join(said + ([f"{following} is to be started next"] if following else []))
