"""Damaged files for the fuzzers of tests/fuzz: a few changes, many of them where headers and tables are.

    damage(data, known=[0, 1, 2, 3], r=random.Random(1))
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from typing import Final

VALUES: Final = (0x00, 0x01, 0x7F, 0x80, 0xFF)
STRANGE: Final = (
    0, 1, 2, 3, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFF000, 0x00100000, 0x03FFFFFF, 0x04000000, 0x0FFFFFFF,
)  # fmt: skip


def one_byte(files: Sequence[tuple[bytes, Sequence[int]]], number: int) -> bytes:
    """Case `number` of those that change one byte: of each file at each of its places, to each of VALUES.

    :raises IndexError: there are fewer.
    """
    for data, places in files:
        if number < len(places) * len(VALUES):
            out = bytearray(data)
            out[places[number // len(VALUES)]] = VALUES[number % len(VALUES)]
            return bytes(out)
        number -= len(places) * len(VALUES)
    raise IndexError


def damage(data: bytes, known: Sequence[int], r: random.Random) -> bytes:
    """Bytes and words changed, parts cut, taken out and repeated. known: places where changes matter most."""
    out = bytearray(data)
    for _ in range(r.choice((1, 1, 2, 3, 6, 20))):
        if not out:
            break
        kind = r.random()
        at = min(r.choice(known) if r.random() < 0.6 else r.randrange(len(out)), len(out) - 1)
        if kind < 0.4:
            out[at] = r.choice((*VALUES, r.randrange(256)))
        elif kind < 0.75:
            at &= ~3
            value = r.choice((*STRANGE, r.getrandbits(32), len(out), r.randrange(len(out))))
            out[at : at + 4] = struct.pack("<I", value)
        elif kind < 0.82:
            del out[at:]
        elif kind < 0.9:
            del out[at : at + r.randrange(1, 64)]
        else:
            start = r.randrange(len(out))
            out[at:at] = out[start : start + r.randrange(1, 300)]
    return bytes(out)
