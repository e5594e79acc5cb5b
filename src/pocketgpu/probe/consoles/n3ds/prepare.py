"""From a capture of a 3DS to a file that the probe can run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from pocketgpu.arena import PAGE_SIZE
from pocketgpu.builder.gx import to_virtual
from pocketgpu.capture.formats.pgc import numbers
from pocketgpu.capture.formats.pgc.contents import (
    Contents,
    Event,
    FrameContents,
    Gx,
    Load,
    Narrow,
    Swap,
    Writes,
    bytes_of,
)
from pocketgpu.capture.formats.pgc.traces import power_on
from pocketgpu.errors import UsageError
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.gsp import ENTRY_WORDS, FLUSH_REGIONS, command_of
from pocketgpu.facts.memory_map import FCRAM, VRAM
from pocketgpu.pica.display.screens import framebuffers
from pocketgpu.pica.gsp.address_map import AddressMap
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.probe.consoles.n3ds import addresses
from pocketgpu.probe.consoles.n3ds.registers import WRITTEN
from pocketgpu.probe.consoles.n3ds.state_list import state_events
from pocketgpu.probe.files.sent import Sent, joined
from pocketgpu.probe.model.scene import Watch

MOST_FILE: Final = 24 << 20
"""Bytes of a file that the program has room for, if the console's memory is not short."""
_MARGIN: Final = 16 * PAGE_SIZE
"""Memory that is kept free after the last address: what is there may be read, and is zero."""
_SCREEN_WORDS: Final = ("FORMAT", "STRIDE", "ADDRESS_A0", "ADDRESS_A1", "ADDRESS_B0", "ADDRESS_B1", "SELECT")
_FILLS: Final = ("TOP_FILL", "BOTTOM_FILL")
_SHOWN: Final = tuple(EXTERNAL[f"PDC{unit}_{name}"] for unit in range(2) for name in _SCREEN_WORDS)
_OUTSIDE_CORE: Final = ("external", "lcd")
_EYES: Final = tuple(ENTRY_WORDS.index(name) for name in ("left", "right"))


def prepare(contents: Contents, watch: Watch, *, most: int) -> Sent:
    """See `ProbeConsole.prepare`."""
    contents = _with_usual_addresses(contents)
    contents = _with_state_as_events(contents)
    _check_registers(contents)
    found, machine = addresses.find(contents)
    loads = [(event.address, len(bytes_of(event.pieces))) for event in _events(contents) if isinstance(event, Load)]
    for address, size in loads:
        if not addresses.in_main(address) and not VRAM.base <= address <= address + size <= VRAM.end:
            raise UsageError(f"{size} bytes are loaded to {address:#x}, which a program of this console does not own")
    watch = replace(watch, memory=_with_screens(machine, watch, _shown_units(contents)))
    used = [*loads, *watch.memory, *_written(machine)]
    main = addresses.hull(found.addresses, used, PAGE_SIZE)
    if main is not None:
        main = main[0], main[1] + _MARGIN
        if main[1] > most:
            raise UsageError(
                f"the capture uses {main[1]:,} bytes of main memory, from {main[0]:#x} on; the probe has {most:,}",
                hint="Give a capture of one frame or one draw: pocketgpu capture minimise.",
            )
    return Sent(contents, watch, main=main, moves=found.moves if main else (), most_bytes=MOST_FILE)


def _events(contents: Contents) -> Iterator[Event]:
    for events in (*(frame.events for frame in contents.frames), contents.tail):
        yield from events


def _check_registers(contents: Contents) -> None:
    """All registers that are written are those that the program writes."""
    allowed = np.array(sorted(WRITTEN), np.uint32)
    for event in _events(contents):
        if isinstance(event, Writes):
            other = event.addresses[~np.isin(event.addresses, allowed)]
        elif isinstance(event, Narrow):
            other = np.array([event.address & ~3][: event.address & ~3 not in WRITTEN])
        else:
            continue
        if len(other):
            raise UsageError(f"it writes {_name_of(int(other[0]))}, which a probe leaves alone")


def _name_of(address: int) -> str:
    named = (one.name for block in (EXTERNAL, LCD) for one in block if one.address == address)
    return next(named, f"a register at {address:#x}")


# -- addresses as every program has them --------------------------------------------------------------------------
def _with_usual_addresses(contents: Contents) -> Contents:
    """The same with virtual addresses of the usual table, and without a table."""
    source = AddressMap(contents.ranges) if contents.ranges else AddressMap()

    def usual(virtual: int, last: bool) -> int:
        place = source.translate(virtual - last) if virtual else None
        return virtual if place is None or not _reached(place) else to_virtual(place) + last

    def changed(events: tuple[Event, ...]) -> tuple[Event, ...]:
        return tuple(one for event in events if (one := _usual_event(event, usual)) is not None)

    frames = [FrameContents(changed(frame.events)) for frame in contents.frames]
    coverage = contents.coverage & ~numbers.PICTURES_COVERED
    return replace(
        contents, frames=frames, tail=changed(contents.tail), ranges=[], about={}, coverage=coverage, check_size=4
    )  # fmt: skip


