"""Which values of choices agree best with pictures that others made of recordings: facts/choices/pictures.tsv.

    python tools/evidence.py FOLDER --who "Azahar SW" --date 2026-08 [--set texture.filter=nearest] [NAME ...]

FOLDER has recordings (NAME.ctf.xz, NAME.mxcap.zip) and their pictures: reference/NAME/f0.top.png,
reference/NAME_f0.png, or reference/NAME.png of the first frame. --who is a name of facts/choices/sources.tsv. The first
frame that has a picture is replayed under every value of the choices that the recording touches, as `pocketgpu doubts
--expect` does. A choice gets a row where one of its values leaves fewer pixels unlike the picture than every other. The
rows of that source are made again, those of other sources stay; with NAMEs nothing is written. A folder of twenty
recordings takes two minutes on two cores, and more the first time, when code is made for each value.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

import pocketgpu  # noqa: E402
from pocketgpu.errors import PocketGPUError  # noqa: E402
from pocketgpu.facts.choices import CHOICES, evidence, parse  # noqa: E402
from pocketgpu.inspect.doubts import Agreement, CaptureDoubts, doubts  # noqa: E402

TABLE = ROOT / "src" / "pocketgpu" / "facts" / "choices" / "pictures.tsv"
SUFFIXES = (".ctf.xz", ".mxcap.zip")
NAMED = 4
"""Recordings that a row names; it counts the others."""


@dataclass(frozen=True)
class Won:
    """A value that agrees best with the pictures of a recording: pixels that are unlike them under it, and under the
    value that comes next."""

    choice: str
    value: str
    recording: str
    unlike: int
    next: int
    pixels: int


def recordings(folder: Path) -> dict[str, Path]:
    """Recordings of a folder by name, those that have pictures."""
    found = {path.name.removesuffix(end): path for end in SUFFIXES for path in sorted(folder.glob(f"*{end}"))}
    return {name: path for name, path in found.items() if first_frame(folder, name) is not None}


def first_frame(folder: Path, name: str) -> int | None:
    """The first frame of which there are pictures."""
    reference = folder / "reference"
    paths = [*(reference / name).glob("f*.*.png"), *reference.glob(f"{name}_f*.png")]
    numbers = [path.name.removeprefix(f"{name}_").split(".")[0][1:] for path in paths]
    frames = [int(number) for number in numbers if number.isdigit()]
    return min(frames) if frames else 0 if (reference / f"{name}.png").is_file() else None


def picture(folder: Path, name: str, frame: int, screen: str) -> NDArray[np.uint8] | None:
    """The picture of a frame and a screen, if there is one."""
    reference = folder / "reference"
    for path in (
        reference / name / f"f{frame}.{screen}.png", reference / f"{name}_f{frame}.png",
        *([reference / f"{name}.png"] if frame == 0 else []),
    ):  # fmt: skip
        if path.is_file():
            with Image.open(path) as image:
                return np.asarray(image.convert("RGB"))
    return None


def winners(found: CaptureDoubts, name: str) -> Iterator[Won]:
    """The values that agree best, of the choices on which the pictures depend."""
    if not isinstance(found.agreement, Agreement) or not found.agreement.told:
        return  # only copies of pixels can be counted; pictures that were taken for photos are none
    usual = found.agreement.usual
    for choice in found.choices:
        unlike = {CHOICES[choice].default: usual}
        for value in CHOICES[choice].alternatives:
            parting = found.parting(choice, value)
            if parting is not None and parting.wrong is not None:
                unlike[value] = parting.wrong
            elif (choice, value) not in found.failed:
                unlike[value] = usual
        (best, fewest), *others = sorted(unlike.items(), key=lambda item: item[1])
        if others and fewest < others[0][1]:
            yield Won(choice, best, name, fewest, others[0][1], found.agreement.pixels)


def rows(won: list[Won], source: evidence.Source, date: str) -> Iterator[evidence.Evidence]:
    """A row for each value that agrees best somewhere."""
    for choice in CHOICES.values():
        for value in choice.values:
            mine = [one for one in won if (one.choice, one.value) == (choice.name, value)]
            if not mine:
                continue
            mine.sort(key=lambda one: one.unlike - one.next)
            clearest = mine[0]
            several = f" ({len(mine)} recordings agree)" if len(mine) > 1 else ""
            what = (
                f"{clearest.unlike:,} of {clearest.pixels:,} pixels unlike its picture of {clearest.recording}, "
                f"under the next value {clearest.next:,}{several}"
            )
            names = ", ".join(one.recording for one in mine[:NAMED])
            more = f" and {len(mine) - NAMED} more" if len(mine) > NAMED else ""
            yield evidence.Evidence(
                choice.name, value, evidence.Kind.PICTURE, source, what, f"recordings: {names}{more}", date
            )


def written(made: list[evidence.Evidence], who: str) -> str:
    """The table with the rows of one source made again."""
    kept = [row for row in evidence.parse(TABLE) if row.who.name != who]
    order = {name: number for number, name in enumerate(CHOICES)}
    return evidence.write(tuple(sorted([*kept, *made], key=lambda row: (order[row.choice], row.who.name))))


def replayed(folder: Path, name: str, path: Path, given: Mapping[str, str]) -> CaptureDoubts:
    """A recording under every value of its choices."""
    frame = first_frame(folder, name) or 0

    def wanted(number: int, screen: str) -> Any:
        return picture(folder, name, number, screen)

    return doubts(pocketgpu.open(path), None, range(frame, frame + 1), expected=wanted, switches=given)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="recordings and reference/")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these, and leave the table alone")
    parser.add_argument("--who", required=True, metavar="SOURCE", help="who made the pictures: a name of sources.tsv")
    parser.add_argument("--date", default="", help="when they were made, such as 2026-08")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="for all replays")
    arguments = parser.parse_args()
    source = evidence.sources().get(arguments.who)
    if source is None:
        parser.error(f"sources.tsv has no source {arguments.who!r}")
    known = recordings(arguments.folder)
    if unknown := sorted(set(arguments.names) - set(known)):
        parser.error(f"{arguments.folder} has no recording with pictures of the name {', '.join(unknown)}")
    given = dict(parse(text) for text in arguments.set)
    won: list[Won] = []
    for name in arguments.names or known:
        try:
            found = replayed(arguments.folder, name, known[name], given)
        except PocketGPUError as error:
            print(f"{name}: {error}", flush=True)
            continue
        here = list(winners(found, name))
        print(f"{name}: {', '.join(f'{one.choice}={one.value}' for one in here) or 'tells nothing'}", flush=True)
        won += here
    made = list(rows(won, source, arguments.date))
    if arguments.names:
        print(evidence.write(tuple(made)), end="")
    else:
        TABLE.write_text(written(made, source.name), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
