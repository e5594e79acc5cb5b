"""How messages of the Switch lie in memory: what is read from one, and buffers that come in two lists."""

from __future__ import annotations

import random
import struct

import pytest

from pocketgpu.guests.switch.abi.cmif import Buffer
from pocketgpu.guests.switch.abi.hipc import MalformedMessage, Message, answer_bytes, answer_size, merged

NULL = Buffer(0, 0)
BIG = 0x12_3456_789A
"""An address with bits in all three parts of a descriptor."""


def test_every_part_of_a_message() -> None:
    head = struct.pack("<2I", 4 | 1 << 16 | 1 << 20 | 1 << 24 | 1 << 28, 2 | 4 << 10 | 1 << 31)
    special = struct.pack("<IQ3I", 1 | 2 << 1 | 1 << 5, 0, 0xA, 0xB, 0xC)
    static = struct.pack("<2I", 5 | (BIG >> 36 & 7) << 6 | (BIG >> 32 & 15) << 12 | 0x123 << 16, BIG & 0xFFFFFFFF)
    buffers = [
        struct.pack("<3I", size & 0xFFFFFFFF, (BIG + n) & 0xFFFFFFFF, n | (BIG >> 36) << 2 | (size >> 32) << 24
                    | (BIG >> 32 & 15) << 28)
        for n, size in enumerate((0x1_0000_0002, 3, 4))
    ]  # fmt: skip
    data = struct.pack("<2I", 7, 8)
    lists = struct.pack("<IHHIHH", 0x11, 0x22, 0x33, 0x44, 0, 0x55)
    found = Message(b"".join([head, special, static, *buffers, data, lists]))
    assert (found.type, found.has_pid, found.copies, found.moves) == (4, True, (0xA, 0xB), (0xC,))
    assert found.statics == [Buffer(BIG, 0x123)]
    assert found.sent == [Buffer(BIG, 0x1_0000_0002)] and found.received == [Buffer(BIG + 1, 3)]
    assert found.exchanged == [Buffer(BIG + 2, 4)]
    assert found.data == data
    assert found.lists == [Buffer(0x22_0000_0011, 0x33), Buffer(0x44, 0x55)]
    assert found.inputs()[-1] == found.outputs()[-1] == found.exchanged[0]


@pytest.mark.parametrize(("mode", "count"), [(0, 0), (1, 0), (2, 1), (3, 1), (15, 13)])
def test_how_many_receive_descriptors_there_are(mode: int, count: int) -> None:
    assert len(Message(struct.pack("<2I", 4, mode << 10) + bytes(8 * 13)).lists) == count


@pytest.mark.parametrize("size", range(0, 8 + 12 + 8 + 36))
def test_no_message_is_read_beyond_its_end(size: int) -> None:
    whole = struct.pack("<2I", 4 | 1 << 16 | 1 << 20 | 1 << 24, 1 | 3 << 10 | 1 << 31) + bytes(8 + 12 + 12 + 12 + 4)
    with pytest.raises(MalformedMessage):
        Message(whole[: min(size, len(whole) - 1)])


@pytest.mark.parametrize("copies", [0, 1, 3])
@pytest.mark.parametrize("moves", [0, 1])
@pytest.mark.parametrize("align", [True, False])
def test_the_size_of_an_answer_is_known_before(copies: int, moves: int, align: bool) -> None:
    for data in (b"", b"abc", bytes(40)):
        made = answer_bytes(data, range(1, copies + 1), range(9, 9 + moves), align=align)
        assert len(made) == answer_size(len(data), copies + moves, align=align)
        found = Message(made + bytes(32))
        assert (found.copies, found.moves) == (tuple(range(1, copies + 1)), tuple(range(9, 9 + moves)))
        assert (found.aligned if align else found.data).startswith(data)


def listed(buffers: list[tuple[str, Buffer]], room: int) -> tuple[list[Buffer], list[Buffer]]:
    """The two lists into which libnx puts buffers: pointers and mapped ones."""
    pointers, mapped = [], []
    for kind, one in buffers:
        small = kind == "auto" and bool(room) and one.size <= room
        if kind == "pointer" or small:
            room -= one.size
        if kind != "map":
            pointers.append(one if kind == "pointer" or small else NULL)
        if kind != "pointer":
            mapped.append(NULL if small else one)
    return pointers, mapped


@pytest.mark.parametrize("other", ["pointer", "map"])
@pytest.mark.parametrize("room", [0, 40, 0x8000])
def test_buffers_of_both_lists_are_in_order(other: str, room: int) -> None:
    chance = random.Random(f"{other}/{room}")
    for _ in range(500):
        buffers = [
            (chance.choice(("auto", other)), Buffer(0x1000 + 0x100 * n, chance.choice((0, 1, 8, 24))))
            for n in range(chance.randrange(7))
        ]
        if other == "pointer" and room < 0x8000:  # a pointer is one however little room there is
            buffers = [(kind, one) for kind, one in buffers if kind == "auto" or one.size <= 24]
        pointers, mapped = listed(buffers, room)
        assert merged(pointers, mapped) == [one for _, one in buffers], buffers


def test_buffers_of_one_list_only() -> None:
    one, other = Buffer(0x1000, 1), Buffer(0x2000, 2)
    assert merged([], []) == [] and merged([one, other], []) == [one, other] and merged([], [one]) == [one]
    assert merged([one], [other]) == [one, other]
    assert merged([NULL], [NULL]) == [NULL]
