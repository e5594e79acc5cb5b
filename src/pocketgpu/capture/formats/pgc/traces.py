"""The contents of a `.pgc` as traces that the drivers of both consoles replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Final

import numpy as np

from pocketgpu.capture.formats.mxcap import (
    FORMATS,
    MAPPED_LIMIT,
    MEMORY_LIMIT,
    VA_END,
    ChannelLog,
    ChunkRecord,
    MappingRecord,
    Submission,
    bytes_per_pixel,
)
from pocketgpu.capture.formats.mxcap import Present as Shown
from pocketgpu.capture.formats.n3ds_trace import (
    GxRun,
    InitialState,
    LoadRun,
    N3DSTrace,
    NarrowWrite,
    Step,
    SwapRun,
    WriteRun,
    needs_new_memory,
    rest_text,
)
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
    Store,
    Submit,
    Swap,
    Unmap,
    Words,
    Writes,
    count,
)
from pocketgpu.errors import CaptureError
from pocketgpu.events import Event as Note
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.maxwell.page_kinds import KINDS
from pocketgpu.facts.pica import PICA
from pocketgpu.pica.gsp.address_map import AddressMap
from pocketgpu.wording import counted

_KIND_NAMES = {number: name for name, number in KINDS.items()}


def expected_of(contents: Contents) -> list[Mapping[str, str] | None]:
    """For each frame, the digests (hex) of its pictures by name of the screen; None where the file has none."""
    names = F.SCREENS[contents.console]
    return [
        None
        if frame.pictures is None
        else MappingProxyType({names[screen]: value.hex() for screen, value in sorted(frame.pictures.items())})
        for frame in contents.frames
    ]


def notes_of(contents: Contents) -> list[Note]:
    """Problems of the file itself."""
    notes = []
    names = F.COVERAGE_NAMES[contents.console]
    missing = [name for bit, name in enumerate(names) if not contents.coverage >> bit & 1]
    if missing:
        message = f"the recorder did not save: {', '.join(missing)}; their power-on values are used"
        notes.append(Note("warning", "capture.not-covered", message))
    if not contents.coverage & F.MEMORY_COVERED:
        message = "the recorder does not say that all memory that the GPU reads is in the file"
        notes.append(Note("warning", "capture.memory-not-covered", message))
    swaps = [event for frame in contents.frames for event in frame.events if isinstance(event, Swap)]
    if unknown := sum(not swap.registers for swap in swaps):
        message = f"{unknown} framebuffers are left out: their addresses lead to no memory"
        notes.append(Note("warning", "capture.swap-unmapped", message))
    return notes


class SelfTesting:
    """A capture that knows what each of its frames must show. expected: see `expected_of`."""

    kind = "pgc capture"
    contents: Contents
    expected: list[Mapping[str, str] | None]


def power_on() -> dict[str, Words]:
    """The contents of the memories of a 3DS's GPU without records, by name of the item."""
    held: dict[str, Words] = {item.name: np.zeros(item.words, np.uint32) for item in F.STATE_3DS}
    for name, block in (("external", EXTERNAL), ("lcd", LCD), ("pica", PICA)):
        for register in block:
            place = register.offset if block is PICA else register.offset // 4
            if place < len(held[name]):
                held[name][place] = register.reset
    return held


def runs_of(events: Sequence[Event]) -> list[Step]:
    """Events of a 3DS in the form that drivers replay."""
    runs: list[Step] = []
    element = 0
    for event in events:
        match event:
            case Load():
                address = event.address
                for piece in event.pieces:
                    runs.append(LoadRun(element, address, piece, 0))
                    address += len(piece)
            case Writes():
                runs.append(WriteRun(element, event.addresses, event.values))
            case Narrow():
                runs.append(NarrowWrite(element, event.address, event.value, event.width))
            case Gx():
                runs.append(GxRun(element, event.words))
            case Swap():
                pairs = np.array(event.registers, np.uint32).reshape(-1, 2)
                words = pairs[:, 0].copy(), pairs[:, 1].copy()
                runs.append(SwapRun(element, *words, event.screen, event.info))
            case _:
                raise TypeError(f"{type(event).__name__} is no event of a 3DS")
        element += count(event)
    return runs


