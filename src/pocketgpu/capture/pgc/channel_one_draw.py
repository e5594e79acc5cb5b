"""One draw of a Switch capture as its own capture: the GPU's state before it, the draw, and how it is shown.

The registers are those at the time of the draw, so a short pushbuffer without the original macros and packets can
repeat it. It is followed by the copies and blits that bring its results to the screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SIZE
from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats.mxcap import VA_END
from pocketgpu.capture.formats.pgc import channel_state
from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc.contents import (
    Contents,
    Event,
    FrameContents,
    Map,
    Present,
    StateRecord,
    Store,
    Submit,
)
from pocketgpu.capture.pgc.channel_snapshot import memory_of
from pocketgpu.capture.pgc.one_draw import no_such_draw
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B0B5, B197, TWOD
from pocketgpu.facts.maxwell.pushbuffers import FORMS, HOST_WORDS, MOST_DATA, pack_entry, pack_header
from pocketgpu.maxwell.engines.threed.engine import ThreeD
from pocketgpu.maxwell.graphics.output.targets import colour_target, depth_target
from pocketgpu.maxwell.graphics.records import MAX_TARGETS
from pocketgpu.maxwell.host.dispatch import CODE
from pocketgpu.maxwell.host.layout import CLASS_FILES
from pocketgpu.maxwell.host.observer import Observer
from pocketgpu.maxwell.host.pushbuffer import SHADOW_MODES
from pocketgpu.maxwell.memory.places import Places

if TYPE_CHECKING:
    from pocketgpu.capture.formats.pgc.traces import PgcLog
    from pocketgpu.maxwell.engines.common.base import Engine
    from pocketgpu.maxwell.engines.threed.draws import Draw
    from pocketgpu.maxwell.host.channel import Channel

Words = NDArray[np.uint32]
Span = tuple[int, int]

_ROOM = 1 << 16
_TRIGGERS = {
    B0B5.class_id: B0B5["LAUNCH_DMA"].word,
    TWOD.class_id: TWOD["PIXELS_FROM_MEMORY_SRC_Y0_INT"].word,
}
_SUBCHANNEL = {class_id: number for number, class_id in enumerate(CLASS_FILES)}
_BEGIN = B197["BEGIN"]
_INSTANCES = _BEGIN["INSTANCE_ID"].values


def one_draw(
    contents: Contents, frame: int, draw: int, log: PgcLog, choices: Mapping[str, str] | None = None
) -> tuple[Contents, list[Span]]:
    """A capture of one frame that draws only draw `draw` of frame `frame`, then shows what that frame shows.

    log: of the contents. Also returns the ranges (GPU address, bytes) of the targets that the draw writes. Raises
    NoPictureError if there is no such draw.
    """
    watcher = _OneDraw(log, frame, draw, choices)
    watcher.watch()
    if watcher.state is None:
        raise no_such_draw(frame, draw, watcher.draws)
    shown = next(event for event in contents.frames[frame].events if isinstance(event, Present))
    words = np.array(watcher.words, np.uint32)
    id, handle = len(log.mappings), 1 + max(log.handles, default=0)
    room = -(-words.nbytes // PAGE_SIZE) * PAGE_SIZE
    address = _free(watcher.mapped, room)
    entries = np.array([pack_entry(address, len(words))], np.uint64)
    events: list[Event] = [
        *watcher.memory,
        Map(id, address, room, handle, 0),
        Store(handle, 0, address, (words.astype("<u4").tobytes(),)),
        Submit(watcher.channel, entries),
        replace(shown, fence=None),
    ]
    kept = replace(contents, state=watcher.state, syncpoints=watcher.syncpoints, ranges=[], tail=())
    kept.frames = [FrameContents(tuple(events))]
    return kept, watcher.targets


class _OneDraw(Observer):
    """Finds the draw, records the machine's state at that time, and the copies and blits that follow."""

    wants_draws = True

    def __init__(self, log: PgcLog, frame: int, draw: int, choices: Mapping[str, str] | None) -> None:
        self.frame, self.wanted = frame, draw
        self.driver = drive(log, switches=choices)
        self.driver.machine.observe(self)
        self.counting = False
        self.draws = 0
        self.state: list[StateRecord] | None = None
        self.memory: list[Event] = []
        self.syncpoints: dict[int, int] = {}
        self.mapped: list[Span] = []
        self.channel = 0
        self.words: list[int] = []
        self.targets: list[Span] = []
        self._touched: list[Span] = []
        self._files: NDArray[np.uint32] | None = None

    def watch(self) -> None:
        while self.driver.frame <= self.frame:
            self.counting = self.driver.frame == self.frame
            self.driver.play_frame()

    def draw_recorded(self, draw: Draw) -> None:
        """Record the machine's state, if this is the draw."""
        if not self.counting:
            return
        self.draws += 1
        channel = self.machine.running
        if self.draws - 1 != self.wanted or channel is None:
            return
        memory = self.machine.memory
        self.channel = next(n for n, index in self.driver.channels.items() if index == channel.id)
        self.state = _state_of(channel, self.channel)
        self.memory = list(memory_of(self.driver))
        self.syncpoints = self.machine.syncpoints.values()
        self.mapped = sorted((mapping.address, mapping.size) for mapping in memory.mappings)
        self._files = channel.files.copy()
        engine = channel.engines[_SUBCHANNEL[B197.class_id]]
        assert isinstance(engine, ThreeD)
        self.words = list(_words_of(draw, engine.counters.pointers))
        for address, size in _targets(draw):
            for offset, length in memory.spans(address, size):
                if offset is not None:
                    self.targets.append((address, length))
                    self._touched.append((offset, length))
                address += length

    def copied(self, engine: Engine, target: Places, source: Places) -> None:
        """Follow a copy."""
        self._carry(engine, target, source)

    def converted(self, engine: Engine, target: Places, source: Places, layout: object) -> None:
        """Follow a conversion."""
        self._carry(engine, target, source)

    def _carry(self, engine: Engine, target: Places, source: Places) -> None:
        """Repeat a copy or blit if it reads what the draw wrote, directly or through other copies."""
        if self._files is None or not any(map(self._is_touched, self._spans(source))):
            return
        self._touched += self._spans(target)
        file, subchannel = CLASS_FILES.index(engine.class_id), _SUBCHANNEL[engine.class_id]
        trigger = _TRIGGERS[engine.class_id]
        codes = self.machine.codes[file]
        plain = np.isin(codes, [CODE["plain"], CODE["tracked"]])
        plain[:HOST_WORDS] = False
        differing = np.flatnonzero((engine.registers != self._files[file]) & plain)
        for run in np.split(differing, np.flatnonzero(np.diff(differing) > 1) + 1) if len(differing) else ():
            self.words += _packet(FORMS.INC_METHOD, subchannel, int(run[0]), engine.registers[run].tolist())
        self._files[file] = engine.registers
        self.words += _packet(FORMS.NON_INC_METHOD, subchannel, trigger, [int(engine.registers[trigger])])

    def _spans(self, places: Places) -> list[Span]:
        low, high = places.reach
        return [(at, size) for at, size in self.machine.memory.spans(low, high - low) if at is not None]

    def _is_touched(self, span: Span) -> bool:
        return any(span[0] < at + size and at < sum(span) for at, size in self._touched)


