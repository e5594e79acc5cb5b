"""Compile general code ahead of time for all levels of x86-64, into the package: part of `make wheel`.

    python tools/make_kernels.py [--level x86-64-v3] [--workers 2]

The same source and the same LLVM give the same bytes, on any computer and with any number of workers. Code for a level
that this computer lacks is made too; it is compared where a processor has it (tests/unit/inspect/test_shipped.py).
"""

from __future__ import annotations

import argparse
import os
from time import monotonic

from pocketgpu.lanes import archive, making
from pocketgpu.lanes.target import LEVELS, Target, making_for

GATHERS = "x86-64-v4"
"""The level with a second file, for processors that gather quickly."""


def targets(level: str | None) -> list[Target]:
    """The targets that the package has code for."""
    levels = [level] if level else list(LEVELS)
    return [Target.of_level(one) for one in levels] + [Target.of_level(GATHERS, True)] * (GATHERS in levels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--level", choices=LEVELS)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    archive.SHIPPED.mkdir(exist_ok=True)
    for target in targets(arguments.level):
        for room in making.ROOMS:
            begun = monotonic()
            images = making.images(room, target, arguments.workers)
            data = archive.encode(images)
            with making_for(target):
                path = archive.SHIPPED / archive.file_name(room)
            path.write_bytes(data)
            print(f"{path.name}: {len(images)} kernels, {len(data) >> 10} KiB, {monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