class PgcTrace(SelfTesting, N3DSTrace):
    """A capture of a 3DS for replay.

    tables: see `numbers.TABLES` and `numbers.WIDE_UNIFORMS`. expected: digests of each frame's pictures, see
    `expected_of`.
    """

    def __init__(self, file: str, contents: Contents) -> None:
        self.file = file
        self.contents = contents
        self.frame_count = len(contents.frames)
        self.has_rest = bool(contents.tail)
        notes = notes_of(contents)
        # On a Switch nothing is wrong with that: a recording ends after what the program does to end.
        if contents.tail:
            message = rest_text(sum(map(count, contents.tail)), "event", self.frame_count)
            notes.append(Note("warning", "capture.unfinished-frame", message, at=f"f{len(contents.frames)}"))
        self.warnings = tuple(notes)
        self.virt_to_phys = tuple(contents.ranges)
        self.expected = expected_of(contents)
        held = power_on()
        items = F.STATE_ITEMS["3DS"]
        for state in contents.state:
            held[items[state.item].name][state.first : state.first + len(state.words)] = state.words
        given = {items[state.item].name for state in contents.state}
        wide = {name: held.pop(name) for name in F.WIDE_UNIFORMS}
        self.tables = {name: held.pop(name) for name in F.TABLES}
        self.tables |= {name: words for name, words in wide.items() if name in given}
        self.initial = InitialState.of(**held)

    @cached_property
    def needs_new_model(self) -> bool:
        """Whether any access needs memory that only the newer model (256 MiB of FCRAM) has."""
        return needs_new_memory(self._accesses())

    def _accesses(self) -> Iterator[tuple[int | None, int]]:
        """(physical address or None, bytes) of what the events access; one byte where the size is not known."""
        translate = AddressMap(self.virt_to_phys).translate
        for event in chain.from_iterable(frame.events for frame in self.contents.frames):
            if isinstance(event, Load):
                yield event.address, sum(map(len, event.pieces))
            elif isinstance(event, Gx):
                yield from ((translate(word), 1) for word in event.words[1:])
            elif isinstance(event, Swap):
                yield from ((value, 1) for _, value in event.registers[:2])

    def runs(self, frame: int) -> list[Step]:
        """The events of frame `frame`, in order; with `frame_count` those after the last frame."""
        if not 0 <= frame < self.frame_count + self.has_rest:
            raise IndexError(f"no frame {frame}: the capture has {self.frame_count}")
        frames = self.contents.frames
        return runs_of(frames[frame].events if frame < self.frame_count else self.contents.tail)


class PgcLog(SelfTesting, ChannelLog):
    """A capture of a Switch: a channel log with the expected pictures of each frame.

    expected: see `expected_of`.
    """

    def __init__(self, file: str, contents: Contents) -> None:
        self.contents = contents
        self.expected = expected_of(contents)
        built = _ChannelLogBuilder(contents)
        notes = notes_of(contents)
        super().__init__(
            file, tuple(built.mappings), tuple(built.chunks), tuple(built.submissions), tuple(built.presents),
            contents.syncpoints, contents.about.get("source", ""), notes,
        )  # fmt: skip
        self.state = tuple(contents.state)
        self._check_bounds()

    def _check_bounds(self) -> None:
        mapped = sum(mapping.size for mapping in self.mappings)
        if mapped > MAPPED_LIMIT or sum(self.handles.values()) > MEMORY_LIMIT:
            message = (
                f"the mappings have {counted(sum(self.handles.values()), 'byte', form=',')} of memory and {mapped:,} "
                f"of addresses"
            )
            hint = f"At most {MEMORY_LIMIT:,} and {MAPPED_LIMIT:,} are replayed."
            raise CaptureError(message, file=self.file, hint=hint)
        for shown in self.presents:
            if shown.handle is None and shown.gpu_va + shown.size > VA_END:
                message = (
                    f"a surface of {counted(shown.size, 'byte')} at {shown.gpu_va:#x} leaves the 40-bit address "
                    f"space"
                )
                raise CaptureError(message, file=self.file, hint="The recorder that wrote it has a bug.")
        for name, places in (
            ("a store", ((chunk.handle, chunk.offset + len(chunk.data)) for chunk in self.chunks)),
            ("a present", ((shown.handle, shown.offset + shown.size) for shown in self.presents)),
        ):
            for handle, end in places:
                if handle is not None and end > self.handles[handle]:
                    message = f"{name} reaches byte {end} of memory {handle}, which has {self.handles[handle]}"
                    raise CaptureError(message, file=self.file, hint="The recorder that wrote it has a bug.")


