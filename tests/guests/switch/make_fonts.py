"""Makes fonts.h for console.c: a font of 256 glyphs of 16x16, a word a row.

It has the glyphs that are known (facts/console_font.py), and made-up ones for all other codes.

    python tests/guests/switch/make_fonts.py
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2] / "src")]

from pocketgpu.facts.console_font import COUNT, SWITCH, doubled  # noqa: E402

BLANK = (0x00, 0x20, 0xFF)


def glyph(code: int) -> bytes:
    """One of the font; a made-up one is a frame with the bits of its code in it."""
    if code in SWITCH.glyphs:
        return SWITCH.glyphs[code]
    if code in BLANK:
        return bytes(32)
    rows = [code >> 6, code >> 3 & 7, code & 7]
    return doubled(bytes([0x7E, 0x42, *(0x42 | row << 3 for row in rows), 0x42, 0x7E, 0]))


def main() -> None:
    """Write the file."""
    lines = ["/* Made by make_fonts.py. 256 glyphs of 16x16: rows from the top, the left pixel in the highest bit. */"]
    lines.append("static const u16 font[] = {")
    for code in range(COUNT):
        one = glyph(code)
        rows = (int.from_bytes(one[at : at + 2], "big") for at in range(0, len(one), 2))
        lines.append("    " + " ".join(f"0x{row:04x}," for row in rows))
    (HERE / "fonts.h").write_text("\n".join([*lines, "};\n"]), encoding="utf-8")


if __name__ == "__main__":
    main()
