"""Makes the system font for programs of the 3DS from any TrueType font: glyphs as textures, in the console's format.

    python tools/make_system_font.py /usr/share/fonts/truetype/liberation2/LiberationSans-Regular.ttf [FILE]

The characters are those of `RANGES` that the font has; the buttons of the console are drawn here. Sheets are 128x32
texels with five cells of 24x30, as those of the console, because citro2d joins 32 of them to one texture. The same font
and the same version of FreeType give the same file.
"""

from __future__ import annotations

import lzma
import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

from pocketgpu.guests.n3ds.font import A4, SHEETS_AT, Glyph, Method, tile_order  # noqa: E402

OUTPUT = ROOT / "src" / "pocketgpu" / "data" / "system_font.bcfnt.xz"
SIZE = 22
CELL = 24, 30
BASELINE = 23
SHEET = 128, 32
COLUMNS = 5
RANGES = (
    (0x20, 0x7E), (0xA0, 0x17F), (0x192, 0x192), (0x2C6, 0x2DD), (0x384, 0x3CE), (0x401, 0x45F), (0x2010, 0x2026),
    (0x2030, 0x203A), (0x2070, 0x208E), (0x20AC, 0x20AC), (0x2116, 0x2122), (0x2190, 0x2199), (0x2200, 0x220F),
    (0x2211, 0x221E), (0x2260, 0x2265), (0x2500, 0x2573), (0x2580, 0x259F), (0x25A0, 0x25CF), (0x2605, 0x2606),
    (0x2639, 0x2642), (0x2660, 0x266F), (0xFFFD, 0xFFFD),
)  # fmt: skip
BUTTONS = {0xE000: "A", 0xE001: "B", 0xE002: "X", 0xE003: "Y", 0xE004: "L", 0xE005: "R", 0xE006: "+"}
"""Code points of the console's font for its buttons; the last one is the directional pad."""
SHORTEST_RUN = 4
"""Runs of characters from this length on get a map of their own."""


def characters(path: Path) -> list[int]:
    """Code points of the ranges that a font has: those whose picture is not the one for unknown characters."""
    font = ImageFont.truetype(str(path), SIZE, layout_engine=ImageFont.Layout.BASIC)
    unknown = bytes(font.getmask("\U0010fffe"))
    spaces = {0x20, 0xA0}
    codes = [code for first, last in RANGES for code in range(first, last + 1)]
    return [code for code in codes if code in spaces or bytes(font.getmask(chr(code))) not in (unknown, b"")]


def rendered(path: Path, code: int) -> Glyph:
    """The glyph of a character, as wide as its ink and at most as a cell."""
    font = ImageFont.truetype(str(path), SIZE, layout_engine=ImageFont.Layout.BASIC)
    character = chr(code)
    left, _, right, _ = (round(edge) for edge in font.getbbox(character, anchor="ls"))
    width = min(max(right - left, 0), CELL[0])
    image = Image.new("L", (max(width, 1), CELL[1]))
    ImageDraw.Draw(image).text((-left, BASELINE), character, fill=255, font=font, anchor="ls")
    return Glyph(left, min(round(font.getlength(character)), 255), quantised(image)[:, :width])


