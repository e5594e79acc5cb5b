"""One run of a 3DS capture that notes everything that rules read.

Draws are handled in bulk: draws with the same registers, except those that only hold data, are one record, and Python
code runs only for different ones. They are also drawn, so that the machine reports on their vertices and programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.driver import drive
from pocketgpu.errors import NoPictureError
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.gsp import FLUSH_REGIONS, PROCESS_LIST, REQUEST_DMA, command_of
from pocketgpu.facts.pica import PICA
from pocketgpu.facts.pica_enums import GEOMETRY_STAGE
from pocketgpu.in_steps import InSteps
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.n3ds.inventory.draw_state import MOST_STATES
from pocketgpu.inspect.n3ds.recorder import Recorder
from pocketgpu.inspect.rules.n3ds.draws import DrawReader
from pocketgpu.inspect.rules.n3ds.memory_map import WrittenMemory
from pocketgpu.inspect.rules.n3ds.record import DrawRecord, Lost, N3dsRecord, Read, ShownScreen, UnitRecord
from pocketgpu.inspect.rules.n3ds.uniforms import unset_uniforms
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.front.packets import DrawPackets

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.capture.formats.n3ds_trace import N3DSTrace

_NARROW = {
    register.address: register
    for register in (
        *(EXTERNAL[name] for name in ("PSC0_START", "PSC0_END", "PSC1_START", "PSC1_END")),
        *(EXTERNAL[f"PPF_{name}"] for name in ("INPUT_ADDRESS", "OUTPUT_ADDRESS", "OUTPUT_SIZE", "COPY_SIZE")),
        *(PICA[f"CMDBUF_{name}{n}"] for name in ("SIZE", "ADDR") for n in range(2)),
    )
}
"""Registers that do not keep all bits of an address or a size."""
_NARROW_AT = np.array(sorted(_NARROW), np.uint32)
_FLUSHING = {REQUEST_DMA.name: ("source", "size"), PROCESS_LIST.name: ("list", "size")}
"""Commands that can first write a range of the cache back, and the words that name it."""
_PARTS = {"list": "command list", "transfer": "display transfer", "copy": "texture copy"}
_STAGE = PICA["GEOSTAGE_CONFIG"]
MOST_WATCHED = 64
"""Most draws of a state whose targets are compared, if none of them changes anything."""


class Watch(Recorder):
    """Numbers events like the debugger, and keeps a record of what they did."""

    def __init__(self) -> None:
        super().__init__()
        self.record = N3dsRecord()
        self._now: Event | None = None
        self._written: WrittenMemory | None = None
        self._lost: dict[int, Lost] = {}
        self._row: bool | None = None
        self._row_frame = -1
        self._reader: DrawReader | None = None

    def begin_again(self) -> None:
        """Forget what was noted so far; what is known of memory stays."""
        self.record, self._reader, self._row = N3dsRecord(), None, None

    # -- where we are -------------------------------------------------------------------------------------------------
    def _note(self, kind: str, title: str, facts: Mapping[str, Any] | None = None, **more: Any) -> Event:
        self._now = super()._note(kind, title, facts, **more)
        return self._now

    @property
    def here(self) -> str:
        """The address of the event that has just been noted."""
        return str(self._now.by_number) if self._now is not None else "f0"

    @property
    def written(self) -> WrittenMemory:
        if self._written is None:
            self._written = WrittenMemory(self.machine.memory)
        return self._written

    def take_events(self) -> None:
        """Keep events of the machine, with the place of the current event unless they name a draw."""
        for event in self.machine.events.drain():
            at = event.at if "/d" in event.at else self.here
            self.record.machine_events.append(replace(event, at=at))

    def writes_start(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        places = np.flatnonzero(np.isin(addresses, _NARROW_AT))
        for place in places.tolist():
            register = _NARROW[int(addresses[place])]
            word, kept = int(values[place]), int(values[place]) & register.writable
            self._lost.pop(register.address, None)
            if kept != word:
                self._lost[register.address] = Lost(register.name, word, kept, "")

    def _take_lost(self, *names: str) -> None:
        """Keep lost bits of these registers, which the unit that starts now uses."""
        for name in names:
            lost = self._lost.get((EXTERNAL[name] if name.startswith("P") else PICA[name]).address)
            if lost is not None:
                self.record.lost.append(replace(lost, at=self.here))

    def reads(self, kind: str, what: str, range_: Range, name: str = "") -> Read:
        """Note a read of physical memory, and how much of it nothing has written."""
        found = Read(kind, what, range_, self.here, name=name)
        offset = self.machine.memory.offset_of(range_.address, range_.size)
        if offset is None or not range_.size:
            return found
        return replace(
            found, missing=self.written.missing(offset, range_.size), stale=self.written.stale(offset, range_.size)
        )

    def writes(self, ranges: Sequence[Range], by_processor: bool = False) -> None:
        for one in ranges:
            offset = self.machine.memory.offset_of(one.address, one.size)
            if offset is not None:
                self.written.write(offset, one.size, by_processor)

    def command_starts(self, words: Sequence[int]) -> None:
        """Flush the range that a GX command flushes first."""
        command = command_of(words)
        if command is None:
            return
        if command is FLUSH_REGIONS:
            self.record.flushes += 1
        elif command.name in _FLUSHING and words[command.word("flush")]:
            place, size = command.values(words, *_FLUSHING[command.name])
            self._flush(place, size)

    def _flush(self, virtual: int, size: int) -> None:
        machine = self.machine
        place = machine.gsp.virt_to_phys.translate(virtual, size)
        offset = None if place is None else machine.memory.offset_of(place, size)
        if offset is not None:
            self.written.flush(offset, size)

    # -- notifications of the machine ---------------------------------------------------------------------------------
    def memory_loaded(self, address: int, size: int) -> None:
        super().memory_loaded(address, size)
        self.writes([Range(address, size)], by_processor=True)

    def display_written(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        super().display_written(addresses, values)
        self.take_events()

    def _filled(self, unit: str, words: Mapping[str, int]) -> None:
        super()._filled(unit, words)
        assert self._now is not None
        record = UnitRecord(unit, self.here, dict(words), target=next(iter(self._now.writes), None))
        self.record.units.append(record)
        self._take_lost(f"{unit}_START", f"{unit}_END")
        self.writes(self._now.writes)
        self.take_events()

    def _transferred(self, words: Mapping[str, int]) -> None:
        super()._transferred(words)
        assert self._now is not None
        record = UnitRecord("PPF", self.here, dict(words), target=next(iter(self._now.writes), None))
        self.record.units.append(record)
        names = ("COPY_SIZE",) if record.is_copy else ("OUTPUT_SIZE",)
        self._take_lost("PPF_INPUT_ADDRESS", "PPF_OUTPUT_ADDRESS", *(f"PPF_{name}" for name in names))
        source = next(iter(self._now.reads), None)
        if source is not None and record.target is not None:
            record.source = source
            kind = "copy" if record.is_copy else "transfer"
            self.record.reads.append(self.reads(kind, _PARTS[kind], source, "PPF_INPUT_ADDRESS"))
        self.writes(self._now.writes)
        self.take_events()

    def memory_copied(self, words: Sequence[int]) -> None:
        super().memory_copied(words)
        assert self._now is not None
        self.record.reads += [self.reads("copy", REQUEST_DMA.name, one) for one in self._now.reads]
        self.writes(self._now.writes)
        self.take_events()

    def cache_flushed(self, ranges: Sequence[tuple[int, int]]) -> None:
        super().cache_flushed(ranges)
        for virtual, size in ranges:
            self._flush(virtual, size)
        self.take_events()

    def list_starts(self, offset: int, size: int) -> None:
        super().list_starts(offset, size)
        self._take_lost("CMDBUF_SIZE0", "CMDBUF_ADDR0")
        place = self.machine.memory.address_of(offset)
        if place is not None:
            self.record.reads.append(self.reads("list", _PARTS["list"], Range(place, size), "CMDBUF_ADDR0"))

    def list_ended(self, offset: int, size: int, jumps: int, ignored: int) -> None:
        super().list_ended(offset, size, jumps, ignored)
        if ignored:
            self.record.ignored.append((self.here, ignored))
        self.take_events()

    def draws(self, packets: DrawPackets, run: Run) -> None:
        first = len(self.frames[-1].draws)
        super().draws(packets, run)
        if self._reader is None:
            self._reader = DrawReader(self.machine, self.record, MOST_STATES)
        frame = len(self.frames) - 1
        members = self._reader.add(packets, f"f{frame}", first, self.reads, self.writes)
        self._note_stages(packets, frame, first)
        packets.triangles[:] = 0
        self._run(len(packets), members, run)
        empty = packets.triangles[:, 1] <= packets.triangles[:, 0]
        for record, places in members:
            record.empty += int(np.count_nonzero(empty[places]))
        self.take_events()

    def _run(self, count: int, members: list[tuple[DrawRecord, NDArray[np.int64]]], run: Run) -> None:
        """Run draws; those of records that have changed nothing so far run alone, and their targets are compared."""
        owners = {int(place): record for record, places in members for place in places.tolist()}
        arena, done = self.machine.memory.arena, 0
        for place in sorted(owners):
            record = owners[place]
            if record.changed or record.watched >= MOST_WATCHED or isinstance(record.target, str):
                continue
            if done < place:
                run(done, place)
            parts = [slice(at, at + size) for at, size in record.target.ranges]
            before = [arena[part].copy() for part in parts]
            run(place, place + 1)
            done = place + 1
            record.watched += 1
            record.changed = not all(np.array_equal(arena[part], old) for part, old in zip(parts, before, strict=True))
        if done < count:
            run(done, count)

    def _note_stages(self, packets: DrawPackets, frame: int, first: int) -> None:
        on = (packets.registers[:, _STAGE.offset] & _STAGE["mode"].mask) == GEOMETRY_STAGE.ON
        for place in np.flatnonzero(np.diff(on, prepend=not on[0])).tolist():
            stage = bool(on[place])
            if (stage, frame) != (self._row, self._row_frame):
                self.record.order.append((str(frame), int(stage), f"f{frame}/d{first + place}"))
            self._row, self._row_frame = stage, frame

    def vblank(self, frame: int) -> None:
        """Look at the screens, and begin the next frame."""
        machine = self.machine
        _ = machine.screens
        for unit, screen in enumerate(("top", "bottom")):

            def value(name: str, unit: int = unit) -> int:
                part = EXTERNAL.field(f"PDC{unit}_{name}")
                return int(part.field.decode(machine.read_register(part.register.address)))

            if not value("CONTROL.enable"):
                continue
            address = value(f"ADDRESS_A{value('SELECT.next')}.address")
            if not address:
                continue
            shown = ShownScreen(screen, address, value("STRIDE.stride"), value("FORMAT.color_format"), f"f{frame}")
            self.record.shown.append(shown)
            columns = (400, 320)[unit]
            size = abs(shown.stride) * columns
            start = address if shown.stride >= 0 else address + shown.stride * (columns - 1)
            read = self.reads("display", f"{screen} screen", Range(start, size), f"PDC{unit}_ADDRESS_A0")
            self.record.reads.append(replace(read, at=f"f{frame}"))
        self.take_machine_events(frame)
        super().vblank(frame)

    def take_machine_events(self, frame: int) -> None:
        """Note what the machine has reported in a frame."""
        for event in self.machine.events.drain():
            self.record.machine_events.append(replace(event, at=event.at or f"f{frame}"))


def watching(
    capture: Capture, evaluator: str = "llvm", progress: Callable[[int], None] = lambda _: None,
    frame: int | None = None,
) -> InSteps[N3dsRecord]:  # fmt: skip
    """Run a capture and note what rules read, in steps. progress: called after each frame. frame: the only one that is
    noted; the run ends with it, and memory that earlier frames wrote counts as written. None: all frames.

    What comes after the last frame counts as one more.

    :raises NoPictureError: there are no frames, and nothing else.
    """
    noted, trace = Watch(), cast("N3DSTrace", capture.trace)
    if not trace.frame_count + trace.has_rest:
        raise NoPictureError("the capture has no frames", location=capture.path, hint="A frame ends with a marker.")
    driver = drive(trace, evaluator=evaluator)
    driver.machine.observe(noted)
    end = trace.frame_count + trace.has_rest if frame is None else frame + 1
    for index in range(end):
        if index == frame:
            noted.begin_again()
        for _ in driver.steps():
            yield
        if index < trace.frame_count:
            progress(index)
        else:
            noted.take_machine_events(index)
    noted.record.whys = _Asked(capture, evaluator)
    noted.record.unset = yield from unset_uniforms(trace, end)
    if frame is not None:
        noted.record.unset = [one for one in noted.record.unset if one.last >= frame]
    return noted.record


class _Asked:
    """Answers of the debugger about draws; it is opened at the first question."""

    def __init__(self, capture: Capture, evaluator: str) -> None:
        self._capture, self._evaluator = capture, evaluator
        self._known: dict[str, Funnel] = {}

    @cached_property
    def _run(self) -> Any:
        from pocketgpu.inspect.n3ds.inspection import N3dsInspection

        return N3dsInspection(self._capture, evaluator=self._evaluator)

    def __call__(self, at: str) -> Funnel:
        found = self._known.get(at)
        if found is None:
            answer = self._run.why(at)
            assert isinstance(answer, Funnel)
            found = self._known[at] = answer
        return found


__all__ = ["Watch", "watching"]
