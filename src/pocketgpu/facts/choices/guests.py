"""Choices of the kernels that run programs.

Recorded conversations of programs were answered by a trial kernel. With the values named for it, ours gives the same
answers at the same ticks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pocketgpu.facts.choices.choice import Choice, named


def choices() -> Iterator[Choice]:
    """All of them."""
    yield named(
        "guest.vblank_clock",
        "When the next VBlank comes if one was noticed late, at the end of a block of instructions.",
        steady="59.83 a second, as a display gives them",
        late="the trial kernel: a whole period after the one that was late",
    )
    yield named(
        "guest.hid_edges",
        "Whether an entry of the pad's shared memory tells which keys were pressed and released.",
        told="3dbrew HID Shared Memory",
        left="the trial kernel: only which are held",
    )
    yield named(
        "guest.block_alignment",
        "CreateMemoryBlock with an address that is not a multiple of 4096.",
        checked="3dbrew SVC: an error",
        any="the trial kernel: accepted",
    )


    yield named(
        "guest.archives",
        "What handles of archives of files tell apart.",
        own="3dbrew Filesystem services: each opened archive has its own",
        one="the trial kernel: all have the number 1 and are the memory card",
    )
    yield named(
        "guest.power",
        "What ptm:u says of the charger and of charging.",
        connected="3dbrew PTM Services: yes or no; connected, and full, so not charging",
        five="the trial kernel: 5, as for the level of the battery",
    )


STRICT: Final[Mapping[str, str]] = {
    "guest.power": "five", "guest.archives": "one", "guest.vblank_clock": "late", "guest.hid_edges": "left",
    "guest.block_alignment": "any",
}  # fmt: skip
"""The trial kernel's values."""
