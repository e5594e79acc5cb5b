"""Writer of CiTrace recordings, in both forms that recorders use.

It is for samples and tests: a reader must be tested with more than one recorder's files.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from pocketgpu.capture.formats import container
from pocketgpu.capture.formats.citrace import (
    ELEMENT_SIZE,
    FRAME_MARKER,
    HEADER_SIZE,
    MEMORY_LOAD,
    REGISTER_WRITE,
    VERSION,
    WIDTH_8,
    WIDTH_64,
)
from pocketgpu.capture.formats.first_bytes import CITRACE
from pocketgpu.capture.formats.n3ds_trace import SECTIONS, InitialState
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass

_WIDTH_CODES = {8: 0xD1, 16: 0xD2, 32: 0xD3, 64: 0xD4}
_PACKINGS = {".xz": "xz", ".zst": "zstd", ".gz": "gzip"}


@dataclass(frozen=True, slots=True)
class Write:
    """One register write: physical `address`, `value`, `width` in bits (8, 16, 32, 64; only 32 in the new form)."""

    address: int
    value: int
    width: int = 32


@dataclass(frozen=True, slots=True)
class Load:
    """One memory load: `data` to the physical `address`."""

    address: int
    data: bytes


RecordedEvent: TypeAlias = Write | Load


def encode_citrace(
    frames: Iterable[Sequence[RecordedEvent]],
    initial: InitialState | None = None,
    *,
    classic: bool = False,
    tail: Sequence[RecordedEvent] = (),
    leave_out: Iterable[str] = (),
) -> bytes:
    """The bytes of a recording.

    frames: the events of each frame, without its marker. initial: the start state, all zero if None. classic: write
    registers in the older form, with width codes. tail: events after the last marker. leave_out: names of sections of
    the start state that get size 0. Equal load data is stored once. Raises UsageError for what the form cannot express.
    """
    left_out = set(leave_out)
    if unknown := sorted(left_out - set(SECTIONS)):
        raise UsageError(f"no such section: {', '.join(unknown)}", hint=f"Known are {', '.join(SECTIONS)}.")
    state = initial or InitialState.of()
    body = bytearray()
    header = [HEADER_SIZE]
    for name in SECTIONS:
        words = b"" if name in left_out else np.asarray(getattr(state, name), "<u4").tobytes()
        header += [HEADER_SIZE + len(body), len(words) // 4]
        body += words
    stored: dict[bytes, int] = {}
    stream = bytearray()
    codes: list[int] = []

    def element(*fields: int) -> None:
        stream.extend(struct.pack("<5I", *fields))

    def place(event: RecordedEvent) -> None:
        if isinstance(event, Load):
            if event.data not in stored:
                stored[event.data] = HEADER_SIZE + len(body)
                body.extend(event.data + bytes(-len(event.data) % 4))
            element(MEMORY_LOAD, stored[event.data], len(event.data), event.address, 0)
            return
        if event.width not in _WIDTH_CODES or not 0 <= event.value < 1 << event.width:
            raise UsageError(f"a register write of {event.value:#x} in {event.width} bits")
        if classic:
            low, high = event.value & 0xFFFFFFFF, event.value >> 32
            element(REGISTER_WRITE, event.address, _WIDTH_CODES[event.width], low, high)
        elif event.width == 32:
            codes.append(event.value)
            element(REGISTER_WRITE, event.address, event.value, 0, 0)
        else:
            raise UsageError(f"the new form has no writes of {event.width} bits", hint="Write the classic form.")

    for frame in frames:
        for event in frame:
            place(event)
        element(FRAME_MARKER, 0, 0, 0, 0)
    for event in tail:
        place(event)
    if codes and all(WIDTH_8 <= code <= WIDTH_64 for code in codes):
        raise UsageError(
            "each value written looks like a width code, so readers would take the file for a classic one",
            hint="Write the classic form.",
        )
    header += [HEADER_SIZE + len(body), len(stream) // ELEMENT_SIZE]
    return struct.pack("<4sI23I", CITRACE, VERSION, *header) + bytes(body) + bytes(stream)


def write_citrace(
    path: str | os.PathLike[str],
    frames: Iterable[Sequence[RecordedEvent]],
    initial: InitialState | None = None,
    *,
    classic: bool = False,
    tail: Sequence[RecordedEvent] = (),
    leave_out: Iterable[str] = (),
) -> None:
    """Write a recording to `path`, packed if the name ends in .xz, .zst or .gz. See `encode_citrace`."""
    data = encode_citrace(frames, initial, classic=classic, tail=tail, leave_out=leave_out)
    packed = container.pack(data, _PACKINGS.get(os.path.splitext(os.fspath(path))[1].lower(), ""))
    with open(path, "wb") as stream:
        stream.write(packed)
