"""Frame rules of an image without its ELF, and damaged ones."""

from __future__ import annotations

import random
import struct
from pathlib import Path

from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.loader import read_program
from pocketgpu.guests.symbols.frames import ImageFrames

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "switch"
NRO, ELF = ((PROGRAMS / f"faults.{suffix}").read_bytes() for suffix in ("nro", "elf"))
SIZE = struct.unpack_from("<I", NRO, 0x18)[0]
MODULE = struct.unpack_from("<I", NRO, 4)[0]
HEADER = MODULE + struct.unpack_from("<i", NRO, MODULE + 16)[0]


def test_an_image_has_the_rules_of_its_elf() -> None:
    frames = ImageFrames(NRO[:SIZE], layout.CODE, HEADER)
    program = read_program(NRO, "x", elf=ELF)
    assert program.debug is not None and program.frames is not None
    known = 0
    for address in range(layout.CODE, layout.CODE + 0x1000, 4):
        rules = frames.rules(address)
        assert rules == program.debug.rules(address) == program.frames.rules(address)
        known += rules is not None
    assert known > 300


def test_headers_that_are_wrong() -> None:
    for at, data in ((0, b"\2"), (1, b"\3"), (4, struct.pack("<i", -(1 << 31))), (4, struct.pack("<i", 1 << 30))):
        image = NRO[: HEADER + at] + data + NRO[HEADER + at + len(data) : SIZE]
        assert ImageFrames(image, layout.CODE, HEADER).rules(layout.CODE + 0x100) is None
    for header in (-4, SIZE - 4, SIZE, 1 << 31):
        assert ImageFrames(NRO[:SIZE], layout.CODE, header).rules(layout.CODE + 0x100) is None


def test_damaged_frames_give_none_or_some_rules() -> None:
    r = random.Random(3)
    start = HEADER + 4 + struct.unpack_from("<i", NRO, HEADER + 4)[0]
    told = 0
    for _ in range(200):
        image = bytearray(NRO[:SIZE])
        for _ in range(r.choice((1, 3, 10))):
            image[start + r.randrange(0x300)] = r.choice((0, 1, 0x7F, 0xFF, r.randrange(256)))
        frames = ImageFrames(bytes(image), layout.CODE, HEADER)
        told += sum(frames.rules(layout.CODE + 4 * r.randrange(0x400)) is not None for _ in range(5))
    assert told > 50
