"""From a file to the contents of a capture. Files are not trusted: every number is checked before it is used."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc import sections
from pocketgpu.capture.formats.pgc.contents import (
    Contents,
    Event,
    FrameContents,
    Gx,
    Load,
    Map,
    Narrow,
    Pieces,
    Present,
    StateRecord,
    Store,
    Submit,
    Swap,
    Unmap,
    Words,
    Writes,
)
from pocketgpu.displayed import line_of
from pocketgpu.errors import CaptureError
from pocketgpu.events import sized
from pocketgpu.facts.choices import DEFAULTS
from pocketgpu.facts.gsp import AddressRange
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.gsp.address_map import AddressMap
from pocketgpu.pica.gsp.framebuffers import swap_writes
from pocketgpu.pica.gsp.gsp_machine import Refused, Translator
from pocketgpu.wording import counted

_FORMATS = 9
_LARGEST_SIDE = 1 << 14
_VA_END = 1 << 40
_PAGE = 4096
_MOST_EVENTS = 1 << 22
"""Each event costs some hundred bytes here."""


def parse(data: bytes, *, file: str = "") -> Contents:
    """The contents of a file from its bytes; `file` is its name in errors.

    Raises CaptureError with the offset for a file that is cut, damaged or of another version.
    """
    found = sections.scan(data, file)
    decoder = _Decoder(found.header, file)
    for section in found.sections:
        decoder.section(section)
        if decoder.failure is not None:
            raise decoder.failure
    if found.damage is not None:
        raise found.damage
    contents = decoder.finish()
    if found.frames != len(contents.frames):
        message = f"the capture should have {counted(found.frames or 0, 'frame')} and has {len(contents.frames)}"
        raise CaptureError(message, file=file, offset=len(data), hint="The recorder that wrote it has a bug.")
    return contents


@dataclass(frozen=True, slots=True)
class Rescue:
    """The intact part of a file: contents with whole frames only, and the damage (None: there is none)."""

    contents: Contents
    damage: CaptureError | None

    def __repr__(self) -> str:
        damage = "nothing is damaged" if self.damage is None else self.damage.message
        return line_of(self, f"{counted(len(self.contents.frames), 'whole frame')}; {damage}")


def rescue(data: bytes, *, file: str = "") -> Rescue:
    """All frames before the first damage, each one verified by its check.

    Raises CaptureError if not even the header can be read.
    """
    found = sections.scan(data, file)
    decoder = _Decoder(found.header, file)
    for section in (*found.sections, *((found.rest,) if found.rest else ())):
        decoder.section(section)
        if decoder.failure is not None:
            break
    damage = found.damage or decoder.failure
    contents = decoder.finish()
    if damage is None and found.frames != len(contents.frames):
        message = f"the capture should have {counted(found.frames or 0, 'frame')} and has {len(contents.frames)}"
        damage = CaptureError(message, file=file, offset=len(data))
    if damage is not None:
        contents.tail = ()
    return Rescue(contents, damage)


class _Bad(Exception):
    """Internal: the current record is invalid."""


class _Decoder:
    """Decodes sections one by one. `failure`: why a record is invalid; earlier records are kept."""

    def __init__(self, header: sections.Header, file: str) -> None:
        self.contents = Contents(header.console, header.digest_size, header.check_size)
        self.file = file
        self.failure: CaptureError | None = None
        self.data = b""
        self.at = 0
        self.blocks: list[bytes] = []
        self.stored = 0
        self.count = 0
        self.check = 0
        self.checked = 0
        self.events: list[Event] = []
        self.shown: dict[int, bytes] = {}
        self.begun = False
        self.presented = False
        self.exact = False  # whether there was a store by address since the last submission
        self.mapped: dict[int, int] = {}
        common = {F.ABOUT: self.about, F.COVERAGE: self.coverage, F.STATE: self.state, F.FRAME: self.frame}
        of_consoles = {
            "3DS": {
                F.LOAD: self.load, F.WRITES: self.writes, F.WRITE8: self.write8, F.WRITE16: self.write16,
                F.GX: self.gx, F.SWAP: self.swap, F.TRANSLATE: self.translate,
            },
            "Switch": {
                F.MAP: self.map, F.UNMAP: self.unmap, F.STORE: self.store, F.SUBMIT: self.submit,
                F.SYNCPOINT: self.syncpoint, F.PRESENT: self.present, F.MAP_PART: self.map_part,
                F.PRESENT_PART: self.present_part,
            },
        }  # fmt: skip
        self.readers = common | of_consoles[header.console]

    def section(self, section: sections.Section) -> None:
        """Read all records of a section."""
        self.data, self.at, self.checked = section.plain, 0, 0
        start = 0
        try:
            while self.at < len(self.data):
                start = self.at
                kind = self.u8()
                reader = self.readers.get(kind)
                if reader is None:
                    raise _Bad(f"there is no record of type {kind:#x} in captures of this console")
                reader()
        except _Bad as bad:
            message = f"the record at byte {start} of a section: {bad}"
            hint = "The file is damaged, or a newer recorder wrote it."
            self.failure = CaptureError(message, file=self.file, offset=section.offset, hint=hint)
        self.check = zlib.crc32(memoryview(self.data)[self.checked :], self.check)

    def finish(self) -> Contents:
        self.contents.tail = tuple(self.events)
        return self.contents

    # -- fields -----------------------------------------------------------------------------------------------------
    def take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self.data):
            raise _Bad(f"it needs {counted(size, 'byte')} where {len(self.data) - self.at} are left")
        part = self.data[self.at : end]
        self.at = end
        return part

    def u8(self, end: int = 256, what: str = "a number") -> int:
        value = self.take(1)[0]
        if value >= end:
            raise _Bad(f"{what} of {value}, which must be below {end}")
        return value

    def u32(self) -> int:
        return int.from_bytes(self.take(4), "little")

    def varint(self, end: int = 1 << 64, what: str = "a number") -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >= end:
                    raise _Bad(f"{what} of {value:#x}, which must be below {end:#x}")
                return value
        raise _Bad("a number of more than ten bytes")

    def text(self) -> str:
        return self.take(self.varint(1 << 20, "a text's size")).decode("utf-8", "replace")

    def words(self, count: int) -> Words:
        return np.frombuffer(self.take(4 * count), "<u4").astype(np.uint32)

    def pairs(self) -> Words:
        """Pairs of a register's address and a value."""
        count = self.varint(F.SECTION_LIMIT, "a count of writes")
        pairs = np.ascontiguousarray(self.words(2 * count).reshape(-1, 2).T)
        if bool((pairs[0] & 3).any()):
            raise _Bad("the address of a register is no multiple of 4")
        return pairs

    def pieces(self, room: int) -> Pieces:
        """Blocks of at most `room` bytes together."""
        count = self.varint(1 << 24, "a count of pieces")
        found: list[bytes] = []
        size = 0
        for _ in range(count):
            back = self.varint()
            if back > len(self.blocks):
                raise _Bad(f"block {back} from the end, where there are {len(self.blocks)}")
            if not back:
                self.blocks.append(self.take(self.varint(F.BLOCK_LIMIT + 1, "a block's size")))
                back = 1
            found.append(self.blocks[-back])
            size += len(found[-1])
            if size > room:
                raise _Bad("its bytes leave the address space")
        self.stored += size
        self.count += count
        if self.stored > F.STORED_LIMIT:
            raise _Bad(f"all loads together store more than {F.STORED_LIMIT:,} bytes")
        if self.count > _MOST_EVENTS:
            raise _Bad(f"the capture has more than {_MOST_EVENTS:,} events")
        return tuple(found)

    def add(self, event: Event) -> None:
        self.begun = True
        self.count += 1
        if self.count > _MOST_EVENTS:
            raise _Bad(f"the capture has more than {_MOST_EVENTS:,} events")
        self.events.append(event)

    def first(self) -> None:
        if self.begun:
            raise _Bad("it must come before all events")

    # -- both consoles ----------------------------------------------------------------------------------------------
    def about(self) -> None:
        self.first()
        key, value = self.text(), self.text()
        if len(self.contents.about) < 256:
            self.contents.about[key] = value

    def coverage(self) -> None:
        self.first()
        self.contents.coverage = self.varint()

    def state(self) -> None:
        self.first()
        number = self.u8()
        channel, class_id = self.varint(256, "a channel"), self.varint(1 << 16, "a class")
        item = F.STATE_ITEMS[self.contents.console].get(number)
        if item is None:
            raise _Bad(f"there is no state {number}")
        first = self.varint(item.words + 1, f"a word of {item.name}")
        count = self.varint(item.words - first + 1, f"a count of words of {item.name}")
        self.contents.state.append(StateRecord(number, self.words(count), first, channel, class_id))
        if len(self.contents.state) > 1 << 16:
            raise _Bad("the capture has too many records of state")

    def frame(self) -> None:
        self.begun = True
        size, screens = self.contents.digest_size, F.SCREENS[self.contents.console]
        pictures: dict[int, bytes] = {}
        for _ in range(self.varint(len(screens) + 1, "a count of pictures")):
            screen, form = self.u8(len(screens), "a screen"), self.u8(2, "a form of picture")
            if form == F.DIGEST:
                pictures[screen] = self.take(size)
            elif screen not in self.shown:
                raise _Bad("a picture is as in the frame before, where there was none")
            else:
                pictures[screen] = self.shown[screen]
        check = zlib.crc32(memoryview(self.data)[self.checked : self.at], self.check)
        stored = self.take(self.contents.check_size)
        if stored != check.to_bytes(4, "little")[: len(stored)]:
            raise _Bad("the check of a frame is wrong")
        self.check = zlib.crc32(stored, check)
        self.checked = self.at
        if F.PRESENT in self.readers and not self.presented:
            raise _Bad("a frame without a PRESENT before it")
        known = pictures or self.contents.coverage & F.PICTURES_COVERED
        self.contents.frames.append(FrameContents(tuple(self.events), pictures if known else None))
        self.shown, self.events, self.presented = pictures, [], False

    # -- 3DS --------------------------------------------------------------------------------------------------------
    def load(self) -> None:
        address = self.u32()
        self.add(Load(address, self.pieces((1 << 32) - address)))

    def writes(self) -> None:
        addresses, values = self.pairs()
        self.add(Writes(addresses, values))

    def write8(self) -> None:
        self.add(Narrow(self.u32(), self.u8(), 8))

    def write16(self) -> None:
        address = self.u32()
        if address & 1:
            raise _Bad("16 bits to an odd address")
        self.add(Narrow(address, int.from_bytes(self.take(2), "little"), 16))

    def gx(self) -> None:
        self.add(Gx(struct.unpack("<8I", self.take(32))))

    def swap(self) -> None:
        screen = self.u8(2, "a screen")
        info = struct.unpack("<7I", self.take(28))
        addresses, values = self.pairs()
        if len(addresses) > 256:
            raise _Bad(f"{len(addresses)} writes for a framebuffer")
        registers = tuple(zip(addresses.tolist(), values.tolist(), strict=True))
        self.add(Swap(screen, info, registers or self.follow_from(screen, info)))

    def follow_from(self, screen: int, info: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        """The register writes of a framebuffer entry whose recorder did not store them; none if it cannot be shown."""
        translate = Translator(DEFAULTS)
        if self.contents.ranges:
            translate.map = AddressMap(self.contents.ranges)
        try:
            return tuple(swap_writes(screen, info, translate, recorded=True))
        except Refused:
            return ()

    def translate(self) -> None:
        self.first()
        virt, phys, size = self.u32(), self.u32(), self.varint((1 << 32) + 1, "a range's size")
        if not size or max(virt, phys) + size > 1 << 32:
            raise _Bad(f"{counted(size, 'byte')} from {virt:#x} and {phys:#x} are no range of addresses")
        self.contents.ranges.append(AddressRange(virt, phys, size))
        if len(self.contents.ranges) > 4096:
            raise _Bad("the capture has too many ranges of addresses")

    # -- Switch -----------------------------------------------------------------------------------------------------
    def map(self) -> None:
        self.mapping(part=False)

    def map_part(self) -> None:
        self.mapping(part=True)

    def mapping(self, part: bool) -> None:
        """A mapping of a handle's first bytes, or of those from an offset on."""
        id, va, size, handle = (
            self.varint(1 << 32),
            self.varint(_VA_END),
            self.varint(_VA_END + 1),
            self.varint(1 << 32),
        )
        offset = self.varint(_VA_END, "an offset") if part else 0
        kind = self.u8()
        if not size or (va | size | offset) % _PAGE or va + size > _VA_END:
            raise _Bad(f"{size} bytes at {va:#x} are no pages of {_PAGE} bytes")
        if id in self.mapped:
            raise _Bad(f"mapping {id} is there already")
        if self.exact:
            raise _Bad("a mapping changes after a store by address, before the next submission")
        self.mapped[id] = handle
        self.add(Map(id, va, size, handle, kind, offset))

    def unmap(self) -> None:
        id = self.varint(1 << 32)
        if self.mapped.pop(id, None) is None:
            raise _Bad(f"there is no mapping {id}")
        if self.exact:
            raise _Bad("a mapping changes after a store by address, before the next submission")
        self.add(Unmap(id))

    def place(self) -> tuple[int | None, int]:
        """Handle and offset; (None, 0) for a place by address."""
        by_handle = self.u8(2, "a place")
        handle, offset = self.varint(1 << 32, "a handle"), self.varint(_VA_END, "an offset")
        return (handle, offset) if by_handle else (None, 0)

    def store(self) -> None:
        handle, offset = self.place()
        va = self.varint(_VA_END, "an address")
        self.exact |= handle is None
        self.add(Store(handle, offset, va, self.pieces(_VA_END - (va if handle is None else offset))))

    def submit(self) -> None:
        channel = self.varint(256, "a channel")
        count = self.varint(F.SECTION_LIMIT, "a count of entries")
        self.exact = False
        self.add(Submit(channel, np.frombuffer(self.take(8 * count), "<u8").astype(np.uint64)))

    def syncpoint(self) -> None:
        self.first()
        id = self.varint(1 << 32, "a syncpoint")
        self.contents.syncpoints[id] = self.varint(1 << 32, "a syncpoint's value")
        if len(self.contents.syncpoints) > 1 << 16:
            raise _Bad("the capture has too many syncpoints")

    def present(self) -> None:
        self.surface(part=False)

    def present_part(self) -> None:
        self.surface(part=True)

    def surface(self, part: bool) -> None:
        """A surface that is shown, or the part of it below and to the right of a pixel."""
        if self.presented:
            raise _Bad("a second PRESENT in a frame")
        va = self.varint(_VA_END, "an address")
        handle, offset = self.place()
        side = _LARGEST_SIDE + 1
        width, height = self.varint(side, "a width"), self.varint(side, "a height")
        if not width or not height:
            raise _Bad(f"a surface of {sized(width, height)} pixels")
        format, layout, block = self.u8(_FORMATS, "a format"), self.u8(2, "a layout"), self.u8(6, "a block height")
        stride = self.varint(1 << 20, "bytes of a row")
        transform, fenced = self.u8(8, "a transform"), self.u8(2, "a fence")
        fence = (self.varint(1 << 32), self.varint(1 << 32)) if fenced else None
        left = self.varint(width, "pixels at the left") if part else 0
        top = self.varint(height, "pixels at the top") if part else 0
        self.presented = True
        self.add(
            Present(
                va, handle, offset, width, height, format, bool(layout), block, stride, transform, fence, left, top
            )
        )  # fmt: skip
