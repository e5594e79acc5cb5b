"""The outer structure of a `.pgc` file: header, sections with length and checksum, and recovery from damaged files."""

from __future__ import annotations

import lzma
import struct
import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

import zstandard

from pocketgpu.capture.formats.first_bytes import PGC
from pocketgpu.capture.formats.pgc.numbers import (
    CHECK_LEFT_OUT,
    CHECK_SIZE,
    CODECS,
    CONSOLES,
    DIGEST_SIZES,
    END,
    HEADER_SIZE,
    RECORDS,
    SECTION_HEAD,
    SECTION_LIMIT,
    STREAM_LIMIT,
    VERSION,
)
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

_HEAD = struct.Struct("<BBII")
_STORED, _ZSTD, _LZMA = range(3)
_LZMA_MEMORY = 1 << 28
_STEP = 4096
_OUTPUT = 1 << 20
# Layouts of data for LZMA: (literal context, literal position, position) bits. Captures have text-like words, rows of
# 16-bit and of 32-bit pixels; where it is fast, all are tried.
SHAPES = ((3, 0, 2), (2, 2, 2), (0, 0, 2), (0, 0, 0), (1, 0, 0), (4, 0, 0), (1, 2, 2), (0, 2, 0))
_TRY_ALL = 1 << 20
PRESET: int = 9 | lzma.PRESET_EXTREME
"""Of LZMA."""
_QUICK = 64 << 20
LEVELS = (19, 9)
"""Of Zstandard: for at most _QUICK bytes, and for more."""


@dataclass(frozen=True, slots=True)
class Header:
    """The console ("3DS" or "Switch"), the bytes of a picture's digest, and those of a frame's check."""

    console: str
    digest_size: int
    check_size: int = CHECK_SIZE


@dataclass(frozen=True, slots=True)
class Section:
    """The plain bytes of one section of records, and its offset in the file."""

    offset: int
    plain: bytes


@dataclass(slots=True)
class Scan:
    """The intact part of a file. `damage`: None, or why and where reading ended; `rest`: the section in which it ended,
    unpacked as far as possible. `frames`: from the end section, None without one."""

    header: Header
    sections: list[Section]
    rest: Section | None = None
    damage: CaptureError | None = None
    frames: int | None = None


class _Decompressor(Protocol):
    def decompress(self, data: bytes) -> bytes: ...


class _Lzma:
    def __init__(self) -> None:
        self._decoder = lzma.LZMADecompressor(format=lzma.FORMAT_ALONE, memlimit=_LZMA_MEMORY)

    def decompress(self, data: bytes) -> bytes:
        if self._decoder.eof:
            raise ValueError("there is something after the end of the packed data")
        parts = [self._decoder.decompress(data, _OUTPUT)]
        total = len(parts[0])
        while not self._decoder.eof and not self._decoder.needs_input and total <= SECTION_LIMIT:
            parts.append(self._decoder.decompress(b"", _OUTPUT))
            total += len(parts[-1])
        return b"".join(parts)

    @property
    def done(self) -> bool:
        return self._decoder.eof and not self._decoder.unused_data


class _Zstd:
    def __init__(self) -> None:
        self._decoder = zstandard.ZstdDecompressor(max_window_size=SECTION_LIMIT).decompressobj()

    def decompress(self, data: bytes) -> bytes:
        if self._decoder.eof:
            raise ValueError("there is something after the end of the packed data")
        return self._decoder.decompress(data)

    @property
    def done(self) -> bool:
        return self._decoder.eof and not self._decoder.unused_data


_FAILURES = (lzma.LZMAError, zstandard.ZstdError, ValueError, MemoryError, EOFError)


def unpack(codec: int, payload: bytes, size: int) -> bytes:
    """The plain `size` bytes of a payload. ValueError if it contains anything else."""
    if codec == _STORED:
        if len(payload) != size:
            raise ValueError(f"{len(payload)} bytes are stored where {size} should be")
        return payload
    decoder = _Zstd() if codec == _ZSTD else _Lzma()
    parts: list[bytes] = []
    total = 0
    try:
        for start in range(0, len(payload), _STEP):
            parts.append(decoder.decompress(payload[start : start + _STEP]))
            total += len(parts[-1])
            if total > size:
                break
    except _FAILURES as error:
        raise ValueError(f"the packed data is damaged: {error}") from None
    if total != size or not decoder.done:
        raise ValueError(f"the packed data does not hold the {counted(size, 'byte')} that it should")
    return b"".join(parts)


