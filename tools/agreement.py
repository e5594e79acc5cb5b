"""How our pictures agree with those that another renderer made of the same recordings: the table of docs/agreement.md.

    python tools/agreement.py FOLDER [NAME ...]

FOLDER has NAME.ctf.xz, INDEX.md, and reference/NAME/ with pictures (f0.top.png) and bytes of guest memory
(f0.memory-2018ac00.bin). Without names, all recordings are compared and the page is rewritten. It ends with 1 if a
recording misses what is promised, or if the page has no section that says why one has pixels beyond CLOSE.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

import pocketgpu  # noqa: E402

PAGE = ROOT / "docs" / "agreement.md"
CLOSE = 2
"""Largest difference of a channel that counts as the same."""
SHARE = 0.995
"""Of the pixels of a picture that must be that close."""
NEAREST = {"texture.filter": "nearest"}
Array = NDArray[Any]


@dataclass
class Agreement:
    """What the comparison of one recording found, over all its reference pictures."""

    name: str
    textured: bool
    pictures: int = 0
    pixels: int = 0
    beyond: int = 0
    differing: int = 0
    largest: int = 0
    share: float = 1.0
    """Of the pixels that are CLOSE, in the worst picture."""
    memories: int = 0
    wrong_memories: int = 0

    @property
    def good(self) -> bool:
        return self.share >= SHARE and not self.wrong_memories

    def add(self, ours: Array, theirs: Array) -> None:
        if ours.shape != theirs.shape:
            raise ValueError(f"{self.name}: {ours.shape} against {theirs.shape}")
        difference = np.abs(ours.astype(int) - theirs.astype(int)).max(axis=-1)
        beyond = int(np.count_nonzero(difference > CLOSE))
        self.pictures += 1
        self.pixels += difference.size
        self.beyond += beyond
        self.share = min(self.share, 1 - beyond / difference.size)
        self.differing += int(np.count_nonzero(difference))
        self.largest = max(self.largest, int(difference.max()))

    def row(self) -> str:
        """A line of the table; the name links to the section that explains it, where there is one."""
        name = f"[{self.name}](#{self.name})" if self.beyond else self.name
        sampling = "nearest" if self.textured else "as programmed"
        share = f"{100 * self.share:.3f}".rstrip("0").rstrip(".") + " %"
        counts = f"{self.beyond:,} | {self.differing:,} | {self.largest}"
        return f"| {name} | {sampling} | {self.pictures} | {share} | {counts} |"


def textured(folder: Path) -> dict[str, bool]:
    """The recordings of an index by name, and whether it says that they use textures."""
    lines = (folder / "INDEX.md").read_text(encoding="utf-8").splitlines()
    rows = [re.split(r"\s*\|\s*", line.strip("| ")) for line in lines if line.startswith("| ")]
    return {row[0]: "textures:" in row[2] for row in rows if (folder / f"{row[0]}.ctf.xz").is_file()}


def references(folder: Path, name: str) -> dict[int, list[Path]]:
    """Reference files by frame."""
    found: dict[int, list[Path]] = {}
    for path in sorted((folder / "reference" / name).glob("f*.*")):
        found.setdefault(int(path.name.split(".")[0][1:]), []).append(path)
    return found


def compare(folder: Path, name: str, has_textures: bool) -> Agreement:
    """Replay a recording and compare it with its reference."""
    agreement = Agreement(name, has_textures)
    expected = references(folder, name)
    capture = pocketgpu.open(folder / f"{name}.ctf.xz")
    for frame in capture.render(switches=NEAREST if has_textures else None):
        for path in expected.pop(frame.index, []):
            part = path.name.split(".")[1]
            if path.suffix == ".bin":
                data = path.read_bytes()
                address = int(part.removeprefix("memory-"), 16)
                agreement.memories += 1
                agreement.wrong_memories += frame.machine.memory.read(address, len(data)) != data
            else:
                with Image.open(path) as picture:
                    agreement.add(frame.screens[part].array, np.asarray(picture.convert("RGB")))
    if expected:
        raise ValueError(f"{name}: frames {', '.join(map(str, expected))} of the reference are not in the recording")
    return agreement


def table(found: list[Agreement]) -> str:
    heads = ["capture", "sampling", "pictures", f"within {CLOSE}/255", "pixels beyond", "not equal", "largest"]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(one.row() for one in found)]
    pixels, beyond = sum(one.pixels for one in found), sum(one.beyond for one in found)
    memories, wrong = sum(one.memories for one in found), sum(one.wrong_memories for one in found)
    lines += ["", f"Together {pixels:,} pixels, {beyond:,} of them beyond {CLOSE}/255."]
    if memories:
        lines += [f"Of {memories} blocks of guest memory after texture copies, {memories - wrong} are equal."]
    return "\n".join(lines)


def write_between_marks(page: Path, mark: str, text: str) -> None:
    """Replace the text between `<!-- MARK: ... -->` and `<!-- end of MARK -->`."""
    old = page.read_text(encoding="utf-8")
    pattern = rf"(<!-- {mark}:[^>]*-->\n\n).*?(\n\n<!-- end of {mark} -->)"
    new, count = re.subn(pattern, lambda match: match[1] + text + match[2], old, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"{page.name} has no place for {mark}")
    page.write_text(new, encoding="utf-8", newline="\n")


def explained(page: Path) -> set[str]:
    """Names of the recordings that the page has a section about."""
    return set(re.findall(r"^## (\w+)$", page.read_text(encoding="utf-8"), re.MULTILINE))


def problems(found: list[Agreement]) -> Iterator[str]:
    reasons = explained(PAGE)
    for one in found:
        if not one.good:
            yield f"{one.name}: {100 * one.share:.3f} % within {CLOSE}/255, {one.wrong_memories} wrong memories"
        if one.beyond and one.name not in reasons:
            yield f"{one.name}: {PAGE.name} does not say why {one.beyond} pixels differ by up to {one.largest}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="recordings, INDEX.md and reference/")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these, and leave the page alone")
    arguments = parser.parse_args()
    known = textured(arguments.folder)
    unknown = sorted(set(arguments.names) - set(known))
    if unknown or not known:
        parser.error(f"{arguments.folder} has no recording of {', '.join(unknown) or 'any name'}")
    found = []
    for name in arguments.names or sorted(known):
        found.append(one := compare(arguments.folder, name, known[name]))
        print(f"{name}: {100 * one.share:.3f} %, {one.beyond} pixels beyond {CLOSE}, largest {one.largest}", flush=True)
    if not arguments.names:
        write_between_marks(PAGE, "table", table(found))
    wrong = list(problems(found))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
