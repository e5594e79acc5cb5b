"""One draw of a 3DS capture as its own capture: the machine's state before it, the draw, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pocketgpu.arena import PAGE_SIZE
from pocketgpu.capture.driver import drive
from pocketgpu.capture.driver.n3ds import N3DSDriver
from pocketgpu.capture.formats.pgc.contents import Contents, Event, FrameContents, Gx, Load, Words, Writes
from pocketgpu.capture.formats.pgc.traces import PgcTrace, runs_of
from pocketgpu.capture.pgc import snapshot
from pocketgpu.errors import NoPictureError, UsageError
from pocketgpu.facts.gsp import PROCESS_LIST, command_of
from pocketgpu.facts.list_entry import header_of, header_word, length_of
from pocketgpu.facts.memory_map import FCRAM
from pocketgpu.facts.pica import FINALIZE_VALUE, LIST_ALIGNMENT, PICA
from pocketgpu.pica.core.observer import Observer, Undrawn
from pocketgpu.pica.external.registers import starts_list
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.wording import counted

_LIST_SIZE, _LIST_ADDRESS, _LIST_START = (PICA[f"CMDBUF_{name}0"] for name in ("SIZE", "ADDR", "JUMP"))
_JUMPS = PICA["CMDBUF_JUMP0"].offset, PICA["CMDBUF_JUMP1"].offset
_SIZES = PICA["CMDBUF_SIZE0"].offset, PICA["CMDBUF_SIZE1"].offset
_ADDRESSES = PICA["CMDBUF_ADDR0"].offset, PICA["CMDBUF_ADDR1"].offset
_FINALIZE = (FINALIZE_VALUE, header_word(PICA["FINALIZE"].offset, 1, False))
_MOST_WORDS = 1 << 20
_MOST_JUMPS = 4096


class _ListReached(Exception):
    """Internal: the requested list is about to run."""

    def __init__(self, offset: int, size: int) -> None:
        self.offset, self.size = offset, size


class _StopAtList(Observer):
    """Stops the machine before its list `number` of those in guest memory, counted from 0."""

    def __init__(self, number: int) -> None:
        self._left = number

    def list_starts(self, offset: int, size: int) -> None:
        if self.machine.memory.address_of(offset) is None:
            return
        if not self._left:
            raise _ListReached(offset, size)
        self._left -= 1


class _Draws(Undrawn):
    """Records the number of draws at the end of each list in guest memory."""

    def __init__(self) -> None:
        self.ends: list[int] = []

    def list_ended(self, offset: int, size: int, jumps: int, ignored: int) -> None:
        if size and self.machine.memory.address_of(offset) is not None:
            self.ends.append(self.machine.stats.draws)


def one_draw(contents: Contents, frame: int, draw: int, machine: N3DS) -> tuple[Contents, list[tuple[int, int]]]:
    """A capture of one frame: memory and state before draw `draw` of frame `frame`, that draw alone, then the rest of
    the frame without command lists. Also returns the physical ranges (address, bytes) of the buffers that it writes.

    machine: a fresh one for this capture; it is played up to the draw and keeps that state.

    :raises NoPictureError: there is no such draw.
    """
    events = contents.frames[frame].events
    trace = PgcTrace("", contents)
    place, number, before = _find(contents, trace, frame, draw)
    driver = drive(trace, machine=machine)
    while driver.frame < frame:
        driver.play_frame()
    driver.do(runs_of(events[:place]))
    words, rest = _reach(driver, events[place], number)
    entries = list(_entries(machine, words))
    state = snapshot.state_of(machine)
    first, end = _bounds(Contents("3DS", state=state), entries, draw - before, N3DSDriver.make_machine(trace))
    machine.submit(_joined(entries[:first]))
    kept = Contents("3DS", contents.digest_size, about=dict(contents.about), coverage=contents.coverage)
    kept.ranges = list(contents.ranges)
    kept.state = snapshot.state_of(machine)
    memory = snapshot.memory_of(machine)
    # The first entry starts the draw; those after it may already set the next one's buffers.
    machine.submit(entries[first])
    targets = _targets(machine)
    later = _without_lists((*rest, *events[place + 1 :]))
    kept.frames = [FrameContents((*memory, *_list(entries[first:end], memory, machine), *later))]
    return kept, targets


def _find(contents: Contents, trace: PgcTrace, frame: int, draw: int) -> tuple[int, int, int]:
    """The event that draws it, the number of the list in that event, and the draws before that list."""
    driver, draws = drive(trace), _Draws()
    driver.machine.observe(draws)
    while driver.frame < frame:
        driver.play_frame()
    driver.machine.stats.reset()
    before = 0
    for place, event in enumerate(contents.frames[frame].events):
        draws.ends.clear()
        driver.do(runs_of([event]))
        for number, count in enumerate(draws.ends):
            if count > draw:
                return place, number, before
            before = count
    raise no_such_draw(frame, draw, before)


def no_such_draw(frame: int, draw: int, count: int) -> NoPictureError:
    """The error for a draw that a frame of `count` draws does not have."""
    known = f"It has {counted(count, 'draw')}, d0 to d{count - 1}." if count > 1 else "It has one draw, d0."
    return NoPictureError(
        f"there is no draw {draw} in frame {frame}",
        location=f"f{frame}/d{draw}",
        hint=known if count else "It draws nothing.",
    )


def _reach(driver: N3DSDriver, event: Event, number: int) -> tuple[Words, list[Event]]:
    """Play an event up to its list `number`; returns the words of that list, and the rest of the event."""
    rest: list[Event] = []
    parts: list[Event] = [event]
    if isinstance(event, Writes):
        at = int(np.flatnonzero(starts_list(event.addresses, event.values))[number])
        cut = [slice(0, at), slice(at, at + 1), slice(at + 1, None)]
        before, start, left = (Writes(event.addresses[part], event.values[part]) for part in cut)
        parts, rest = [before, start], [left]
    machine = driver.machine
    try:
        with machine.observed(_StopAtList(number)):
            driver.do(runs_of(parts))
    except _ListReached as reached:
        place = machine.memory.arena[reached.offset : reached.offset + reached.size]
        return place.view(np.uint32).copy(), rest
    raise UsageError("the command list was not met again", hint="Please report this capture.")


def _entries(machine: N3DS, words: Words) -> Iterator[Words]:
    """The entries of a list, each a value, a header and more values; jumps are followed and left out."""
    sizes, addresses = [0, 0], [0, 0]
    jumps = total = at = 0
    while at + 2 <= len(words):
        header = int(words[at + 1])
        register, _, more, step = header_of(header)
        length = length_of(header)
        entry = words[at : at + length]
        at += length
        total += length
        if len(entry) < 2 + more or total > _MOST_WORDS:
            return
        jumped = False
        values = [int(entry[0]), *entry[2 : 2 + more].tolist()]
        controls = False
        for i, value in enumerate(values):
            target = register + i * step
            for channel in range(2):
                if target == _SIZES[channel]:
                    sizes[channel], controls = int(_LIST_SIZE["size"].decode(value)), True
                elif target == _ADDRESSES[channel]:
                    addresses[channel], controls = int(_LIST_ADDRESS["address"].decode(value)), True
                elif target == _JUMPS[channel]:
                    controls = True
                    if not jumped and jumps < _MOST_JUMPS:
                        jumped = True
                        jumps += 1
                        place = machine.memory.offset_of(
                            addresses[channel] & -LIST_ALIGNMENT, sizes[channel] & -LIST_ALIGNMENT
                        )
                        if place is None:
                            return
                        part = machine.memory.arena[place : place + (sizes[channel] & -LIST_ALIGNMENT)]
                        words, at = part.view(np.uint32).copy(), 0
        if not controls:
            yield entry


def _joined(entries: list[Words]) -> Words:
    return np.concatenate(entries) if entries else np.zeros(0, np.uint32)


def _bounds(start: Contents, entries: list[Words], draw: int, machine: N3DS) -> tuple[int, int]:
    """The entries first .. end-1 that make draw `draw` of a list, found by counting the draws of its first entries."""
    trace = PgcTrace("", start)
    machine.observe(Undrawn())

    def first_with(draws: int) -> int:
        """The least number of entries that make so many draws, or one more than there are."""
        low, high = 0, len(entries) + 1
        while low < high:
            middle = (low + high) // 2
            drive(trace, machine=machine)
            machine.submit(_joined(entries[:middle]))
            if middle > len(entries) or machine.stats.draws >= draws:
                high = middle
            else:
                low = middle + 1
        return low

    return first_with(draw + 1) - 1, min(first_with(draw + 2) - 1, len(entries))


def _list(entries: list[Words], memory: list[Load], machine: N3DS) -> list[Event]:
    """A command list of these entries, in free memory, and the writes that start it."""
    words = _joined(entries)
    finalize = PICA["FINALIZE"].offset
    if not any(header_of(int(entry[1])).id == finalize for entry in entries):
        words = np.concatenate((words, np.array(_FINALIZE, np.uint32)))
    words = np.concatenate((words, np.zeros(-len(words) % 4, np.uint32)))
    room = -(-words.nbytes // PAGE_SIZE) * PAGE_SIZE
    address = FCRAM.base + next(region.size for region, _ in machine.memory.regions if region.name == "FCRAM") - room
    for load in sorted(memory, key=lambda load: load.address, reverse=True):
        size = sum(map(len, load.pieces))
        if load.address < address + room and address < load.address + size:
            address = load.address - room
    if address < FCRAM.base:
        raise UsageError("no memory is free for the command list of the draw")
    writes = {
        _LIST_SIZE.address: _LIST_SIZE.encode(size=words.nbytes),
        _LIST_ADDRESS.address: _LIST_ADDRESS.encode(address=address),
        _LIST_START.address: 1,
    }
    columns = np.array(list(writes.items()), np.uint32).T
    return [Load(address, (words.astype("<u4").tobytes(),)), Writes(columns[0].copy(), columns[1].copy())]


def _without_lists(events: tuple[Event, ...]) -> Iterator[Event]:
    for event in events:
        if isinstance(event, Writes):
            keep = ~starts_list(event.addresses, event.values)
            if keep.any():
                yield Writes(event.addresses[keep], event.values[keep])
        elif not (isinstance(event, Gx) and command_of(event.words) is PROCESS_LIST):
            yield event


def _targets(machine: N3DS) -> list[tuple[int, int]]:
    """The memory that the last draw wrote."""
    from pocketgpu.pica.core.registers import StaticRegisters
    from pocketgpu.pica.front.draw_target import make_target

    registers = StaticRegisters(dict(enumerate(machine.registers.tolist())))
    target = make_target(machine.memory, registers)
    if isinstance(target, str):
        return []
    found = ((machine.memory.address_of(offset), size) for offset, size in target.ranges)
    return [(address, size) for address, size in found if address is not None]
