"""Makes the shared font for programs of the Switch from a TrueType font: fewer characters, no instructions.

    python tools/make_switch_font.py /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf [FILE]

The characters are those of `RANGES` that the font has. Outlines stay as they are; programs smooth them anyway. The same
font gives the same file. Source: the OpenType specification.
"""

from __future__ import annotations

import lzma
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "src" / "pocketgpu" / "data" / "switch_font.ttf.xz"
RANGES = (
    (0x20, 0x7E), (0xA0, 0x24F), (0x2B0, 0x2DD), (0x370, 0x3FF), (0x400, 0x52F), (0x1E00, 0x1EFF), (0x2010, 0x205E),
    (0x2070, 0x209C), (0x20A0, 0x20BF), (0x2100, 0x214F), (0x2150, 0x215F), (0x2190, 0x21FF), (0x2200, 0x22FF),
    (0x2500, 0x25FF), (0x2600, 0x266F), (0x2713, 0x2718), (0xFB00, 0xFB06), (0xFFFD, 0xFFFD),
)  # fmt: skip
NAMES = (0, 1, 2, 4, 5, 6, 13, 14)
"""Copyright, family, style, full name, version, short name, licence and where it is."""
_ARGS_ARE_WORDS, _HAS_SCALE, _MORE, _HAS_TWO_SCALES, _HAS_MATRIX, _HAS_INSTRUCTIONS = 1, 8, 0x20, 0x40, 0x80, 0x100
_CHECKSUM_OF_FILE = 0xB1B0AFBA
_WINDOWS, _UNICODE, _ENGLISH = 3, 1, 0x409
_LAST_SEGMENT = 0xFFFF


class Font:
    """A TrueType font: its tables by name."""

    def __init__(self, data: bytes) -> None:
        (count,) = struct.unpack_from(">H", data, 4)
        rows = (struct.unpack_from(">4s3I", data, 12 + 16 * n) for n in range(count))
        self.tables = {tag.decode(): data[at : at + size] for tag, _, at, size in rows}
        (long,) = struct.unpack_from(">h", self.tables["head"], 50)
        (self.glyph_count,) = struct.unpack_from(">H", self.tables["maxp"], 4)
        loca = self.tables["loca"]
        places = struct.unpack_from(f">{self.glyph_count + 1}{'I' if long else 'H'}", loca)
        self.places = places if long else [2 * one for one in places]

    def glyph(self, number: int) -> bytes:
        """The outline of a glyph; empty for a space."""
        return self.tables["glyf"][self.places[number] : self.places[number + 1]]

    def width(self, number: int) -> bytes:
        """Advance and left side bearing of a glyph."""
        (count,) = struct.unpack_from(">H", self.tables["hhea"], 34)
        metrics = self.tables["hmtx"]
        if number < count:
            return metrics[4 * number : 4 * number + 4]
        at = 4 * count + 2 * (number - count)
        return metrics[4 * count - 4 : 4 * count - 2] + metrics[at : at + 2]

    def characters(self) -> Mapping[int, int]:
        """Glyphs by code point, of the table for the first 65536."""
        cmap = self.tables["cmap"]
        (count,) = struct.unpack_from(">H", cmap, 2)
        for number in range(count):
            platform, encoding, at = struct.unpack_from(">2HI", cmap, 4 + 8 * number)
            if (platform, encoding) == (_WINDOWS, _UNICODE):
                return dict(_segments(cmap[at:]))
        raise SystemExit("the font has no table of characters for Windows")


def _segments(table: bytes) -> Iterator[tuple[int, int]]:
    """Code points and glyphs of a table of format 4."""
    (twice,) = struct.unpack_from(">H", table, 6)
    count = twice // 2
    ends = struct.unpack_from(f">{count}H", table, 14)
    starts, deltas, offsets = (struct.unpack_from(f">{count}H", table, 16 + n * twice) for n in (1, 2, 3))
    for number, (first, last, delta, offset) in enumerate(zip(starts, ends, deltas, offsets, strict=True)):
        for code in range(first, min(last, _LAST_SEGMENT - 1) + 1):
            glyph = code
            if offset:
                (glyph,) = struct.unpack_from(">H", table, 16 + 3 * twice + 2 * number + offset + 2 * (code - first))
            if glyph or not offset:
                yield code, (glyph + delta) & 0xFFFF


def components(outline: bytes) -> Iterator[tuple[int, int]]:
    """Where a glyph that is made of others names them, and their numbers."""
    if len(outline) < 10 or struct.unpack_from(">h", outline)[0] >= 0:
        return
    at, flags = 10, _MORE
    while flags & _MORE:
        flags, number = struct.unpack_from(">2H", outline, at)
        yield at, number
        at += 4 + (4 if flags & _ARGS_ARE_WORDS else 2)
        at += 2 if flags & _HAS_SCALE else 4 if flags & _HAS_TWO_SCALES else 8 if flags & _HAS_MATRIX else 0


