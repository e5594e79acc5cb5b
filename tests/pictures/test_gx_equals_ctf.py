"""A run recorded at both doors, as register writes and as GX commands, must give the same bytes everywhere.

What is drawn does not matter here: whatever the machine makes of a recording, it must make it of both.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.capture.gxlog import GxLog
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.memory_map import VRAM

_RECORDINGS = Path(__file__).resolve().parents[2] / ".." / "shared" / "captures" / "3ds"
NAMES = sorted(path.name.removesuffix(".gx.json.xz") for path in _RECORDINGS.glob("*.gx.json.xz"))
SHOWN = [
    register.address
    for register in EXTERNAL
    if register.name.startswith(("PDC0_", "PDC1_")) and "LUT" not in register.name
]


def test_there_are_recordings(shared_dir: Path) -> None:
    assert NAMES


@pytest.mark.parametrize("name", NAMES)
def test_both_doors_give_the_same(name: str, shared_dir: Path) -> None:
    folder = shared_dir / "captures" / "3ds"
    plain, log = pocketgpu.open(folder / f"{name}.ctf.xz"), pocketgpu.open(folder / f"{name}.gx.json.xz")
    assert isinstance(log.trace, GxLog)
    assert not log.warnings  # also: what our own gsp makes of each framebuffer entry is what was recorded
    assert log.frame_count == plain.frame_count > 0
    for ours, theirs in zip(log.render(), plain.render(), strict=True):
        assert ours.index == theirs.index
        assert sorted(ours.screens) == sorted(theirs.screens)
        for screen, picture in theirs.screens.items():
            assert np.array_equal(ours.screens[screen].array, picture.array), f"f{ours.index} {screen}"
        assert (ours.draws, ours.triangles, ours.fragments) == (theirs.draws, theirs.triangles, theirs.fragments)
        assert not [event for event in ours.warnings if event.id.startswith("gsp.")]
        for address in SHOWN:
            assert ours.machine.read_register(address) == theirs.machine.read_register(address), hex(address)
        if ours.index in (0, log.frame_count - 1):
            for start, size in ((VRAM.base, VRAM.size), (0x20000000, 32 << 20)):
                a, b = (hashlib.sha256(f.machine.memory.view(start, size)).digest() for f in (ours, theirs))
                assert a == b, f"f{ours.index}: memory from {start:#x} differs"
