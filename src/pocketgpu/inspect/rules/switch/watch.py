"""One replay of a channel log that notes everything that rules read.

A new grid runs twice: with its last block first, after which memory is restored, and then as always. If the two results
differ, the result depends on the order of blocks, which a console does not guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SHIFT, PAGE_SIZE, Snapshot
from pocketgpu.capture.driver.switch import SwitchDriver
from pocketgpu.errors import NoPictureError, UsageError
from pocketgpu.in_steps import InSteps
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.rules.switch.draw_faults import DrawFaults
from pocketgpu.inspect.rules.switch.input_faults import overwritten_inputs, shared_inputs
from pocketgpu.inspect.rules.switch.record import DrawnTarget, OrderedGrid, SwitchDraw, SwitchRead, SwitchRecord
from pocketgpu.inspect.rules.switch.unset import Suspects, unset_words
from pocketgpu.inspect.switch.inventory import doubts as maxwell_doubts
from pocketgpu.inspect.switch.primitives.viewports import used_viewports
from pocketgpu.maxwell.engines.common.action_log import Blit, Copy
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.graphics.output.targets import colour_target, depth_target
from pocketgpu.maxwell.graphics.records import REGION
from pocketgpu.maxwell.host.observer import Observer, Order, RunGrid
from pocketgpu.maxwell.sass.launch.launcher import Result

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.capture.formats.mxcap import ChannelLog, ChunkRecord, Present
    from pocketgpu.inspect.switch.inspection import SwitchInspection
    from pocketgpu.maxwell.graphics.draw.plans import Plan

MOST_TRIED = 64
"""Most different grids that are run twice."""
MOST_BLOCKS = 4096
"""A grid with more blocks is not run twice."""
MOST_READS = 1 << 14
_SLOTS = 8
_DEPTH = "depth target"
_NAMED_BANKS = 16
_STAGES = ("vertex A", "vertex", "tessellation control", "tessellation evaluation", "geometry", "pixel")


class Watch(Observer):
    """The observer of a check: it is called for each draw and each grid."""

    wants_draws = True

    def __init__(self, pages: int) -> None:
        """pages: of the machine's memory."""
        self.record = SwitchRecord()
        self._loaded: NDArray[np.bool_] = np.zeros(pages, np.bool_)
        self.frame = self.draws = 0
        self._tried: set[Any] = set()
        self._seen: set[Any] = set()
        self._faults = DrawFaults()
        self.suspects = Suspects()

    def begin(self) -> None:
        """Forget what was noted so far: rules look at what comes now."""
        self.record, self.suspects = SwitchRecord(), Suspects()
        self._seen.clear()
        self._faults = DrawFaults()

    @property
    def here(self) -> str:
        """The frame, and the place in the submissions."""
        return f"f{self.frame}, {self.machine.place}" if self.machine.place else f"f{self.frame}"

    def address_of(self, offset: int) -> int | None:
        """A GPU address that is mapped to an arena offset."""
        for mapping in reversed(self.machine.memory.mappings):
            start = mapping.backing.offset + mapping.offset
            if start <= offset < start + mapping.size:
                return mapping.address + offset - start
        return None

    def loaded(self, chunk: ChunkRecord, at: int, offset: int, size: int) -> None:
        """Note pages that the processor wrote: zeros in fresh memory change nothing, and leave no version."""
        if size > 0:
            self._loaded[offset >> PAGE_SHIFT : (offset + size - 1 >> PAGE_SHIFT) + 1] = True

    # -- launches -----------------------------------------------------------------------------------------------------
    def launch(self, launch: Launch, run: RunGrid) -> Result:
        """Run a new grid backwards first, to see whether the order of blocks matters."""
        blocks = math.prod(launch.grid)
        key = (launch.program, launch.grid, launch.block)
        if not 1 < blocks <= MOST_BLOCKS or key in self._tried or len(self._tried) >= MOST_TRIED or launch.flag(
            "SEQUENTIALLY_RUN_CTAS"
        ):  # fmt: skip
            return run()
        self._tried.add(key)
        memory = self.machine.memory
        before = memory.snapshot()
        backwards: dict[int, NDArray[np.uint8]] = {}
        try:
            # If the launch is refused, the run in the usual order below raises the same error.
            with suppress(UsageError):
                run(Order(backwards=True, silent=True))
                backwards = self._changed(before)
        finally:
            memory.restore(before)
        result = run()
        self._compare(launch, before, backwards, self._changed(before))
        return result

    def _changed(self, before: Snapshot) -> dict[int, NDArray[np.uint8]]:
        """Pages that may differ from a snapshot, by number."""
        memory = self.machine.memory
        return {n: memory.arena[n << PAGE_SHIFT :][:PAGE_SIZE].copy() for n in memory.changed_since(before)}

    def _compare(
        self, launch: Launch, before: Snapshot, one: dict[int, NDArray[np.uint8]], other: dict[int, NDArray[np.uint8]]
    ) -> None:
        """Note bytes that differ after two orders of blocks. one, other: pages that they changed."""
        count, first = 0, None
        for page in sorted({*one, *other}):
            old = np.frombuffer(before.page(page), np.uint8)
            differs = one.get(page, old) != other.get(page, old)
            if differs.any():
                count += int(np.count_nonzero(differs))
                if first is None:
                    first = self.address_of((page << PAGE_SHIFT) + int(np.argmax(differs)))
        if count:
            blocks = math.prod(launch.grid)
            self.record.ordered.append(OrderedGrid(self.here, blocks, launch.program, count, first))

    # -- what is read -------------------------------------------------------------------------------------------------
    def note_read(self, kind: str, what: str, range_: Range, at: str) -> None:
        """Note how much of a range is in pages that nothing wrote."""
        key = (kind, what, range_)
        if key in self._seen or len(self._seen) >= MOST_READS or not range_.size:
            return
        self._seen.add(key)
        missing = 0
        for offset, size in self.machine.memory.spans(range_.address, min(range_.size, 1 << 26)):
            if offset is None:
                continue
            first, last = offset >> PAGE_SHIFT, (offset + size - 1) >> PAGE_SHIFT
            fresh = (self.machine.memory.page_versions[first : last + 1] == 0) & ~self._loaded[first : last + 1]
            for page in (np.flatnonzero(fresh) + first).tolist():
                start, end = max(offset, page << PAGE_SHIFT), min(offset + size, (page + 1) << PAGE_SHIFT)
                missing += end - start
        self.record.reads.append(SwitchRead(kind, what, range_, at, missing))
        if kind in ("texture", "copy"):
            self.note_place(range_)

    def note_place(self, range_: Range) -> None:
        """Note which bytes of the arena are read."""
        spans = self.machine.memory.spans(range_.address, min(range_.size, 1 << 26))
        self.record.places |= {Range(offset, size) for offset, size in spans if offset is not None}

    def shown(self, present: Present, base: int | None) -> None:
        """Note a surface that is shown. base: arena offset of its first byte, None if it is nowhere."""
        self.record.shows = True
        if base is None:
            return
        size = max(min(present.size, self.machine.memory.guest_end - base), 0)
        self.record.places.add(Range(base, size))
        pages = slice(base >> PAGE_SHIFT, (base + max(size, 1) - 1 >> PAGE_SHIFT) + 1)
        if not self.machine.memory.newest(base, size) and not self._loaded[pages].any():
            where = Range(present.gpu_va, present.size)
            self.record.reads.append(SwitchRead("shown", "the shown surface", where, f"f{self.frame}", where.size))

    def draw_recorded(self, draw: Draw) -> None:
        """Count all draws, also those without vertices, as the numbers of events do."""
        self.draws += 1

    def draw(self, draw: Draw, run: Callable[[], None]) -> None:
        """Note what a draw reads, and its targets."""
        at = f"f{self.frame}/d{self.draws - 1}"
        self.note_inputs(draw, at)
        self._note_draw(draw, at, self.textures_of(run))

    def textures_of(self, run: Callable[[], None]) -> tuple[Range, ...]:
        """Make a draw: the texels that it sampled."""
        textures = self.machine.textures
        textures.forget()
        before = textures.generation
        run()
        return tuple(Range(*span) for span in textures.used) if textures.generation != before else ()

    def note_inputs(self, draw: Draw, at: str) -> None:
        """Note the indices and vertices that a draw reads."""
        state = draw.state
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

    def _note_draw(self, draw: Draw, at: str, textures: tuple[Range, ...]) -> None:
        for texture in textures:
            self.note_read("texture", "texture", texture, at)
        drawing = self.machine.drawing
        plan = self._plan_of(draw)
        viewports = (0,) if plan is None else used_viewports(self.machine.memory, plan)
        faults = self._faults.of(draw, plan, viewports)
        shapes = passed = -1
        if plan is not None:
            faults += tuple(self._faults.small_constants(draw, plan, _STAGES))
            faults += tuple(self._faults.bad_textures(self.machine, draw))
            faults += tuple(overwritten_inputs(self.machine.memory, draw, plan))
            faults += tuple(shared_inputs(self.machine.memory, draw, plan, textures))
            if plan.rasters:
                shapes = int(self.machine.memory.words(drawing.region + REGION.SHAPES, 1)[0])
            if plan.output.tests:
                passed = drawing.passed
            self.suspects.note(self.machine, draw, plan, _STAGES, (self.frame, self.draws - 1, at))
        unbound = self.note_constants(draw, at)
        stages = tuple(_STAGES[shader.stage] for shader in draw.shaders)
        targets = _targets(draw.state)
        for name, where in targets:
            offset = self.machine.memory.offset_of(where.address, where.size)
            if offset is not None:
                self.suspects.drawn.add(Range(offset, where.size))
            if offset is not None and name != _DEPTH:
                self.record.drawn.setdefault(DrawnTarget(name, where, Range(offset, where.size)), at)
        self.record.draws.append(
            SwitchDraw(at, stages, targets, textures, tuple(unbound), faults, shapes, passed)
        )

    def _plan_of(self, draw: Draw) -> Plan | None:
        """How a draw was made; None if it was refused."""
        plan = self.machine.drawing.plan
        if plan is not None and set(plan.programs) != {shader.stage for shader in draw.shaders}:
            return None  # of an earlier draw
        return plan

    def note_constants(self, draw: Draw, at: str) -> list[tuple[str, int]]:
        """Note the constants that a draw's programs read: (stage, slot) of those that are not bound."""
        plan, unbound = self._plan_of(draw), []
        groups = {shader.stage: shader.group for shader in draw.shaders}
        for number, program in (plan.programs if plan is not None else {}).items():
            bindings = draw.constants[groups.get(number, 0)]
            # A program that computes the number of a bank may read any of them, but probably does not read all.
            for slot in program.constants if len(program.constants) <= _NAMED_BANKS else ():
                binding = bindings[slot] if slot < len(bindings) else None
                if binding is None:
                    unbound.append((_STAGES[number], slot))
                else:
                    where = Range(binding.address, min(binding.size, program.constants[slot]))
                    self.note_read("constants", f"constant buffer {slot} of the {_STAGES[number]} program", where, at)
        return unbound

    def take(self) -> None:
        """Keep records of engines and events of the machine."""
        record = self.record
        for one in self.machine.log:
            for doubt in maxwell_doubts.of_record(one):
                record.doubts.append((doubt, f"f{self.frame}"))
            at = f"f{self.frame}, {one.place}" if hasattr(one, "place") else f"f{self.frame}"
            if isinstance(one, Copy) and one.kind != "fill":
                self.note_read("copy", "a copy", Range(one.source, one.line_length * one.unit), at)
            elif isinstance(one, Blit):
                self.note_place(Range(one.source, 1))
            elif isinstance(one, Launch):
                for slot, buffer in enumerate(one.constants):
                    if buffer is not None:
                        what = f"constant buffer {slot} of a grid"
                        self.note_read("constants", what, Range(buffer.address, buffer.size), at)
        self.machine.log.clear()
        for event in self.machine.events.drain():
            frame = f"f{self.frame}"
            place = event.at if event.at.startswith("f") else f"{frame}, {event.at}" if event.at else frame
            record.machine_events.append(replace(event, at=place))


