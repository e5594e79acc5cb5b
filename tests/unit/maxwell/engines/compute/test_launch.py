"""Compute launches: what the queue metadata says."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from support.engine_host import Bench

from pocketgpu.facts.maxwell.headers import QMD
from pocketgpu.maxwell.engines.compute.launch import Compute, Launch

VA = 0x5_0000_0000
AT = VA + 0x1000
REGION = 0x7_0000_0000
EXIT = 0xE30000000007000F

FIELDS = {
    "PROGRAM_OFFSET": 0x1220,
    "CTA_RASTER_WIDTH": 70000,
    "CTA_RASTER_HEIGHT": 2,
    "CTA_RASTER_DEPTH": 3,
    "CTA_THREAD_DIMENSION0": 8,
    "CTA_THREAD_DIMENSION1": 4,
    "CTA_THREAD_DIMENSION2": 1,
    "SHARED_MEMORY_SIZE": 0x1800,
    "REGISTER_COUNT": 40,
    "CONSTANT_BUFFER_VALID(0)": 1,
    "CONSTANT_BUFFER_ADDR_LOWER(0)": 0x200,
    "CONSTANT_BUFFER_ADDR_UPPER(0)": 5,
    "CONSTANT_BUFFER_SIZE(0)": 0x10000,
    "CONSTANT_BUFFER_VALID(7)": 1,
    "CONSTANT_BUFFER_ADDR_LOWER(7)": 0x700,
    "CONSTANT_BUFFER_ADDR_UPPER(7)": 6,
    "CONSTANT_BUFFER_SIZE(7)": 64,
    "CONSTANT_BUFFER_SIZE(3)": 99,
}


def qmd(version: str, **more: int) -> bytes:
    major, minor = (int(part) for part in version.split("_"))
    values = FIELDS | {"QMD_MAJOR_VERSION": major, "QMD_VERSION": minor} | more
    return np.array(QMD[version].pack(values), np.uint32).tobytes()


def bench(data: bytes) -> Bench:
    b = Bench(Compute)
    b.map(VA, 0x11000)
    b.map(0x6_0000_0000, 0x1000)
    b.map(REGION, 0x2000)
    b.memory.write(REGION + 0x1220, struct.pack("<QQ", 0, EXIT))
    b.memory.write(AT, data)
    b.address("SET_PROGRAM_REGION_A", REGION)
    return b


def launch(b: Bench, how: int = 3) -> list[Launch]:
    b(SEND_PCAS_A=AT >> 8, SEND_SIGNALING_PCAS_B=how)
    return [record for record in b.host.log if isinstance(record, Launch)]


@pytest.mark.parametrize(("version", "number"), [("01_07", (1, 7)), ("00_06", (0, 6))])
def test_fields(version: str, number: tuple[int, int]) -> None:
    """Both versions decode by their own table; slots that are not valid are not there."""
    (record,) = launch(b := bench(qmd(version)))
    assert record.version == number and record.structure is QMD[version]
    assert (record.grid, record.block) == ((70000, 2, 3), (8, 4, 1))
    assert record.program == REGION + 0x1220
    assert (record.shared_bytes, record.register_count) == (0x1800, 40)
    assert record.constants[0] == (0x5_0000_0200, 0x10000)
    assert record.constants[7] == (0x6_0000_0700, 64)
    assert [i for i, c in enumerate(record.constants) if c] == [0, 7]
    assert record.address == AT and b.host.stats.launches == 1
    assert record.result is not None and record.result.steps == b.host.stats.launch_steps == 420000
    assert not list(b.host.events)


def test_a_launch_keeps_its_metadata() -> None:
    """What memory and registers hold later does not change a record."""
    b = bench(qmd("01_07"))
    (record,) = launch(b)
    b.memory.write(AT, bytes(256))
    b.address("SET_PROGRAM_REGION_A", 0)
    assert record.grid == (70000, 2, 3) and record.program == REGION + 0x1220


def test_only_schedule_launches() -> None:
    b = bench(qmd("01_07"))
    assert not launch(b, 1)
    b(SEND_PCAS_B=0)
    assert not b.host.log
    b(SET_RENDER_ENABLE_C=0)
    assert not launch(b)


def test_versions() -> None:
    """No version means the usual layout; an unknown one is told."""
    b = bench(qmd("01_07", QMD_MAJOR_VERSION=0, QMD_VERSION=0))
    assert launch(b)[0].structure is QMD["01_07"] and not list(b.host.events)
    b = bench(qmd("01_07", QMD_MAJOR_VERSION=2, QMD_VERSION=1))
    assert launch(b)[0].grid == (70000, 2, 3)
    assert b.host.ids() == ["compute.version"]


def test_releases() -> None:
    """Both semaphores of the grid, in one word or four, or as a reduction."""
    b = bench(
        qmd(
            "01_07",
            SEMAPHORE_RELEASE_ENABLE0=1,
            RELEASE0_ADDRESS_LOWER=0x2000,
            RELEASE0_ADDRESS_UPPER=5,
            RELEASE0_PAYLOAD=0xABC,
            SEMAPHORE_RELEASE_ENABLE1=1,
            RELEASE1_ADDRESS_LOWER=0x2020,
            RELEASE1_ADDRESS_UPPER=5,
            RELEASE1_PAYLOAD=5,
            RELEASE1_STRUCTURE_SIZE=1,
            RELEASE1_REDUCTION_ENABLE=1,
            RELEASE1_REDUCTION_OP=2,
        )
    )
    b.memory.write(VA + 0x2020, struct.pack("<II", 3, 4))
    launch(b)
    assert b.memory.read(VA + 0x2000, 16) == struct.pack("<QQ", 0xABC, b.host.ticks)
    assert b.memory.read(VA + 0x2020, 8) == struct.pack("<II", 5, 4)


def test_unmapped_metadata() -> None:
    """It reads as zeros: an empty grid, and an event."""
    b = Bench(Compute)
    (record,) = launch(b)
    assert record.grid == (0, 0, 0)
    assert b.host.ids() == ["memory.unmapped"]
