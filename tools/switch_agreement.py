"""How our pictures of Switch recordings agree with OpenGL's: the table of docs/agreement-switch.md.

    python tools/switch_agreement.py FOLDER [NAME ...]

FOLDER has NAME.mxcap.zip and reference/NAME.png or reference/NAME_fN.png. Without names, all recordings are compared
and the page is rewritten. It ends with 1 if a recording misses what is promised, or if the page has no section that
says why one has pixels beyond its limit.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from agreement import ROOT, explained, write_between_marks
from PIL import Image

import pocketgpu

PAGE = ROOT / "docs" / "agreement-switch.md"
SHARE = 0.98
"""Of the pixels of a picture that must be within the limit."""
LIMITS = {
    "ex03_cube": 2, "ex04_textured_cube": 3, "ex05_tessellation": 8, "ex07_mesh_lighting": 2, "ex09_compute": 8,
    "gl_simple_triangle": 2, "gl_textured_cube": 2, "mesa_texkinds": 2,
}  # fmt: skip
"""Levels that a channel may be off, by program; 1 for the others."""


@dataclass
class Agreement:
    """One recording against its pictures."""

    name: str
    pictures: int = 0
    beyond: int = 0
    differing: int = 0
    largest: int = 0
    share: float = 1.0

    @property
    def program(self) -> str:
        return self.name.rpartition("_")[0]

    @property
    def limit(self) -> int:
        return LIMITS.get(self.program, 1)

    def row(self) -> str:
        name = f"[{self.name}](#{self.program})" if self.beyond else self.name
        share = f"{100 * self.share:.3f}".rstrip("0").rstrip(".") + " %"
        counts = f"{self.beyond:,} | {self.differing:,} | {self.largest}"
        return f"| {name} | {self.pictures} | {self.limit} | {share} | {counts} |"


def compare(folder: Path, name: str) -> Agreement:
    """Replay a recording and compare it with its pictures."""
    found = Agreement(name)
    for frame in pocketgpu.open(folder / f"{name}.mxcap.zip").render(threads=2):
        places = [folder / "reference" / f"{stem}.png" for stem in (f"{name}_f{frame.index}", name)]
        reference = next((place for place in places if place.is_file()), None)
        if reference is None:
            continue
        with Image.open(reference) as picture:
            theirs = np.asarray(picture.convert("RGB"), np.int16)
        off = np.abs(frame.screens["screen"].array.astype(np.int16) - theirs).max(axis=-1)
        found.pictures += 1
        found.beyond += int((off > found.limit).sum())
        found.differing += int((off > 0).sum())
        found.largest = max(found.largest, int(off.max()))
        found.share = min(found.share, float((off <= found.limit).mean()))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="recordings and reference/")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these, and leave the page alone")
    arguments = parser.parse_args()
    known = sorted(path.name.removesuffix(".mxcap.zip") for path in arguments.folder.glob("*.mxcap.zip"))
    unknown = sorted(set(arguments.names) - set(known))
    if unknown or not known:
        parser.error(f"{arguments.folder} has no recording of {', '.join(unknown) or 'any name'}")
    found = [compare(arguments.folder, name) for name in arguments.names or known]
    heads = ["capture", "pictures", "limit", "within it", "pixels beyond", "not equal", "largest"]
    text = "\n".join([f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(one.row() for one in found)])
    print(text)
    if not arguments.names:
        write_between_marks(PAGE, "table", text)
    reasons = explained(PAGE)
    bad = [f"{one.name}: {one.share:.3%} within {one.limit}" for one in found if one.share < SHARE]
    bad += [f"{one.name}: no section says why" for one in found if one.beyond and one.program not in reasons]
    print("\n".join(bad), file=sys.stderr)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
