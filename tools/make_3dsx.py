"""Makes a .3dsx of an .elf that was linked with --emit-relocs, with title, icon and read-only files.

    python3 tools/make_3dsx.py probe.elf probe.3dsx "Pocketgpu's probe"

It needs Python alone. tests/guests/n3ds/make_3dsx.py adds files. Source of the format: 3dstools' 3dsx.h; 3dbrew SMDH
and RomFS.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

PAGE = 4096
ABS32, REL32, TARGET1, TARGET2, PREL31 = 2, 3, 38, 41, 42
ABSOLUTE, RELATIVE = 0, 1
SHT_REL, SHT_EXIDX, SHF_ALLOC = 9, 0x70000001, 2
LANGUAGES = 16


def up(size: int, unit: int = PAGE) -> int:
    return -(-size // unit) * unit


def segments(elf: bytes) -> list[tuple[int, bytes, int]]:
    """Address, bytes in the file and size in memory of what is loaded: code, read-only data, data."""
    at, count = struct.unpack_from("<I", elf, 28)[0], struct.unpack_from("<H", elf, 44)[0]
    rows = [struct.unpack_from("<8I", elf, at + 32 * n) for n in range(count)]
    loaded = [(row[2], elf[row[1] : row[1] + row[4]], row[5]) for row in rows if row[0] == 1]
    assert len(loaded) == 3, "code, rodata and data"
    return loaded


def relocations(elf: bytes) -> list[tuple[int, int]]:
    """Address and type of each place that the linker has filled in.

    It keeps wrong places of .ARM.exidx, whose entries it merges, so those are found in the section itself: a distance
    to a function, and one to a table or neither.
    """
    at, count = struct.unpack_from("<I", elf, 32)[0], struct.unpack_from("<H", elf, 48)[0]
    sections = [struct.unpack_from("<10I", elf, at + 40 * n) for n in range(count)]
    found = set()
    for _, type, _, start, offset, size, _, target, _, _ in sections:
        if type == SHT_EXIDX:
            words = struct.unpack_from(f"<{size // 4}I", elf, offset)
            found |= {(start + 4 * n, PREL31) for n, word in enumerate(words) if n % 2 == 0 or 1 < word < 1 << 31}
        elif type == SHT_REL and sections[target][1] != SHT_EXIDX and sections[target][2] & SHF_ALLOC:
            for place in range(offset, offset + size, 8):
                address, info = struct.unpack_from("<II", elf, place)
                if info >> 8:  # a symbol
                    found.add((address, info & 0xFF))
    return sorted(found)


def entries(places: list[int]) -> bytes:
    """Words to skip and words to patch, from offsets of a segment."""
    out, at = b"", 0
    words = sorted(place // 4 for place in places)
    while words:
        run = 1
        while run < len(words) and run < 0xFFFF and words[run] == words[0] + run:
            run += 1
        skip = words[0] - at
        while skip > 0xFFFF:
            out += struct.pack("<HH", 0xFFFF, 0)
            skip -= 0xFFFF
        out += struct.pack("<HH", skip, run)
        at, words = words[0] + run, words[run:]
    return out


def smdh(title: str, about: str) -> bytes:
    """Titles and icons; the large icon is a slope of red across and green down, in tiles of 8x8 texels."""
    head = struct.pack("<4sHH", b"SMDH", 0, 0)
    texts = [title, about, "pocketgpu"]
    sizes = (128, 256, 128)
    one = b"".join(text.encode("utf-16-le").ljust(size, b"\0") for text, size in zip(texts, sizes, strict=True))
    titles = bytes(512) + one + bytes(512) * (LANGUAGES - 2)
    icon = [0] * (48 * 48)
    for y in range(48):
        for x in range(48):
            tile = (y // 8) * 6 + x // 8
            inside = sum((x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1 for bit in range(3))
            icon[tile * 64 + inside] = (x * 31 // 47) << 11 | (y * 63 // 47) << 5
    return head + titles + bytes(0x30 + 8) + bytes(0x480) + struct.pack("<2304H", *icon)


def romfs(files: dict[str, bytes]) -> bytes:
    """A level-3 image with one folder."""
    none = 0xFFFFFFFF
    folder = struct.pack("<6I", 0, none, none, 0, none, 0)
    table, data = b"", b""
    for number, (name, text) in enumerate(files.items()):
        coded = name.encode("utf-16-le")
        size = 32 + up(len(coded), 4)
        follows = none if number == len(files) - 1 else len(table) + size
        data = data.ljust(up(len(data), 16), b"\0")
        table += struct.pack("<IIQQII", 0, follows, len(data), len(text), none, len(coded))
        table += coded.ljust(size - 32, b"\0")
        data += text
    folders_hash, files_hash = struct.pack("<I", 0), struct.pack("<I", 0)
    sizes, at = [], 0x28
    for part in (folders_hash, folder, files_hash, table):
        sizes += [at, len(part)]
        at += len(part)
    head = struct.pack("<10I", 0x28, *sizes, up(at, 16))
    return (head + folders_hash + folder + files_hash + table).ljust(up(at, 16), b"\0") + data


def make(elf: bytes, title: str, description: str, files: dict[str, bytes]) -> bytes:
    """The .3dsx; without files it has no RomFS."""
    parts = segments(elf)
    base = parts[0][0]
    image = bytearray()
    starts = []
    for address, data, size in parts:
        starts.append(len(image))
        assert address - base == len(image), "segments follow each other, rounded up to pages"
        image += data.ljust(up(size), b"\0")
    tables: list[list[list[int]]] = [[[], []] for _ in parts]

    def segment_of(offset: int) -> int:
        return max(n for n, start in enumerate(starts) if start <= offset)

    for address, type in relocations(elf):
        place = address - base
        segment = segment_of(place)
        (word,) = struct.unpack_from("<I", image, place)
        if type in (ABS32, TARGET1):
            tables[segment][ABSOLUTE].append(place - starts[segment])
            struct.pack_into("<I", image, place, word - base)
        elif type in (REL32, TARGET2, PREL31):
            short = type == PREL31
            distance = word & 0x7FFFFFFF if short else word
            distance -= (distance >> (30 if short else 31)) << (31 if short else 32)
            if segment_of(place + distance) != segment:
                tables[segment][RELATIVE].append(place - starts[segment])
                struct.pack_into("<I", image, place, place + distance | short << 28)
    packed = [[entries(places) for places in kinds] for kinds in tables]
    heads = b"".join(struct.pack("<II", *(len(one) // 4 for one in kinds)) for kinds in packed)
    stored = b"".join(
        bytes(image[start : start + len(data)]) for start, (_, data, _) in zip(starts, parts, strict=True)
    )
    patches = b"".join(one for kinds in packed for one in kinds)
    body = 44 + len(heads) + len(stored) + len(patches)
    about = smdh(title, description)
    (_, code, _), (_, rodata, _), (_, data, whole) = parts
    header = struct.pack(
        "<4sHHII4I3I", b"3DSX", 44, 8, 0, 0, len(code), len(rodata), whole, whole - len(data),
        up(body, 16), len(about), up(body, 16) + len(about) if files else 0,
    )  # fmt: skip
    written = (header + heads + stored + patches).ljust(up(body, 16), b"\0") + about
    return written + romfs(files) if files else written


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:3])
    title = sys.argv[3] if len(sys.argv) > 3 else source.stem
    target.write_bytes(make(source.read_bytes(), title, title, {}))
