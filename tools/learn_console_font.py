"""Learns the glyphs of a console's font from pictures whose text is known.

    python tools/learn_console_font.py PICTURES TEXTS [--console switch]

PICTURES has NAME.png, TEXTS has NAME.txt with the lines of the same screen; empty lines at the top may be left out.
Each cell of 8x8 pixels, 16x16 for a Switch, must have the character at its place, everywhere. Writes
src/pocketgpu/facts/CONSOLE/console_font.tsv: code, glyph, and the programs in which it was seen.
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

FACTS = ROOT / "src" / "pocketgpu" / "facts"
HEAD = (
    "code\tglyph\tseen in\n"
    "# Glyphs of the console font of {library}, {size}x{size}: rows from the top, the left pixel in the highest bit. "
    "Learned by\n"
    "# tools/learn_console_font.py from pictures of programs whose text is known; at most three programs are named.\n"
)
CONSOLES = {"n3ds": ("libctru", 8), "switch": ("libnx", 16)}
"""Library and size of a glyph."""
MOST_NAMED = 3


def learn(pictures: Path, texts: Path, size: int) -> dict[int, tuple[bytes, list[str]]]:
    """Glyph and programs by code."""
    votes: dict[bytes, Counter[str]] = defaultdict(Counter)
    seen: dict[tuple[bytes, str], list[str]] = defaultdict(list)
    for text in sorted(texts.glob("*.txt")):
        array = np.array(Image.open(pictures / f"{text.stem}.png").convert("RGB"))
        cells = Cells.of(array, size, size)
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
    parser.add_argument("--console", choices=CONSOLES, default="n3ds")
    arguments = parser.parse_args()
    library, size = CONSOLES[arguments.console]
    found = learn(arguments.pictures, arguments.texts, size)
    rows = [f"{code:#04x}\t{glyph.hex()}\t{', '.join(names)}" for code, (glyph, names) in sorted(found.items())]
    head = HEAD.format(library=library, size=size)
    table = FACTS / arguments.console / "console_font.tsv"
    table.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    print(f"{len(rows)} glyphs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
