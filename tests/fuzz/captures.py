"""Damaged CiTrace captures: each is refused with a typed error or replays to its end; none crashes the host, runs
forever or writes where no guest memory is.

    python tests/fuzz/captures.py --cases 100000 --seed 1

A case is one capture: a small valid one with a few bytes changed, cut, repeated or moved, at times packed again. It is
made from the seed and its number alone, so a failure names what to run again (--first N --cases 1).
"""

from __future__ import annotations

import gzip
import lzma
import random
import struct
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np
from support.fuzz import command, one_case, written_outside

from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble
from pocketgpu.capture.driver.n3ds import N3DSDriver
from pocketgpu.capture.formats.citrace import parse
from pocketgpu.capture.formats.container import unpack
from pocketgpu.errors import PocketGPUError
from pocketgpu.pica.n3ds import N3DS

MACHINE_LIFE = 200
"""Captures that one machine replays."""
SLOWEST = 20.0
_PROGRAM = ".out o0 position\n.out o1 color\nmain:\nmov o0, v0\nmov o1, v1\nend\n"


def _drawing() -> bytes:
    """A triangle into a target of 16x16, shown nowhere."""
    capture = CaptureBuilder()
    corners = np.array([[-1, -1, -0.5, 1, 0, 0], [1, -1, -0.5, 0, 1, 0], [0, 1, -0.5, 0, 0, 1]], np.float32)
    vertices, target = capture.put(corners), capture.allocate(16 * 16 * 4, region="VRAM")
    cl = CommandList().plain_state().render_target(target, 16, 16).shader(assemble(_PROGRAM))
    cl.attributes(Buffer(vertices, [("f32", 3), ("f32", 3)])).draw_arrays(3).end_drawing()
    capture.clear(target, 16, 16, 0x203040FF).submit(cl).end_frame()
    return capture.tobytes()


def _moving() -> bytes:
    """Fills and transfers of small targets, no draws, two frames."""
    capture = CaptureBuilder()
    target = capture.allocate(32 * 32 * 4, region="VRAM")
    for color in (0x11223344, 0xAABBCCDD):
        capture.clear(target, 32, 32, color)
        cl = CommandList().write("FACECULLING_CONFIG", mode=0)
        cl.finalize()
        capture.submit(cl).end_frame()
    return capture.tobytes()


BASES: list[Callable[[], bytes]] = [_drawing, _moving]
_made: list[bytes] = []


def bases() -> list[bytes]:
    """The valid captures, made once."""
    if not _made:
        _made.extend(base() for base in BASES)
    return _made


def mutate(data: bytes, r: random.Random) -> bytes:
    """A few changes, most of them in the header and the stream, where structure is."""
    out = bytearray(data)
    header = struct.unpack_from("<I", data, 8)[0]
    for _ in range(r.choice((1, 1, 1, 2, 3, 6))):
        if not out:
            break
        kind, place = r.random(), r.random()
        at = r.randrange(min(header, len(out))) if place < 0.25 else r.randrange(len(out))
        if place > 0.6:
            at = max(0, len(out) - 1 - r.randrange(1200))
        if kind < 0.45:
            out[at] = r.randrange(256)
        elif kind < 0.65:
            out[at : at + 4] = struct.pack(
                "<I", r.choice((0, 1, 0xFFFFFFFF, 0x80000000, r.randrange(1 << 32), len(out)))
            )
        elif kind < 0.75:
            del out[at:]
        elif kind < 0.85:
            del out[at : at + r.randrange(1, 64)]
        else:
            start = r.randrange(len(out))
            out[at:at] = out[start : start + r.randrange(1, 200)]
    return bytes(out)


def make(seed: int, number: int) -> bytes:
    """Case `number`."""
    r = random.Random(f"{seed}/{number}")
    # A draw in a new state compiles code for it, so most captures have none.
    data = mutate(bases()[0 if r.random() < 0.1 else 1], r)
    packing = r.random()
    if packing < 0.03:
        data = lzma.compress(data, preset=0)
    elif packing < 0.06:
        data = gzip.compress(data, 1)
    return mutate(data, r) if packing < 0.03 and len(data) > 16 else data


def check(data: bytes, machine: N3DS, counts: Counter[str]) -> None:
    """Read and replay one capture."""
    try:
        trace = parse(unpack(data, file="case.ctf"), file="case.ctf")
        for frame in N3DSDriver(trace, machine).frames(range(min(trace.frame_count, 4))):
            counts["frames"] += 1
            assert frame.index < 4
        counts["replayed"] += 1
    except PocketGPUError as error:
        counts[type(error).__name__] += 1
        assert str(error)


def run(cases: int, seed: int, first: int = 0, report: Callable[[Counter[str]], None] | None = None) -> Counter[str]:
    """Run `cases` captures from number `first` on; AssertionError names the one in which something goes wrong."""
    counts: Counter[str] = Counter()
    machine = N3DS()
    for number in range(first, first + cases):
        if (number - first) % MACHINE_LIFE == MACHINE_LIFE - 1:
            assert not written_outside(machine), f"seed {seed}, up to case {number}: written outside guest memory"
            machine = N3DS()
            if report is not None:
                report(counts)
        with one_case(seed, number, SLOWEST):
            check(make(seed, number), machine, counts)
        counts["cases"] += 1
    return counts


if __name__ == "__main__":
    command(__doc__, run, "captures")
