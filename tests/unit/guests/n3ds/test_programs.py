"""Programs in C, run on the processor: kernel objects, framebuffers. Their sources are in tests/guests/n3ds."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pocketgpu.guests.kernel.files import MemoryFiles
from pocketgpu.guests.n3ds.console import N3DSConsole
from pocketgpu.guests.n3ds.loader import read_program
from pocketgpu.pica.n3ds import N3DS

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "n3ds"
OBJECTS = """
one-shot 1
  afterwards 0
  in the end 2
sticky 2
  afterwards 1
  in the end 2
pulse 2
  afterwards 0
  in the end 2
timeout 1
taken again 0
others wait 1
and get it 1
not the owner's 3638559775
free after its owner 0
free after another 0
semaphore 0
  empty 1
  released 0
  before 0
  too many 3638560765
nobody goes on 0
two, the best first 21
all 213
not less 0
timeout 1
decremented 1
three periods of 2 ms in us 6002
cancelled 1
one of two 0
  which 1
all of two 1
one object 0
closed 0
not twice 3638560759
still there 0
another kind 3638560759
no such handle 3638560759
absent port 3632269306
wrong pointer 3638560758
done
"""
"""From the facts about objects; the numbers are result codes. Three timers of 2 ms take 6 ms and some calls."""


def started(name: str) -> N3DSConsole:
    from pocketgpu.guests.processors.unicorn_arm import UnicornArm

    console = N3DSConsole(UnicornArm(), N3DS(), MemoryFiles({}))
    path = PROGRAMS / f"{name}.elf"
    console.kernel.load(read_program(path.read_bytes(), path.name))
    return console


def test_kernel_objects_have_their_corner_cases() -> None:
    console = started("objects")
    end = console.kernel.run(lambda: len(console.vblanks) > 10)
    assert end is not None and end.why == "exit"
    assert console.kernel.text.decode() == OBJECTS.lstrip()
    assert list(console.kernel.events) == []


def slope(format: int) -> np.ndarray:
    """What framebuffers.c draws: red across, green down, and the loss of each format."""
    red, green = np.meshgrid(np.arange(400) * 255 // 399, np.arange(240) * 255 // 239)
    bits = ((8, 8, 8), (8, 8, 8), (5, 6, 5), (5, 5, 5), (4, 4, 4))[format]
    channels = [red, green, np.full_like(red, 40 * format)]
    out = []
    for channel, count in zip(channels, bits, strict=True):
        kept = channel >> 8 - count
        out.append(kept << 8 - count | kept >> max(0, 2 * count - 8))
    return np.stack(out, -1).astype(np.uint8)


def test_framebuffers_of_each_format_are_shown() -> None:
    console = started("framebuffers")
    seen: list[np.ndarray] = []

    def look() -> bool:
        if console.present_count > len(seen):
            seen.append(np.array(console.machine.screens["top"].array))
        return len(console.vblanks) > 40

    end = console.kernel.run(look)
    assert end is not None and end.why == "exit"
    assert console.kernel.text.decode().split() == [word for n in range(5) for word in ("shown", str(n))]
    assert len(seen) == 5
    for format, picture in enumerate(seen):
        assert (picture == slope(format)).all(), format
    assert [(one.frame, list(one.presents)) for one in console.vblanks if one.presents] == [
        (n, ["top"]) for n in range(5)
    ]


def test_two_runs_are_the_same() -> None:
    def fingerprint() -> tuple[object, ...]:
        console = started("framebuffers")
        console.kernel.run(lambda: len(console.vblanks) > 7)
        memory = console.machine.memory.read(0x20000000, 0x60000)
        return console.kernel.time.now, bytes(console.kernel.text), memory, len(console.vblanks)

    assert fingerprint() == fingerprint()


@pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="no arm-none-eabi-gcc")
def test_the_binaries_are_made_of_the_sources(tmp_path: Path) -> None:
    """Built elsewhere they are the same, byte by byte, with the compiler that made them."""
    made = tmp_path / "tests" / "guests" / "n3ds"
    (tmp_path / "tools").mkdir()
    shutil.copy(PROGRAMS.parents[2] / "tools" / "make_3dsx.py", tmp_path / "tools")
    shutil.copytree(PROGRAMS, made, ignore=shutil.ignore_patterns("*.elf", "*.3dsx"))
    subprocess.run(["make", "-s", "-C", str(made)], check=True)
    version = subprocess.run(["arm-none-eabi-gcc", "-dumpversion"], capture_output=True, text=True, check=True).stdout
    for path in sorted([*PROGRAMS.glob("*.elf"), *PROGRAMS.glob("*.3dsx")]):
        built = made / path.name
        assert built.is_file()
        if version.startswith("12.2."):
            assert built.read_bytes() == path.read_bytes(), path.name
