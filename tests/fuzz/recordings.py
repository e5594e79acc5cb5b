"""Damaged recordings of the Switch's drivers: each replays to its end or is refused, in bounded time.

    python tests/fuzz/recordings.py --cases 10000 --seed 1

A case is one of the recordings of other programs with some words of its memory changed: pushbuffers, shader headers,
instructions, texture headers, vertices, whatever they are. Without recordings there is nothing to do. A case is made
from the seed and its number alone (--first N --cases 1).
"""

from __future__ import annotations

import io
import json
import random
import struct
import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

from support import switch_index
from support.fuzz import command, one_case

from pocketgpu.capture import Capture
from pocketgpu.capture.formats import mxcap
from pocketgpu.errors import CaptureError, NoPictureError
from pocketgpu.maxwell.gm20b import GM20B

SLOWEST = 20.0
MACRO_BUDGET, WARP_LIMIT, BUDGET = 20_000, 50_000, 2_000_000
"""Instructions of the macros of a submission, of a warp, of a grid or of a draw's stage."""
_DOCUMENT = "capture.json"
_VALUES = (0, 1, 2, 3, 0xFF, 0xFFFF, 0x10000, 0x3F800000, 0x7F800000, 0x7FC00000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


class Machine(GM20B):
    """A machine without specialised code, whose programs end soon."""

    def reset(self) -> None:
        super().reset()
        self.macro_budget = MACRO_BUDGET
        self.grids.tier, self.grids.limit, self.grids.budget = "interpreter", WARP_LIMIT, BUDGET
        self.drawing.tier = "general"
        self.drawing.programs.limit, self.drawing.programs.budget = WARP_LIMIT, BUDGET

    def damage(self) -> bool:
        """Whether anything was written before or after all memory."""
        memory = self.memory
        end = max((backing.offset + backing.size for backing in memory.backings), default=memory.guest_end)
        return bool(memory.arena[:4096].any() or memory.arena[end : end + (1 << 20)][: memory.guest_end - end].any())


@cache
def bases() -> list[tuple[str, dict[str, Any], dict[str, bytes]]]:
    """Name, document and files of each small recording."""
    found = []
    for name in switch_index.names():
        if name.endswith("_320x180"):
            with zipfile.ZipFile(switch_index.folder() / f"{name}.mxcap.zip") as archive:
                files = {member: archive.read(member) for member in archive.namelist()}
            found.append((name, json.loads(files.pop(_DOCUMENT)), files))
    return found


def make(seed: int, number: int) -> tuple[str, bytes]:
    """The recording that case `number` began with, and the archive that it is."""
    r = random.Random(f"{seed}/{number}")
    name, document, files = r.choice(bases())
    changed = {member: bytearray(data) for member, data in files.items()}
    members = sorted(changed)
    for _ in range(r.choice((0, 1, 1, 2, 3, 5, 10, 30))):
        data = changed[r.choice(members)]
        if len(data) < 4:
            continue
        at = 4 * r.randrange(len(data) // 4)
        (old,) = struct.unpack_from("<I", data, at)
        word = r.choice((
            old ^ 1 << r.randrange(32), old ^ 1 << r.randrange(32), old + r.choice((1, -1, 4, 16, 4096)),
            r.choice(_VALUES), r.getrandbits(32), *struct.unpack_from("<I", data, 4 * r.randrange(len(data) // 4)),
        ))  # fmt: skip
        struct.pack_into("<I", data, at, word & 0xFFFFFFFF)
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr(_DOCUMENT, json.dumps(document))
        for member, data in changed.items():
            archive.writestr(member, bytes(data))
    return name, output.getvalue()


def run(cases: int, seed: int, first: int = 0, report: Callable[[Counter[str]], None] | None = None) -> Counter[str]:
    """Run `cases` recordings from number `first` on; AssertionError names the one in which something goes wrong."""
    counts: Counter[str] = Counter()
    if not bases():
        return counts
    machine = Machine()
    for number in range(first, first + cases):
        name, data = make(seed, number)
        with one_case(seed, number, SLOWEST, name):
            try:
                capture = Capture(name, mxcap.parse(data, file=name))
                for frame in capture.render(machine=machine):
                    counts["frames"] += 1
                    for event in frame.warnings:
                        counts[event.id] += event.count
                counts["replayed"] += 1
            except CaptureError:
                counts["CaptureError"] += 1
            except NoPictureError:
                counts["NoPictureError"] += 1
        assert not machine.damage(), f"seed {seed}, case {number} ({name}): written where no memory is"
        counts["cases"] += 1
        counts["draws"] += machine.stats.draws
        if report is not None and number % 1000 == 999:
            report(counts)
    return counts


if __name__ == "__main__":
    command(__doc__, run, "recordings")
