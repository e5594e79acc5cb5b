"""The state of a Switch machine between two frames, as the beginning of a capture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pocketgpu.arena import PAGE_SIZE
from pocketgpu.capture.driver import drive
from pocketgpu.capture.driver.switch import SwitchDriver
from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.capture.formats.pgc import channel_state
from pocketgpu.capture.formats.pgc.contents import Contents, Event, FrameContents, Map, Store, Unmap
from pocketgpu.capture.formats.pgc.traces import PgcLog
from pocketgpu.capture.pgc.convert import channel_contents
from pocketgpu.facts.maxwell.page_kinds import kind_number
from pocketgpu.maxwell.gm20b import GM20B


def begin_at(log: PgcLog, first: int, last: int, machine: GM20B) -> Contents | None:
    """Frames `first` to `last` of a log, preceded by the current state of `machine`, which replays the earlier ones.

    None if a capture cannot begin with this state, because a channel has work left.
    """
    driver = drive(log, machine=machine)
    while driver.frame < first:
        driver.play_frame()
    if any(not channel.idle for channel in machine.channels.values()):
        return None
    whole = channel_contents(log)
    begun = replace(whole, coverage=log.contents.coverage, about=dict(log.contents.about))
    begun.state = [
        state
        for number, index in driver.channels.items()
        for state in channel_state.save(machine.channel(index), number)
    ]
    begun.syncpoints = machine.syncpoints.values()
    frames = whole.frames[first : last + 1]
    begun.frames = [FrameContents((*memory_of(driver), *frames[0].events)), *frames[1:]]
    begun.tail = ()
    return begun


def memory_of(driver: SwitchDriver) -> Iterator[Event]:
    """The current mappings in order, then all pages that are not zero."""
    log, live = driver.trace, set(driver.live)
    for handle, backing in driver.backings.items():
        # A removed mapping may be the one that determines the size of its memory.
        number = next(
            n for n, m in enumerate(log.mappings) if m.handle == handle and m.offset + m.size == log.handles[handle]
        )
        if number not in live:
            yield _map(number, log)
            yield Unmap(number)
        assert backing.size >= log.handles[handle]
    for number in driver.live:
        yield _map(number, log)
    arena = driver.machine.memory.arena
    for handle, backing in driver.backings.items():
        pages = arena[backing.offset : backing.offset + backing.size].view(np.uint64).reshape(-1, PAGE_SIZE // 8)
        used = np.flatnonzero(pages.any(axis=1))
        for run in np.split(used, np.flatnonzero(np.diff(used) > 1) + 1) if len(used) else ():
            start, size = int(run[0]) * PAGE_SIZE, len(run) * PAGE_SIZE
            data = arena[backing.offset + start : backing.offset + start + size].tobytes()
            yield Store(handle, start, 0, (data,))


def _map(number: int, log: ChannelLog) -> Map:
    one = log.mappings[number]
    return Map(number, one.gpu_va, one.size, one.handle, kind_number(one.kind), one.offset)
