"""Captures of every kind that is read, as contents of a `.pgc`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import singledispatch

import numpy as np

from pocketgpu.capture.formats.citrace import Trace
from pocketgpu.capture.formats.gxlog import GxEvent, GxLog, LogEvent, MemoryEvent
from pocketgpu.capture.formats.mxcap import FORMATS, ChannelLog
from pocketgpu.capture.formats.mxcap import Present as Shown
from pocketgpu.capture.formats.n3ds_trace import LoadRun, N3DSTrace, NarrowWrite, WriteRun
from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc.contents import (
    Contents,
    Event,
    FrameContents,
    Gx,
    Load,
    Map,
    Narrow,
    Present,
    StateRecord,
    Store,
    Submit,
    Swap,
    Unmap,
    Words,
    Writes,
)
from pocketgpu.capture.formats.pgc.traces import PgcLog, PgcTrace, power_on
from pocketgpu.facts.maxwell.page_kinds import kind_number

_MANY_FRAMES = 16
_TABLES_COVERED = sum(1 << item.coverage for item in F.STATE_3DS if item.name in F.TABLES)


@singledispatch
def contents_of(trace: N3DSTrace | ChannelLog) -> Contents:
    """The contents of a parsed capture of any kind; those of a `.pgc` unchanged, of others without pictures."""
    raise TypeError(f"{type(trace).__name__} is no parsed capture")


@contents_of.register(PgcTrace)
@contents_of.register(PgcLog)
def _of_pgc(trace: PgcTrace | PgcLog) -> Contents:
    return trace.contents


def state_records(held: Mapping[str, Words]) -> list[StateRecord]:
    """Records for the parts of a 3DS, by name, whose contents differ from those without a record."""
    usual = power_on()
    found = []
    for item in F.STATE_3DS:
        words = held.get(item.name)
        if words is None:
            continue
        words = words.reshape(-1)
        differing = np.flatnonzero(words != usual[item.name])
        if len(differing):
            first, end = int(differing[0]), int(differing[-1]) + 1
            found.append(StateRecord(item.number, words[first:end].astype(np.uint32), first))
    return found


@contents_of.register
def _of_citrace(trace: Trace) -> Contents:
    contents = Contents("3DS", coverage=F.FULL_COVERAGE["3DS"], state=state_records(vars(trace.initial)))
    lost = {warning.id for warning in trace.warnings}
    if "capture.missing-lut" in lost:
        contents.coverage &= ~_TABLES_COVERED
    for item in F.STATE_3DS:
        if item.name in trace.missing:
            contents.coverage &= ~(1 << item.coverage)
    for index in range(trace.frame_count):
        events: list[Event] = []
        for run in trace.runs(index):
            if isinstance(run, WriteRun):
                events.append(Writes(run.addresses, run.values))
            elif isinstance(run, LoadRun):
                events.append(Load(run.address, (bytes(run.data),)))
            else:
                assert isinstance(run, NarrowWrite)
                events.append(Narrow(run.address, run.value, run.width))
        contents.frames.append(FrameContents(tuple(events)))
    return _short(contents)


@contents_of.register
def _of_gx(log: GxLog) -> Contents:
    contents = Contents("3DS", coverage=F.FULL_COVERAGE["3DS"], state=state_records(vars(log.initial)))
    contents.ranges = list(log.virt_to_phys)
    contents.frames = [FrameContents(tuple(_gx_events(log, events))) for events in log.frames]
    return _short(contents)


@contents_of.register
def _of_channel_log(log: ChannelLog) -> Contents:
    return _short(channel_contents(log))


def _short(contents: Contents) -> Contents:
    """Digests and checks do not compress: many of them must not outweigh the rest."""
    if len(contents.frames) > _MANY_FRAMES:
        contents.digest_size = F.DIGEST_SIZES[0]
        contents.check_size = F.CHECK_SIZE - F.CHECK_LEFT_OUT
    return contents


def _gx_events(log: GxLog, events: Iterable[LogEvent]) -> Iterable[Event]:
    for event in events:
        if isinstance(event, MemoryEvent):
            yield Load(event.phys, (log.memory[event.offset : event.offset + event.size],))
        elif isinstance(event, GxEvent):
            yield Gx(event.words)
        else:
            yield Swap(event.screen, event.info, event.registers)


def channel_contents(log: ChannelLog) -> Contents:
    """A log's events in order, without pictures; a mapping's id is its number in the log."""
    contents = Contents("Switch", coverage=F.FULL_COVERAGE["Switch"], syncpoints=dict(log.syncpoints))
    if log.source:
        contents.about["source"] = log.source
    starts: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for number, mapping in enumerate(log.mappings):
        starts.setdefault(mapping.start, []).append(number)
        ends.setdefault(mapping.end, []).append(number)

    def before(index: int) -> Iterable[Event]:
        """Mappings that end and begin before submission `index`."""
        here = starts.get(index, [])
        for number in ends.get(index, []):
            if log.mappings[number].start < index:
                yield Unmap(number)
        for number in here:
            record = log.mappings[number]
            yield Map(number, record.gpu_va, record.size, record.handle, kind_number(record.kind), record.offset)
        for number in here:
            if log.mappings[number].end == index:  # empty lifetime: it only determines the size of its memory
                yield Unmap(number)

    def submissions(indices: range) -> Iterable[Event]:
        for index in indices:
            yield from before(index)
            submission = log.submissions[index]
            for update in submission.updates:
                chunk = log.chunks[update]
                yield Store(chunk.handle, chunk.offset, chunk.gpu_va, (chunk.data,))
            yield Submit(submission.channel, submission.entries)

    for index in range(log.frame_count):
        events = [*submissions(log.submissions_of(index)), _present(log.presents[index])]
        contents.frames.append(FrameContents(tuple(events)))
    tail = [*submissions(log.tail)]
    # Mappings that begin after the last submission have no use, but may determine the size of a memory.
    tail += (event for event in before(len(log.submissions)) if isinstance(event, Map))
    contents.tail = tuple(tail)
    return contents


def _present(present: Shown) -> Present:
    return Present(
        present.gpu_va, present.handle, present.offset, present.width, present.height, FORMATS.index(present.format),
        present.block_linear, present.block_height_log2, present.stride, present.transform, present.fence, present.left,
        present.top,
    )  # fmt: skip
