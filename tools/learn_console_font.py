"""Learns the glyphs of the 3DS's console font from pictures whose text is known.

    python tools/learn_console_font.py PICTURES TEXTS

PICTURES has NAME.png, TEXTS has NAME.txt with the lines of the same screen; empty lines at the top may be left out.
Each cell of 8x8 pixels must have the character at its place, everywhere. Writes
src/pocketgpu/facts/n3ds/console_font.tsv: code, glyph, and the programs in which it was seen.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

from pocketgpu.guests.text.pictures import Cells  # noqa: E402

TABLE = ROOT / "src" / "pocketgpu" / "facts" / "n3ds" / "console_font.tsv"
HEAD = """code	glyph	seen in
# Glyphs of the console font of libctru, 8x8: rows from the top, the left pixel in the highest bit. Learned by
# tools/learn_console_font.py from pictures of programs whose text is known; at most three programs are named.
"""
MOST_NAMED = 3


def learn(pictures: Path, texts: Path) -> dict[int, tuple[bytes, list[str]]]:
    """Glyph and programs by code."""
    votes: dict[bytes, Counter[str]] = defaultdict(Counter)
    seen: dict[tuple[bytes, str], list[str]] = defaultdict(list)
    for text in sorted(texts.glob("*.txt")):
        array = np.array(Image.open(pictures / f"{text.stem}.png").convert("RGB"))
        cells = Cells.of(array, 8, 8)
        columns = cells.shape[1]
        filled = np.array([any(glyph) for glyph in cells.glyphs])[cells.numbers]
        above = [""] * (int(np.argmax(filled)) // columns)
        lines = above + text.read_text(encoding="utf-8").lstrip("\n").splitlines()
        for at, number in enumerate(cells.numbers):
            row, column = divmod(at, columns)
            line = lines[row] if row < len(lines) else ""
            character = line[column] if column < len(line) else " "
            if number < 0:
                continue
            glyph = cells.glyphs[number]
            votes[glyph][character] += 1
            if text.stem not in seen[glyph, character]:
                seen[glyph, character].append(text.stem)
    found = {}
    for glyph, counts in votes.items():
        character, count = counts.most_common(1)[0]
        if count < counts.total():
            raise ValueError(f"{glyph.hex()} is {dict(counts)}")
        found[ord(character)] = glyph, seen[glyph, character][:MOST_NAMED]
    return found


def main() -> int:
    """Write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument("texts", type=Path)
    arguments = parser.parse_args()
    found = learn(arguments.pictures, arguments.texts)
    rows = [f"{code:#04x}\t{glyph.hex()}\t{', '.join(names)}" for code, (glyph, names) in sorted(found.items())]
    TABLE.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    print(f"{len(rows)} glyphs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
