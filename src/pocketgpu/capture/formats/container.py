"""Compression of capture files: plain bytes, or one of three compressions, recognised by their first bytes.

Captures are distributed compressed, and are not trusted. So the file name does not matter, the size of the output is
limited during unpacking (a small file may claim to be huge), and a file that was cut short is an error with the byte
where it stops, not a shorter capture.
"""

from __future__ import annotations

import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable
from typing import Protocol

import zstandard

from pocketgpu.errors import CaptureError
from pocketgpu.wording import counted

LIMIT = 2 << 30
"""The most bytes of an unpacked capture."""

PRESET: int = 6 | lzma.PRESET_EXTREME
"""Of xz, for files that are written."""

LEVEL = 19
"""Of Zstandard, for files that are written."""

STDIN = "-"
"""The path that stands for the standard input."""

_CHUNK = 64 << 10
_OUTPUT_CHUNK = 16 << 20
_XZ_MEMORY = 1 << 30
_ZSTD_CHUNK = 1 << 10
_ZSTD_WINDOW = 1 << 30
_PARTS = 1 << 16
"""The most consecutive streams in a packed file: each one costs time even if it unpacks to nothing."""
_ZEROS = re.compile(rb"\0*")


class _BytesSink(Protocol):
    def __call__(self, data: bytes) -> None: ...


