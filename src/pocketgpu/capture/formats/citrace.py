"""Reader of CiTrace recordings (`.ctf`), the 3DS GPU recordings that Citra and its descendants write.

A recording is a start state and a stream of 20-byte elements: memory loads, register writes, frame markers. It is
decoded once, with array operations only, into runs: many register writes become two arrays that the machine takes in
one call, so no Python runs for each write, neither here nor in the replay.

Two generations of recorders use the same 20 bytes of a register write in different ways, and the header does not
distinguish them; see `_writes_are_classic`. Files are not trusted: every offset and size is checked before use, and
errors name the byte that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from pocketgpu.capture.formats.first_bytes import CITRACE
from pocketgpu.capture.formats.n3ds_trace import (
    NEW_FCRAM_END,
    OLD_FCRAM_END,
    SECTIONS,
    InitialState,
    LoadRun,
    N3DSTrace,
    NarrowWrite,
    Step,
    Words,
    WriteRun,
    rest_text,
)
from pocketgpu.errors import CaptureError
from pocketgpu.events import Event
from pocketgpu.wording import counted

VERSION = 1
HEADER_SIZE = 100
ELEMENT_SIZE = 20
STREAM_FIELD = 92
"""Header offset of the stream's offset (and, 4 bytes later, of its number of elements)."""

FRAME_MARKER, MEMORY_LOAD, REGISTER_WRITE = 0xE1, 0xE2, 0xE3
WIDTH_8, WIDTH_16, WIDTH_32, WIDTH_64 = 0xD1, 0xD2, 0xD3, 0xD4

_MOST_ELEMENTS = 1 << 24
"""Each element costs some fifty bytes here; this many are hours of recording, and still fit into memory."""
_MOST_COPIED = 256 << 20


_BULK, _NARROW, _LOAD, _MARKER = range(4)