def unpack_what_is_left(codec: int, payload: bytes, size: int) -> bytes:
    """The plain bytes of a damaged payload, as far as they can be unpacked; bytes after the damage are wrong."""
    if codec == _STORED:
        return payload[:size]
    if codec >= len(CODECS):
        return b""
    whole, good = _until_failure(codec, payload, _STEP, size)
    if not whole and len(payload) <= _QUICK:  # the step that failed returned nothing: once more, byte by byte
        _, good = _until_failure(codec, payload, 1, size)
    return good[:size]


def _until_failure(codec: int, payload: bytes, step: int, size: int) -> tuple[bool, bytes]:
    """Whether all could be unpacked, and the bytes that could."""
    decoder: _Decompressor = _Zstd() if codec == _ZSTD else _Lzma()
    parts: list[bytes] = []
    total = 0
    try:
        for start in range(0, len(payload), step):
            parts.append(decoder.decompress(payload[start : start + step]))
            total += len(parts[-1])
            if total >= size:
                break
    except _FAILURES:
        return False, b"".join(parts)
    return True, b"".join(parts)


def pack(plain: bytes, packing: str, ends: Sequence[int] = ()) -> tuple[int, bytes]:
    """`plain` as (codec, payload); packing: "stored", "zstd", "lzma", or "smallest" of them. ends: offsets of the ends
    of frames."""
    if packing == "stored" or not plain:
        return _STORED, plain
    found = [(_STORED, plain)] if packing == "smallest" else []
    if packing in ("zstd", "smallest"):
        found.append((_ZSTD, _pack_zstd(plain, ends)))
    if packing in ("lzma", "smallest"):
        shapes = SHAPES if len(plain) <= _TRY_ALL else SHAPES[:2]
        found += ((_LZMA, _pack_lzma(plain, *shape)) for shape in shapes)
    if not found:
        raise UsageError(f"there is no packing {packing!r}", hint=f"There are {', '.join(CODECS)} and smallest.")
    return min(found, key=lambda pair: len(pair[1]))


