"""A corpus of captures to sweep: `python benchmarks/corpus.py FOLDER --count 1000`.

Three kinds, a third each if there are recordings of other programs, else only the last:

    cuts      single frames and draws of the recordings, with the memory that they need (`pgc.minimise`)
    variants  the same with some bytes of their memory changed: vertices, textures, commands, shaders
    scenes    triangles with textures and blending in random states, by `builder`

What is in the folder already is kept. The names and the contents depend on the numbers alone, not on chance.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Final

import numpy as np
from common import SHARED
from support.promised_scenes import PROGRAM

import pocketgpu
from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble
from pocketgpu.builder.matrices import UPRIGHT
from pocketgpu.capture import pgc
from pocketgpu.capture.formats.pgc.contents import Contents, Load, Store, bytes_of
from pocketgpu.capture.pgc.minimise import Keep, minimise
from pocketgpu.errors import PocketGPUError

COUNT: Final = 1000
REPLAYS: Final = 12
"""Replays to find out which memory a cut needs: more make smaller files, which is not the point here."""
DRAWS: Final = 3
"""Draws of the first frame that are cut out of each recording."""
ENDINGS: Final = (".ctf.xz", ".mxcap.zip")
LARGE: Final = "1280x720"
"""Recordings that are cut into whole frames only: their draws store a whole target."""


def cuts() -> Iterator[tuple[str, Path, Keep]]:
    """Names of cuts, of which recording, and what is kept: the first of each recording, then the second, and so on."""
    found = [path for folder in ("3ds", "switch") for path in sorted((SHARED / "captures" / folder).glob("*"))]
    parts: list[list[tuple[str, Path, Keep]]] = []
    for path in found:
        if not path.name.endswith(ENDINGS):
            continue
        capture = pocketgpu.open(path)
        keeps = [Keep(frame, frame) for frame in range(capture.frame_count)]
        if LARGE not in path.name and keeps:
            draws = len(list(pocketgpu.debug(capture).draws(0)))
            keeps[1:1] = [Keep(0, 0, draw) for draw in range(min(draws, DRAWS))]
        name = path.name.partition(".")[0]
        parts.append([(f"{name}.{keep}".replace("/", "-"), path, keep) for keep in keeps])
    for number in range(max(map(len, parts), default=0)):
        yield from (part[number] for part in parts if number < len(part))


def cut(path: Path, keep: Keep) -> Contents:
    """The part of a recording."""
    return minimise(pgc.contents_of(pocketgpu.open(path).trace), keep, replays=REPLAYS).contents


def variant(contents: Contents, number: int) -> Contents:
    """The same capture with some bytes of one piece of memory changed, and without digests of what it shows."""
    choose = random.Random(number)
    places = [(f, e) for f, frame in enumerate(contents.frames) for e, event in enumerate(frame.events)
              if isinstance(event, Load | Store)]  # fmt: skip
    frames = [replace(frame, pictures=None) for frame in contents.frames]
    if places:
        f, e = choose.choice(places)
        events = list(frames[f].events)
        event = events[e]
        assert isinstance(event, Load | Store)
        data = bytearray(bytes_of(event.pieces))
        for _ in range(choose.randint(1, 8)):
            data[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
        events[e] = replace(event, pieces=(bytes(data),))
        frames[f] = replace(frames[f], events=tuple(events))
    return replace(contents, frames=frames)


def scene(number: int) -> CaptureBuilder:
    """Some frames of textured and blended triangles on the upper screen."""
    choose, numbers = random.Random(number), np.random.default_rng(number)
    capture = CaptureBuilder()
    size = choose.choice((8, 16, 32, 64))
    texture = capture.put_texture(numbers.integers(0, 256, (size, size, 4), np.uint8))
    target = capture.allocate(240 * 400 * 4, region="VRAM")
    depth = capture.allocate(240 * 400 * 4, region="VRAM")
    parts = [("f32", 3), ("f32", 3), ("f32", 2)]
    for _ in range(choose.randint(1, 4)):
        count = 3 * choose.randint(1, 200)
        vertices = numbers.uniform(-1, 1, (count, 8)).astype(np.float32)
        vertices[:, 2], vertices[:, 3:] = -np.abs(vertices[:, 2]), np.abs(vertices[:, 3:])
        buffer = capture.put(vertices)
        cl = CommandList().plain_state().render_target(target, 240, 400, depth=depth)
        cl.shader(assemble(PROGRAM)).uniforms(0, UPRIGHT)
        cl.texture(0, texture, size, size).combiner(0, rgb=("modulate", "texture 0", "vertex color"))
        if choose.random() < 0.5:
            cl.blend("one", choose.choice(("one", "zero")))
        if choose.random() < 0.5:
            cl.depth(choose.choice(("less", "greater", "always")))
        cl.attributes(Buffer(buffer, parts)).draw_arrays(count).end_drawing()
        capture.clear(target, 240, 400, choose.getrandbits(32)).submit(cl).present("top", target).end_frame()
    return capture


def make(folder: Path, count: int = COUNT) -> list[Path]:
    """Make what is missing in the folder; returns the paths of `count` captures."""
    folder.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    kept: list[Path] = []
    for name, path, keep in islice(cuts(), count // 3):
        place = folder / f"{name}.pgc"
        try:
            if not place.exists():
                pgc.save(place, cut(path, keep))
            kept.append(place)
        except PocketGPUError as error:  # a frame that shows nothing, for one
            print(f"{name}: {error}", file=sys.stderr)
    made += kept
    for number, origin in enumerate(islice(cycle(kept), count // 3 if kept else 0)):
        place = folder / f"{origin.stem}.v{number}.pgc"
        if not place.exists():
            pgc.save(place, variant(pgc.contents_of(pocketgpu.open(origin).trace), number))
        made.append(place)
    for number in range(count - len(made)):
        place = folder / f"scene{number}.ctf.xz"
        if not place.exists():
            scene(number).save(place)
        made.append(place)
    return made


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks/corpus.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=COUNT, metavar="N", help=f"default {COUNT}")
    arguments = parser.parse_args()
    made = make(arguments.folder, arguments.count)
    print(f"{len(made)} captures in {arguments.folder}, {sum(one.stat().st_size for one in made):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
