"""Random register writes through `N3DS.write_register`: none may crash the host, run forever or write where no guest
memory is.

    python tests/fuzz/registers.py --cases 100000 --seed 1

A case is one write. Cases come in episodes of 500 on one machine, because registers build on each other; an episode is
made from the seed and its number alone, so a failure names what to run again (--first N --cases 500). In every fourth
one time passes: units are busy, displays scan with whatever timing was written. Command lists
that writes start lie in memory that holds small lists, so that starting one is likely to run something.
"""

from __future__ import annotations

import random
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

from support.fuzz import command, written_outside

from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.pica.n3ds import N3DS

EPISODE = 500
SLOWEST = 20.0
"""Seconds that no single write may take, on a slow machine too."""

_NAMED = [r.address for block in (EXTERNAL, LCD) for r in block]
_STARTERS = [EXTERNAL[name].address for name in ("PSC0_CONTROL", "PSC1_CONTROL", "PPF_CONTROL")]
_START_LIST = (0x104018F0, 0x104018F4)
_LISTS = (0x20000000, 0x20000100, 0x20000200, 0x18000000)
_ADDRESSES = (0x18000000, 0x18300000, 0x185FFFF0, 0x20000000, 0x20100000, 0x27FFFFF0, 0x1FF80000, 0, 0x08000000)
# Each combination of formats is compiled once, so the common ones come back.
_FLAGS = (0, 1, 2, 3, 4, 5, 8, 0xC, 0x20, 0x22, 0x1000, 0x1001000, 0x2000000, 0x2002, 0x10000, 0x3000000)


# Core registers that the small lists write: plain ones and data ports.
_WRITTEN = (0x40, 0x41, 0x4D, 0x80, 0xC0, 0x100, 0x1C5, 0x1C8, 0x232, 0x233, 0x238, 0x23A, 0x2C0, 0x2C1)


def _value(r: random.Random, address: int) -> int:
    """A value that often means something to the register at `address`."""
    kind = r.random()
    if address in _START_LIST or address in _STARTERS:
        return r.choice((0, 1, 1, 1, 0x101, 0x201, 0x301, r.randrange(1 << 32)))
    if address == EXTERNAL["PPF_FLAGS"].address:
        return r.choice(_FLAGS)
    if address in (0x104018E0, 0x104018E4):
        return r.choice((0, 2, 4, 8, 32, r.randrange(1 << 20)))
    if address in (0x104018E8, 0x104018EC):
        return (r.choice(_LISTS) if kind < 0.8 else r.randrange(1 << 32)) >> 3
    if kind < 0.35:
        return (r.choice(_ADDRESSES) + 16 * r.randrange(-4, 4096)) % (1 << 32) >> 3
    if kind < 0.6:
        return r.randrange(512) | r.randrange(512) << 16
    return r.randrange(1 << r.choice((1, 4, 8, 16, 24, 32)))


def _list(r: random.Random) -> bytes:
    """A short command list: plain writes, uploads, now and then a jump; no draws (they have a fuzzer of their own)."""
    words: list[int] = []
    for _ in range(r.randrange(1, 12)):
        register = r.choice(
            (0x40, 0x41, 0x4D, 0x80, 0xC0, 0x100, 0x1C5, 0x1C8, 0x232, 0x233, 0x238, 0x23A, 0x2C0, 0x2C1)
        )
        if r.random() < 0.03:
            register = r.choice((0x23C, 0x23D))
        extra = r.choice((0, 0, 0, 1, 2, 3, 5))
        header = register | r.choice((0xF, 0xF, r.randrange(16))) << 16 | extra << 20 | r.randrange(2) << 31
        words += [r.randrange(1 << 32), header, *(r.randrange(1 << 32) for _ in range(extra + (extra & 1)))]
    words += [0x12345678, 0x000F0010, 0, 0]
    return struct.pack(f"<{len(words)}I", *words)


def _address(r: random.Random) -> int:
    kind = r.random()
    if kind < 0.5:
        return r.choice(_NAMED)
    if kind < 0.6:
        return r.choice(_STARTERS)
    if kind < 0.65:
        return r.choice(_START_LIST)
    if kind < 0.75:
        return r.choice((0x104018E0, 0x104018E4, 0x104018E8, 0x104018EC))
    if kind < 0.95:
        # Registers of the 3D core, but for the two that draw.
        number = r.randrange(0x400)
        return 0x10401000 + 4 * (0x40 if number in (0x22E, 0x22F) else number)
    return r.randrange(1 << 32) & ~3


def run(cases: int, seed: int, first: int = 0, report: Callable[[Counter[str]], None] | None = None) -> Counter[str]:
    """Run `cases` writes from episode `first` on; counts by outcome. Raises AssertionError on a finding."""
    counts: Counter[str] = Counter()
    for episode in range(first, first + -(-cases // EPISODE)):
        r = random.Random(f"{seed}/{episode}")
        timed = episode % 4 == 3
        gpu = N3DS(timing="emulated" if timed else "instant")
        for place in _LISTS:
            gpu.memory.write(place, _list(r))
        for case in range(min(EPISODE, cases - (episode - first) * EPISODE)):
            address = _address(r)
            value = _value(r, address)
            started = time.perf_counter()
            gpu.write_registers(np.array([address], np.uint32), np.array([value], np.uint32))  # as a guest does
            gpu.read_register(address)
            if timed:
                gpu.advance(r.choice((0, 100, 20_000, 500_000)))
            took = time.perf_counter() - started
            assert took < SLOWEST, f"episode {episode}, write {case} ({address:#x} = {value:#x}) took {took:.1f} s"
            counts["writes"] += 1
        if timed:
            gpu.step_vblank()
            gpu.finish()
        assert gpu.screens
        for event in gpu.events:
            counts[event.id] += event.count
        assert not written_outside(gpu), f"episode {episode} wrote outside guest memory"
        if report is not None:
            report(counts)
    return counts


if __name__ == "__main__":
    command(__doc__, run, "register writes", counted="writes")
