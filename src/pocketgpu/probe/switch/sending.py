"""Recordings of a Switch as files for the probe.

The system's driver gives a program an address space of its own, so nothing is moved but syncpoints (`syncpoints.py`).
What it does not allow is refused here: see docs/formats/probe.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.capture.formats.pgc.contents import Contents, Event, FrameContents, Map, Present, Store, Submit
from pocketgpu.capture.formats.pgc.encoder import encode_plain, varint
from pocketgpu.capture.pgc.convert import contents_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.switch.nvdrv import RECORDS
from pocketgpu.probe.switch.syncpoints import ENGINE, HOST, REACHED, THRESHOLD, SyncpointFinder
from pocketgpu.wording import counted

Range = tuple[int, int]
"""Address and bytes."""

MOST_ENTRIES: Final = 0x400
"""GPFIFO entries of a submission."""
MOST_SYNCPOINTS: Final = 8
MOST_CHANNELS: Final = 24
MOST_RANGES: Final = 64
"""Limits of the program."""

_REGIONS = RECORDS.layouts["GetVARegions"]
BIG_PAGE: Final = 0x10000
SMALL_PAGE: Final = 0x1000
LETTERS: Final = {"HOST_NUMBER": HOST, "ENGINE_NUMBER": ENGINE, "THRESHOLD": THRESHOLD, "REACHED": REACHED}
"""Kinds of words in `probe.relocate`."""
_JOINED: Final = 1 << 26
"""Ranges with a smaller gap are reserved as one."""


def sent_file(log: ChannelLog, memory: Sequence[Range], about: Mapping[str, str], frames: int = 0) -> bytes:
    """The file to send.

    :param memory: what is to be read back, besides what is shown at the end.
    :param about: further ABOUT records.
    :param frames: how many, from the first one; 0: all.
    :raises UsageError: the system's driver does not allow what the recording does.
    """
    contents = _cut(log, frames)
    events = list(chain.from_iterable(frame.events for frame in contents.frames))
    _refuse_what_cannot_be(log, events)
    finder = SyncpointFinder(log.handles)
    finder.follow(events)
    if len(finder.syncpoints) > MOST_SYNCPOINTS:
        raise UsageError(f"it uses {counted(len(finder.syncpoints), 'syncpoint')}", hint=f"{MOST_SYNCPOINTS} can be asked.")
    shown = log.presents[len(contents.frames) - 1]
    ranges = _joined([*memory, (shown.gpu_va, shown.size)])
    if len(ranges) > MOST_RANGES:
        raise UsageError(f"{counted(len(ranges), 'range')} of memory are to be read", hint=f"{MOST_RANGES} can be.")
    contents.about = {"probe": "1", **about, "probe.memory": _listed(ranges), "probe.space": _listed(_spaces(events))}
    if finder.syncpoints:
        values = [(number, log.syncpoints.get(number, 0)) for number in finder.syncpoints]
        contents.about["probe.syncpoint"] = _listed(values)
        contents.about["probe.relocate"] = _words(finder, events, encode_plain(contents).places)
    return encode_plain(contents).data


def _words(finder: SyncpointFinder, events: Sequence[Event], places: Sequence[int]) -> str:
    """The text of `probe.relocate`. places: of the records of the events."""
    starts = [
        place + _size_before(event) for event, place in zip(events, places, strict=True) if isinstance(event, Store)
    ]
    found = sorted((starts[word.store] + word.at, word) for word in finder.words)
    return ", ".join(f"{at:X}{word.kind}{finder.syncpoints.index(word.syncpoint):X}" for at, word in found)


def _size_before(store: Store) -> int:
    """Bytes of a record before those that it stores: kind, place, three numbers; one piece, which is new, and its size."""
    numbers = (store.handle or 0, store.offset, store.gpu_va, 1, 0, sum(map(len, store.pieces)))
    return 2 + sum(len(varint(number)) for number in numbers)


def _cut(log: ChannelLog, frames: int) -> Contents:
    """The first frames, without what the program can do nothing with: pictures' digests, fences of presents."""
    if log.state:
        raise UsageError(
            "the recording begins in the middle of a program, with state of channels that no program can set",
            hint="Record from the program's start, or send a scene of a choice.",
        )
    if not log.frame_count:
        raise UsageError("the recording shows no picture", hint="Record until it does.")
    whole = contents_of(log)
    count = min(frames or log.frame_count, log.frame_count)
    kept = [FrameContents(tuple(map(_without_fence, frame.events))) for frame in whole.frames[:count]]
    return Contents("Switch", coverage=whole.coverage, syncpoints=dict(whole.syncpoints), frames=kept)


def _without_fence(event: Event) -> Event:
    return replace(event, fence=None) if isinstance(event, Present) else event


def _refuse_what_cannot_be(log: ChannelLog, events: Iterable[Event]) -> None:
    channels = set()
    for event in events:
        if isinstance(event, Submit):
            channels.add(event.channel)
            if len(event.entries) > MOST_ENTRIES:
                raise UsageError(
                    f"a submission has {len(event.entries)} entries", hint=f"The probe takes {MOST_ENTRIES} at a time."
                )
    if len(channels) > MOST_CHANNELS:
        raise UsageError(f"it uses {len(channels)} channels", hint=f"The probe opens {MOST_CHANNELS}.")


# -- addresses --------------------------------------------------------------------------------------------------------
def _page_at(address: int) -> int:
    """Bytes of a page where the system maps memory."""
    big = int.from_bytes(_field("big_offset"), "little")
    return BIG_PAGE if address >= big else SMALL_PAGE


def _field(name: str) -> bytes:
    field = _REGIONS.fields[name]
    return _REGIONS.start[field.offset : field.offset + 8]


def _spaces(events: Iterable[Event]) -> list[tuple[int, int, int]]:
    """(address, bytes, bytes of a page) of ranges that hold all mappings."""
    lowest = int.from_bytes(_field("small_offset"), "little")
    spaces: list[tuple[int, int, int]] = []
    for one in sorted((event for event in events if isinstance(event, Map)), key=lambda one: one.gpu_va):
        page = _page_at(one.gpu_va)
        if one.gpu_va < lowest or one.gpu_va % page or one.offset % page:
            raise UsageError(
                f"memory is mapped to {one.gpu_va:#x}, where a console's system maps whole pages of {page:#x} bytes",
                hint="A recording of the builder needs step=0x10000.",
            )
        end = one.gpu_va + one.size
        end += -end % page
        if spaces and spaces[-1][2] == page and one.gpu_va - (spaces[-1][0] + spaces[-1][1]) < _JOINED:
            start = spaces[-1][0]
            spaces[-1] = (start, max(end, start + spaces[-1][1]) - start, page)
        else:
            spaces.append((one.gpu_va, end - one.gpu_va, page))
    return spaces


def _joined(ranges: Iterable[Range]) -> list[Range]:
    """The same bytes in ranges that do not overlap, in order."""
    found: list[Range] = []
    for start, size in sorted(ranges):
        if found and start <= found[-1][0] + found[-1][1]:
            first, before = found[-1]
            found[-1] = first, max(start + size, first + before) - first
        else:
            found.append((start, size))
    return found


def _listed(rows: Iterable[Sequence[int]]) -> str:
    return ", ".join(" ".join(f"{number:X}" for number in row) for row in rows)


__all__ = ["sent_file"]
