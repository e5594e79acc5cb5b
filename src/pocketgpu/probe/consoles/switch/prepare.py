"""From a recording of a Switch to a file that the probe can run.

The system's driver gives a program an address space of its own, so nothing is moved but syncpoints (`syncpoints.py`).
What the driver does not allow is refused here: see docs/formats/probe.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from pocketgpu.capture.formats.pgc import numbers
from pocketgpu.capture.formats.pgc.contents import Contents, Event, FrameContents, Map, Present, Store, Submit, Unmap
from pocketgpu.capture.formats.pgc.encoder import varint
from pocketgpu.capture.formats.pgc.traces import PgcLog
from pocketgpu.errors import UsageError
from pocketgpu.facts.switch.nvdrv import RECORDS
from pocketgpu.probe.consoles.switch.syncpoints import ENGINE, HOST, REACHED, THRESHOLD, SyncpointFinder
from pocketgpu.probe.files.keys import listed
from pocketgpu.probe.files.sent import Move, Sent, joined
from pocketgpu.probe.model.scene import Watch
from pocketgpu.wording import counted

MOST_ENTRIES: Final = 0x400
"""GPFIFO entries of a submission."""
MOST_SYNCPOINTS: Final = 8
MOST_CHANNELS: Final = 24
MOST_MAPS: Final = 1024
"""Mappings at the same time."""
MOST_HANDLES: Final = 512
MOST_SPACES: Final = 64
MOST_FILE: Final = 64 << 20
"""Limits of the program. MOST_FILE: bytes of a sent file."""
BIG_PAGE: Final = 0x10000
SMALL_PAGE: Final = 0x1000
LETTERS: Final = {"HOST_NUMBER": HOST, "ENGINE_NUMBER": ENGINE, "THRESHOLD": THRESHOLD, "REACHED": REACHED}
"""Kinds of words in `probe.relocate`."""
SPACE: Final = "probe.space"
SYNCPOINT: Final = "probe.syncpoint"
"""Keys of ABOUT records."""

_REGIONS: Final = RECORDS.make("GetVARegions")
"""Where the driver maps pages of each size."""
_JOINED: Final = 1 << 26
"""Ranges with a smaller gap are reserved as one."""


def prepare(contents: Contents, watch: Watch, *, most: int) -> Sent:
    """See `ProbeConsole.prepare`."""
    if contents.state:
        raise UsageError(
            "the recording begins in the middle of a program, with state of channels that no program can set",
            hint="Send one from the program's start, or a scene of a choice.",
        )
    log = PgcLog("", contents)
    if not log.presents:
        raise UsageError("the recording shows no picture", hint="Record until it does.")
    events = list(chain.from_iterable(frame.events for frame in contents.frames))
    _refuse_what_cannot_be(events)
    size = sum(total + -total % BIG_PAGE for total in log.handles.values())
    if size > most:
        raise UsageError(
            f"the recording uses {size:,} bytes of memory; the probe has {most:,}",
            hint="Give a recording with fewer frames or less memory.",
        )
    finder = SyncpointFinder(log.handles)
    finder.follow(events)
    if len(finder.syncpoints) > MOST_SYNCPOINTS:
        message = f"the recording uses {counted(len(finder.syncpoints), 'syncpoint')}"
        raise UsageError(message, hint=f"{MOST_SYNCPOINTS} can be asked.")
    spaces = _spaces(events)
    for count, most, what in (
        (_most_maps(events), MOST_MAPS, "mappings at the same time"),
        (len(log.handles), MOST_HANDLES, "memory objects"),
        (len(spaces), MOST_SPACES, "ranges of addresses"),
    ):  # fmt: skip
        if count > most:
            raise UsageError(f"the recording has {count:,} {what}", hint=f"The probe has room for {most:,}.")
    more = {SPACE: listed(spaces)}
    if finder.syncpoints:
        more[SYNCPOINT] = listed((number, contents.syncpoints.get(number, 0)) for number in finder.syncpoints)
    frames = [FrameContents(tuple(map(_without_fence, frame.events))) for frame in contents.frames]
    coverage = contents.coverage & ~numbers.PICTURES_COVERED
    kept = replace(contents, frames=frames, tail=(), about={}, coverage=coverage, check_size=numbers.CHECK_SIZE)
    watch = replace(watch, memory=_ranges(log, watch))
    return Sent(kept, watch, moves=_moves(finder, events), more=more, most_bytes=MOST_FILE)


def _without_fence(event: Event) -> Event:
    """Fences count syncpoints of the recorded program."""
    return replace(event, fence=None) if isinstance(event, Present) else event


def _refuse_what_cannot_be(events: Iterable[Event]) -> None:
    channels = set()
    for event in events:
        if isinstance(event, Submit):
            channels.add(event.channel)
            if len(event.entries) > MOST_ENTRIES:
                message = f"a submission has {len(event.entries)} entries"
                raise UsageError(message, hint=f"The probe takes {MOST_ENTRIES} at a time.")
    if len(channels) > MOST_CHANNELS:
        raise UsageError(f"the recording uses {len(channels)} channels", hint=f"The probe opens {MOST_CHANNELS}.")


def _most_maps(events: Iterable[Event]) -> int:
    live = most = 0
    for event in events:
        live += isinstance(event, Map) - isinstance(event, Unmap)
        most = max(most, live)
    return most


# -- syncpoints -------------------------------------------------------------------------------------------------------
def _moves(finder: SyncpointFinder, events: Sequence[Event]) -> tuple[Move, ...]:
    stores = [(number, event) for number, event in enumerate(events) if isinstance(event, Store)]
    return tuple(
        Move(
            stores[word.store][0], _size_before(stores[word.store][1]) + word.at,
            f"{word.kind}{finder.syncpoints.index(word.syncpoint):X}",
        )
        for word in finder.words
    )  # fmt: skip


def _size_before(store: Store) -> int:
    """Bytes of a record before those that it stores: kind, place, three numbers; one piece, which is new; its size."""
    numbers_before = (store.handle or 0, store.offset, store.gpu_va, 1, 0, sum(map(len, store.pieces)))
    return 2 + sum(len(varint(number)) for number in numbers_before)


# -- addresses --------------------------------------------------------------------------------------------------------
def _spaces(events: Iterable[Event]) -> list[tuple[int, int, int]]:
    """(address, bytes, bytes of a page) of ranges that hold all mappings."""
    spaces: list[tuple[int, int, int]] = []
    for one in sorted((event for event in events if isinstance(event, Map)), key=lambda one: one.gpu_va):
        page = BIG_PAGE if one.gpu_va >= _REGIONS["big_offset"] else SMALL_PAGE
        if one.gpu_va < _REGIONS["small_offset"] or one.gpu_va % page or one.offset % page:
            raise UsageError(
                f"memory is mapped to {one.gpu_va:#x}, where a console's system maps whole pages of {page:#x} bytes",
                hint="A recording of the builder needs step=0x10000.",
            )
        end = one.gpu_va + one.size
        end += -end % page
        start, size, pages = spaces[-1] if spaces else (0, 0, 0)
        if pages == page and one.gpu_va - (start + size) < _JOINED:
            spaces[-1] = start, max(end, start + size) - start, page
        else:
            spaces.append((one.gpu_va, end - one.gpu_va, page))
    return spaces


def _ranges(log: PgcLog, watch: Watch) -> tuple[tuple[int, int], ...]:
    """What is watched, and what is shown at the end, in ranges that do not overlap."""
    ranges = list(watch.memory)
    if watch.pictures:
        ranges.append((log.presents[-1].gpu_va, log.presents[-1].size))
    return joined(ranges)


__all__ = ["prepare"]
