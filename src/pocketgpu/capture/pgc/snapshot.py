"""A 3DS machine as it stands, as the beginning of a capture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from pocketgpu.arena import PAGE_SIZE
from pocketgpu.capture.formats.pgc.contents import Contents, Event, Gx, Load, Narrow, State, Swap, Writes
from pocketgpu.capture.pgc.convert import state_records
from pocketgpu.pica.gsp.addresses import AddressMap

if TYPE_CHECKING:
    from pocketgpu.pica.n3ds import N3DS


def state_of(machine: N3DS) -> list[State]:
    """Records of state for the registers, and for all that is not zero in the GPU's own memories."""
    return state_records(machine.save_state())


def memory_of(machine: N3DS) -> list[Load]:
    """Loads for all pages that are not zero; those that lie together in one."""
    loads = []
    for region, offset in machine.memory.regions:
        pages = machine.memory.arena[offset : offset + region.size].view(np.uint64).reshape(-1, PAGE_SIZE // 8)
        used = np.flatnonzero(pages.any(axis=1))
        if not len(used):
            continue
        for run in np.split(used, np.flatnonzero(np.diff(used) > 1) + 1):
            start, size = region.base + int(run[0]) * PAGE_SIZE, len(run) * PAGE_SIZE
            loads.append(Load(start, (machine.memory.read(start, size),)))
    return loads


def begin(machine: N3DS, contents: Contents) -> None:
    """Put a machine that was just switched on into the state that a capture starts with."""
    from pocketgpu.capture.formats.pgc.traces import PgcTrace

    trace = PgcTrace("", contents)
    machine.load_initial(**vars(trace.initial))
    machine.load_tables(trace.tables)
    if trace.virt_to_phys:
        machine.gsp.virt_to_phys = AddressMap(trace.virt_to_phys)


def play(machine: N3DS, events: Iterable[Event]) -> None:
    """Let events happen on a machine, as `capture.replay` does."""
    for event in events:
        match event:
            case Load():
                address = event.address
                for piece in event.pieces:
                    if machine.memory.offset_of(address, len(piece)) is not None:
                        machine.load_memory(address, piece)
                    address += len(piece)
            case Writes():
                machine.write_registers(event.addresses, event.values)
            case Narrow():
                word = event.address & ~3
                shift = 8 * (event.address - word)
                mask = ((1 << event.width) - 1) << shift
                machine.write_register(word, machine.read_register(word) & ~mask | event.value << shift)
            case Gx():
                machine.gsp.gx(event.words, recorded=True, at="")
            case Swap():
                for address, value in event.registers:
                    machine.write_register(address, value)
