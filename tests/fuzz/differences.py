"""State, vertices and comparisons on damaged recordings of the 3DS: an answer or a typed error, in bounded time.

    python tests/fuzz/differences.py --cases 10000 --seed 1

A case is a damaged recording of `debugging.py`. It is compared with the recording that it was made of: as soon as a
byte of what is loaded differs, something must be told, and nothing if it is compared with itself. Of one of its draws
all resources are asked for, which must leave the picture as it is.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

from support.fuzz import command, load, one_case

from pocketgpu.capture import Capture
from pocketgpu.capture.formats.pgc.contents import Contents, Load
from pocketgpu.capture.formats.pgc.traces import PgcTrace
from pocketgpu.errors import PocketGPUError
from pocketgpu.inspect.diff import diff
from pocketgpu.inspect.model.meshes import to_glb, to_obj
from pocketgpu.inspect.n3ds.inspection import N3dsInspection

SLOWEST = 60.0
_damaged = load("debugging")


def open_(name: str, contents: Contents) -> N3dsInspection:
    return N3dsInspection(Capture(name, PgcTrace(name, contents)))


def loads(contents: Contents) -> list[bytes]:
    return [b"".join(e.pieces) for frame in contents.frames for e in frame.events if isinstance(e, Load)]


def compare(name: str, base: Contents, contents: Contents, counts: Counter[str]) -> None:
    """Hold a damaged recording against what it was made of."""
    report = diff(open_(name, base), open_(name, contents))
    assert report.same == (loads(base) == loads(contents)), f"{name}: {report}"
    assert str(report) and report.to_json()
    counts[report.first.level if report.first is not None else "same"] += 1
    for level in ("vertex", "pixel"):
        counts[f"with {level}"] += getattr(report, level) is not None
    again = diff(open_(name, contents), open_(name, contents))
    assert again.same, f"{name} is unlike itself: {again}"


def ask(name: str, contents: Contents, r: random.Random, counts: Counter[str]) -> None:
    """All that there is to know at a draw."""
    run = open_(name, contents)
    draws = [event for frame in range(run.frame_count) for event in run.draws(frame)]
    if not draws:
        return
    event = r.choice(draws)
    before = {screen: one.array.copy() for screen, one in run.seek(f"f{event.frame}").screens.items()}
    moment = run.seek(event.address)
    pixels = None if moment.target is None else moment.target.array.copy()
    vertices = moment.vertices
    assert not len(vertices.triangles) or int(vertices.triangles.max()) < len(vertices.shaded)
    counts["vertices"] += len(vertices)
    counts["emitted"] += 0 if vertices.emitted is None else len(vertices.emitted)
    counts["textures"] += sum(len(one.pictures()) for one in moment.textures.values())
    assert all(str(program) for program in moment.programs.values())
    for space in ("output", "clip", "input"):
        try:
            mesh = moment.mesh(space)
            assert to_glb(mesh)[:4] == b"glTF" and to_obj(mesh).startswith("#")
            counts["meshes"] += 1
        except PocketGPUError as error:
            counts[type(error).__name__] += 1
    counts["changes"] += len(moment.changes()) + len(moment.changes("reset"))
    again = moment.target
    assert (pixels is None) == (again is None)
    assert pixels is None or again is None or (pixels == again.array).all(), f"{event.address} changed by looking"
    after = run.seek(f"f{event.frame}").screens
    assert all((before[screen] == one.array).all() for screen, one in after.items())
    place = event.writes[0] if event.writes else None
    if place is not None:
        counts["writers"] += run.who_changed(place.address, place.size, event.address) is not None


def run(cases: int, seed: int, first: int = 0) -> Counter[str]:
    """Run `cases` recordings from number `first` on; AssertionError names the one in which something goes wrong."""
    counts: Counter[str] = Counter()
    bases = dict(_damaged.bases())
    for number in range(first, first + cases):
        name, contents = _damaged.make(seed, number)
        with one_case(seed, number, SLOWEST, name):
            try:
                compare(name, bases[name], contents, counts)
                ask(name, contents, random.Random(number), counts)
            except PocketGPUError as error:
                counts[type(error).__name__] += 1
        counts["cases"] += 1
    return counts


if __name__ == "__main__":
    command(__doc__, run, "recordings")
