"""Rendering from memory dumps: a command list, and memory that a debugger has saved.

The input is one moment, not a recording: bytes of memory, perhaps registers, and the address of a list. The list runs
as the system software would start it, and its results are in the colour buffers that it selects.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from pocketgpu.capture.formats.gxlog import start_state
from pocketgpu.capture.formats.n3ds_trace import InitialState
from pocketgpu.errors import NoPictureError, UsageError
from pocketgpu.facts.external import EXTERNAL, LCD, USER_OFFSET
from pocketgpu.facts.memory_map import FCRAM, FCRAM_NEW_SIZE, find
from pocketgpu.facts.pica import LIST_ALIGNMENT, PICA, START_LIST
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.gsp.address_map import AddressMap
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.pica.front.targets import RenderTarget
    from pocketgpu.pica.n3ds import N3DS

LIST_LIMIT = PICA.field("CMDBUF_SIZE0.size").mask * 8
"""The most bytes that the register for a list's size can hold."""

_REGISTER_BLOCKS = (("external", EXTERNAL.base, 0x400), ("pica", PICA.base, 0x300), ("lcd", LCD.base, 0x400))


@dataclass(frozen=True)
class Dump:
    """Bytes of memory or registers at `address`, physical or virtual. `name` is for messages."""

    address: int
    data: bytes
    name: str = "dump"


@dataclass(frozen=True)
class ListRun:
    """The result of running a list. fired: it raised its interrupt. targets: the colour buffers that it drew to, in
    order."""

    machine: N3DS
    targets: tuple[RenderTarget, ...]
    fired: bool
    milliseconds: float


def physical(address: int, size: int = 1) -> int | None:
    """The physical address of a range given in either form; None if there is no memory.

    An address in physical memory is taken as physical. Only the upper half of the linear heap of old programs (from
    virtual 0x18000000) cannot be given as virtual addresses, because video memory is there.
    """
    if find(address, 1, FCRAM_NEW_SIZE):
        return address if find(address, size, FCRAM_NEW_SIZE) else None
    translated = AddressMap().translate(address, size)
    return translated if translated is not None and find(translated, size, FCRAM_NEW_SIZE) else None


def run_list(
    address: int,
    size: int,
    memory: Sequence[Dump],
    registers: Sequence[Dump] = (),
    threads: int = 1,
    choices: Mapping[str, str] | None = None,
    evaluator: str = "llvm",
) -> ListRun:
    """Run the command list of `size` bytes at `address` on a machine with the dumps `memory`; later dumps overwrite
    earlier ones, the rest of memory is zero.

    registers: initial words of the GPU's (0x10400000), the 3D core's (0x10401000) or the LCDs' (0x10202000) registers;
    the others have the values after start-up code. threads, switches, evaluator: as for `pocketgpu.N3DS`.

    Raises UsageError if a dump is where there is no memory (or register), or none contains the list; NoPictureError if
    the list draws nothing.
    """
    list_start = _place(address, size, "the list")
    if list_start % LIST_ALIGNMENT:
        raise UsageError(
            f"a list cannot start at {address:#010x}",
            hint=f"Lists start at multiples of {LIST_ALIGNMENT}: {address & -LIST_ALIGNMENT:#010x} is one.",
        )
    if not 0 < size <= LIST_LIMIT:
        raise UsageError(f"a list has 1 to {LIST_LIMIT} bytes, not {size}")
    places = [_place(dump.address, len(dump.data), dump.name) for dump in memory]
    if not _covered(list_start, size, [(place, len(d.data)) for place, d in zip(places, memory, strict=True)]):
        raise UsageError(
            f"no dump holds all of the list, {address:#010x} to {address + size - 1:#010x}",
            hint="Dump the memory of the list as well.",
        )
    state = _with_registers(registers)
    # Imported late: checking the arguments must not wait for the machine and its compiler.
    from pocketgpu.pica.n3ds import N3DS

    ends = [place + len(dump.data) for place, dump in zip(places, memory, strict=True)]
    machine = N3DS(
        fcram=FCRAM.size if max(ends) <= FCRAM.end else FCRAM_NEW_SIZE,
        threads=threads,
        switches=choices,
        evaluator=evaluator,
    )
    machine.load_initial(**vars(state))
    for place, dump in zip(places, memory, strict=True):
        if dump.data:
            machine.load_memory(place, dump.data)
    if size % LIST_ALIGNMENT:
        message = f"only the first {size & -LIST_ALIGNMENT} bytes of the list count: sizes are multiples of 16"
        machine.events.report("warning", "dump.list-size", message)
    machine.stats.reset()
    start = perf_counter()
    for name, value in (
        ("IRQ_ACK0", 0),
        ("CMDBUF_SIZE0", PICA["CMDBUF_SIZE0"].encode(size=size & -LIST_ALIGNMENT)),
        ("CMDBUF_ADDR0", PICA["CMDBUF_ADDR0"].encode(address=list_start)),
        ("CMDBUF_JUMP0", START_LIST),
    ):
        machine.write_register(PICA[name].address, value)
    milliseconds = 1000.0 * (perf_counter() - start)
    targets = tuple(machine.render_targets)
    if not targets:
        reasons = [event.message for event in machine.events]
        raise NoPictureError(
            "the list draws nothing" + (f": {reasons[0]}" if reasons else ""),
            location=f"list {address:#010x}",
            hint="Perhaps it is only a part of a frame: try the list that the program submits.",
        )
    return ListRun(machine, targets, machine.take_interrupts().get("P3D", 0) > 0, milliseconds)


def _place(address: int, size: int, what: str) -> int:
    found = physical(address, size)
    if found is None:
        raise UsageError(
            f"there is no memory for {what}, {counted(size, 'byte')} from {address:#010x}",
            hint="Give a physical address (video memory 0x18000000, main memory 0x20000000) or a program's own.",
        )
    return found


def _covered(start: int, size: int, parts: list[tuple[int, int]]) -> bool:
    """Whether ranges (start, size) together cover a range."""
    end, reached = start + size, start
    for low, length in sorted(parts):
        if low <= reached < low + length:
            reached = low + length
    return reached >= end


def _with_registers(dumps: Sequence[Dump]) -> InitialState:
    """The start state with the words of register dumps."""
    state = start_state()
    words = {name: np.array(getattr(state, name)) for name, _, _ in _REGISTER_BLOCKS}
    for dump in dumps:
        # Programs use other addresses for registers.
        lowest = min(base for _, base, _ in _REGISTER_BLOCKS)
        start = dump.address - USER_OFFSET if dump.address >= lowest + USER_OFFSET else dump.address
        if start & 3 or len(dump.data) & 3:
            raise UsageError(
                f"{dump.name}: {counted(len(dump.data), 'byte')} from {dump.address:#010x} are no whole registers",
                hint="Registers are words of four bytes.",
            )
        values = struct.unpack(f"<{len(dump.data) // 4}I", dump.data)
        used = 0
        for name, base, count in _REGISTER_BLOCKS:
            low, high = max(start, base), min(start + len(dump.data), base + 4 * count)
            if low < high:
                words[name][(low - base) // 4 : (high - base) // 4] = values[(low - start) // 4 : (high - start) // 4]
                used += high - low
        if not used:
            raise UsageError(
                f"{dump.name}: there are no registers at {dump.address:#010x}",
                hint="The GPU's begin at 0x10400000, the 3D core's at 0x10401000, the LCDs' at 0x10202000.",
            )
    return InitialState.of(**words)