def _reached(place: int) -> bool:
    return VRAM.base <= place <= VRAM.end or addresses.in_main(place)


def _usual_event(event: Event, usual: Callable[[int, bool], int]) -> Event | None:
    if isinstance(event, Swap):
        info = list(event.info)
        for number in _EYES:
            info[number] = usual(info[number], False)
        return Swap(event.screen, tuple(info), event.registers)
    if not isinstance(event, Gx) or (command := command_of(event.words)) is None:
        return event
    if command is FLUSH_REGIONS:
        # The program flushes what it loads; other memory of the recorded program is not there.
        return None
    words = list(event.words)
    for number, word in enumerate(command.words, 1):
        if word.kind in ("address", "end"):
            words[number] = usual(words[number], word.kind == "end")
    return Gx(tuple(words))


# -- what holds before the first event ----------------------------------------------------------------------------
def _with_state_as_events(contents: Contents) -> Contents:
    """The same without state: the screens, and what differs from power-on, are set by events of the first frame."""
    held = power_on()
    items = numbers.STATE_ITEMS["3DS"]
    given = {}
    for state in contents.state:
        name = items[state.item].name
        held[name][state.first : state.first + len(state.words)] = state.words
        given[name] = held[name]
    screens = [(one.address, int(held["external"][one.offset // 4])) for one in _SHOWN]
    screens += [(LCD[name].address, int(held["lcd"][LCD[name].offset // 4])) for name in _FILLS]
    columns = np.array(screens, np.uint32)
    first: list[Event] = [Writes(columns[:, 0].copy(), columns[:, 1].copy())]
    core = {name: words for name, words in given.items() if name not in _OUTSIDE_CORE}
    if core:
        first += state_events(core, _free_place(contents))
    frames, tail = list(contents.frames), contents.tail
    if frames:
        frames[0] = FrameContents((*first, *frames[0].events))
    else:
        tail = (*first, *tail)
    return replace(contents, state=[], frames=frames, tail=tail)


def _free_place(contents: Contents) -> int:
    """An address of main memory after all that is loaded."""
    ends = [
        event.address + len(bytes_of(event.pieces))
        for event in _events(contents)
        if isinstance(event, Load) and addresses.in_main(event.address)
    ]
    return -(-max(ends, default=FCRAM.base) // PAGE_SIZE) * PAGE_SIZE


# -- what is looked at ----------------------------------------------------------------------------------------------
def _shown_units(contents: Contents) -> list[int]:
    """The screens whose pictures the capture itself has set; what others show is left over from before."""
    units = {
        unit
        for unit in range(2)
        for event in list(_events(contents))[1:]
        if _shows(event, unit)
    }  # fmt: skip
    return sorted(units)


def _shows(event: Event, unit: int) -> bool:
    if isinstance(event, Swap):
        return event.screen == unit
    if not isinstance(event, Writes):
        return False
    places = [EXTERNAL[f"PDC{unit}_ADDRESS_{name}"].address for name in ("A0", "A1")]
    return bool(np.isin(event.addresses, places).any())


def _with_screens(machine: N3DS, watch: Watch, units: list[int]) -> tuple[tuple[int, int], ...]:
    """What is watched, and the framebuffers of these screens; no ranges overlap."""
    ranges = list(watch.memory)
    if watch.pictures:
        for unit in units:
            ranges += framebuffers(machine.memory, machine.peek, unit, machine.choices)
    return joined(ranges)


def _written(machine: N3DS) -> list[tuple[int, int]]:
    """Pages of main memory that are not zero at the end."""
    ranges = []
    for region, offset in machine.memory.regions:
        if addresses.in_main(region.base):
            rows = machine.memory.arena[offset : offset + region.size].view(np.uint64).reshape(-1, PAGE_SIZE // 8)
            first = offset // PAGE_SIZE
            # Only pages that the host has memory for are read: the others, most of the region, are zero.
            used = machine.memory.used(np.arange(first, first + len(rows))) - first
            used = used[rows[used].any(axis=1)]
            if len(used):
                ranges.append((region.base + int(used[0]) * PAGE_SIZE, int(used[-1] - used[0] + 1) * PAGE_SIZE))
    return ranges


__all__ = ["MOST_FILE", "prepare"]
