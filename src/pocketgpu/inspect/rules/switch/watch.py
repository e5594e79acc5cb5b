"""One replay of a channel log, with everything noted that rules ask for.

A grid runs twice where it is new: its last block first, with memory put back afterwards, and then as always. Where the
two leave other bytes the result depends on the order of blocks, which a console does not promise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ....arena import PAGE_SHIFT, PAGE_SIZE
from ....capture.channel_replay import Replay
from ....errors import NoPictureError, UsageError
from ....events import EventLog
from ....maxwell.engines.draws import Draw
from ....maxwell.engines.queue_metadata import Launch
from ....maxwell.engines.records import Copy
from ....maxwell.engines.report import Counters
from ....maxwell.engines.state import State
from ....maxwell.gm20b import GM20B, GRIDS_SIZE
from ....maxwell.graphics.targets import colour_target, depth_target
from ....maxwell.grids import Grids, Read
from ....maxwell.sass.launch import Result
from ... import maxwell_doubts
from ...event import Range
from .record import OrderedGrid, SwitchDraw, SwitchRead, SwitchRecord

if TYPE_CHECKING:
    from ....capture import Capture
    from ....capture.mxcap import ChannelLog

MOST_TRIED = 64
"""Different grids that are run twice."""
MOST_BLOCKS = 4096
"""Blocks of a grid beyond which it is not run twice."""
MOST_READS = 1 << 14
_SLOTS = 8
_NAMED_BANKS = 16
_STAGES = ("vertex A", "vertex", "tessellation control", "tessellation evaluation", "geometry", "pixel")


class _TwiceGrids(Grids):
    """Grids that are run backwards first, to see whether the order of blocks matters."""

    def __init__(self, owner: WatchedGM20B, area: tuple[int, int]) -> None:
        super().__init__(owner.memory, owner.engine, owner.events, area, owner.threads, owner.textures)
        self.owner = owner

    def run(self, launch: Launch, state: State, read: Read) -> Result:
        blocks = int(np.prod(launch.grid))
        key = (launch.program, launch.grid, launch.block)
        tried = self.owner.tried
        if not 1 < blocks <= MOST_BLOCKS or key in tried or len(tried) >= MOST_TRIED or launch.flag(
            "SEQUENTIALLY_RUN_CTAS"
        ):  # fmt: skip
            return super().run(launch, state, read)
        tried.add(key)
        memory, events = self.launcher.memory, self.launcher.events
        before = memory.snapshot()
        self.launcher.events, self.backwards = EventLog(), True
        try:
            super().run(launch, state, lambda address, size, what: memory.try_read(address, size)[0])
            changed = memory._changed_since(before)
            other = {page: memory.arena[page << PAGE_SHIFT :][:PAGE_SIZE].copy() for page in changed}
        except UsageError:
            other = {}
        finally:
            self.launcher.events, self.backwards = events, False
            memory.restore(before)
        pages = {page: memory.arena[page << PAGE_SHIFT :][:PAGE_SIZE].copy() for page in other}
        result = super().run(launch, state, read)
        for page in memory._changed_since(before):
            pages.setdefault(page, np.frombuffer(before.pages.get(page, bytes(PAGE_SIZE)), np.uint8))
        count, first = 0, None
        for page, old in sorted(pages.items()):
            now = memory.arena[page << PAGE_SHIFT :][:PAGE_SIZE]
            differs = now != other.get(page, old)
            if differs.any():
                count += int(np.count_nonzero(differs))
                if first is None:
                    first = self.owner.address_of((page << PAGE_SHIFT) + int(np.argmax(differs)))
        if count:
            self.owner.record.ordered.append(OrderedGrid(self.owner.here, blocks, launch.program, count, first))
        return result


class WatchedGM20B(GM20B):
    """The machine of a check."""

    quick_draws = False  # each is looked at

    def __init__(self, evaluator: str = "llvm") -> None:
        self.record = SwitchRecord()
        self.tried: set[Any] = set()
        self.frame = self.draw_number = 0
        self._seen: set[Any] = set()
        super().__init__(evaluator=evaluator)

    @property
    def here(self) -> str:
        """The frame, and where in the submissions."""
        return f"f{self.frame}, {self.place}" if self.place else f"f{self.frame}"

    def address_of(self, offset: int) -> int | None:
        """A GPU address that shows an arena offset."""
        for mapping in reversed(self.memory.mappings):
            start = mapping.backing.offset + mapping.offset
            if start <= offset < start + mapping.size:
                return mapping.address + offset - start
        return None

    @cached_property
    def grids(self) -> Grids:
        area = (sum(self.scratch), GRIDS_SIZE)
        return _TwiceGrids(self, area)

    def note_read(self, kind: str, what: str, range_: Range, at: str) -> None:
        """Note what of a range lies in pages that nobody wrote."""
        key = (kind, what, range_)
        if key in self._seen or len(self._seen) >= MOST_READS or not range_.size:
            return
        self._seen.add(key)
        missing = 0
        for offset, size in self.memory.spans(range_.address, min(range_.size, 1 << 26)):
            if offset is None:
                continue
            first, last = offset >> PAGE_SHIFT, (offset + size - 1) >> PAGE_SHIFT
            for page in (np.flatnonzero(self.memory.page_versions[first : last + 1] == 0) + first).tolist():
                start, end = max(offset, page << PAGE_SHIFT), min(offset + size, (page + 1) << PAGE_SHIFT)
                missing += end - start
        self.record.reads.append(SwitchRead(kind, what, range_, at, missing))

    def draw(self, draw: Draw, state: State, counters: Counters) -> None:
        at = f"f{self.frame}/d{self.draw_number}"
        self.draw_number += 1
        self._note_inputs(draw, state, at)
        self.textures.forget()
        before = self.textures.generation
        super().draw(draw, state, counters)
        used = self.textures.used if self.textures.generation != before else []
        self._note_draw(draw, state, at, tuple(Range(*span) for span in used))

    def _note_inputs(self, draw: Draw, state: State, at: str) -> None:
        if draw.index_bytes:
            where = Range(
                state.address("SET_INDEX_BUFFER_A") + draw.first * draw.index_bytes, draw.count * draw.index_bytes
            )
            self.note_read("indices", "index buffer", where, at)
        streams = draw.streams
        for number in sorted({a.stream for a in draw.attributes}):
            stream = streams[number]
            if draw.indexed or stream.instanced:
                size = min(stream.limit + 1 - stream.address, max(stream.stride, 1))
                where = Range(stream.address, max(size, 0))
            else:
                first = stream.address + stream.stride * draw.first
                where = Range(first, max(min(stream.stride * draw.count, stream.limit + 1 - first), 0))
            self.note_read("vertices", f"vertex stream {number}", where, at)

    def _note_draw(self, draw: Draw, state: State, at: str, textures: tuple[Range, ...]) -> None:
        for texture in textures:
            self.note_read("texture", "texture", texture, at)
        unbound = []
        plan = self.drawing.plan
        groups = {shader.stage: shader.group for shader in draw.shaders}
        for number, program in (plan.programs if plan is not None else {}).items():
            bindings = draw.constants[groups.get(number, 0)]
            # A program that computes the number of a bank may read any of them, and most likely does not.
            for slot in program.constants if len(program.constants) <= _NAMED_BANKS else ():
                binding = bindings[slot] if slot < len(bindings) else None
                if binding is None:
                    unbound.append((_STAGES[number], slot))
                else:
                    where = Range(binding.address, min(binding.size, program.constants[slot]))
                    self.note_read("constants", f"constant buffer {slot} of the {_STAGES[number]} program", where, at)
        stages = tuple(_STAGES[shader.stage] for shader in draw.shaders)
        self.record.draws.append(SwitchDraw(at, stages, _targets(state), textures, tuple(unbound)))


def _targets(state: State) -> tuple[tuple[str, Range], ...]:
    """What a draw draws to. Targets that could not be are told of by the machine."""
    found = []
    try:
        count = state.field("SET_CT_SELECT", "TARGET_COUNT")
        for n in range(min(count, _SLOTS)):
            target = colour_target(state, state.field("SET_CT_SELECT", f"TARGET{n}"), False, [])
            if target is not None:
                found.append((target.name, Range(target.address, target.size)))
        depth = depth_target(state, False, [])
        if depth is not None:
            found.append((depth.name, Range(depth.address, depth.size)))
    except UsageError:
        pass
    return tuple(found)


def watch(capture: Capture, evaluator: str = "llvm", progress: Callable[[int], None] = lambda _: None) -> SwitchRecord:
    """Replay a log, what follows its last present included, and note what rules ask for."""
    log = cast("ChannelLog", capture.trace)
    if not log.submissions:
        raise NoPictureError("the capture has no submissions", location=capture.path, hint="Record until it draws.")
    machine = WatchedGM20B(evaluator)
    replay = Replay(log, machine)
    record = machine.record

    def run(frame: int, numbers: range) -> None:
        machine.frame, machine.draw_number = frame, 0
        for number in numbers:
            replay.run(number)
            _take(machine)
        machine.finish()
        _take(machine)

    for index, present in enumerate(log.presents):
        run(index, log.submissions_of(index))
        replay.check_fence(present, index)
        _take(machine)
        progress(index)
    if log.tail:
        run(len(log.presents), log.tail)
    return record


def _take(machine: WatchedGM20B) -> None:
    """Keep what engines noted and the machine told."""
    record = machine.record
    for one in machine.log:
        for doubt in maxwell_doubts.of_record(one):
            record.doubts.append((doubt, f"f{machine.frame}"))
        at = f"f{machine.frame}, {one.place}" if hasattr(one, "place") else f"f{machine.frame}"
        if isinstance(one, Copy) and one.kind != "fill":
            machine.note_read("copy", "a copy", Range(one.source, one.line_length * one.unit), at)
        elif isinstance(one, Launch):
            for slot, buffer in enumerate(one.constants):
                if buffer is not None:
                    what = f"constant buffer {slot} of a grid"
                    machine.note_read("constants", what, Range(buffer.address, buffer.size), at)
    machine.log.clear()
    for told in machine.events.drain():
        frame = f"f{machine.frame}"
        place = told.at if told.at.startswith("f") else f"{frame}, {told.at}" if told.at else frame
        record.told.append(replace(told, at=place))


__all__ = ["WatchedGM20B", "watch"]