def _pack_zstd(plain: bytes, ends: Sequence[int]) -> bytes:
    """A block ends with each frame: a cut block cannot be unpacked at all, and whole frames must not be lost."""
    level = LEVELS[len(plain) > _QUICK]
    packer = zstandard.ZstdCompressor(level=level, write_content_size=False).compressobj()
    parts = []
    for start, end in pairwise([0, *ends, len(plain)]):
        parts.append(packer.compress(plain[start:end]))
        if end < len(plain):
            parts.append(packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
    return b"".join((*parts, packer.flush()))


def _pack_lzma(plain: bytes, lc: int, lp: int, pb: int) -> bytes:
    shape: dict[str, Any] = {"id": lzma.FILTER_LZMA1, "preset": PRESET, "lc": lc, "lp": lp, "pb": pb}
    shape["dict_size"] = min(1 << 26, max(4096, 1 << (len(plain) - 1).bit_length()))
    return lzma.compress(plain, format=lzma.FORMAT_ALONE, filters=[shape])


# -- files ------------------------------------------------------------------------------------------------------------
def build(
    header: Header,
    plains: Sequence[bytes],
    frames: int,
    packing: str = "smallest",
    ends: Sequence[Sequence[int]] | None = None,
) -> bytes:
    """A whole file from the plain bytes of its sections of records; ends: for each, offsets of the ends of frames in
    it."""
    console = CONSOLES[header.console]
    start = PGC + bytes((VERSION, console, header.digest_size, CHECK_SIZE - header.check_size))
    parts = [start, struct.pack("<I", zlib.crc32(start))]
    for plain, places in zip(plains, ends or [()] * len(plains), strict=True):
        parts += _section(RECORDS, *pack(plain, packing, places), len(plain))
    end = struct.pack("<II", frames, len(plains))
    parts += _section(END, _STORED, end, len(end))
    return b"".join(parts)


def _section(kind: int, codec: int, payload: bytes, size: int) -> list[bytes]:
    head = _HEAD.pack(kind, codec, len(payload), size)
    return [head, payload, struct.pack("<I", zlib.crc32(payload, zlib.crc32(head)))]


def read_header(data: bytes, file: str) -> Header:
    """Raises CaptureError for a header that is cut, damaged or of another version."""

    def fail(message: str, offset: int, hint: str = "Copy the file again.") -> CaptureError:
        return CaptureError(message, file=file, offset=offset, hint=hint)

    if not data.startswith(PGC[: len(data)]):
        at = next(i for i, (a, b) in enumerate(zip(data, PGC, strict=False)) if a != b)
        raise fail("the first bytes are not those of a .pgc", at, "It was damaged, or copied as if it were text.")
    if len(data) < HEADER_SIZE:
        raise fail("the file ends inside its header", len(data))
    if zlib.crc32(data[:12]) != int.from_bytes(data[12:16], "little"):
        raise fail("the checksum of the header is wrong", 12)
    version, number, size, left_out = data[8:12]
    if version != VERSION:
        raise fail(f"unknown version {version}", 8, f"Only version {VERSION} is known.")
    console = next((name for name, known in CONSOLES.items() if known == number), None)
    if console is None:
        raise fail(f"unknown console {number}", 9, "Known are 1 (3DS) and 2 (Switch).")
    if size not in DIGEST_SIZES:
        raise fail(f"digests of {counted(size, 'byte')}", 10, f"They have {DIGEST_SIZES[0]} to {DIGEST_SIZES[-1]}.")
    if left_out > CHECK_LEFT_OUT:
        raise fail(f"{left_out} bytes of a check are left out", 11, f"It may be {CHECK_LEFT_OUT} at most.")
    return Header(console, size, CHECK_SIZE - left_out)


class _DamagedSection(Exception):
    """Internal: a section is invalid. `payload`: the available part of it."""

    def __init__(self, message: str, offset: int, codec: int = 0, payload: bytes = b"", size: int = 0) -> None:
        super().__init__(message)
        self.message, self.offset = message, offset
        self.codec, self.payload, self.size = codec, payload, size


def scan(data: bytes, file: str = "") -> Scan:
    """Read all sections up to the end or to the first damage.

    Raises CaptureError only for a header that cannot be read; later errors are in `Scan.damage`.
    """
    found = Scan(read_header(data, file), [])
    position, total = HEADER_SIZE, 0
    try:
        while found.frames is None:
            position, kind, codec, payload, size = _read(data, start := position)
            if kind == END:
                found.frames = _read_end(payload, start, len(found.sections))
                if position != len(data):
                    raise _DamagedSection("there is something after the end of the capture", position)
                break
            total += size
            if total > STREAM_LIMIT:
                raise _DamagedSection(f"the records have more than {STREAM_LIMIT:,} bytes", start)
            try:
                found.sections.append(Section(start, unpack(codec, payload, size)))
            except ValueError as error:
                raise _DamagedSection(str(error), start, codec, payload, size) from None
    except _DamagedSection as damage:
        hint = "'pocketgpu capture repair' keeps the whole frames before that place."
        found.damage = CaptureError(damage.message, file=file, offset=damage.offset, hint=hint)
        if damage.payload and damage.size <= SECTION_LIMIT:
            found.rest = Section(start, unpack_what_is_left(damage.codec, damage.payload, damage.size))
    return found


def _read(data: bytes, start: int) -> tuple[int, int, int, bytes, int]:
    """The section at `start`: its end, its kind, codec and payload, and the unpacked size."""
    if start == len(data):
        raise _DamagedSection("the capture has no end: it was cut short, or its recorder stopped in the middle", start)
    if start + SECTION_HEAD > len(data):
        raise _DamagedSection("the file ends inside the head of a section", len(data))
    kind, codec, stored, size = _HEAD.unpack_from(data, start)
    at = start + SECTION_HEAD
    payload = data[at : at + stored]
    rest = (codec, payload, size) if kind == RECORDS else (0, b"", 0)
    if at + stored + 4 > len(data):
        # A damaged length can be anything; the payload is still there.
        raise _DamagedSection("the file ends inside a section, or its length is damaged", start, *rest)
    end = at + stored + 4
    if zlib.crc32(data[start : end - 4]) != int.from_bytes(data[end - 4 : end], "little"):
        raise _DamagedSection("the checksum of a section is wrong", start, *rest)
    if kind not in (RECORDS, END):
        raise _DamagedSection(f"unknown kind of section {kind}", start)
    if codec >= len(CODECS) or (kind == END and codec):
        raise _DamagedSection(f"unknown packing {codec} of a section", start + 1)
    if size > SECTION_LIMIT:
        raise _DamagedSection(f"a section of {counted(size, 'byte', form=',')}, unpacked", start + 6)
    return end, kind, codec, payload, size


def _read_end(payload: bytes, start: int, sections: int) -> int:
    if len(payload) != 8:
        raise _DamagedSection(f"the end of the capture has {counted(len(payload), 'byte')} instead of 8", start)
    frames, told = struct.unpack("<II", payload)
    if told != sections:
        raise _DamagedSection(f"the file should have {counted(told, 'section')} of records and has {sections}", start)
    return int(frames)
