"""Compile general code ahead of time for all levels of x86-64, into the package: part of `make wheel`.

    python tools/make_kernels.py [--level x86-64-v3] [--workers 2]
    python tools/make_kernels.py --check     # compile all again, without the cache: is each file the same?
    python tools/make_kernels.py --times     # processor time for each kernel, the longest first; writes nothing

The same source and the same LLVM give the same bytes, on any computer and with any number of workers. Code for a level
that this computer lacks is made too; it is compared where a processor has it (tests/unit/inspect/test_shipped.py).
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from textwrap import shorten
from time import monotonic, process_time

from pocketgpu.lanes import archive, making
from pocketgpu.lanes.kernel import make_image
from pocketgpu.lanes.target import LEVELS, Target, host, making_for

GATHERS = "x86-64-v4"
"""The level with a second file, for processors that gather quickly."""
MOST_SECONDS = 1.0
"""Processor time for a kernel of general code: with few cores and an empty cache a picture waits for it."""


def targets(level: str | None) -> list[Target]:
    """The targets that the package has code for."""
    levels = [level] if level else list(LEVELS)
    return [Target.of_level(one) for one in levels] + [Target.of_level(GATHERS, True)] * (GATHERS in levels)


def times(target: Target) -> int:
    """Compile each kernel in this process, and tell what takes how long. Returns how many take too long."""
    found = []
    with making_for(target):
        for room in making.ROOMS:
            for kernel, static in making.listed(room):
                taken = []
                while len(taken) < 1 or (len(taken) < 3 and min(taken) > MOST_SECONDS):  # other work may disturb it
                    begun = process_time()
                    _, image = make_image(kernel, static)
                    taken.append(process_time() - begun)
                found.append((min(taken), len(image.code), room, kernel.name, static))
    found.sort(key=lambda one: one[:4], reverse=True)
    for seconds, size, room, name, static in found:
        print(f"{seconds:5.2f} s {size >> 10:4} KiB  {room} {name} {shorten(repr(static), 90)}")
    long = sum(one[0] > MOST_SECONDS for one in found)
    whole = sum(one[0] for one in found)
    print(f"{target.name}: {len(found)} kernels, {whole:.0f} s; {long} take over {MOST_SECONDS} s")
    return long


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--level", choices=LEVELS)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--check", action="store_true", help="compare with the files that are there")
    parser.add_argument("--times", action="store_true", help="tell what each kernel takes, for --level or for here")
    arguments = parser.parse_args()
    if arguments.times:
        os.environ["POCKETGPU_CACHE"] = "off"
        sys.exit(bool(times(Target.of_level(arguments.level) if arguments.level else host())))
    if arguments.check:
        os.environ["POCKETGPU_CACHE"] = "off"
    different = 0
    os.makedirs(archive.SHIPPED, exist_ok=True)
    for target in targets(arguments.level):
        for room in making.ROOMS:
            begun = monotonic()
            images = making.images(room, target, arguments.workers)
            data = archive.encode(room, images)
            with making_for(target):
                path = Path(archive.SHIPPED, archive.file_name(room))
            text = f"{path.name}: {len(images)} kernels, {len(data) >> 10} KiB, {monotonic() - begun:.0f} s"
            if arguments.check:
                same = path.is_file() and path.read_bytes() == data
                different += not same
                text += ", the same bytes" if same else ", OTHER BYTES"
            else:
                path.write_bytes(data)
            print(text, flush=True)
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
