"""Draws as the console is asked for them: which vertices, from which streams, in which format, by which programs.

A draw is recorded with its whole state and its inputs decoded; shading comes later.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from .switch_client import Client

BEGIN, END, START, COUNT, INLINE = 0x586, 0x585, 0x35D, 0x35E, 0x57A
TRIANGLES, STRIP, PATCHES = 4, 5, 14
FLOAT, UNORM, SNORM, UINT, SINT = 7, 2, 1, 4, 3
R32G32, R32, RGBA8, RGB32 = 0x04, 0x12, 0x0A, 0x02


@pytest.fixture
def client() -> Client:
    return Client()


def draw(client: Client, topology: int, *calls: tuple[int, int], how: int = 0) -> Any:
    """BEGIN, the given (word, value) writes, END; the last record."""
    client.put(BEGIN, topology | how << 26)
    for word, value in calls:
        client.put(word, value)
    client.put(END, 0)
    found = client.logged("Draw")
    return found[-1] if found else None


def stream(client: Client, number: int, address: int, size: int, stride: int, divisor: int = 0) -> None:
    client.put(0x700 + 4 * number, stride | 1 << 12, address >> 32, address & 0xFFFFFFFF, divisor)
    limit = address + size - 1
    client.put(0x7C0 + 2 * number, limit >> 32, limit & 0xFFFFFFFF)


def attribute(client: Client, number: int, stream: int, offset: int, size: int, kind: int, extra: int = 0) -> None:
    client.put(0x458 + number, stream | offset << 7 | size << 21 | kind << 27 | extra)


def inactive(client: Client) -> None:
    """All attributes constant, as drivers leave those they do not use."""
    client.put(0x458, *[1 << 6] * 32)


def data(client: Client, content: bytes, align: int = 256) -> int:
    address = client.room(len(content), align=align)
    client.gpu.memory.write(address, content)
    return address


# -- which vertices ---------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x35d", "b197.0x35e")
def test_the_count_draws_from_the_start(client: Client) -> None:
    """The page has the count as a plain register; writing it is the draw."""
    client.put(START, 5)
    client.put(BEGIN, TRIANGLES)
    assert client.logged("Draw") == []
    client.put(COUNT, 7)
    (record,) = client.logged("Draw")
    client.put(END, 0)
    assert (record.topology_name, record.first, record.count, record.indexed) == ("TRIANGLES", 5, 7, False)
    assert record.vertex_numbers.tolist() == [5, 6, 7, 8, 9, 10, 11] and record.primitives == 2
    assert client.gpu.stats.draws == 1 and client.events() == []
    client.put(COUNT, 3)  # outside of BEGIN and END
    assert client.events() == ["draw.outside"] and client.gpu.stats.draws == 1


@pytest.mark.row("b197.0x5f2", "b197.0x5f6")
@pytest.mark.parametrize(("size", "letter"), [(0, "B"), (1, "H"), (2, "I")])
def test_indices_have_an_address_and_a_size(client: Client, size: int, letter: str) -> None:
    """The page takes these words for an indirect draw; they are the index buffer: base, limit, size, first."""
    indices = [3, 0, 200, 9, 1, 2]
    content = struct.pack(f"<6{letter}", *indices)
    address = data(client, content)
    limit = address + len(content) - 1
    client.put(0x5F2, address >> 32, address & 0xFFFFFFFF, limit >> 32, limit & 0xFFFFFFFF, size, 1)
    record = draw(client, TRIANGLES, (0x5F8, 4))
    assert record.indexed and record.indices.tolist() == indices[1:5]
    client.put(0x5F7, 4)
    assert draw(client, TRIANGLES, (0x5F8, 4)).indices.tolist() == [1, 2, 0, 0]  # the limit is the last byte


@pytest.mark.row("b197.0x50d")
@pytest.mark.parametrize("base", [0, 10, -2])
def test_the_base_is_added_to_indices_and_may_be_negative(client: Client, base: int) -> None:
    client.put(0x50D, base & 0xFFFFFFFF)
    record = draw(client, TRIANGLES, (INLINE, 5), (INLINE, 6), (INLINE, 7))
    assert record.indices.tolist() == [5, 6, 7]
    assert record.vertex_numbers.tolist() == [5 + base, 6 + base, 7 + base]
    client.put(START, 5)
    assert draw(client, TRIANGLES, (COUNT, 3)).vertex_numbers.tolist() == [5, 6, 7]


@pytest.mark.row("b197.0x446")
def test_the_vertex_id_base_is_a_number_added_to_ids(client: Client) -> None:
    """The page has a bool here."""
    client.put(0x446, 100)
    client.put(START, 5)
    assert draw(client, TRIANGLES, (COUNT, 3)).vertex_ids.tolist() == [100, 101, 102]
    client.put(0x593, 1 << 12)  # the start counts as well
    record = draw(client, TRIANGLES, (COUNT, 3))
    assert record.vertex_ids.tolist() == [105, 106, 107] and record.vertex_numbers.tolist() == [5, 6, 7]


@pytest.mark.row("b197.0x591", "b197.0x592")
@pytest.mark.parametrize(("enabled", "primitives"), [(0, 6), (1, 1 + 2)])
def test_the_restart_index_cuts_a_strip(client: Client, enabled: int, primitives: int) -> None:
    client.put(0x591, enabled, 0xFFFF)
    content = struct.pack("<8H", 0, 1, 2, 0xFFFF, 3, 4, 5, 6)
    address = data(client, content)
    limit = address + len(content) - 1
    client.put(0x5F2, address >> 32, address & 0xFFFFFFFF, limit >> 32, limit & 0xFFFFFFFF, 1, 0)
    record = draw(client, STRIP, (0x5F8, 8))
    assert record.primitives == primitives
    runs = [run.tolist() for run in record.runs]
    assert runs == ([[0, 1, 2], [3, 4, 5, 6]] if enabled else [[0, 1, 2, 0xFFFF, 3, 4, 5, 6]])


@pytest.mark.row("b197.0x37a")
@pytest.mark.parametrize("enabled", [0, 1])
def test_restart_counts_for_plain_vertices_if_its_own_switch_says_so(client: Client, enabled: int) -> None:
    client.put(0x591, 1, 6)
    client.put(0x37A, enabled)
    client.put(START, 4)
    record = draw(client, STRIP, (COUNT, 6))
    runs = [run.tolist() for run in record.runs]
    assert runs == ([[4, 5], [7, 8, 9]] if enabled else [[4, 5, 6, 7, 8, 9]])


@pytest.mark.row("b197.0x373")
@pytest.mark.parametrize("size", [1, 3, 32])
def test_patches_have_as_many_vertices_as_the_register_says(client: Client, size: int) -> None:
    client.put(0x373, size)
    client.put(START, 0)
    assert draw(client, PATCHES, (COUNT, 65)).primitives == 65 // size


# -- vertex inputs ----------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x700", "b197.0x701", "b197.0x458")
@pytest.mark.parametrize("number", [0, 9, 15])
def test_attributes_come_from_streams_at_address_stride_and_offset(client: Client, number: int) -> None:
    inactive(client)
    values = np.arange(40, dtype="<f4")
    address = data(client, values.tobytes())
    stream(client, number, address, values.nbytes, 16)
    attribute(client, number, number, 4, R32G32, FLOAT)
    client.put(START, 2)
    record = draw(client, TRIANGLES, (COUNT, 3))
    assert set(record.inputs) == {number}
    assert record.inputs[number].tolist() == [[9, 10, 0, 1], [13, 14, 0, 1], [17, 18, 0, 1]]
    assert record.missed == 0


@pytest.mark.row("b197.0x700")
def test_a_stream_that_is_off_feeds_nothing(client: Client) -> None:
    inactive(client)
    address = data(client, bytes(range(64)))
    stream(client, 0, address, 64, 4)
    attribute(client, 0, 0, 0, RGBA8, UINT)
    client.put(START, 0)
    assert list(draw(client, TRIANGLES, (COUNT, 3)).inputs) == [0]
    client.put(0x700, 4)
    assert list(draw(client, TRIANGLES, (COUNT, 3)).inputs) == []


@pytest.mark.row("b197.0x458")
@pytest.mark.parametrize(
    ("size", "kind", "extra", "content", "expected"),
    [
        (RGBA8, UNORM, 0, bytes((255, 0, 51, 128)), [1, 0, 0.2, 128 / 255]),
        (RGBA8, SNORM, 0, bytes((127, 0x80, 0x81, 0)), [1, -1, -1, 0]),
        (RGBA8, UINT, 0, bytes((1, 2, 3, 4)), [1, 2, 3, 4]),
        (RGBA8, SINT, 0, bytes((255, 2, 128, 4)), [-1, 2, -128, 4]),
        (RGBA8, UNORM, 1 << 31, bytes((255, 0, 51, 0)), [0.2, 0, 1, 0]),
        (RGB32, FLOAT, 0, struct.pack("<3f", 1.5, -2, 3), [1.5, -2, 3, 1]),
        (0x30, UNORM, 0, struct.pack("<I", 1023 | 0 << 10 | 1023 << 20 | 1 << 30), [1, 0, 1, 1 / 3]),
        (0x31, FLOAT, 0, struct.pack("<I", 0x3C0 | 0x400 << 11 | 0x1E0 << 22), [1, 2, 1, 1]),
        (0x0F, FLOAT, 0, np.array([0.5, -4], "<f2").tobytes(), [0.5, -4, 0, 1]),
        (0x1D, 5, 0, bytes((200,)), [200, 0, 0, 1]),
        (0x34, UNORM, 0, bytes((255,)), [0, 0, 0, 1]),
    ],
)  # fmt: skip
def test_an_attribute_names_size_type_and_order(
    client: Client, size: int, kind: int, extra: int, content: bytes, expected: list[float]
) -> None:
    inactive(client)
    address = data(client, content + bytes(16))
    stream(client, 0, address, len(content), len(content))
    attribute(client, 0, 0, 0, size, kind, extra)
    client.put(START, 0)
    assert draw(client, TRIANGLES, (COUNT, 1)).inputs[0][0].tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.row("b197.0x458")
def test_the_second_sixteen_attributes_follow_the_first(client: Client) -> None:
    inactive(client)
    address = data(client, struct.pack("<2f", 7, 8))
    stream(client, 2, address, 8, 8)
    attribute(client, 31, 2, 0, R32G32, FLOAT)
    client.put(START, 0)
    assert draw(client, TRIANGLES, (COUNT, 1)).inputs[31].tolist() == [[7, 8, 0, 1]]
    attribute(client, 31, 2, 0, R32G32, FLOAT, 1 << 6)  # constant
    assert draw(client, TRIANGLES, (COUNT, 1)).inputs == {}


@pytest.mark.row("b197.0x7c0")
def test_the_limit_is_the_last_byte_that_is_read(client: Client) -> None:
    inactive(client)
    address = data(client, struct.pack("<4f", 1, 2, 3, 4))
    stream(client, 0, address, 12, 4)
    attribute(client, 0, 0, 0, R32, FLOAT)
    client.put(START, 0)
    assert draw(client, TRIANGLES, (COUNT, 4)).inputs[0][:, 0].tolist() == [1, 2, 3, 0]
    stream(client, 0, address, 11, 4)
    assert draw(client, TRIANGLES, (COUNT, 4)).inputs[0][:, 0].tolist() == [1, 2, 0, 0]


@pytest.mark.row("b197.0x620", "b197.0x703")
@pytest.mark.parametrize(
    ("instanced", "divisor", "expected"), [(0, 1, [0, 0, 0, 0]), (1, 1, [0, 1, 2, 3]), (1, 2, [0, 0, 1, 1])]
)
def test_instanced_streams_move_on_by_instance_and_divisor(
    client: Client, instanced: int, divisor: int, expected: list[int]
) -> None:
    inactive(client)
    address = data(client, struct.pack("<8I", *range(8)))
    stream(client, 3, address, 32, 4, divisor)
    client.put(0x623, instanced)
    attribute(client, 0, 3, 0, R32, UINT)
    client.put(START, 0)
    shown = [int(draw(client, TRIANGLES, (COUNT, 1), how=int(n > 0)).inputs[0][0, 0]) for n in range(4)]
    assert shown == expected
    assert [record.instance for record in client.logged("Draw")] == [0, 1, 2, 3]
    client.put(0x50E, 2)  # the base instance
    assert int(draw(client, TRIANGLES, (COUNT, 1)).inputs[0][0, 0]) == (2 if instanced else 0)


# -- programs ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x582", "b197.0x820", "b197.0x821", "b197.0x830", "b197.0x840", "b197.0x850")
@pytest.mark.parametrize("stage", range(2, 6))
def test_stages_have_programs_at_offsets_from_the_region(client: Client, stage: int) -> None:
    region = 0x7_1234_0000
    client.put(0x582, region >> 32, region & 0xFFFFFFFF)
    client.put(0x810, 1 | 1 << 4, 0x100)  # the vertex program
    client.put(0x800 + 16 * stage, 1 | stage << 4, 0x3000 + stage, 0, 40)
    client.put(0x804 + 16 * stage, stage - 1)
    shown = draw(client, TRIANGLES, (COUNT, 3)).shaders
    assert [(one.stage, one.address) for one in shown] == [(1, region + 0x100), (stage, region + 0x3000 + stage)]
    assert (shown[1].registers, shown[1].group) == (40, stage - 1)
    client.put(0x800 + 16 * stage, stage << 4)
    assert [one.stage for one in draw(client, TRIANGLES, (COUNT, 3)).shaders] == [1]


@pytest.mark.row("b197.0x35d")
def test_a_record_keeps_the_state_of_its_moment(client: Client) -> None:
    client.put(0x4ED, 1)
    client.put(START, 1)
    first = draw(client, TRIANGLES, (COUNT, 3))
    client.put(0x4ED, 2)
    client.put(START, 9)
    second = draw(client, TRIANGLES, (COUNT, 3))
    assert (int(first.registers[0x4ED]), int(second.registers[0x4ED])) == (1, 2)
    assert first.vertex_numbers.tolist() == [1, 2, 3] and second.vertex_numbers.tolist() == [9, 10, 11]
