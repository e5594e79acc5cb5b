"""From the contents of a capture to records, and to a file."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc import sections
from pocketgpu.capture.formats.pgc.contents import (
    Contents,
    Event,
    Gx,
    Load,
    Map,
    Narrow,
    Present,
    Store,
    Submit,
    Swap,
    Unmap,
    Writes,
    bytes_of,
)
from pocketgpu.late_dataclass import dataclass

SECTION_TARGET = 8 << 20
"""A section ends with the record that brings it to this size."""
_PIECE = 64 << 10


def varint(value: int) -> bytes:
    """An unsigned number in groups of seven bits, lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode(contents: Contents, packing: str = "smallest") -> bytes:
    """The bytes of a file. packing: "stored", "zstd", "lzma" or "smallest" of the three for each section."""
    encoder = _Encoder(contents)
    header = sections.Header(contents.console, contents.digest_size, contents.check_size)
    return sections.build(header, encoder.run(), len(contents.frames), packing, encoder.ends)


@dataclass(frozen=True, slots=True)
class Plain:
    """A file for readers that keep no table of blocks: sections are stored, and all data is one new block.

    places: for each event, those of the tail after those of the frames, the position of its record in the stream of
    records, counted from the first record that is neither ABOUT nor COVERAGE.
    """

    data: bytes
    places: tuple[int, ...]


def encode_plain(contents: Contents) -> Plain:
    """The bytes of a file whose data is stored whole, and where its events are."""
    encoder = _Encoder(contents, shared=False)
    header = sections.Header(contents.console, contents.digest_size, contents.check_size)
    data = sections.build(header, encoder.run(), len(contents.frames), "stored", encoder.ends)
    return Plain(data, tuple(place - encoder.begin for place in encoder.places))


