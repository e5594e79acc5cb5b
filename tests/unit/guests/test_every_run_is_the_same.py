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
found = {{}}
for path in sys.argv[1:]:
    with pocketgpu.run(path, threads={threads}, record={record}) as app:
        app.press("A+RIGHT", frames=4)
        app.frames(6)
        {between}
        app.frames(14)
        shown = [app.text, sorted(app.console_text.items()), str(app.end), app.frame_count, app.console.kernel.time.now]
        shown += [[name, hashlib.sha256(one.array.tobytes()).hexdigest()] for name, one in sorted(app.screens.items())]
        capture = hashlib.sha256(encode(app.contents(), "stored")).hexdigest() if {record} else None
        found[path.rpartition("/")[2]] = [shown, capture]
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Way:
    """How a run is made. first, between: lines of code before the library is imported, and in the middle of the run."""

    threads: int = 1
    first: str = ""
    between: str = ""
    seed: str = "0"
    cache: str = ""
    record: bool = True


WAYS = {
    "usual": Way(),
    "two threads": Way(threads=2),
    "four threads, other imports first": Way(
        threads=4, first="import pocketgpu.maxwell.gm20b, pocketgpu.inspect.inspection, pocketgpu.builder"
    ),
    "other hashes": Way(seed="12345"),
    "an empty cache": Way(cache="off"),
    "a checkpoint between": Way(between="app.checkpoint()"),
    "gone back between": Way(between="point = app.checkpoint(); app.frames(3); app.restore(point)"),
    "not recorded": Way(record=False),
}


def found(console: str, way: Way) -> dict[str, list[object]]:
    """What runs in a process of their own leave: of each program what is shown, and a digest of its capture."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONHASHSEED": way.seed}
    paths = [str(GUESTS / console / name) for name in PROGRAMS[console]]
    if way.cache:
        environment["POCKETGPU_CACHE"] = way.cache
        del paths[1:]  # it takes long to compile all kernels
    code = RUN.format(threads=way.threads, first=way.first, between=way.between, record=way.record)
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], env=environment, capture_output=True, check=True, timeout=600
    )
    result: dict[str, list[object]] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("console", PROGRAMS)
def test_all_ways_give_the_same_bytes(console: str) -> None:
    expected = found(console, Way())
    assert list(expected) == PROGRAMS[console]
    for name in PROGRAMS[console][:2]:
        assert "screen" in str(expected[name][0]) or "top" in str(expected[name][0]), "pictures are shown"
    for name, way in WAYS.items():
        for program, (shown, capture) in found(console, way).items():
            assert shown == expected[program][0], f"{program}, {name}"
            assert capture == (expected[program][1] if way.record else None), f"{program}, {name}"