def bare(outline: bytes, numbers: Mapping[int, int]) -> bytes:
    """An outline without instructions, and with the new numbers of the glyphs that it is made of."""
    if not outline:
        return b""
    (contours,) = struct.unpack_from(">h", outline)
    if contours >= 0:
        at = 10 + 2 * contours
        (length,) = struct.unpack_from(">H", outline, at)
        return outline[:at] + bytes(2) + outline[at + 2 + length :]
    changed = bytearray(outline)
    for at, number in components(outline):
        (flags,) = struct.unpack_from(">H", outline, at)
        struct.pack_into(">2H", changed, at, flags & ~_HAS_INSTRUCTIONS, numbers[number])
    return bytes(changed)


def character_table(glyphs: Mapping[int, int]) -> bytes:
    """The table of characters, with a segment for each run of both."""
    runs: list[list[int]] = []
    for code, glyph in sorted(glyphs.items()):
        if runs and code == runs[-1][1] + 1 and glyph - code == runs[-1][2]:
            runs[-1][1] = code
        else:
            runs.append([code, code, glyph - code])
    runs.append([_LAST_SEGMENT, _LAST_SEGMENT, 1])
    count = len(runs)
    power = 1 << (count.bit_length() - 1)
    body = struct.pack(">4H", 2 * count, 2 * power, power.bit_length() - 1, 2 * (count - power))
    body += struct.pack(f">{count}H", *(last for _, last, _ in runs)) + bytes(2)
    body += struct.pack(f">{count}H", *(first for first, _, _ in runs))
    body += struct.pack(f">{count}H", *(delta & 0xFFFF for _, _, delta in runs)) + bytes(2 * count)
    table = struct.pack(">3H", 4, 6 + len(body), 0) + body
    return struct.pack(">2H2HI", 0, 1, _WINDOWS, _UNICODE, 12) + table


def name_table(names: bytes) -> bytes:
    """Names in English, of those that `NAMES` lists."""
    _, count, start = struct.unpack_from(">3H", names)
    rows = [struct.unpack_from(">6H", names, 6 + 12 * number) for number in range(count)]
    kept = [row for row in rows if row[:3] == (_WINDOWS, _UNICODE, _ENGLISH) and row[3] in NAMES]
    texts, head = b"", struct.pack(">3H", 0, len(kept), 6 + 12 * len(kept))
    for *what, size, at in kept:
        head += struct.pack(">6H", *what, size, len(texts))
        texts += names[start + at : start + at + size]
    return head + texts


def smaller(font: Font) -> dict[str, bytes]:
    """The tables of a font with fewer characters."""
    known = font.characters()
    codes = [code for first, last in RANGES for code in range(first, last + 1) if code in known]
    wanted = [0, *(known[code] for code in codes)]
    for number in wanted:  # it grows
        wanted += [part for _, part in components(font.glyph(number)) if part not in wanted]
    numbers = {old: new for new, old in enumerate(dict.fromkeys(wanted))}
    outlines, places = b"", [0]
    for old in numbers:
        outline = bare(font.glyph(old), numbers)
        outlines += outline + bytes(-len(outline) % 4)
        places.append(len(outlines))
    count = len(numbers)
    tables = {tag: bytearray(font.tables[tag]) for tag in ("head", "hhea", "maxp", "OS/2")}
    struct.pack_into(">I", tables["head"], 8, 0)  # the checksum comes last
    struct.pack_into(">h", tables["head"], 50, 1)
    struct.pack_into(">H", tables["hhea"], 34, count)
    struct.pack_into(">H", tables["maxp"], 4, count)
    return {tag: bytes(data) for tag, data in tables.items()} | {
        "cmap": character_table({code: numbers[known[code]] for code in codes}),
        "glyf": outlines, "hmtx": b"".join(map(font.width, numbers)), "loca": struct.pack(f">{count + 1}I", *places),
        "name": name_table(font.tables["name"]), "post": struct.pack(">I", 0x00030000) + font.tables["post"][4:32],
    }  # fmt: skip


def checksum(data: bytes) -> int:
    """The sum of all words."""
    padded = data + bytes(-len(data) % 4)
    return sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF


def file_of(tables: Mapping[str, bytes]) -> bytes:
    """A font file with these tables."""
    count = len(tables)
    power = 1 << (count.bit_length() - 1)
    head = struct.pack(">I4H", 0x00010000, count, 16 * power, power.bit_length() - 1, 16 * (count - power))
    rows, body, start = b"", b"", len(head) + 16 * count
    head_at = 0
    for tag in sorted(tables):
        data = tables[tag]
        if tag == "head":
            head_at = start + len(body)
        rows += struct.pack(">4s3I", tag.encode(), checksum(data), start + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    made = bytearray(head + rows + body)
    struct.pack_into(">I", made, head_at + 8, (_CHECKSUM_OF_FILE - checksum(bytes(made))) & 0xFFFFFFFF)
    return bytes(made)


def main(arguments: Sequence[str]) -> None:
    """For people."""
    if not 1 <= len(arguments) <= 2:
        raise SystemExit(__doc__)
    made = file_of(smaller(Font(Path(arguments[0]).read_bytes())))
    output = Path(arguments[1]) if len(arguments) > 1 else OUTPUT
    output.write_bytes(lzma.compress(made, preset=9 | lzma.PRESET_EXTREME) if output.suffix == ".xz" else made)
    print(f"{output}: {len(made)} bytes, {output.stat().st_size} as stored")


if __name__ == "__main__":
    main(sys.argv[1:])
