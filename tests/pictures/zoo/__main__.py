"""python tests/pictures/zoo [--out FOLDER] [--captures] [SCENE ...]: draw scenes into a gallery."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[2] / "src")]

from zoo import SCENES  # noqa: E402
from zoo.gallery import write_gallery  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(prog="zoo", description="Draws every variant of every feature of the PICA200.")
    parser.add_argument("--out", type=Path, default=Path("build/zoo"), help="folder for pictures and index.html")
    parser.add_argument("--captures", action="store_true", help="write recordings of the scenes there, too")
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help="scenes to draw (all)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.scenes if name not in SCENES]
    if unknown:
        parser.error(f"no scene {', '.join(unknown)}; there are {', '.join(SCENES)}")
    page = write_gallery(arguments.out, arguments.scenes)
    if arguments.captures:
        for name in arguments.scenes or SCENES:
            SCENES[name].make().capture.save(arguments.out / f"{name}.ctf.xz")
    print(f"see {page}")


main()
