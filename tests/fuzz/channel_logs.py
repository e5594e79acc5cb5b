"""Damaged and hostile channel logs: each is either refused with an error that names a place, or replays to its end;
none crashes the host, runs forever or makes it unpack more than the limits.

    python tests/fuzz/channel_logs.py --cases 100000 --seed 1

A case is one archive: a small valid one whose document has values changed, or whose bytes have. It is made from the
seed and its number alone (--first N --cases 1).
"""

from __future__ import annotations

import copy
import io
import json
import random
import struct
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np
from support.fuzz import command, one_case

from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, size_of
from pocketgpu.capture import Capture
from pocketgpu.capture.formats import mxcap
from pocketgpu.errors import CaptureError, NoPictureError
from pocketgpu.maxwell.gm20b import GM20B

SLOWEST = 20.0
FILE = "log.mxcap.zip"
_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 3, 0.5, 1e300, 4096, 1 << 20, 1 << 31, 1 << 32, (1 << 40) - 4096, 1 << 40, 1 << 64, "",
    "x", "mem/0000.bin", "capture.json", "../mem/0000.bin", "pitch", "generic_16bx2", "RGB565_UNORM", [], {}, [[]], [0],
]  # fmt: skip


def _base() -> MaxwellCaptureBuilder:
    """Two frames: clears, a blit, an alias, a second channel, a mapping that ends."""
    made = MaxwellCaptureBuilder("fuzz")
    target = Surface(made.allocate(size_of(16, 16, block_height_log2=1)), 16, 16, "A8B8G8R8", None, 1)
    other = Surface(made.alias(target.address), 16, 16, "A8B8G8R8", None, 1)
    art = made.put(np.arange(1024, dtype=np.uint8))
    rows = Surface(art, 16, 16, pitch=64)
    pb = PushBuffer().bind("3D").render_target(0, target).clear((0.5, 0.25, 1, 1))
    made.submit(pb.syncpoint_increment(made.syncpoint())).present(target, fence=1)
    made.submit(PushBuffer().bind("2D").blit(rows, other, None, (2, 2, 8, 8)), channel=3)
    made.unmap(art)
    made.submit(PushBuffer().method("WAIT_FOR_IDLE")).present(other, transform=2)
    return made


_made: list[tuple[dict[str, Any], dict[str, bytes]]] = []


def base() -> tuple[dict[str, Any], dict[str, bytes]]:
    """Document and files of the valid log, made once."""
    if not _made:
        made = _base()
        _made.append((made.document(), dict(made.files())))
    return _made[0]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) inside a document."""
    found: list[tuple[Any, Any]] = []
    keys: Any = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        found.append((value, key))
        found += _places(value[key])
    return found


def _change(r: random.Random, document: dict[str, Any]) -> None:
    container, key = r.choice(_places(document))
    kind = r.random()
    old = container[key]
    if kind < 0.35 and isinstance(old, int) and not isinstance(old, bool):
        step = r.choice((1, -1, 4, 64, 4096, 1 << r.randrange(41)))
        container[key] = r.choice((old + step, old ^ step, -old, r.getrandbits(r.randrange(1, 65))))
    elif kind < 0.5:
        del container[key]
    elif kind < 0.65 and isinstance(container, list):
        container.insert(r.randrange(len(container) + 1), copy.deepcopy(r.choice(container)))
    elif kind < 0.75:
        source, name = r.choice(_places(document))
        container[key] = copy.deepcopy(source[name])
    else:
        container[key] = copy.deepcopy(r.choice(_VALUES))


def _pack(r: random.Random, document: Any, files: dict[str, bytes]) -> bytes:
    output = io.BytesIO()
    method = r.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))
    with warnings.catch_warnings(), zipfile.ZipFile(output, "w", method) as archive:
        warnings.simplefilter("ignore")  # names that appear twice
        text = json.dumps(document).encode()
        archive.writestr("capture.json", text if r.random() < 0.97 else text[: r.randrange(len(text))])
        for name, data in files.items():
            if r.random() < 0.98:
                archive.writestr(name, data if r.random() < 0.97 else data[:-1] + bytes(r.randrange(3)))
        if r.random() < 0.03:
            archive.writestr(r.choice(("capture.json", "mem/0000.bin", "a" * 300)), bytes(r.randrange(1 << 16)))
    return output.getvalue()


def make(seed: int, number: int) -> bytes:
    """Case `number`."""
    r = random.Random(f"{seed}/{number}")
    document, files = base()
    document = copy.deepcopy(document)
    for _ in range(r.choice((0, 1, 1, 1, 2, 3, 6))):
        if document:
            _change(r, document)
    data = bytearray(_pack(r, document, files))
    for _ in range(r.choice((0, 0, 0, 0, 0, 1, 2, 4))):
        at = r.randrange(len(data))  # the first bytes are never cut off
        # The directory and the ends of the archive are where structure is.
        at = len(data) - 1 - r.randrange(min(400, len(data))) if r.random() < 0.5 else at
        kind = r.random()
        if kind < 0.5:
            data[at] = r.randrange(256)
        elif kind < 0.8:
            data[at : at + 4] = struct.pack("<I", r.choice((0, 1, 0xFFFFFFFF, 0x7FFFFFFF, r.getrandbits(32))))
        elif kind < 0.9:
            del data[max(at, 8) : at + r.randrange(1, 60)]
        else:
            del data[max(at, 8) :]
    return bytes(data)


def run(cases: int, seed: int, first: int = 0, report: Callable[[Counter[str]], None] | None = None) -> Counter[str]:
    """Run `cases` logs from number `first` on; AssertionError names the one in which something goes wrong."""
    counts: Counter[str] = Counter()
    machine = GM20B()
    for number in range(first, first + cases):
        data = make(seed, number)
        with one_case(seed, number, SLOWEST):
            try:
                capture = Capture(FILE, mxcap.parse(data, file=FILE))
                for frame in capture.render(frames=range(min(capture.frame_count, 8)), machine=machine):
                    counts["frames"] += 1
                    for screen in frame.screens.values():
                        assert screen.array.ndim == 3
                    for event in frame.warnings:
                        counts[event.id] += event.count
                counts["replayed"] += 1
            except CaptureError as error:
                assert str(error.location).startswith(FILE), f"seed {seed}, case {number}: no place in {error}"
                counts["CaptureError"] += 1
            except NoPictureError:
                counts["NoPictureError"] += 1
        counts["cases"] += 1
        if report is not None and number % 1000 == 999:
            report(counts)
    return counts


if __name__ == "__main__":
    command(__doc__, run, "channel logs")
