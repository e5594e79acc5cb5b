"""What texture filtering changes: the pictures and the table of docs/filtering.md.

    python tools/filtering.py [FOLDER]

The pictures are close-ups of the sample that ships with the package, with textures filtered as programmed and nearest.
FOLDER, if given, holds recordings and their INDEX.md as for agreement.py; of those only numbers are written.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from agreement import NEAREST, ROOT, textured, write_between_marks
from numpy.typing import NDArray
from PIL import Image

import pocketgpu

PAGE = ROOT / "docs" / "filtering.md"
IMAGES = ROOT / "docs" / "images"
SAMPLE = ROOT / "src" / "pocketgpu" / "data" / "sample.ctf.xz"
FRAME, TIMES = 3, 3
WIDTH, HEIGHT = 100, 60
CLOSE_UPS = {"lake": ("top", 40, 180), "jewel": ("top", 146, 76), "cube": ("bottom", 8, 60)}
"""By name: screen, and the left upper corner there."""
KINDS = {"filtered": None, "nearest": NEAREST}


@dataclass
class Change:
    """How two renderings of a recording differ on the upper screen, both eyes where there are two."""

    pixels: int = 0
    changed: int = 0
    total: int = 0
    largest: int = 0

    def add(self, a: NDArray[Any], b: NDArray[Any]) -> None:
        difference = np.abs(a.astype(int) - b.astype(int)).max(axis=-1)
        self.pixels += difference.size
        self.changed += int(np.count_nonzero(difference))
        self.total += int(difference.sum())
        self.largest = max(self.largest, int(difference.max()))


def close_ups() -> None:
    """Cut from one frame of the sample, enlarged without smoothing."""
    for kind, choices in KINDS.items():
        (frame,) = pocketgpu.open(SAMPLE).render(frames=range(FRAME, FRAME + 1), switches=choices)
        for name, (screen, x, y) in CLOSE_UPS.items():
            part = frame.screens[screen].array[y : y + HEIGHT, x : x + WIDTH]
            path = IMAGES / f"filtering-{name}-{kind}.png"
            Image.fromarray(part.repeat(TIMES, axis=0).repeat(TIMES, axis=1)).save(path, optimize=True)
            print(path)


def measure(path: Path) -> Change:
    change = Change()
    pairs = zip(*(pocketgpu.open(path).render(switches=choices) for choices in KINDS.values()), strict=True)
    for filtered, nearest in pairs:
        for name in sorted(set(filtered.screens) - {"bottom"}):
            change.add(filtered.screens[name].array, nearest.screens[name].array)
    return change


def table(folder: Path) -> str:
    lines = ["| capture | pixels that change | by how much, of 255 | at most |", "|---|---|---|---|"]
    for name, has_textures in sorted(textured(folder).items()):
        if not has_textures:
            continue
        one = measure(folder / f"{name}.ctf.xz")
        mean = one.total / one.changed if one.changed else 0.0
        lines.append(f"| {name} | {100 * one.changed / one.pixels:.2f} % | {mean:.1f} | {one.largest} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="recordings and INDEX.md")
    arguments = parser.parse_args()
    close_ups()
    if arguments.folder:
        write_between_marks(PAGE, "table", table(arguments.folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
