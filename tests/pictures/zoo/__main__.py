"""python tests/pictures/zoo [--switch] [--out FOLDER] [--captures] [SCENE ...]: draw scenes into a gallery."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[2] / "src")]

import zoo_switch  # noqa: E402

import zoo  # noqa: E402
from zoo.gallery import write_gallery  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(prog="zoo", description="Draws every variant of every feature of the chips.")
    parser.add_argument("--switch", action="store_true", help="the Switch's GM20B instead of the 3DS's PICA200")
    parser.add_argument("--out", type=Path, default=Path("build/zoo"), help="folder for pictures and index.html")
    parser.add_argument("--captures", action="store_true", help="write recordings of the scenes there, too")
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help="scenes to draw (all)")
    arguments = parser.parse_args()
    scenes = zoo_switch.SCENES if arguments.switch else zoo.SCENES
    unknown = [name for name in arguments.scenes if name not in scenes]
    if unknown:
        parser.error(f"no scene {', '.join(unknown)}; there are {', '.join(scenes)}")
    if arguments.switch:
        page = write_gallery(arguments.out, arguments.scenes, zoo_switch.SCENES, zoo_switch.show, "GM20B")
    else:
        page = write_gallery(arguments.out, arguments.scenes)
    if arguments.captures:
        ending = "mxcap.zip" if arguments.switch else "ctf.xz"
        for name in arguments.scenes or scenes:
            scenes[name].make().capture.save(arguments.out / f"{name}.{ending}")
    print(f"see {page}")


main()