class _DamagedArchive(Exception):
    """Internal: unpacking stopped at byte `offset` of the packed file."""

    def __init__(self, reason: str, offset: int, cut: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset
        self.cut = cut


class _TooLarge(Exception):
    """Internal: the output exceeds the limit."""


def _next_part(packed: bytes, position: int, part: int) -> int:
    """Start of the stream after `position`; skips zeros between two streams."""
    found = _ZEROS.match(packed, position) if part else None
    position = found.end() if found else position
    if part >= _PARTS and position < len(packed):
        raise _DamagedArchive(f"the file has more than {_PARTS:,} packed streams", position)
    return position


def _unpack_xz(packed: bytes, sink: _BytesSink) -> None:
    position, part = 0, 0
    while (position := _next_part(packed, position, part)) < len(packed):
        decoder = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        while not decoder.eof:
            chunk = packed[position : position + _CHUNK] if decoder.needs_input else b""
            if decoder.needs_input and not chunk:
                raise _DamagedArchive("the xz data ends in the middle", len(packed), cut=True)
            try:
                output = decoder.decompress(chunk, _OUTPUT_CHUNK)
            except lzma.LZMAError as error:
                raise _DamagedArchive(f"the xz data is damaged: {error}", position) from None
            position += len(chunk)
            sink(output)
        position -= len(decoder.unused_data)
        part += 1


def _unpack_gzip(packed: bytes, sink: _BytesSink) -> None:
    position, part = 0, 0
    while (position := _next_part(packed, position, part)) < len(packed):
        decoder = zlib.decompressobj(wbits=31)
        left = b""
        while not decoder.eof:
            chunk = left or packed[position : position + _CHUNK]
            if not chunk:
                raise _DamagedArchive("the gzip data ends in the middle", len(packed), cut=True)
            if not left:
                position += len(chunk)
            try:
                output = decoder.decompress(chunk, _OUTPUT_CHUNK)
            except zlib.error as error:
                raise _DamagedArchive(f"the gzip data is damaged: {error}", position - len(chunk)) from None
            left = decoder.unconsumed_tail
            sink(output)
        position -= len(decoder.unused_data)
        part += 1


def _unpack_zstd(packed: bytes, sink: _BytesSink) -> None:
    # The decoder outputs all of a chunk at once, and four packed bytes may become 128 KiB: with chunks of this size one
    # call stays near 32 MiB.
    context = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    position, part = 0, 0
    while (position := _next_part(packed, position, part)) < len(packed):
        decoder = context.decompressobj()
        while not decoder.eof:
            chunk = packed[position : position + _ZSTD_CHUNK]
            if not chunk:
                raise _DamagedArchive("the zstd data ends in the middle", len(packed), cut=True)
            try:
                output = decoder.decompress(chunk)
            except zstandard.ZstdError as error:
                raise _DamagedArchive(f"the zstd data is damaged: {error}", position) from None
            position += len(chunk)
            sink(output)
        position -= len(decoder.unused_data)
        part += 1


_UNPACKERS: dict[bytes, tuple[str, Callable[[bytes, _BytesSink], None]]] = {
    b"\xfd7zXZ\x00": ("xz", _unpack_xz),
    b"\x28\xb5\x2f\xfd": ("zstd", _unpack_zstd),
    b"\x1f\x8b": ("gzip", _unpack_gzip),
}


def packing(data: bytes) -> str:
    """The name of the compression that `data` starts with: "xz", "zstd", "gzip", or "" for none of them."""
    return next((name for magic, (name, _) in _UNPACKERS.items() if data.startswith(magic)), "")


def unpack(packed: bytes, *, file: str = "", limit: int = LIMIT) -> bytes:
    """The plain bytes of a packed file; plain bytes are returned unchanged.

    `limit` limits the result in bytes. Raises CaptureError (its offset counts packed bytes) for data that is damaged,
    cut short, or larger than the limit.
    """
    unpacker = next((call for magic, (_, call) in _UNPACKERS.items() if packed.startswith(magic)), None)
    if unpacker is None:
        if len(packed) > limit:
            raise _too_large(file, limit)
        return packed
    output = io.BytesIO()

    def sink(data: bytes) -> None:
        if output.tell() + len(data) > limit:
            raise _TooLarge
        output.write(data)

    try:
        unpacker(packed, sink)
    except _TooLarge:
        raise _too_large(file, limit) from None
    except _DamagedArchive as error:
        hint = "The file was probably cut short while it was copied" if error.cut else "Copy the file again"
        raise CaptureError(error.reason, file=file, offset=error.offset, hint=f"{hint}.") from None
    return output.getvalue()


def _too_large(file: str, limit: int) -> CaptureError:
    return CaptureError(
        f"the capture has more than {counted(limit, 'byte', form=',')}",
        file=file,
        hint="A capture of that size is refused, packed or not; record fewer frames.",
    )


def read(path: str | os.PathLike[str], *, limit: int = LIMIT) -> bytes:
    """The plain bytes of the file at `path`, unpacked if necessary. Raises CaptureError, also if it cannot be read."""
    return unpack(read_packed(path, limit=limit), file=os.fspath(path), limit=limit)


def read_packed(path: str | os.PathLike[str], *, limit: int = LIMIT) -> bytes:
    """The bytes of the file at `path` as they are; "-" is the standard input. Raises CaptureError if it cannot be
    read."""
    name = os.fspath(path)
    if name == STDIN:
        return sys.stdin.buffer.read(limit + 1)
    try:
        with open(path, "rb") as stream:
            packed = stream.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CaptureError(
            f"the file cannot be read: {reason}", file=name,
            hint=_unread(name),
        ) from None  # fmt: skip
    return packed


def _unread(name: str) -> str:
    """Advice about a file that cannot be read."""
    if os.path.isdir(name):
        return "Give the file of a capture, not a folder."
    file, mark, address = name.rpartition("#")
    if mark and os.path.isfile(file):
        return f"Write file and address as two words: {file} {address}"
    return "Check the path and its permissions."


def pack(plain: bytes, packing: str) -> bytes:
    """`plain` in the compression "xz", "zstd" or "gzip" ("": unchanged), without a date."""
    if packing == "xz":
        return lzma.compress(plain, preset=PRESET)
    if packing == "zstd":
        return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(plain)
    if packing == "gzip":
        import gzip

        return gzip.compress(plain, mtime=0)
    return plain