class _ChannelLogBuilder:
    """Converts events in order to a log that refers to submissions by number."""

    def __init__(self, contents: Contents) -> None:
        self.mappings: list[MappingRecord] = []
        self.chunks: list[ChunkRecord] = []
        self.submissions: list[Submission] = []
        self.presents: list[Shown] = []
        self._live: dict[int, int] = {}
        self._updates: list[int] = []
        self._handles = {
            event.handle
            for events in (*(frame.events for frame in contents.frames), contents.tail)
            for event in events
            if isinstance(event, Map)
        }
        for frame in contents.frames:
            self._frame(frame)
        for event in contents.tail:
            self._event(event)
        for number in self._live.values():
            self._end(number, len(self.submissions))

    def _frame(self, frame: FrameContents) -> None:
        for event in frame.events:
            if isinstance(event, Present):
                if self._updates:  # the processor drew: stored before the picture, with an empty submission
                    self._submit(0, np.zeros(0, np.uint64))
                self.presents.append(self._present(event))
            else:
                self._event(event)

    def _event(self, event: Event) -> None:
        match event:
            case Map():
                self._live[event.id] = len(self.mappings)
                kind = _KIND_NAMES.get(event.kind, f"kind_{event.kind:#04x}")
                start = len(self.submissions)
                self.mappings.append(
                    MappingRecord(event.gpu_va, event.size, kind, event.handle, start, start, event.offset)
                )
            case Unmap():
                self._end(self._live.pop(event.id), len(self.submissions))
            case Store():
                handle = event.handle if event.handle in self._handles else None
                at = 0
                for piece in event.pieces:
                    self._updates.append(len(self.chunks))
                    self.chunks.append(ChunkRecord(event.gpu_va + at, handle, event.offset + at, piece))
                    at += len(piece)
            case Submit():
                self._submit(event.channel, event.entries)

    def _submit(self, channel: int, entries: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> None:
        self.submissions.append(Submission(channel, entries, tuple(self._updates)))
        self._updates = []

    def _end(self, number: int, end: int) -> None:
        self.mappings[number] = replace(self.mappings[number], end=end)

    def _present(self, event: Present) -> Shown:
        format = FORMATS[event.format]
        row = event.width * bytes_per_pixel(format)
        stride = max(event.stride, row)
        if event.block_linear:
            rows = 8 << event.block_height_log2
            size = -(-stride // 64) * 64 * (-(-event.height // rows) * rows)
        else:
            size = (event.height - 1) * stride + row
        handle = event.handle if event.handle in self._handles else None
        return Shown(
            len(self.submissions) - 1, event.gpu_va, handle, event.offset, event.width, event.height, format,
            event.block_linear, event.block_height_log2, stride, size, event.transform, event.fence, event.left,
            event.top,
        )  # fmt: skip


def trace_of(contents: Contents, file: str = "") -> PgcTrace | PgcLog:
    """The trace of these contents, for a `Capture`. Raises CaptureError for contents that no machine can replay."""
    return _TRACES[contents.console](file, contents)


_TRACES: Final[Mapping[str, type[PgcTrace | PgcLog]]] = {one.console: one for one in (PgcTrace, PgcLog)}
