"""Makes a .nro of a position independent .elf, with title, icon and read-only files.

    python3 make_nro.py hello.elf hello.nro
    python3 make_nro.py probe.elf probe.nro "pocketgpu probe"        (with another title than the file's name)

It needs Python alone. Source of the format: libnx's nro.h, switch-tools' elf2nro.c; switchbrew's NRO, NACP and RomFS.
"""

from __future__ import annotations

import hashlib
import struct
import sys
from pathlib import Path

PAGE = 4096
HEADER = 0x80
FILES: dict[str, dict[str, bytes]] = {
    "hello": {"hello.txt": b"hello from the RomFS\n", "folder/second.txt": b"and from a folder\n"},
}
"""Read-only files of a program, by its name."""
LANGUAGES = 16
NACP_SIZE = 0x4000
NONE = 0xFFFFFFFF
ICON = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300" + "01" * 64
    + "ffc0000b080001000101011100ffc4001400010000000000000000000000000000000a"
    "ffc40014100100000000000000000000000000000000ffda0008010100003f0037ffd9"
)  # fmt: skip
"""A JPEG of one pixel."""


def up(size: int, unit: int = PAGE) -> int:
    return -(-size // unit) * unit


def segments(elf: bytes) -> list[tuple[int, bytes, int]]:
    """Address, bytes in the file and size in memory of what is loaded: text, read-only data, data."""
    at, count = struct.unpack_from("<Q", elf, 32)[0], struct.unpack_from("<H", elf, 56)[0]
    rows = [struct.unpack_from("<IIQQQQQQ", elf, at + 56 * n) for n in range(count)]
    loaded = [(row[3], elf[row[2] : row[2] + row[5]], row[6]) for row in rows if row[0] == 1]
    assert len(loaded) == 3 and loaded[0][0] == 0, "text from 0, rodata and data"
    return loaded


def nacp(title: str) -> bytes:
    """Title and author in all languages, and the version."""
    one = title.encode().ljust(0x200, b"\0") + b"pocketgpu".ljust(0x100, b"\0")
    data = bytearray((one * LANGUAGES).ljust(NACP_SIZE, b"\0"))
    data[0x3060:0x3070] = b"1.0.0".ljust(16, b"\0")
    return bytes(data)


def _hash(parent: int, name: bytes) -> int:
    value = parent ^ 123456789
    for byte in name:
        value = (value >> 5 | value << 27) & NONE
        value ^= byte
    return value


class _Table:
    """Entries of folders or of files, found by parent and name through buckets."""

    def __init__(self, count: int) -> None:
        self.buckets, self.data = [NONE] * max(1, count), bytearray()

    def add(self, head: bytes, tail: tuple[int, ...], parent: int, name: bytes) -> int:
        """An entry; `head` and `tail` are its fields around the link to the next one of its bucket."""
        at, bucket = len(self.data), _hash(parent, name) % len(self.buckets)
        self.data += head + struct.pack(f"<{1 + len(tail)}I", self.buckets[bucket], *tail)
        self.data += name.ljust(up(len(name), 4), b"\0")
        self.buckets[bucket] = at
        return at

    @property
    def hashes(self) -> bytes:
        return struct.pack(f"<{len(self.buckets)}I", *self.buckets)


def romfs(files: dict[str, bytes]) -> bytes:
    """An image with files in the root, and in folders one below it."""
    names = sorted({path.split("/")[0] for path in files if "/" in path})
    folders, table, data = _Table(1 + len(names)), _Table(len(files)), bytearray()
    tree = [("", 0)] + [(name, 0) for name in names]
    places = []
    at = 0
    for name, _ in tree:
        places.append(at)
        at += 24 + up(len(name.encode()), 4)
    first_file, sizes = {}, {}
    for number, (folder, _) in enumerate(tree):
        inside = [path for path in files if (path.rpartition("/")[0]) == folder]
        for index, path in enumerate(inside):
            name = path.rpartition("/")[2].encode()
            size = 32 + up(len(name), 4)
            here = len(table.data)
            if index == 0:
                first_file[number] = here
            follows = here + size if index + 1 < len(inside) else NONE
            data += bytes(up(len(data), 16) - len(data))
            head = struct.pack("<IIQQ", places[number], follows, len(data), len(files[path]))
            table.add(head, (len(name),), places[number], name)
            data += files[path]
            sizes[path] = len(files[path])
    for number, (folder, _) in enumerate(tree):
        name = folder.encode()
        follows = places[number + 1] if 0 < number < len(tree) - 1 else NONE
        child = places[1] if number == 0 and len(tree) > 1 else NONE
        folders.add(struct.pack("<4I", 0, follows, child, first_file.get(number, NONE)), (len(name),), 0, name)
    parts = [folders.hashes, bytes(folders.data), table.hashes, bytes(table.data)]
    at, head = 0x50, [0x50]
    for part in parts:
        head += [at, len(part)]
        at += len(part)
    head.append(up(at, 16))
    return (struct.pack("<10Q", *head) + b"".join(parts)).ljust(up(at, 16), b"\0") + bytes(data)


def make(elf: bytes, title: str, files: dict[str, bytes]) -> bytes:
    """The .nro."""
    parts = segments(elf)
    image = bytearray()
    places = []
    for address, data, _ in parts:
        assert address == len(image), "segments follow each other, rounded up to pages"
        image += data.ljust(up(len(data)), b"\0")
        places += [address, len(image) - address]
    address, data, size = parts[2]
    bss = up(max(0, address + size - len(image)))
    struct.pack_into("<4s3I6III", image, 0x10, b"NRO0", 0, len(image), 0, *places, bss, 0)
    image[0x40:0x54] = hashlib.sha1(image).digest()
    about, files_image = nacp(title), romfs(files) if files else b""
    at, pairs = 0x38, []
    for part in (ICON, about, files_image):
        pairs += [at, len(part)] if part else [0, 0]
        at += up(len(part), 16)
    assets = struct.pack("<4sI6Q", b"ASET", 0, *pairs)
    return bytes(image) + assets + b"".join(one.ljust(up(len(one), 16), b"\0") for one in (ICON, about, files_image))


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:3])
    title = sys.argv[3] if len(sys.argv) > 3 else source.stem
    target.write_bytes(make(source.read_bytes(), title, FILES.get(source.stem, {})))
