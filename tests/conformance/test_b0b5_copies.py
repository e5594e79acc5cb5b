"""The copy engine: linear copies, fills, lines and strides, block-linear layouts, and what starts it."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from .switch_client import COPY, Client, block_linear

LAUNCH = 0xC0
PIPELINED, NON_PIPELINED, FLUSH = 1, 2, 4
SOURCE_PITCH, TARGET_PITCH, LINES, REMAP = 1 << 7, 1 << 8, 1 << 9, 1 << 10
LINEAR = 0x186
"""The control word that the page calls a copy without strides."""
FILL = 0x586
"""And the one that it calls memset."""


@pytest.fixture
def client() -> Client:
    return Client()


def put(client: Client, word: int, *values: int) -> None:
    client.put(word, *values, subchannel=COPY)


def ends(client: Client, source: int, target: int) -> None:
    put(client, 0x100, source >> 32, source & 0xFFFFFFFF, target >> 32, target & 0xFFFFFFFF)


def filled(client: Client, size: int, seed: int = 1) -> tuple[int, bytes]:
    content = np.random.default_rng(seed).integers(0, 256, size, np.uint8).tobytes()
    address = client.room(size)
    client.gpu.memory.write(address, content)
    return address, content


@pytest.mark.row("b0b5.0x0c0", "b0b5.0x100", "b0b5.0x102", "b0b5.0x106")
@pytest.mark.parametrize("size", [1, 3, 64, 4097, 100000])
def test_0x186_copies_a_line_of_bytes(client: Client, size: int) -> None:
    """Non-pipelined, flush, pitch on both sides, one line, no remapping: strides and LINE_COUNT do not count."""
    source, content = filled(client, size + 8)
    target = client.room(size + 16, 0x5A)
    ends(client, source + 3, target + 5)
    put(client, 0x104, 7, 9, size, 33)
    assert client.get(target, size + 16) == b"\x5a" * (size + 16)  # nothing before the launch
    put(client, LAUNCH, LINEAR)
    assert client.get(target, size + 16) == b"\x5a" * 5 + content[3 : 3 + size] + b"\x5a" * 11
    (record,) = client.logged("Copy")
    assert (record.source, record.target, record.line_length, record.lines) == (source + 3, target + 5, size, 1)
    assert client.events() == []


@pytest.mark.row("b0b5.0x0c0", "b0b5.0x1c0", "b0b5.0x1c2", "b0b5.0x106")
def test_0x586_fills_with_a_constant(client: Client) -> None:
    """The same with remapping. 0x34444: all components are constant A, of 4 bytes, one component to an element. The
    length is LINE_LENGTH_IN, now in elements; the page looks for it elsewhere."""
    target = client.room(256, 0x5A)
    ends(client, 0, target + 16)
    put(client, 0x1C0, 0xDEADBEEF)
    put(client, 0x1C2, 0x34444)
    put(client, 0x106, 20)
    put(client, LAUNCH, FILL)
    assert client.get(target, 256) == b"\x5a" * 16 + struct.pack("<I", 0xDEADBEEF) * 20 + b"\x5a" * 160
    assert client.logged("Copy")[0].kind == "fill" and client.events() == []


@pytest.mark.row("b0b5.0x104", "b0b5.0x105")
@pytest.mark.parametrize(("pitch_in", "pitch_out"), [(64, 48), (48, 64), (-64, 48), (64, -48)])
def test_lines_are_a_pitch_apart_which_may_be_negative(client: Client, pitch_in: int, pitch_out: int) -> None:
    source, content = filled(client, 1024)
    target = client.room(1024, 0x5A)
    first, to = (512 if pitch_in < 0 else 0), (512 if pitch_out < 0 else 0)
    ends(client, source + first, target + to)
    put(client, 0x104, pitch_in & 0xFFFFFFFF, pitch_out & 0xFFFFFFFF, 20, 7)
    put(client, LAUNCH, LINEAR | LINES)
    expected = bytearray(b"\x5a" * 1024)
    for line in range(7):
        at = first + line * pitch_in
        expected[to + line * pitch_out : to + line * pitch_out + 20] = content[at : at + 20]
    assert client.get(target, 1024) == bytes(expected) and client.events() == []


@pytest.mark.row("b0b5.0x1c2", "b0b5.0x1c0")
@pytest.mark.parametrize(
    ("components", "expected"),
    [
        # Four bytes in, four out, in another order.
        (3 | 2 << 4 | 1 << 8 | 0 << 12 | 0 << 16 | 3 << 20 | 3 << 24, lambda p: [p[3], p[2], p[1], p[0]]),
        # Two bytes in; the second comes out first, then constant A, then B; the fourth byte stays.
        (1 | 4 << 4 | 5 << 8 | 6 << 12 | 0 << 16 | 1 << 20 | 3 << 24, lambda p: [p[1], 0x44, 0x99, 0x5A]),
    ],
)  # fmt: skip
def test_remapping_chooses_a_source_for_each_component(client: Client, components: int, expected: object) -> None:
    assert callable(expected)
    source, content = filled(client, 64)
    target = client.room(64, 0x5A)
    ends(client, source, target)
    put(client, 0x1C0, 0x11223344, 0x66778899)
    put(client, 0x1C2, components)
    put(client, 0x106, 5)
    put(client, LAUNCH, LINEAR | REMAP)
    wide = (components >> 20 & 3) + 1
    pixels = [content[n * wide : n * wide + wide] for n in range(5)]
    assert client.get(target, 24) == b"".join(bytes(expected(p)) for p in pixels) + b"\x5a" * 4


@pytest.mark.row("b0b5.0x1c4", "b0b5.0x1c5", "b0b5.0x0c0")
@pytest.mark.parametrize("width", [64, 65, 100, 192, 256, 320, 1000])
@pytest.mark.parametrize(("height", "block"), [(8, 0), (32, 1), (64, 2)])
def test_width_and_height_are_those_of_a_block_linear_target(
    client: Client, width: int, height: int, block: int
) -> None:
    """Lines of 60 bytes into a target whose width, in bytes, says how many blocks stand side by side.

    The page takes word 0x1c4 for a length and has nothing to say of 0x1c5, which was seen with 1.
    """
    length, pitch = 60, 64
    size = -(-width // 64) * 64 * -(-height // (8 << block)) * (8 << block)
    source, content = filled(client, pitch * height)
    target = client.room(size, 0x5A)
    ends(client, source, target)
    put(client, 0x104, pitch, 0, length, height)
    put(client, 0x1C3, block << 4 | 1 << 12, width, height, 1, 0, 0)
    put(client, LAUNCH, NON_PIPELINED | FLUSH | SOURCE_PITCH | LINES)
    expected = bytearray(b"\x5a" * size)
    for y in range(height):
        for x in range(length):
            expected[block_linear(x, y, width, 1 << block)] = content[y * pitch + x]
    assert client.get(target, size) == bytes(expected)
    # And back: the same layout as a source.
    back = client.room(pitch * height, 0x5A)
    ends(client, target, back)
    put(client, 0x104, 0, pitch)
    put(client, 0x1CA, block << 4 | 1 << 12, width, height, 1, 0, 0)
    put(client, LAUNCH, NON_PIPELINED | FLUSH | TARGET_PITCH | LINES)
    lines = [content[y * pitch : y * pitch + length] + b"\x5a" * (pitch - length) for y in range(height)]
    assert client.get(back, pitch * height) == b"".join(lines) and client.events() == []


@pytest.mark.row("b0b5.0x0c0")
@pytest.mark.parametrize(("kind", "size"), [(1, 4), (2, 16)])
def test_a_launch_may_release_a_semaphore_and_copy_nothing(client: Client, kind: int, size: int) -> None:
    source, _ = filled(client, 64)
    target, semaphore = client.room(64, 0x5A), client.room(32, 0x11)
    ends(client, source, target)
    put(client, 0x106, 64)
    put(client, 0x90, semaphore >> 32, semaphore & 0xFFFFFFFF, 0xCAFE)
    put(client, LAUNCH, kind << 3 | SOURCE_PITCH | TARGET_PITCH)
    assert client.get(target, 64) == b"\x5a" * 64 and client.peek(semaphore) == (0xCAFE,)
    assert client.get(semaphore + size, 16) == b"\x11" * 16
    if size == 16:
        assert client.peek(semaphore + 4) == (0,) and client.peek(semaphore + 8, 2) != (0x11111111, 0x11111111)


@pytest.mark.row("b0b5.0x100", "b0b5.0x102")
def test_what_is_not_mapped_reads_zero_swallows_writes_and_is_a_fault(client: Client) -> None:
    target = client.room(64, 0x5A)
    put(client, 0x106, 32)
    ends(client, 0x99_0000_0000, target)
    put(client, LAUNCH, LINEAR)
    assert client.get(target, 64) == bytes(32) + b"\x5a" * 32 and len(client.events()) == 1
    ends(client, target, 0x99_0000_0000)
    put(client, LAUNCH, LINEAR)
    assert len(client.events()) == 1 and client.get(target, 64) == bytes(32) + b"\x5a" * 32