def _state_of(channel: Channel, number: int) -> list[StateRecord]:
    """The channel's state, but with the bindings and values that the short pushbuffer needs."""
    numbers = {item.name: item.number for item in F.STATE_SWITCH}
    own = {
        "bindings": [*CLASS_FILES, *[0] * (8 - len(CLASS_FILES))],
        "shadow_mode": [SHADOW_MODES.METHOD_PASSTHROUGH],
    }
    made = [StateRecord(numbers[name], np.array(words, np.uint32), 0, number) for name, words in own.items()]
    replaced = {numbers[name] for name in own}
    return made + [state for state in channel_state.save(channel, number) if state.item not in replaced]


def _words_of(draw: Draw, pointers: list[int]) -> Iterator[int]:
    """A pushbuffer that repeats the draw. pointers: of transform feedback."""
    subchannel = _SUBCHANNEL[B197.class_id]

    def write(name: str, *values: int, index: int = 0) -> Iterator[int]:
        method = B197[name]
        for first in range(0, len(values), MOST_DATA):
            part = list(values[first : first + MOST_DATA])
            yield from _packet(FORMS.NON_INC_METHOD, subchannel, method.word + index * method.stride, part)

    def begin(instance: int) -> Iterator[int]:
        yield from write("BEGIN", _BEGIN.encode(OP=draw.topology, INSTANCE_ID=instance))

    for buffer, pointer in enumerate(pointers):
        if pointer:
            yield from write("SET_STREAM_OUT_BUFFER_LOAD_WRITE_POINTER", pointer, index=buffer)
    alone = draw.method.startswith(("DRAW_VERTEX_ARRAY_BEGIN", "DRAW_INDEX_BUFFER")) and "INSTANCE" in draw.method
    # Instances count by BEGIN: as many as there were before this one.
    before = draw.instance if not alone else draw.instance - draw.method.endswith("SUBSEQUENT")
    if not alone or draw.method.endswith("SUBSEQUENT"):
        yield from begin(_INSTANCES.FIRST)
        for _ in range(before):
            yield from write("END", 0)
            yield from begin(_INSTANCES.SUBSEQUENT)
    value = int(draw.registers[B197[draw.method].word])
    if alone:
        yield from write("END", 0)
        yield from write(draw.method, value)
        return
    if draw.first_primitive:
        yield from write("LOAD_PRIMITIVE_ID", draw.first_primitive)
    if draw.method.startswith("DRAW_INLINE_INDEX"):
        assert draw.inline is not None
        yield from write("DRAW_INLINE_INDEX", *draw.inline.tolist())
    else:
        yield from write(draw.method, value)
    yield from write("END", 0)


def _packet(form: int, subchannel: int, word: int, values: list[int]) -> Iterator[int]:
    yield pack_header(form, subchannel, word, len(values))
    yield from values


def _targets(draw: Draw) -> Iterator[Span]:
    """The addresses that the draw may write: all existing targets."""
    events: list[tuple[str, str]] = []
    for slot in [*range(MAX_TARGETS), None]:
        try:
            found = (
                depth_target(draw.state, True, events)
                if slot is None
                else colour_target(draw.state, slot, True, events)
            )  # fmt: skip
        except UsageError:
            continue
        if found is not None:
            yield found.address, found.size


def _free(mapped: list[Span], size: int) -> int:
    """An address where so many bytes are unmapped: after all mappings, or in a gap."""
    at = _ROOM
    ends = [-(-sum(span) // _ROOM) * _ROOM for span in mapped]
    if ends and max(ends) + size <= VA_END:
        return max(ends)
    for address, length in mapped:
        if at + size <= address:
            return at
        at = max(at, -(-(address + length) // _ROOM) * _ROOM)
    raise UsageError("no addresses are free for the commands of the draw")
