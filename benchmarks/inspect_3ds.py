"""The debugger on real recordings of the 3DS: opening, events, seeking to an event with its picture, why of a pixel.

Everything through the API, in one process, the second call of each; by the wall clock, because replaying uses no
other thread. The slowest recording counts.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from common import CAPTURES, Report, clock, recordings, run

import pocketgpu
from pocketgpu.inspect.inspection import Inspection

OPEN, SEEK, WHY = 500.0, 100.0, 300.0  # milliseconds
PIXELS, EVENTS = 6, 6


def ask(inspection: Inspection, address: str) -> Callable[[], None]:
    """Why a pixel has its colour, and the answer as text and as JSON."""

    def work() -> None:
        answer = inspection.why(address)
        assert answer.proved
        str(answer)
        json.dumps(answer.to_json())

    return work


def go(inspection: Inspection, address: str) -> Callable[[], None]:
    """Going to an event, and its picture."""

    def work() -> None:
        target = inspection.seek(address).target
        assert target is None or target.image.size

    return work


def addresses(inspection: Inspection, rng: random.Random) -> tuple[list[str], list[str]]:
    """Pixels on edges of what a late frame shows, and events spread over it."""
    frame = inspection.frame_count - 1
    pixels = []
    for name, screen in inspection.seek(f"f{frame}").screens.items():
        ys, xs = np.nonzero((screen.array[:-1, :-1] != screen.array[1:, 1:]).any(axis=2))
        chosen = [rng.randrange(len(xs)) for _ in range(PIXELS)] if len(xs) else []
        pixels += [f"f{frame}/{name}/px{xs[n]},{ys[n]}" for n in chosen]
    count = len(inspection.events(frame))
    return pixels, [f"f{frame}/e{n}" for n in sorted({n * (count - 1) // EVENTS for n in range(EVENTS + 1)})]


def measure(report: Report, arguments: argparse.Namespace) -> None:
    """Every recording; of each figure the slowest recording, and the median of all."""
    paths = sorted(CAPTURES.glob("*.ctf.xz"))
    if not paths:
        report.notes.append(f"nothing measured: {recordings.REASON}")
        return
    found: dict[str, list[tuple[float, str]]] = {"opening": [], "seek with picture": [], "why a pixel": []}

    def note(what: str, seconds: float, path: Path) -> None:
        found[what].append((1000 * seconds, path.name.partition(".")[0]))

    for path in paths:
        pocketgpu.debug(path)
        note("opening", clock(partial(pocketgpu.debug, path)), path)
        opened = pocketgpu.debug(path)
        pixels, events = addresses(opened, random.Random(5))
        for what, make, places in (("seek with picture", go, events), ("why a pixel", ask, pixels)):
            for place in places:
                work, times = make(opened, place), []
                work()
                for _ in range(arguments.repeat):
                    opened.seek(f"f{opened.frame_count - 1}/e0")  # from somewhere else
                    times.append(clock(work))
                note(what, min(times), path)
    for (what, several), target in zip(found.items(), (OPEN, SEEK, WHY), strict=True):
        worst, name = max(several)
        middle = float(np.median([value for value, _ in several]))
        report.add(f"{what}, slowest", worst, "ms", target=target, more=False, note=name)
        report.add(f"{what}, median", middle, "ms", note=f"of {len(several)}")


if __name__ == "__main__":
    run("inspect_3ds", measure, repeat=2)