class Trace(N3DSTrace):
    """A parsed recording: start state and, frame by frame, the runs to replay.

    Made by `parse`. `classic`: the form of the register writes. `missing`: sections of the start state that the file
    does not have. `warnings`: other problems of the file.
    """

    def __init__(self, file: str, data: bytes, initial: InitialState, elements: Words, missing: list[str]) -> None:
        self.file = file
        self.initial = initial
        self.missing = tuple(missing)
        self._data = data
        self.classic = _writes_are_classic(elements)
        self.kind = "CiTrace recording, older form" if self.classic else "CiTrace recording"
        types = elements[:, 0]
        is_write = types == REGISTER_WRITE
        self._address = np.where(types == MEMORY_LOAD, elements[:, 3], elements[:, 1])
        self._load = elements[:, 1:3]
        kind = np.full(len(types), _BULK, np.uint8)
        kind[types == FRAME_MARKER] = _MARKER
        kind[types == MEMORY_LOAD] = _LOAD
        if self.classic:
            width, value = elements[:, 2], elements[:, 3]
            kind[is_write & ((width == WIDTH_8) | (width == WIDTH_16))] = _NARROW
            self._value, self._width = value, width
            wide = is_write & (width == WIDTH_64)
        else:
            self._value, self._width = elements[:, 2], np.full(len(types), WIDTH_32, np.uint32)
            wide = np.zeros(len(types), np.bool_)
        # Words of each element in the long arrays of bulk writes: 64-bit writes have two.
        words = (kind == _BULK).astype(np.int64) + wide
        self._slot = np.concatenate((np.zeros(1, np.int64), np.cumsum(words)))
        owner = np.repeat(np.arange(len(types)), words)
        second = np.zeros(len(owner), np.bool_)
        second[self._slot[:-1][wide] + 1] = True
        self._bulk_address = self._address[owner] + np.where(second, 4, 0).astype(np.uint32)
        self._bulk_value = np.where(second, elements[owner, 4], self._value[owner])
        for array in (self._bulk_address, self._bulk_value):
            array.flags.writeable = False
        new_run = np.ones(len(types), np.bool_)
        new_run[1:] = (kind[1:] != kind[:-1]) | (kind[1:] != _BULK)
        self._kind = kind
        self._run_start = np.flatnonzero(new_run)
        self._markers = np.flatnonzero(kind == _MARKER)
        self.frame_count = len(self._markers)
        self.element_count = len(types)
        self._bounds = [-1, *self._markers.tolist(), self.element_count]
        self.has_rest = self._bounds[-1] > self._bounds[-2] + 1
        self.warnings = tuple(self._look_for_gaps(missing))

    @cached_property
    def needs_new_model(self) -> bool:
        """Whether a load accesses memory that only the newer model (256 MiB of FCRAM) has."""
        loads = self._kind == _LOAD
        start, size = self._address[loads].astype(np.int64), self._load[loads, 1].astype(np.int64)
        inside = (start < NEW_FCRAM_END) & (start + size > OLD_FCRAM_END) & (size > 0)
        return bool(np.any(inside))

    def frame_elements(self, frame: int) -> range:
        """The numbers of frame `frame`'s elements in the stream, without its marker; with `frame_count` of those after
        the last marker."""
        if not 0 <= frame < self.frame_count + self.has_rest:
            raise IndexError(f"no frame {frame}: the recording has {self.frame_count}")
        return range(self._bounds[frame] + 1, self._bounds[frame + 1])

    def runs(self, frame: int) -> list[Step]:
        """The runs of frame `frame` before its marker, in order."""
        elements = self.frame_elements(frame)
        low, high = self._run_start.searchsorted((elements.start, elements.stop)).tolist()
        starts = self._run_start[low:high]
        bounds = [*starts.tolist(), elements.stop]
        kinds, addresses, loads = (of[starts].tolist() for of in (self._kind, self._address, self._load))
        slots = self._slot[bounds].tolist()
        runs: list[Step] = []
        take = self._source([load[1] for load, kind in zip(loads, kinds, strict=True) if kind == _LOAD])
        for number, kind in enumerate(kinds):
            place = bounds[number] - elements.start
            if kind == _BULK:
                words = slice(slots[number], slots[number + 1])
                runs.append(WriteRun(place, self._bulk_address[words], self._bulk_value[words]))
            elif kind == _LOAD:
                offset, size = loads[number]
                runs.append(LoadRun(place, addresses[number], take(offset, size), offset))
            else:
                start = bounds[number]
                width = 8 if self._width[start] == WIDTH_8 else 16
                value = int(self._value[start]) & ((1 << width) - 1)
                runs.append(NarrowWrite(place, addresses[number], value, width))
        return runs

    def _source(self, sizes: list[int]) -> Callable[[int, int], bytes | memoryview]:
        """A function that reads (offset, size) of the file for loads of these sizes: as `bytes`, which machines store
        fastest, once for all loads of the same data; as views where hostile loads of the same large range would
        otherwise fill the host's memory."""
        if sum(sizes) > _MOST_COPIED:
            view = memoryview(self._data)
            return lambda offset, size: view[offset : offset + size]
        known: dict[tuple[int, int], bytes] = {}

        def take(offset: int, size: int) -> bytes:
            key = (offset, size)
            if key not in known:
                known[key] = self._data[offset : offset + size]
            return known[key]

        return take

    def _look_for_gaps(self, missing: list[str]) -> list[Event]:
        found = []
        if missing:
            names = ", ".join(SECTIONS[name][0] for name in missing)
            found.append(
                Event("warning", "capture.missing-section", f"the recording does not hold: {names}; taken as zero")
            )
        uniforms = (self.initial.vs_uniforms, self.initial.gs_uniforms)
        flat = any(part[:, :3].any() for part in uniforms) and not any(part[:, 3].any() for part in uniforms)
        if self.classic or flat:
            message = "an older recorder made this: look-up tables set before the first frame are not in the file"
            if flat:
                message += ", and the W components of the float uniforms were lost"
            found.append(Event("warning", "capture.missing-lut", message))
        if tail := self._bounds[-1] - self._bounds[-2] - 1:
            message = rest_text(tail, "element", self.frame_count)
            found.append(Event("warning", "capture.unfinished-frame", message, at=f"f{self.frame_count}"))
        return found


def _writes_are_classic(elements: Words) -> bool:
    """Classic recorders write a width code after the address, newer ones the value itself (and zeros after it). Only
    the whole file can decide: it is classic if each of its writes has a width code there."""
    codes = elements[elements[:, 0] == REGISTER_WRITE, 2]
    return bool(len(codes)) and bool(np.all((codes >= WIDTH_8) & (codes <= WIDTH_64)))


def parse(data: bytes, *, file: str = "") -> Trace:
    """Decode the plain bytes of a `.ctf` file. `file` is only used in errors.

    Raises CaptureError (its offset counts plain bytes) for anything that does not fit: magic, version, a section,
    stream or load outside the file, an unknown element type or width, a misaligned register address.
    """
    return _TraceParser(data, file).parse()


