"""Inline-to-memory of the three classes that have it."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from support.engine_host import Bench
from support.slow_surfaces import Slow, SlowMemory

from pocketgpu.facts.maxwell import A140
from pocketgpu.maxwell.engines.compute.launch import Compute
from pocketgpu.maxwell.engines.inline.inline_unit import InlineToMemory
from pocketgpu.maxwell.engines.threed.engine import ThreeD

VA = 0x5_0000_0000
SIZE = 0x10000
LAUNCH = A140["LAUNCH_DMA"]
ENGINES = (InlineToMemory, ThreeD, Compute)


def noise(size: int = SIZE) -> bytes:
    return np.random.default_rng(2).integers(0, 256, size, np.uint8).tobytes()


def bench(engine: type = InlineToMemory, evaluator: str = "llvm", **choices: str) -> Bench:
    made = Bench(engine, evaluator, **choices)
    made.map(VA, noise())
    return made


def upload(b: Bench, rows: np.ndarray, launch: int) -> None:
    """LAUNCH_DMA and its data: every line padded to four bytes."""
    lines, length = rows.shape
    padded = np.full((lines, (length + 3) & -4), 0xEE, np.uint8)
    padded[:, :length] = rows
    b(LINE_LENGTH_IN=length, LINE_COUNT=lines, LAUNCH_DMA=launch)
    b.engine.staged_complete(padded.reshape(-1))


def rows(lines: int, length: int) -> np.ndarray:
    return np.random.default_rng(9).integers(0, 256, (lines, length), np.uint8)


@pytest.mark.parametrize("length, lines", [(0, 0), (0, 3), (3, 0)])
def test_no_bytes_or_no_lines_write_nothing(length: int, lines: int) -> None:
    b = bench()
    b.address("OFFSET_OUT_UPPER", VA + 5)
    b(LINE_LENGTH_IN=length, LINE_COUNT=lines, LAUNCH_DMA=LAUNCH.encode(DST_MEMORY_LAYOUT=1))
    b.engine.staged_complete(np.zeros(8, np.uint8))
    assert b.memory.read(VA, SIZE) == noise() and not list(b.host.events)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("length", [1, 2, 4, 6, 255])
def test_one_line(engine: type, length: int) -> None:
    """Any number of bytes at any address; padding is dropped."""
    b = bench(engine)
    b.address("OFFSET_OUT_UPPER", VA + 5)
    upload(b, rows(1, length), LAUNCH.encode(DST_MEMORY_LAYOUT=1))
    wanted = bytearray(noise())
    wanted[5 : 5 + length] = rows(1, length).tobytes()
    assert b.memory.read(VA, SIZE) == bytes(wanted)
    record = b.host.log[0]
    assert (record.class_id, record.target, record.line_length, record.lines) == (engine.class_id, VA + 5, length, 1)
    assert b.host.stats.uploads == 1


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
@pytest.mark.parametrize(
    "shape",
    [
        Slow(VA, 100, 40, pitch=112),
        Slow(VA + 0x3000, 100, 40, pitch=-112),
        Slow(VA, 100, 40, block_height=1),
        Slow(VA, 100, 40, block_height=1, block_depth=1, depth=4),
    ],
    ids=["pitch", "negative", "tiled", "deep"],
)
def test_lines(evaluator: str, shape: Slow) -> None:
    """A rectangle of lines with an odd length; depth of blocks counts for the address."""
    b = bench(InlineToMemory, evaluator)
    b.address("OFFSET_OUT_UPPER", shape.va)
    z = 3 if shape.depth > 1 else 0
    b(
        PITCH_OUT=shape.pitch or 0,
        SET_DST_BLOCK_SIZE=shape.block_height << 4 | shape.block_depth << 8,
        SET_DST_WIDTH=shape.width,
        SET_DST_HEIGHT=shape.height,
        SET_DST_DEPTH=shape.depth,
        SET_DST_LAYER=z,
        SET_DST_ORIGIN_BYTES_X=11,
        SET_DST_ORIGIN_SAMPLES_Y=6,
    )
    upload(b, rows(17, 37), LAUNCH.encode(DST_MEMORY_LAYOUT=int(shape.pitch is not None)))
    model = SlowMemory(VA, noise())
    x, y = (0, 0) if shape.pitch is not None else (11, 6)
    model[shape.places(x, y, 37, 17, z)] = rows(17, 37)
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()


def test_origin_of_a_pitch_target_is_a_switch() -> None:
    for choice, at in (("ignore", 0), ("add", 2 * 64 + 3)):
        b = bench(inline__pitch_origin=choice)
        b.address("OFFSET_OUT_UPPER", VA)
        b(PITCH_OUT=64, SET_DST_ORIGIN_BYTES_X=3, SET_DST_ORIGIN_SAMPLES_Y=2)
        upload(b, rows(1, 8), LAUNCH.encode(DST_MEMORY_LAYOUT=1))
        assert b.memory.read(VA + at, 8) == rows(1, 8).tobytes()


def test_completion() -> None:
    """A release of one or four words, a reduction, an interrupt: also without data."""
    b = bench()
    b.address("OFFSET_OUT_UPPER", VA)
    b.address("SET_I2M_SEMAPHORE_A", VA + 0x100)
    b(SET_I2M_SEMAPHORE_C=0xBEEF)
    upload(b, rows(1, 4), LAUNCH.encode(DST_MEMORY_LAYOUT=1, COMPLETION_TYPE=2, SEMAPHORE_STRUCT_SIZE=1))
    assert b.memory.read(VA + 0x100, 8) == struct.pack("<I", 0xBEEF) + noise()[0x104:0x108]
    b(LINE_COUNT=0, LAUNCH_DMA=LAUNCH.encode(COMPLETION_TYPE=2, INTERRUPT_TYPE=1))
    b.engine.staged_complete(np.empty(0, np.uint8))
    assert b.memory.read(VA + 0x100, 16) == struct.pack("<QQ", 0xBEEF, b.host.ticks)
    assert b.host.interrupts == ["notify"]
    b(SET_I2M_SEMAPHORE_C=2, LAUNCH_DMA=LAUNCH.encode(COMPLETION_TYPE=2, REDUCTION_ENABLE=1, REDUCTION_OP=0))
    b.engine.staged_complete(np.empty(0, np.uint8))
    assert b.memory.read(VA + 0x100, 4) == struct.pack("<I", 0xBEF1)
    b(LAUNCH_DMA=LAUNCH.encode(COMPLETION_TYPE=1))
    b.engine.staged_complete(np.empty(0, np.uint8))
    assert b.host.stats.semaphores == 3


def test_states_are_apart() -> None:
    """The classes share no state: each engine reads its own registers."""
    a, b = bench(InlineToMemory), bench(ThreeD)
    a.address("OFFSET_OUT_UPPER", VA + 0x40)
    b.address("OFFSET_OUT_UPPER", VA + 0x80)
    for one in (a, b):
        upload(one, rows(1, 4), LAUNCH.encode(DST_MEMORY_LAYOUT=1))
    assert a.memory.read(VA + 0x80, 4) == noise()[0x80:0x84]
    assert b.memory.read(VA + 0x40, 4) == noise()[0x40:0x44]


def test_holes_and_wild_places() -> None:
    """Bytes for unmapped memory are lost and told; surfaces beyond the address space are a fault."""
    b = bench()
    b.address("OFFSET_OUT_UPPER", VA + SIZE - 2)
    upload(b, rows(1, 8), LAUNCH.encode(DST_MEMORY_LAYOUT=1))
    assert b.memory.read(VA + SIZE - 2, 2) == rows(1, 8).tobytes()[:2]
    assert b.host.ids() == ["memory.unmapped"]
    b(SET_DST_BLOCK_SIZE=0xFFF, SET_DST_WIDTH=0xFFFFFFFF, SET_DST_HEIGHT=0xFFFFFFFF, SET_DST_LAYER=0xFFFFFFFF)
    upload(b, rows(1, 8), 0)
    assert b.host.ids() == ["memory.unmapped", "engine.range"]
    assert b.memory.read(VA, SIZE - 2) == noise()[:-2]