class _Encoder:
    """shared: whether equal blocks are stored once. places: where the record of each event is; begin: where that of the
    first is that is neither ABOUT nor COVERAGE. Both are positions in the stream of records."""

    def __init__(self, contents: Contents, shared: bool = True) -> None:
        self.contents, self.shared = contents, shared
        self.places: list[int] = []
        self.begin = self.closed = 0
        self.blocks: dict[bytes, int] = {}
        self.sections: list[bytes] = []
        self.ends: list[list[int]] = []
        self.parts: list[bytes] = []
        self.frame_ends: list[int] = []
        self.size = 0
        self.check = 0
        self.shown: dict[int, bytes] = {}

    def run(self) -> Sequence[bytes]:
        contents = self.contents
        for key, value in contents.about.items():
            self.record(F.ABOUT, _text(key), _text(value))
        self.record(F.COVERAGE, varint(contents.coverage))
        self.begin = self.closed + self.size
        for state in contents.state:
            numbers = (state.channel, state.class_id, state.first, len(state.words))
            self.record(F.STATE, bytes((state.item,)), *map(varint, numbers), _words(state.words))
        for place in contents.ranges:
            self.record(F.TRANSLATE, struct.pack("<II", place.virt, place.phys), varint(place.size))
        for id, reached in contents.syncpoints.items():
            self.record(F.SYNCPOINT, varint(id), varint(reached))
        for frame in contents.frames:
            self.events(frame.events)
            self.frame(frame.pictures)
        self.events(contents.tail)
        self.close()
        return self.sections

    def record(self, kind: int, *fields: bytes) -> None:
        data = b"".join((bytes((kind,)), *fields))
        self.check = zlib.crc32(data, self.check)
        self.parts.append(data)
        self.size += len(data)
        if kind == F.FRAME:
            self.frame_ends.append(self.size)
        if self.size >= SECTION_TARGET:
            self.close()

    def close(self) -> None:
        if self.parts:
            self.sections.append(b"".join(self.parts))
            self.ends.append(self.frame_ends)
            self.closed += self.size
            self.parts, self.size, self.frame_ends = [], 0, []

    def frame(self, pictures: Mapping[int, bytes] | None) -> None:
        shown = dict(pictures or {})
        # Unchanged data comes first: repeats compress best in one piece.
        order = sorted(shown, key=lambda screen: (self.shown.get(screen) != shown[screen], screen))
        fields = bytearray(varint(len(order)))
        for screen in order:
            if self.shown.get(screen) == shown[screen]:
                fields += bytes((screen, F.SAME))
            else:
                fields += bytes((screen, F.DIGEST)) + shown[screen]
        self.shown = shown
        check = zlib.crc32(fields, zlib.crc32(bytes((F.FRAME,)), self.check))
        self.record(F.FRAME, bytes(fields), check.to_bytes(4, "little")[: self.contents.check_size])

    def events(self, events: Iterable[Event]) -> None:
        for event in events:
            self.places.append(self.closed + self.size)
            self.event(event)

    def event(self, event: Event) -> None:
        match event:
            case Load():
                self.record(F.LOAD, struct.pack("<I", event.address), self.data(event.address, event.pieces))
            case Writes():
                pairs = np.stack((event.addresses, event.values), axis=1)
                self.record(F.WRITES, varint(len(pairs)), _words(pairs))
            case Narrow():
                kind, form = (F.WRITE8, "<IB") if event.width == 8 else (F.WRITE16, "<IH")
                self.record(kind, struct.pack(form, event.address, event.value))
            case Gx():
                self.record(F.GX, struct.pack("<8I", *event.words))
            case Swap():
                pairs = np.array(event.registers, np.uint32)
                info = struct.pack("<B7I", event.screen, *event.info)
                self.record(F.SWAP, info, varint(len(event.registers)), _words(pairs))
            case Map():
                mapped = (event.id, event.gpu_va, event.size, event.handle)
                if event.offset:
                    self.record(F.MAP_PART, *map(varint, (*mapped, event.offset)), bytes((event.kind,)))
                else:
                    self.record(F.MAP, *map(varint, mapped), bytes((event.kind,)))
            case Unmap():
                self.record(F.UNMAP, varint(event.id))
            case Store():
                place, handle = (0, 0) if event.handle is None else (1, event.handle)
                numbers = (handle, event.offset, event.gpu_va)
                data = self.data(event.offset if place else event.gpu_va, event.pieces)
                self.record(F.STORE, bytes((place,)), *map(varint, numbers), data)
            case Submit():
                entries = event.entries.astype("<u8").tobytes()
                self.record(F.SUBMIT, varint(event.channel), varint(len(event.entries)), entries)
            case Present():
                self.present(event)

    def present(self, event: Present) -> None:
        place, handle = (0, 0) if event.handle is None else (1, event.handle)
        fields = [varint(event.gpu_va), bytes((place,))]
        fields += map(varint, (handle, event.offset, event.width, event.height))
        fields += [bytes((event.format, int(event.block_linear), event.block_height_log2)), varint(event.stride)]
        fields.append(bytes((event.transform, int(event.fence is not None))))
        fields += map(varint, event.fence or ())
        part = event.left or event.top
        fields += map(varint, (event.left, event.top) if part else ())
        self.record(F.PRESENT_PART if part else F.PRESENT, *fields)

    def data(self, address: int, pieces: Sequence[bytes]) -> bytes:
        """Bytes for `address`, in pieces that can match equal ones elsewhere."""
        if not self.shared:
            whole = bytes_of(pieces)
            return varint(1) + varint(0) + varint(len(whole)) + whole
        listed: list[bytes] = []
        for piece in pieces:
            first = -address % _PIECE
            # With fewer than two pieces there is no gain.
            cuts = [0, *range(first or _PIECE, len(piece), _PIECE), len(piece)] if len(piece) > 2 * _PIECE else []
            listed += (piece[a:b] for a, b in pairwise(cuts)) if cuts else (piece,)
            address += len(piece)
        return varint(len(listed)) + b"".join(map(self.piece, listed))

    def piece(self, data: bytes) -> bytes:
        known = self.blocks.get(data)
        if known is not None:
            return varint(len(self.blocks) - known)
        self.blocks[data] = len(self.blocks)
        return varint(0) + varint(len(data)) + data


def _words(words: object) -> bytes:
    return np.ascontiguousarray(words, "<u4").tobytes()


def _text(text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    return varint(len(data)) + data