class _TraceParser:
    def __init__(self, data: bytes, file: str) -> None:
        self.data = data
        self.file = file
        self.stream_offset = 0

    def fail(self, message: str, offset: int, hint: str) -> CaptureError:
        return CaptureError(message, file=self.file, offset=offset, hint=hint)

    def parse(self) -> Trace:
        header = self.header()
        sections: dict[str, Words] = {}
        missing = []
        for number, (name, (title, _)) in enumerate(SECTIONS.items()):
            offset, words = int(header[3 + 2 * number]), int(header[4 + 2 * number])
            self.check_range(f"section '{title}'", offset, words * 4, 12 + 8 * number)
            sections[name] = np.frombuffer(self.data, "<u4", words, offset) if words else np.zeros(0, np.uint32)
            if not words:
                missing.append(name)
        elements = self.elements(int(header[23]), int(header[24]))
        self.check_types(elements)
        self.check_loads(elements)
        self.check_writes(elements)
        return Trace(self.file, self.data, InitialState.of(**sections), elements, missing)

    def header(self) -> Words:
        size = len(self.data)
        if self.data[:4] != CITRACE:
            short = size < 4 and CITRACE.startswith(self.data)
            raise self.fail(
                "the file ends inside its magic" if short else "this is no CiTrace recording",
                size if short else 0,
                "A recording starts with the four letters CiTr.",
            )
        if size < HEADER_SIZE:
            raise self.fail(f"the file ends inside its {HEADER_SIZE}-byte header", size, "The file was cut short.")
        header = np.frombuffer(self.data, "<u4", HEADER_SIZE // 4).astype(np.uint32)
        if header[1] != VERSION:
            raise self.fail(f"unknown version {header[1]}", 4, f"Only version {VERSION} is known.")
        if not HEADER_SIZE <= header[2] <= size:
            raise self.fail(
                f"a header size of {counted(header[2], 'byte')}",
                8,
                f"It must be {HEADER_SIZE} or more and fit into the file.",
            )
        return header

    def check_range(self, what: str, offset: int, size: int, field: int) -> None:
        """`offset` and `size` in bytes, from header byte `field`. Empty ranges are not checked."""
        if not size:
            return
        end = len(self.data)
        if offset < HEADER_SIZE:
            raise self.fail(f"{what} starts at byte {offset}, inside the header", field, "The header is damaged.")
        if offset >= end:
            raise self.fail(
                f"{what} starts at byte {offset}, past the end of the file ({counted(end, 'byte')})",
                field,
                "The header is damaged, or the file was cut short.",
            )
        if offset + size > end:
            raise self.fail(
                f"{what} should reach byte {offset + size}, but the file ends before",
                end,
                "The file was cut short, or its header is damaged.",
            )

    def elements(self, offset: int, count: int) -> Words:
        what = f"the stream of {counted(count, 'element')}"
        self.check_range(what, offset, count * ELEMENT_SIZE, STREAM_FIELD)
        if not count:
            return np.zeros((0, 5), np.uint32)
        if count > _MOST_ELEMENTS:
            raise self.fail(
                f"a stream of {counted(count, 'element', form=',')}",
                STREAM_FIELD + 4,
                f"The most that is read is {_MOST_ELEMENTS:,}.",
            )
        stream = np.frombuffer(self.data, "<u4", count * (ELEMENT_SIZE // 4), offset)
        self.stream_offset = offset
        return np.ascontiguousarray(stream.reshape(count, 5).astype(np.uint32))

    def check_types(self, elements: Words) -> None:
        types = elements[:, 0]
        bad = np.flatnonzero((types < FRAME_MARKER) | (types > REGISTER_WRITE))
        if len(bad):
            raise self.element_fault(bad[0], 0, f"unknown element type {int(types[bad[0]]):#x}", "Known are 0xE1-0xE3.")

    def check_loads(self, elements: Words) -> None:
        loads = np.flatnonzero(elements[:, 0] == MEMORY_LOAD)
        start, size = elements[loads, 1].astype(np.int64), elements[loads, 2].astype(np.int64)
        bad = np.flatnonzero((size > 0) & (start + size > len(self.data)))
        if len(bad):
            first = bad[0]
            raise self.element_fault(
                loads[first],
                4,
                f"a memory load takes bytes {start[first]} to {start[first] + size[first]} of a file that has "
                f"{len(self.data)}",
                "The element is damaged, or the file was cut short.",
            )

    def check_writes(self, elements: Words) -> None:
        writes = np.flatnonzero(elements[:, 0] == REGISTER_WRITE)
        address, third = elements[writes, 1], elements[writes, 2]
        coded = (third >= WIDTH_8) & (third <= WIDTH_64)
        step = np.full(len(writes), 4, np.uint32)
        if _writes_are_classic(elements):
            step[third == WIDTH_8] = 1
            step[third == WIDTH_16] = 2
        else:
            used = np.flatnonzero(elements[writes, 3] | elements[writes, 4])
            if len(used) and 2 * np.count_nonzero(coded) > len(writes):
                odd = np.flatnonzero(~coded)[0]
                raise self.element_fault(
                    writes[odd], 8, f"unknown width code {int(third[odd]):#x}", "Known are 0xD1 to 0xD4."
                )
            if len(used):
                raise self.element_fault(
                    writes[used[0]],
                    12,
                    "a register write has neither a width code nor eight bytes of zero at its end",
                    "The element is damaged, or an unknown recorder wrote it.",
                )
        odd_places = np.flatnonzero(address & (step - 1))
        if len(odd_places):
            first = odd_places[0]
            raise self.element_fault(
                writes[first],
                4,
                f"a register write of {8 * int(step[first])} bits to the odd address {int(address[first]):#010x}",
                "Register addresses are multiples of the width.",
            )

    def element_fault(self, number: np.integer[Any], byte: int, message: str, hint: str) -> CaptureError:
        offset = self.stream_offset + int(number) * ELEMENT_SIZE + byte
        return self.fail(f"element {number}: {message}", offset, hint)
