"""A reader of `.pgc` that knows docs/formats/pgc.md and nothing of the package: what the page leaves out, it lacks.

    for kind, fields in Reader(data).records: ...

Every frame's check is compared on the way.
"""

from __future__ import annotations

import lzma
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import zstandard


class Reader:
    """console: 1 or 2. records: (type, fields) of all of them, data as bytes; FRAME as {screen: digest}."""

    def __init__(self, data: bytes) -> None:
        assert data[:8] == bytes((0x89, 0x50, 0x47, 0x43, 0x0D, 0x0A, 0x1A, 0x0A))
        version, self.console, self.digest, left_out = data[8:12]
        assert version == 1 and self.console in (1, 2) and 8 <= self.digest <= 32 and left_out <= 2
        assert struct.unpack("<I", data[12:16])[0] == zlib.crc32(data[:12])
        self.check = 4 - left_out
        self.stream = b"".join(self._sections(data))
        self.at = 0
        self.blocks: list[bytes] = []
        self.shown: dict[int, bytes] = {}
        self.records = list(self._records())
        assert sum(kind == 0x0F for kind, _ in self.records) == self.frames

    def _sections(self, data: bytes) -> Iterator[bytes]:
        at, count = 16, 0
        while True:
            kind, codec, packed, plain = struct.unpack_from("<BBII", data, at)
            payload = data[at + 10 : at + 10 + packed]
            (crc,) = struct.unpack_from("<I", data, at + 10 + packed)
            assert crc == zlib.crc32(data[at : at + 10 + packed])
            at += 14 + packed
            if kind == 2:
                self.frames, sections = struct.unpack("<II", payload)
                assert codec == 0 and sections == count and at == len(data)
                return
            assert kind == 1 and plain <= 1 << 28
            count += 1
            if codec == 1:
                payload = zstandard.ZstdDecompressor().decompressobj().decompress(payload)
            elif codec == 2:
                payload = lzma.decompress(payload, format=lzma.FORMAT_ALONE)
            assert len(payload) == plain
            yield payload

    # Fields

    def take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + form, self.stream, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def varint(self) -> int:
        value = shift = 0
        while True:
            (byte,) = self.take("B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    def bytes(self, count: int) -> bytes:
        self.at += count
        assert self.at <= len(self.stream)
        return self.stream[self.at - count : self.at]

    def text(self) -> str:
        return self.bytes(self.varint()).decode()

    def data(self) -> bytes:
        pieces = []
        for _ in range(self.varint()):
            back = self.varint()
            if back == 0:
                self.blocks.append(self.bytes(self.varint()))
            pieces.append(self.blocks[-max(back, 1)])
        return b"".join(pieces)

    def pairs(self) -> list[tuple[int, ...]]:
        return [self.take("II") for _ in range(self.varint())]

    # Records

    def _records(self) -> Iterator[tuple[int, Any]]:
        while self.at < len(self.stream):
            (kind,) = self.take("B")
            yield kind, getattr(self, f"_record_{kind:02x}")()

    def _record_01(self) -> Any:
        return self.text(), self.text()

    def _record_02(self) -> Any:
        return self.varint()

    def _record_03(self) -> Any:
        (item,) = self.take("B")
        place = [self.varint() for _ in range(3)]
        return item, *place, self.take(f"{self.varint()}I")

    def _record_0f(self) -> Any:
        pictures = {}
        for _ in range(self.varint()):
            screen, form = self.take("BB")
            assert form in (0, 1)
            pictures[screen] = self.bytes(self.digest) if form else self.shown[screen]
        self.shown = pictures
        checked = zlib.crc32(self.stream[: self.at]).to_bytes(4, "little")[: self.check]
        assert self.bytes(self.check) == checked
        return pictures

    def _record_10(self) -> Any:
        return *self.take("I"), self.data()

    def _record_11(self) -> Any:
        return self.pairs()

    def _record_12(self) -> Any:
        return self.take("IB")

    def _record_13(self) -> Any:
        return self.take("IH")

    def _record_14(self) -> Any:
        return self.take("8I")

    def _record_15(self) -> Any:
        screen, *info = self.take("B7I")
        return screen, tuple(info), self.pairs()

    def _record_16(self) -> Any:
        return *self.take("II"), self.varint()

    def _record_20(self) -> Any:
        return *(self.varint() for _ in range(4)), *self.take("B")

    def _record_26(self) -> Any:
        return (*(self.varint() for _ in range(5)), *self.take("B"))

    def _record_21(self) -> Any:
        return self.varint()

    def _record_22(self) -> Any:
        (place,) = self.take("B")
        return place, self.varint(), self.varint(), self.varint(), self.data()

    def _record_23(self) -> Any:
        return self.varint(), self.take(f"{self.varint()}Q")

    def _record_24(self) -> Any:
        return self.varint(), self.varint()

    def _record_25(self) -> Any:
        address, (place,) = self.varint(), self.take("B")
        handle, offset, width, height = (self.varint() for _ in range(4))
        format, layout, block = self.take("BBB")
        stride, (transform, fenced) = self.varint(), self.take("BB")
        fence = (self.varint(), self.varint()) if fenced else None
        return address, place, handle, offset, width, height, format, layout, block, stride, transform, fence

    def _record_27(self) -> Any:
        return *self._record_25(), self.varint(), self.varint()
