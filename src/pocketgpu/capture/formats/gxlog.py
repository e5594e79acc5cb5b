"""Reader of GX logs: NAME.gx.json and NAME.mem.bin in the same folder, a 3DS program's requests to its system software.

A log has no registers, only what the program submitted: GX commands with virtual addresses, framebuffer entries, and
the memory that they read. It begins at power-on, with the registers after start-up code. So its replay runs the same
code as a program on the machine would: `N3DS.gsp` checks and translates each command.

The files are not trusted, and JSON can contain anything. Everything is checked before the first frame runs, and errors
name the place in the document ("events[12].words[3]").
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pocketgpu.capture.formats import container
from pocketgpu.capture.formats.documents import Document, kind_of
from pocketgpu.capture.formats.n3ds_trace import (
    GxRun,
    InitialState,
    LoadRun,
    N3DSTrace,
    Step,
    SwapRun,
    Words,
    WriteRun,
    needs_new_memory,
    rest_text,
)
from pocketgpu.errors import CaptureError
from pocketgpu.events import Event
from pocketgpu.facts.choices import DEFAULTS
from pocketgpu.facts.external import EXTERNAL, EXTERNAL_BANK, LCD, LCD_BANK
from pocketgpu.facts.external_init import CORE_START, start_writes
from pocketgpu.facts.gsp import ENTRY_WORDS, AddressRange, command_of
from pocketgpu.facts.pica import PICA
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.gsp.address_map import AddressMap
from pocketgpu.pica.gsp.framebuffers import swap_writes
from pocketgpu.pica.gsp.gsp_machine import Refused, Translator
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1
_PACKINGS = ("", ".xz", ".zst", ".gz")
_ADDRESS_END = 1 << 32
_MOST_COPIED = 256 << 20


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """Bytes `offset` to `offset + size` of the memory file go to physical address `phys`."""

    phys: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class GxEvent:
    """A GX command of eight words."""

    words: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SwapEvent:
    """A screen (0 top, 1 bottom) gets a new framebuffer: the program's entry (facts.gsp.ENTRY_WORDS), and the register
    writes (physical address, value) that result from it."""

    screen: int
    info: tuple[int, ...]
    registers: tuple[tuple[int, int], ...]


LogEvent: TypeAlias = MemoryEvent | GxEvent | SwapEvent
Run: TypeAlias = WriteRun | LoadRun | GxRun


def start_state() -> InitialState:
    """The registers after a program's start-up code; those that are not in `start_writes` have their reset
    value, the shader units are empty."""
    external, lcd, core = (np.zeros(count, np.uint32) for count in (0x400, 0x400, 0x300))
    for block, words in ((EXTERNAL, external), (LCD, lcd)):
        for offset, reset in block.resets:
            words[offset // 4] = reset
    for name, value in CORE_START.items():
        core[PICA.offset_of(name)] = value
    for offset, value, mask in start_writes():
        written = EXTERNAL.name_of(offset)
        # Selects are accepted by the hardware and read as 0 afterwards; the 3D core has its own registers.
        if written is not None and not written.endswith("_SELECT"):
            external[offset // 4] = (int(external[offset // 4]) & ~mask) | (value & mask)
    assert EXTERNAL_BANK.stride == LCD_BANK.stride == 1
    return InitialState.of(external=external, lcd=lcd, pica=core)


class GxLog(N3DSTrace):
    """A parsed log. Made by `parse`.

    virt_to_phys: the program's addresses. frames: the events of each frame; rest: those after the last. memory: the
    bytes of the memory file.
    warnings: problems of the log. initial: registers before the first event (see `start_state`).
    """

    kind = "GX log"

    def __init__(
        self,
        file: str,
        memory: bytes,
        ranges: tuple[AddressRange, ...],
        frames: list[list[LogEvent]],
        warnings: list[Event],
        rest: list[LogEvent],
    ) -> None:
        self.file = file
        self.virt_to_phys = ranges
        self.frames = frames
        self.frame_count = len(frames)
        self.rest, self.has_rest = rest, bool(rest)
        self.warnings = tuple(warnings)
        self.initial = start_state()
        self.memory = memory

    @property
    def other_bytes(self) -> bytes:
        return self.memory

    @property
    def needs_new_model(self) -> bool:
        """Whether any access needs memory that only the newer model (256 MiB of FCRAM) has."""
        return needs_new_memory(self._accesses())

    def _accesses(self) -> Iterator[tuple[int | None, int]]:
        """(physical address or None, bytes) of what the events access; one byte where the size is not known."""
        translate = AddressMap(self.virt_to_phys).translate
        for event in chain.from_iterable([*self.frames, self.rest]):
            if isinstance(event, MemoryEvent):
                yield event.phys, event.size
            elif isinstance(event, SwapEvent):
                yield from ((value, 1) for _, value in event.registers[:2])
            elif (command := command_of(event.words)) is not None:
                for word, value in zip(command.words, event.words[1:], strict=True):
                    if word.kind == "address":
                        yield translate(value), 1

    def runs(self, frame: int) -> list[Step]:
        """The events of frame `frame`, in order; with `frame_count` those after the last frame."""
        if not 0 <= frame < self.frame_count + self.has_rest:
            raise IndexError(f"no frame {frame}: the log has {self.frame_count}")
        events = self.frames[frame] if frame < self.frame_count else self.rest
        view = memoryview(self.memory)
        # `bytes` are stored fastest, but many loads of one large range must not fill the host's memory.
        copy = sum(event.size for event in events if isinstance(event, MemoryEvent)) <= _MOST_COPIED
        runs: list[Step] = []
        for number, event in enumerate(events):
            if isinstance(event, MemoryEvent):
                data = view[event.offset : event.offset + event.size]
                runs.append(LoadRun(number, event.phys, bytes(data) if copy else data, event.offset))
            elif isinstance(event, GxEvent):
                runs.append(GxRun(number, event.words))
            else:
                runs.append(SwapRun(number, *_columns(event.registers), event.screen, event.info))
        return runs


def _columns(pairs: tuple[tuple[int, int], ...]) -> tuple[Words, Words]:
    table = np.array(pairs, np.uint64).reshape(-1, 2).astype(np.uint32)
    return np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])


def memory_path(path: str | os.PathLike[str]) -> Path:
    """The path of the memory file of the log at `path`, packed or not; the plain name if there is none."""
    from pathlib import Path  # which loads readers of web addresses, and a start needs none

    return Path(_memory_path(os.fspath(path)))


def _memory_path(path: str) -> str:
    folder, name = os.path.split(path)
    packing = next((p for p in _PACKINGS[1:] if name.lower().endswith(p)), "")
    name = name[: len(name) - len(packing)]
    for ending in (".json", ".gx"):
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
    plain = os.path.join(folder, f"{name}.mem.bin")
    candidates = (plain + p for p in (packing, *_PACKINGS))
    return next((candidate for candidate in candidates if os.path.isfile(candidate)), plain)


def read(path: str | os.PathLike[str], data: bytes) -> GxLog:
    """The log at `path`, whose plain bytes are `data`; its memory file is read as well.

    Raises CaptureError for something that is not a log, and for a memory file that is missing, damaged or too short.
    """
    file = os.fspath(path)
    return _GxLogParser(file, data).parse(_memory_path(file))


def parse(data: bytes, memory: bytes, *, file: str = "") -> GxLog:
    """A log from the plain bytes of both its files. `file` is its name in errors. Raises CaptureError as `read`
    does."""
    return _GxLogParser(file, data).parse(memory)


class _GxLogParser(Document):
    def __init__(self, file: str, data: bytes) -> None:
        super().__init__(file, data)
        self.memory = b""
        self.memory_name = "the memory file"
        self.read_files: tuple[str, ...] = ()
        self.translate = Translator(DEFAULTS)

    # -- parsing ----------------------------------------------------------------------------------------------------
    def parse(self, memory: bytes | str) -> GxLog:
        """memory: the bytes of the memory file, or its path."""
        document = self.as_object(self.document(), "the document")
        self.check_version(document, VERSION)
        ranges = self.ranges(self.as_list(self.member(document, "virt_to_phys", "the document"), "virt_to_phys"))
        self.translate.map = AddressMap(ranges)
        listed = self.as_list(self.member(document, "events", "the document"), "events")
        if isinstance(memory, bytes):
            self.memory = memory
        elif any(isinstance(event, dict) and event.get("type") == "memory" for event in listed):
            self.read_memory(memory)
        frames: list[list[LogEvent]] = []
        current: list[LogEvent] = []
        for number, item in enumerate(listed):
            event = self.event(self.as_object(item, f"events[{number}]"), f"events[{number}]")
            if event is None:
                frames.append(current)
                current = []
            else:
                current.append(event)
        if current:
            self.warn("capture.unfinished-frame", rest_text(len(current), "event", len(frames)), f"f{len(frames)}")
        log = GxLog(self.file, self.memory, ranges, frames, self.warnings, current)
        log.other_files = self.read_files
        return log

    def read_memory(self, path: str) -> None:
        self.memory_name = path
        self.read_files = (path,)
        if not os.path.isfile(path):
            raise CaptureError(
                "the memory file of the log is missing",
                file=path,
                hint="A GX log is two files: keep NAME.mem.bin beside NAME.gx.json.",
            )
        self.memory = container.read(path)

    def ranges(self, listed: list[Any]) -> tuple[AddressRange, ...]:
        found = []
        for i, item in enumerate(listed):
            place = f"virt_to_phys[{i}]"
            entry = self.as_object(item, place)
            virt, phys, size = (
                self.number(self.member(entry, name, place), f"{place}.{name}", _ADDRESS_END + (name == "size"))
                for name in ("virt", "phys", "size")
            )
            if not size or max(virt, phys) + size > _ADDRESS_END:
                self.fail(
                    f"{counted(size, 'byte')} from {virt:#x} and {phys:#x} are no range of addresses",
                    place,
                    "The log is damaged.",
                )
            found.append(AddressRange(virt, phys, size))
        return tuple(found)

    def event(self, item: Mapping[str, Any], place: str) -> LogEvent | None:
        """One event; None for the end of a frame."""
        kind = self.member(item, "type", place)
        if kind == "memory":
            return self.memory_event(item, place)
        if kind == "gx":
            return GxEvent(self.words(self.member(item, "words", place), 8, f"{place}.words"))
        if kind == "swap":
            return self.swap_event(item, place)
        if kind == "frame":
            return None
        shown = repr(kind[:40]) if isinstance(kind, str) else kind_of(kind)
        self.fail(f"unknown type of event {shown}", f"{place}.type", "Known are memory, gx, swap and frame.")

    def memory_event(self, item: Mapping[str, Any], place: str) -> MemoryEvent:
        phys = self.number(self.member(item, "phys", place), f"{place}.phys")
        offset = self.number(self.member(item, "offset", place), f"{place}.offset", 1 << 63)
        size = self.number(self.member(item, "size", place), f"{place}.size", _ADDRESS_END + 1)
        if phys + size > _ADDRESS_END:
            self.fail(f"{counted(size, 'byte')} to {phys:#010x} leave the 32-bit address space", place)
        if size and offset + size > len(self.memory):
            self.fail(
                f"bytes {offset} to {offset + size} of {self.memory_name}, which has {len(self.memory)}",
                place,
                "The memory file was cut short, or belongs to another log.",
            )
        return MemoryEvent(phys, offset, size)

    def swap_event(self, item: Mapping[str, Any], place: str) -> SwapEvent:
        screen = self.number(self.member(item, "screen", place), f"{place}.screen", 2)
        info = self.words(self.member(item, "info", place), len(ENTRY_WORDS), f"{place}.info")
        derived: list[tuple[int, int]] | None
        reason = ""
        try:
            derived = swap_writes(screen, info, self.translate, recorded=True)
        except Refused as refusal:
            derived = None
            reason = refusal.reason
        if "registers" not in item:
            if derived is None:
                self.warn("capture.swap-unmapped", f"a framebuffer is left out: {reason}", place)
            return SwapEvent(screen, info, tuple(derived or ()))
        registers = []
        for i, pair in enumerate(self.as_list(item["registers"], f"{place}.registers")):
            where = f"{place}.registers[{i}]"
            physical, value = self.words(pair, 2, where)
            if physical & 3:
                self.fail(f"register address {physical:#010x} is no multiple of 4", where)
            registers.append((physical, value))
        if derived is not None and dict(derived) != dict(registers):
            message = "register writes of a framebuffer differ from what its entry leads to; the writes count"
            self.warn("capture.swap-differs", message, place)
        return SwapEvent(screen, info, tuple(registers))
