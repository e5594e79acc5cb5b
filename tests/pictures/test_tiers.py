"""General and specialised code draw the same bytes, and the machine changes from one to the other unseen."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.capture.driver import drive
from pocketgpu.errors import UsageError
from pocketgpu.lanes import background
from pocketgpu.pica.n3ds import N3DS

CAPTURES = (
    "2d_shapes", "cubemap", "ed_rgb565_d16", "fragment_light", "geoshader", "immediate", "loop_subdivision",
    "mipmap_fog", "normal_mapping", "proctex", "textured_cube",
)  # fmt: skip


def digests(path: Path, tier: str, frames: int = 1) -> list[str]:
    """A digest of VRAM, where all targets of these captures lie, after each frame."""
    capture = pocketgpu.open(path)
    machine = N3DS(tier=tier)
    found = []
    for _ in drive(capture.trace, machine=machine).frames(range(frames)):
        found.append(hashlib.sha256(machine.memory.read(0x18000000, 6 << 20)).hexdigest())
    return found


def test_the_sample_is_the_same_in_both_tiers(sample_path: Path) -> None:
    special = digests(sample_path, "specialised", frames=2)
    assert digests(sample_path, "general", frames=2) == special
    # By itself the machine may begin with the one and go on with the other.
    assert digests(sample_path, "auto", frames=2) == special
    background.wait()
    assert digests(sample_path, "auto", frames=2) == special


@pytest.mark.parametrize("name", CAPTURES)
def test_public_captures_are_the_same_in_both_tiers(shared_dir: Path, name: str) -> None:
    path = shared_dir / "captures" / "3ds" / f"{name}.ctf.xz"
    assert digests(path, "general") == digests(path, "specialised")


def test_an_unknown_tier_is_refused() -> None:
    with pytest.raises(UsageError, match="tier"):
        N3DS(tier="fast")
