"""A run never depends on the host: threads, order of imports, hashes of texts, a checkpoint between change nothing."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[2] / "guests"
SOURCE = Path(__file__).resolve().parents[3] / "src"
RUN = """
import sys
{first}
import pocketgpu
from pocketgpu.capture.pgc import encode
app = pocketgpu.run(sys.argv[1], threads={threads}, record=True)
app.press("A+RIGHT", frames=4)
app.frames(6)
{between}
app.frames(14)
sys.stdout.buffer.write(encode(app.contents(), "stored"))
sys.stdout.buffer.write(app.text.encode() + repr(sorted(app.console_text.items())).encode())
for name, screen in sorted(app.screens.items()):
    sys.stdout.buffer.write(screen.array.tobytes())
"""
WAYS = {
    "usual": {},
    "two threads": {"threads": 2},
    "four threads, other imports first": {
        "threads": 4, "first": "import pocketgpu.maxwell.gm20b, pocketgpu.inspect.inspection, pocketgpu.builder"
    },
    "other hashes": {"seed": "12345"},
    "an empty cache": {"cache": "off"},
    "a checkpoint between": {"between": "app.checkpoint()"},
}  # fmt: skip


def digest(program: str, threads: int = 1, first: str = "", between: str = "", seed: str = "0", cache: str = "") -> str:
    """What a run in a process of its own leaves."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONHASHSEED": seed}
    if cache:
        environment["POCKETGPU_CACHE"] = cache
    code = RUN.format(threads=threads, first=first, between=between)
    done = subprocess.run(
        [sys.executable, "-c", code, str(PROGRAMS / program)], env=environment, capture_output=True, check=True,
        timeout=600,
    )  # fmt: skip
    assert len(done.stdout) > 1000
    return hashlib.sha256(done.stdout).hexdigest()


@pytest.mark.parametrize("program", ["n3ds/scene.elf", "n3ds/console.elf", "switch/scene.nro", "switch/console.nro"])
def test_all_ways_give_the_same_bytes(program: str) -> None:
    ways = {name: way for name, way in WAYS.items() if program == "n3ds/scene.elf" or "cache" not in way}
    assert {name: digest(program, **way) for name, way in ways.items()} == dict.fromkeys(
        ways, digest(program)
    ), "a run depends on the host"
