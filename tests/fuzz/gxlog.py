"""Damaged and hostile GX logs: each is either refused with a CaptureError that names a place, or parsed and replayed.

    python tests/fuzz/gxlog.py --cases 100000 --seed 1

A case is made from the seed and its number alone, so a failure names what to run again (--first N --cases 1).
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

from support.fuzz import command, one_case

from pocketgpu.capture import Capture
from pocketgpu.capture.driver.n3ds import N3DSDriver
from pocketgpu.capture.formats import gxlog
from pocketgpu.errors import CaptureError
from pocketgpu.pica.n3ds import N3DS

REPLAYED = 20
"""One of so many logs that parse is replayed as well."""

_BYTES = b'[]{}",:0123456789truefalsn -.eE\\\xff\x00'
MEMORY = bytes(range(256)) * 16
_STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 1, 0.5, 1e300, "x", "", [], {}, [[]], 1 << 31, 1 << 32, (1 << 32) - 1, 1 << 64, 10**30, [0] * 9,
    "memory", "gx", "swap", "frame", {"type": "frame"},
)  # fmt: skip


def valid() -> dict[str, Any]:
    """A small log that is right in every part."""
    fill = [0x01000102, 0x1F000000, 0x11223344, 0x1F000100, 0x1F000100, 5, 0x1F000200, 0x2010201]
    transfer = [0x01000103, 0x1F000000, 0x30000000, 0x80010, 0x80010, 0x1000, 0, 0]
    swap = {
        "type": "swap", "screen": 0, "info": [0, 0x30000000, 0x30000000, 720, 0x341, 0, 0],
        "registers": [[0x10400468, 0x20000000], [0x10400494, 0x20000000], [0x10400490, 720], [0x10400470, 0x80341],
                      [0x10400478, 0]],
    }  # fmt: skip
    load = {"type": "memory", "phys": 0x20001000, "offset": 16, "size": 256}
    events = [swap, {"type": "gx", "words": fill}, load, {"type": "gx", "words": transfer}, {"type": "frame"}]
    return {
        "version": 1,
        "virt_to_phys": [
            {"virt": 0x30000000, "phys": 0x20000000, "size": 0x10000000},
            {"virt": 0x1F000000, "phys": 0x18000000, "size": 0x600000},
        ],
        "heap": {"virt": 0x30000000, "size": 0x2000000},
        "events": [*events, load, {"type": "gx", "words": fill}, {"type": "frame"}],
    }


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        found.append((value, key))
        _places(inner, found)
    return found


def mutate(document: dict[str, Any], r: random.Random) -> None:
    """Change one thing, if anything is left."""
    places = _places(document, [])
    if not places:
        return
    container, key = r.choice(places)
    kind = r.random()
    if kind < 0.3:
        container[key] = copy.deepcopy(r.choice(_STRANGE))
    elif kind < 0.6 and isinstance(container[key], int):
        container[key] ^= 1 << r.randrange(36)
    elif kind < 0.75:
        del container[key]
    elif kind < 0.9 and isinstance(container, list):
        container.insert(key, copy.deepcopy(r.choice((container[key], *_STRANGE))))
    elif isinstance(container[key], int):
        container[key] = r.choice((0, 8, 0x1F5FFFFF, 0x2FFFFFFF, 0x10400018, 0x104018F0, len(MEMORY) + 1, 0xFFFFFFFF))


def make(seed: int, number: int) -> tuple[bytes, bytes]:
    """The two files of a case."""
    r = random.Random(f"{seed}/{number}")
    document = valid()
    for _ in range(r.choice((0, 1, 1, 1, 2, 3, 6))):
        mutate(document, r)
    data = bytearray(json.dumps(document).encode())
    if r.random() < 0.4:
        for _ in range(r.choice((1, 1, 2, 8))):
            at = r.randrange(len(data))
            kind = r.random()
            if kind < 0.5:
                data[at] = (
                    r.choice(b'[]{}",:0123456789truefalsn -.eE\\\xff\x00') if r.random() < 0.8 else r.randrange(256)
                )
            elif kind < 0.7:
                del data[at : at + r.randrange(1, 40)]
            elif kind < 0.8:
                del data[at:]
            elif kind < 0.9:
                data[at:at] = r.choice((b"[", b"9" * 5000, b"NaN", b"\xef\xbb\xbf", b'"version":1,', b"[" * 100_000))
            if not data:
                break
    memory = MEMORY if r.random() < 0.9 else MEMORY[: r.randrange(len(MEMORY))]
    return bytes(data), memory


def check(number: int, data: bytes, memory: bytes, counts: Counter[str]) -> None:
    try:
        log = gxlog.parse(data, memory, file="log.gx.json")
    except CaptureError as error:
        counts["refused"] += 1
        assert error.location is not None and error.location.startswith("log.gx.json"), str(error)
        assert error.hint and len(str(error)) < 500
        return
    counts["parsed"] += 1
    assert len(log.warnings) <= 100
    if number % REPLAYED == 0 and log.frame_count:
        counts["replayed"] += 1
        assert repr(Capture("log.gx.json", log))
        for frame in N3DSDriver(log, N3DS()).frames(range(min(log.frame_count, 3))):
            assert frame.screens["bottom"].array.shape[0] == 240


def run(cases: int, seed: int, first: int = 0, report: Callable[[Counter[str]], None] | None = None) -> Counter[str]:
    """Run cases first .. first+cases-1 of a seed; AssertionError names the first that goes wrong."""
    counts: Counter[str] = Counter()
    for number in range(first, first + cases):
        data, memory = make(seed, number)
        with one_case(seed, number):
            check(number, data, memory, counts)
        counts["cases"] += 1
        if report is not None and (number + 1 - first) % 5000 == 0:
            report(counts)
    return counts


if __name__ == "__main__":
    command(__doc__, run, "logs", lambda c: print(dict(c), flush=True))