def button(path: Path, letter: str) -> Glyph:
    """A button: a letter in a ring; the directional pad is a cross."""
    font = ImageFont.truetype(str(path), SIZE * 5 // 8, layout_engine=ImageFont.Layout.BASIC)
    image = Image.new("L", (4 * 22, 4 * CELL[1]))
    draw = ImageDraw.Draw(image)
    if letter == "+":
        for box in ((28, 20, 59, 107), (0, 48, 87, 79)):
            draw.rectangle(box, fill=255)
    else:
        draw.ellipse((2, 20, 85, 103), outline=255, width=6)
    image = image.resize((22, CELL[1]), Image.Resampling.BOX)
    if letter != "+":
        ImageDraw.Draw(image).text((11, 15.5), letter, fill=255, font=font, anchor="mm")
    return Glyph(0, 23, quantised(image))


def quantised(image: Image.Image) -> NDArray[np.uint8]:
    """Coverage with 4 bits."""
    return ((np.asarray(image, np.uint16) * 15 + 127) // 255).astype(np.uint8)


def sheets(glyphs: Sequence[Glyph]) -> bytes:
    """The textures, one after the other."""
    out = []
    order = tile_order(*SHEET).reshape(-1)
    for first in range(0, len(glyphs), COLUMNS):
        picture = np.zeros(SHEET[::-1], np.uint8)
        for column, glyph in enumerate(glyphs[first : first + COLUMNS]):
            x = column * (CELL[0] + 1) + 1
            picture[1 : 1 + CELL[1], x : x + glyph.pixels.shape[1]] = glyph.pixels
        texels = np.zeros(order.size, np.uint8)
        texels[order] = picture.reshape(-1)
        out.append((texels[0::2] | texels[1::2] << 4).tobytes())
    return b"".join(out)


def maps(codes: Sequence[int]) -> Iterator[tuple[int, int, int, bytes]]:
    """First and last character, method and body of each map. Glyphs have the order of their characters."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and runs[-1][-1] == code - 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    place = {code: number for number, code in enumerate(codes)}
    rest: list[int] = []
    for run in runs:
        if len(run) >= SHORTEST_RUN:
            yield run[0], run[-1], Method.DIRECT, struct.pack("<HH", place[run[0]], 0)
        else:
            rest += run
    if rest:
        pairs = b"".join(struct.pack("<HH", code, place[code]) for code in rest)
        yield rest[0], rest[-1], Method.SCAN, struct.pack("<H", len(rest)) + pairs


def section(name: bytes, body: bytes) -> bytes:
    """A part of the file, of whole words."""
    body += bytes(-len(body) % 4)
    return name + struct.pack("<I", 8 + len(body)) + body


def font_file(path: Path) -> bytes:
    """The font as a file of the console."""
    glyphs = {code: rendered(path, code) for code in characters(path)}
    glyphs |= {code: button(path, letter) for code, letter in BUTTONS.items()}
    codes = sorted(glyphs)
    ordered = [glyphs[code] for code in codes]
    data = sheets(ordered)
    size, count = SHEET[0] * SHEET[1] // 2, -(-len(codes) // COLUMNS)
    data_at = -(-(SHEETS_AT + 24) // 0x80) * 0x80
    widest = max(one.advance for one in ordered)
    cells = struct.pack(
        "<4BIHHHHHHI", *CELL, BASELINE, widest, size, count, A4, COLUMNS, 1, *SHEET, data_at
    )  # fmt: skip
    textures = section(b"TGLP", cells + bytes(data_at - SHEETS_AT - len(cells)) + data)
    at = SHEETS_AT - 8 + len(textures)
    widths_at = at + 8
    widths = b"".join(struct.pack("<bBB", one.left, one.pixels.shape[1], one.advance) for one in ordered)
    parts = [section(b"CWDH", struct.pack("<HHI", 0, len(codes) - 1, 0) + widths)]
    at += len(parts[0])
    maps_at = at + 8
    found = list(maps(codes))
    for number, (first, last, method, body) in enumerate(found):
        length = 8 + -(-(12 + len(body)) // 4) * 4
        following = at + length + 8 if number + 1 < len(found) else 0
        parts.append(section(b"CMAP", struct.pack("<HHHHI", first, last, method, 0, following) + body))
        at += length
    alternative = codes.index(0xFFFD) if 0xFFFD in glyphs else codes.index(ord("?"))
    info = struct.pack(
        "<BBHbBBBIIIBBBB", 1, CELL[1], alternative, 0, CELL[0], CELL[0], 1, SHEETS_AT, widths_at, maps_at,
        CELL[1], CELL[0], BASELINE, 0,
    )  # fmt: skip
    blocks = [section(b"FINF", info), textures, *parts]
    header = struct.pack("<4sHHIII", b"CFNT", 0xFEFF, 0x14, 0x03000000, 0x14 + sum(map(len, blocks)), len(blocks))
    return header + b"".join(blocks)


def packed(data: bytes) -> bytes:
    """As the package has it."""
    return lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    made = font_file(Path(sys.argv[1]))
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else OUTPUT
    target.write_bytes(packed(made))
    print(f"{target.name}: {len(made)} bytes, packed {target.stat().st_size}")
