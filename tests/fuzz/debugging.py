"""The debugger on damaged recordings of the 3DS: every question has an answer or a typed error, in bounded time.

    python tests/fuzz/debugging.py --cases 100000 --seed 1

A case is the sample, or a recording of another program, with some words of what it loads into memory changed: command
lists, programs, vertices, textures. Then events are listed, moments are sought in both directions, and pixels and draws
are asked about; the values of a pixel must end in the bytes that were drawn, but where buffers overlap. A case is made
from the seed and its number alone (--first N --cases 1).
"""

from __future__ import annotations

import random
import struct
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np
from support import recordings
from support.fuzz import command, one_case

import pocketgpu
from pocketgpu.capture import Capture
from pocketgpu.capture.formats.pgc.contents import Contents, FrameContents, Load
from pocketgpu.capture.formats.pgc.traces import PgcTrace
from pocketgpu.capture.pgc.convert import contents_of
from pocketgpu.errors import PocketGPUError
from pocketgpu.inspect.n3ds.inspection import N3dsInspection

ROOT = Path(__file__).resolve().parents[2]
SLOWEST = 30.0
FRAMES = 2
_VALUES = (0, 1, 2, 3, 0xFF, 0xFFFF, 0x10000, 0x3F800000, 0x7F800000, 0x7FC00000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


@cache
def bases() -> list[tuple[str, Contents]]:
    """Name and contents of the sample and of small recordings, their first frames."""
    paths = [ROOT / "src/pocketgpu/data/sample.ctf.xz"]
    paths += sorted(recordings.n3ds().glob("*.ctf.xz"))
    found = []
    for path in paths:
        contents = contents_of(pocketgpu.open(path).trace)  # type: ignore[arg-type]
        frames = [FrameContents(frame.events, {}) for frame in contents.frames[:FRAMES]]
        found.append((path.name, replace(contents, frames=frames, tail=())))
    return found


def make(seed: int, number: int) -> tuple[str, Contents]:
    """The recording that case `number` began with, and what it became."""
    r = random.Random(f"{seed}/{number}")
    name, contents = r.choice(bases())
    frames = [list(frame.events) for frame in contents.frames]
    loads = [(f, e) for f, events in enumerate(frames) for e, event in enumerate(events) if isinstance(event, Load)]
    for _ in range(r.choice((1, 1, 2, 3, 5, 10, 30))):
        if not loads:
            break
        # Lists are short and come late: prefer what is loaded last.
        f, e = loads[-1 - min(int(r.expovariate(0.5)), len(loads) - 1)] if r.random() < 0.7 else r.choice(loads)
        event = frames[f][e]
        data = bytearray(b"".join(event.pieces))
        if len(data) < 4:
            continue
        at = 4 * r.randrange(len(data) // 4)
        (old,) = struct.unpack_from("<I", data, at)
        word = r.choice(
            (old ^ 1 << r.randrange(32), old + r.choice((1, -1, 4, 4096)), r.choice(_VALUES), r.getrandbits(32))
        )
        struct.pack_into("<I", data, at, word & 0xFFFFFFFF)
        frames[f][e] = Load(event.address, (bytes(data),))
    changed = [FrameContents(tuple(events), {}) for events in frames]
    return name, replace(contents, frames=changed)


def ask(contents: Contents, name: str, r: random.Random, counts: Counter[str]) -> None:
    """Questions about a recording."""
    run = N3dsInspection(Capture(name, PgcTrace(name, contents)))
    for frame in range(run.frame_count):
        counts["events"] += len(run.events(frame))
        counts["passes"] += len(run.passes(frame))
        for event in run.events(frame):
            counts["words"] += 0 if event.words is None else len(event.words.values)
    for _ in range(3):
        frame = r.randrange(run.frame_count)
        events = run.events(frame)
        if events:
            moment = run.seek(events[r.randrange(len(events))].by_number)
            target = moment.target
            counts["targets"] += target is not None and target.array.size > 0
    frame = run.frame_count - 1
    screens = run.seek(f"f{frame}").screens
    places = []
    for screen, shown in screens.items():
        edges = np.argwhere((shown.array[:-1, :-1] != shown.array[1:, 1:]).any(axis=2))
        y, x = edges[r.randrange(len(edges))].tolist() if len(edges) else (r.randrange(240), r.randrange(320))
        places.append(f"f{frame}/{screen}/px{x},{y}")
    draws = run.draws(frame)
    places += [str(r.choice(draws).address)] if draws else []
    for place in places:
        try:
            answer = run.why(place)
            overlaps = getattr(answer, "overlapping", None)
            counts["overlapping"] += overlaps is not None
            partly = getattr(answer, "tiles", None) is not None  # a draw of which some tiles were counted
            assert answer.proved or overlaps or partly, f"{place} is not proved:\n{answer}"
            assert str(answer) and answer.to_json()
            counts["answers"] += 1
            counts["fragments"] += len(getattr(answer, "fragments", ()))
        except PocketGPUError as error:
            counts[type(error).__name__] += 1


def run(cases: int, seed: int, first: int = 0) -> Counter[str]:
    """Run `cases` recordings from number `first` on; AssertionError names the one in which something goes wrong."""
    counts: Counter[str] = Counter()
    for number in range(first, first + cases):
        name, contents = make(seed, number)
        with one_case(seed, number, SLOWEST, name):
            try:
                ask(contents, name, random.Random(number), counts)
            except PocketGPUError as error:
                counts[type(error).__name__] += 1
        counts["cases"] += 1
    return counts


if __name__ == "__main__":
    command(__doc__, run, "recordings")
