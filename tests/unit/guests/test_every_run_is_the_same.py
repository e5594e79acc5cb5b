"""A run never depends on the host: threads, order of imports, hashes of texts, caches change nothing, nor does a
checkpoint or a recording."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

GUESTS = Path(__file__).resolve().parents[2] / "guests"
SOURCE = Path(__file__).resolve().parents[3] / "src"
PROGRAMS = {
    "n3ds": ["scene.elf", "console.elf"],
    "switch": [f"{name}.nro" for name in (
        "scene", "console", "framebuffer", "compute", "input", "files", "objects", "sessions", "code", "priorities",
        "sound", "applets",
    )],
}  # fmt: skip
RUN = """
import hashlib, json, sys
{first}
import pocketgpu
from pocketgpu.capture.pgc import encode
from pocketgpu.lanes import background
background.MOST_ORDERS = {orders}

def run(path, threads=1, between="", record=True):
    with pocketgpu.run(path, threads=threads, record=record) as app:
        app.press("A+RIGHT", frames=4)
        app.frames(6)
        exec(between)
        app.frames(14)
        shown = [app.text, sorted(app.console_text.items()), str(app.end), app.frame_count, app.console.kernel.time.now]
        shown += [[name, hashlib.sha256(one.array.tobytes()).hexdigest()] for name, one in sorted(app.screens.items())]
        return shown, hashlib.sha256(encode(app.contents(), "stored")).hexdigest() if record else None

print(json.dumps([{{path.rpartition("/")[2]: run(path, **way) for path in sys.argv[1:]}} for way in {ways}]))
"""


@dataclass(frozen=True)
class Way:
    """How a run is made. between: lines of code in the middle of it."""

    threads: int = 1
    between: str = ""
    record: bool = True


@dataclass(frozen=True)
class Process:
    """What a process does: runs in some ways, one after the other. first: code before the library is imported.
    compilers: other processes make code while it runs."""

    ways: tuple[Way, ...] = (Way(),)
    first: str = ""
    seed: str = "0"
    cache: str = ""
    compilers: bool = False


FIRST = Process((
    Way(),  # what all others are compared with
    Way(threads=2),
    Way(between="app.checkpoint()"),
    Way(between="point = app.checkpoint(); app.frames(3); app.restore(point)"),
    Way(record=False),
    Way(),
))
OTHERS = {
    "four threads, other imports first, other hashes, code that arrives": Process(
        (Way(threads=4),),
        first="import pocketgpu.maxwell.gm20b, pocketgpu.inspect.inspection, pocketgpu.builder",
        seed="12345",
        compilers=True,
    ),
    "an empty cache": Process(cache="off"),
}  # fmt: skip


def found(console: str, process: Process) -> list[dict[str, list[object]]]:
    """What runs in a process of their own leave, for each way: of each program what is shown, and a digest of its
    capture."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONHASHSEED": process.seed}
    paths = [str(GUESTS / console / name) for name in PROGRAMS[console]]
    if process.cache:
        environment["POCKETGPU_CACHE"] = process.cache
        del paths[1:]  # it takes long to compile all kernels
    orders = "background.MOST_ORDERS" if process.compilers else 0
    code = RUN.format(first=process.first, orders=orders, ways=[vars(way) for way in process.ways])
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], env=environment, capture_output=True, check=True, timeout=600
    )
    result: list[dict[str, list[object]]] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("console", PROGRAMS)
def test_all_ways_give_the_same_bytes(console: str) -> None:
    expected, *later = found(console, FIRST)
    assert list(expected) == PROGRAMS[console]
    for name in PROGRAMS[console][:2]:
        assert "screen" in str(expected[name][0]) or "top" in str(expected[name][0]), "pictures are shown"
    runs = [("the same process", *one) for one in zip(FIRST.ways[1:], later, strict=True)]
    for name, process in OTHERS.items():
        runs += [(name, *one) for one in zip(process.ways, found(console, process), strict=True)]
    for name, way, programs in runs:
        for program, (shown, capture) in programs.items():
            assert shown == expected[program][0], f"{program}, {name}, {way}"
            assert capture == (expected[program][1] if way.record else None), f"{program}, {name}, {way}"