def _targets(state: State) -> tuple[tuple[str, Range], ...]:
    """The targets of a draw. The machine reports invalid ones."""
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


def watching(
    capture: Capture, evaluator: str = "llvm", progress: Callable[[int], None] = lambda _: None,
    frame: int | None = None,
) -> InSteps[SwitchRecord]:  # fmt: skip
    """Replay a log, also after its last present, and note what rules read, in steps. frame: the only one that is noted;
    the replay ends with it. None: all."""
    log = cast("ChannelLog", capture.trace)
    if not log.submissions:
        raise NoPictureError("the capture has no submissions", location=capture.path, hint="Record until it draws.")
    machine = SwitchDriver.make_machine(log, evaluator=evaluator)
    watch = Watch(len(machine.memory.page_versions))
    driver = SwitchDriver(log, machine, watch.loaded)
    machine.observe(watch)
    for index in range(log.frame_count + bool(log.tail) if frame is None else frame + 1):
        if index == frame:
            watch.begin()
        watch.frame, watch.draws = index, 0
        for _ in driver.steps():
            watch.take()
            yield
        watch.take()
        if index < log.frame_count:
            present = log.presents[index]
            backing = driver.backings.get(present.handle) if present.handle is not None else None
            base = driver.machine.memory.offset_of(present.gpu_va, present.size)
            if backing is not None:
                base = backing.offset + present.offset
            watch.shown(present, base)
            progress(index)
    unset = yield from unset_words(log, watch.suspects, evaluator)
    watch.record.unset = [(one.text, one.at) for one in unset]
    watch.record.whys = _Asked(capture, evaluator)
    return watch.record


class _Asked:
    """Answers of the debugger about draws; it is opened at the first question."""

    def __init__(self, capture: Capture, evaluator: str) -> None:
        self._capture, self._evaluator = capture, evaluator
        self._known: dict[str, Funnel] = {}

    @cached_property
    def _run(self) -> SwitchInspection:
        from pocketgpu.inspect.switch.inspection import SwitchInspection

        return SwitchInspection(self._capture, evaluator=self._evaluator)

    def __call__(self, at: str) -> Funnel:
        found = self._known.get(at)
        if found is None:
            answer = self._run.why(at)
            assert isinstance(answer, Funnel)
            found = self._known[at] = answer
        return found


__all__ = ["Watch", "watching"]
