"""Makes fonts.h for console.c: two fonts of 256 glyphs.

The first has the glyphs that facts/n3ds/console_font.tsv tells, and made-up ones for all other codes. The second is
bold, and lacks the first 32 codes, as fonts may.

    python tests/guests/n3ds/make_fonts.py
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2] / "src")]

from pocketgpu.facts.console_font import COUNT, GLYPHS  # noqa: E402

BLANK = (0x00, 0x20, 0xFF)


def glyph(code: int) -> bytes:
    """One of the first font; a made-up one is a frame with the bits of its code in it."""
    if code in GLYPHS:
        return GLYPHS[code]
    if code in BLANK:
        return bytes(8)
    rows = [code >> 6, code >> 3 & 7, code & 7]
    return bytes([0x7E, 0x42, *(0x42 | row << 3 for row in rows), 0x42, 0x7E, 0])


def text(name: str, glyphs: list[bytes]) -> str:
    """A table of C."""
    rows = ["    " + " ".join(f"0x{byte:02x}," for byte in one) for one in glyphs]
    return f"static const u8 {name}[] = {{\n" + "\n".join(rows) + "\n};\n"


def main() -> None:
    """Write the file."""
    plain = [glyph(code) for code in range(COUNT)]
    bold = [bytes(byte | byte >> 1 for byte in one) for one in plain[0x20:]]
    head = "/* Made by make_fonts.py. 256 glyphs of 8x8; the second font begins with code 32. */\n"
    (HERE / "fonts.h").write_text(head + text("plain_font", plain) + text("bold_font", bold), encoding="utf-8")


if __name__ == "__main__":
    main()
