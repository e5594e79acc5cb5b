"""Back traces of ARM code, from memory that is made for it: tables, frame pointers, guesses; wild registers."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest

from pocketgpu.guests.backtrace.arm import ArmTracer, registers_of
from pocketgpu.guests.backtrace.exidx import unwind
from pocketgpu.guests.kernel.memory import AddressSpace, Area, Permission, host_memory
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.kernel.report import Found, Step
from pocketgpu.guests.symbols.elf import Function
from pocketgpu.guests.symbols.places import Symbols

CODE, STACK, TABLE = 0x1000, 0x8000, 0x4000
BL, BLX_R3, BLX_FAR = 0xEB000010, 0xE12FFF33, 0xFA000010
NOP = 0xE1A00000


def memory(
    code: dict[int, int], stack: Sequence[int] = (), table: Sequence[int] = (), room: int = 0x1000
) -> AddressSpace:
    """A page each: code by offset, the stack (or `room` bytes), a table."""
    space = AddressSpace(1 << 32)
    read = Permission.READ
    for base, right, name in ((CODE, read | Permission.EXECUTE, "code"), (TABLE, read, "table"),
                              (STACK, read | Permission.WRITE, "stack")):  # fmt: skip
        size = room if base == STACK else 0x1000
        space.map(Area(base, size, right, name, host_memory(size)))
    area = space.find(CODE)
    assert area is not None
    for at in range(0, 0x1000, 4):
        struct.pack_into("<I", area.view, at, code.get(at, NOP))
    for base, words in ((STACK, stack), (TABLE, table)):
        found = space.find(base)
        assert found is not None
        struct.pack_into(f"<{len(words)}I", found.view, 0, *words)
    return space


def traced(
    space: AddressSpace, pc: int, *, lr: int = 0, sp: int = STACK, r11: int = 0, index: tuple[int, int] | None = None,
    in_call: bool = False, flags: int = 0x10, symbols: Symbols | None = None,
) -> tuple[Step, ...]:  # fmt: skip
    values = [0] * 16
    values[11], values[13], values[14], values[15] = r11, sp, lr, pc
    program = Program("x", (), 0, b"", index=index, symbols=symbols or Symbols())
    return ArmTracer(space, program).trace(registers_of(values, flags), in_call=in_call)


def places(steps: Sequence[Step]) -> list[tuple[int, Found]]:
    return [(one.place.address, one.found) for one in steps]


@pytest.mark.parametrize("word", [BL, BLX_R3, BLX_FAR])
def test_return_addresses_follow_a_call(word: int) -> None:
    space = memory({0x100: word}, [1, CODE + 0x200, CODE + 0x104, CODE + 0x105, 0xFFFFFFFF])
    assert places(traced(space, CODE)) == [(CODE, Found.RUNNING), (CODE + 0x100, Found.SCAN)]
    assert places(traced(space, CODE, lr=CODE + 0x104, sp=STACK + 12)) == [
        (CODE, Found.RUNNING), (CODE + 0x100, Found.LINK),
    ]  # fmt: skip


def test_words_that_are_no_return_addresses() -> None:
    """Between two words of code there is what would be a call; a return address of ARM code is never there."""
    space = memory({0x100: 0x00100000, 0x104: 0x0000EB00}, [CODE + 0x106])
    assert places(traced(space, CODE)) == [(CODE, Found.RUNNING)]


def test_a_link_register_that_was_used() -> None:
    """It points into the function that runs, so that is what it called last; the caller is on the stack."""
    symbols = Symbols(lambda: [Function("inner", CODE, 0x180), Function("outer", CODE + 0x180, 0x100)])
    space = memory({0x100: BL, 0x200: BL}, [CODE + 0x204])
    found = traced(space, CODE + 0x110, lr=CODE + 0x104, symbols=symbols)
    assert [str(one) for one in found] == ["inner+0x110", "outer+0x80 (guessed: scan)"]


def test_searches_are_short() -> None:
    far = [0] * 3000
    far[2500] = CODE + 0x104
    space = memory({0x100: BL}, far, room=0x4000)
    assert len(traced(space, CODE)) == 1 and len(traced(space, CODE, sp=STACK + 4 * 1000)) == 2


def test_return_addresses_of_thumb_code() -> None:
    code = {0x100: 0xF800F000, 0x200: 0x4798 << 16 | 0x46C0}  # bl in two halves; nop and blx r3
    space = memory(code, [CODE + 0x105, CODE + 0x205, CODE + 0x104])
    assert [at for at, _ in places(traced(space, CODE, flags=0x30))] == [CODE, CODE + 0x100, CODE + 0x202]


def test_frame_pointers() -> None:
    """r11 points at the return address, with the caller's r11 below it."""
    stack = [0, STACK + 0x20, CODE + 0x104, CODE + 0x204, 0, 0, 0, STACK - 0x100, CODE + 0x204]
    space = memory({0x100: BL, 0x200: BL}, stack)
    found = traced(space, CODE + 0x40, r11=STACK + 8)
    assert places(found) == [
        (CODE + 0x40, Found.RUNNING), (CODE + 0x100, Found.FRAME_POINTER), (CODE + 0x200, Found.FRAME_POINTER),
    ]  # fmt: skip
    assert [one.sure for one in found] == [True, False, False]


def test_a_frame_pointer_is_on_the_same_stack() -> None:
    space = memory({0x100: BL}, [0, 0, CODE + 0x104], [0] * 4)
    assert places(traced(space, CODE, sp=TABLE, r11=STACK + 8)) == [(CODE, Found.RUNNING)]


def test_a_stack_that_shrinks_ends_the_trace() -> None:
    """The table says that the caller's stack pointer is below: such a caller is not believed."""
    space = memory({0x100: BL}, [CODE + 0x104] * 8, [prel31(TABLE, CODE), 0x8040B0B0])
    assert len(traced(space, CODE + 4, sp=STACK + 16, lr=CODE + 0x104, index=(TABLE, 8))) == 1


def prel31(place: int, target: int) -> int:
    return (target - place) & 0x7FFFFFFF


def test_unwinding_tables() -> None:
    """The function at 0x80 has 8 bytes of variables and pushed r4, r5 and lr; the one that called it has none left."""
    table = [prel31(TABLE, CODE + 0x80), 0x8001A9B0, prel31(TABLE + 8, CODE + 0xC0), 1]
    stack = [0xAAAA, 0xBBBB, 4, 5, CODE + 0x104, CODE + 0x204]
    space = memory({0x100: BL, 0x200: BL}, stack, table)
    values = {n: 0 for n in range(16)} | {13: STACK}
    found = unwind(space, TABLE, 16, CODE + 0x90, values)
    assert found is not None and (found[4], found[5], found[13], found[15]) == (4, 5, STACK + 20, CODE + 0x104)
    assert unwind(space, TABLE, 16, CODE + 0xC4, values) is None, "that function cannot be left"
    assert unwind(space, TABLE, 16, CODE, values) is None, "before the first one"
    steps = traced(space, CODE + 0x90, index=(TABLE, 16))
    assert places(steps)[:2] == [(CODE + 0x90, Found.RUNNING), (CODE + 0x100, Found.TABLE)]
    assert steps[2].found is Found.SCAN and not steps[2].sure


@pytest.mark.parametrize(
    ("codes", "sp", "changed"),
    [
        ((0x00, 0x3F, 0xB0), 4 + 256, {}), ((0x40, 0xB0, 0), -4, {}), ((0x84, 0x01, 0xB0), 8, {4: 1, 14: 2}),
        ((0x97, 0xB0, 0), None, {13: 0x77}),
        ((0x82, 0x00, 0xB0), 1 - STACK, {}), ((0xA2, 0xB0, 0), 12, {4: 1, 5: 2, 6: 3}),
        ((0xB1, 0x05, 0xB0), 8, {0: 1, 2: 2}), ((0xB2, 0x81, 0x01), 0x204 + (0x81 << 2), {}),
        ((0xB3, 0x01, 0xB0), 20, {}), ((0xB9, 0xB0, 0), 20, {}), ((0xC9, 0x02, 0xB0), 24, {}),
        ((0xD1, 0xB0, 0), 16, {}),
    ],
)  # fmt: skip
def test_instructions_of_the_tables(codes: tuple[int, int, int], sp: int | None, changed: dict[int, int]) -> None:
    word = 0x80000000 | codes[0] << 16 | codes[1] << 8 | codes[2]
    space = memory({}, [1, 2, 3, 4], [prel31(TABLE, CODE), word])
    found = unwind(space, TABLE, 8, CODE + 4, {n: 0x70 + n for n in range(13)} | {13: STACK, 14: 0x7E})
    assert found is not None
    assert found[13] == (0x77 if sp is None else STACK + sp) and found[15] == found[14]
    assert {number: found[number] for number in changed} == changed


@pytest.mark.parametrize("codes", [0x80008000, 0x809DB0B0, 0x80B100B0, 0x80B110B0, 0x80C6B0B0, 0x83B0B0B0, 0x8FB0B0B0])
def test_reserved_instructions_are_not_guessed(codes: int) -> None:
    space = memory({}, [1, 2, 3, 4], [prel31(TABLE, CODE), codes])
    assert unwind(space, TABLE, 8, CODE + 4, {n: 0 for n in range(13)} | {13: STACK, 14: 0}) is None


def test_the_call_itself_is_the_place_of_a_thread_that_made_it() -> None:
    space = memory({0x10: 0xEF000032})
    assert traced(space, CODE + 0x14, in_call=True)[0].place.address == CODE + 0x10
    assert traced(space, CODE + 0x14)[0].place.address == CODE + 0x14
    assert traced(space, CODE + 0x18, in_call=True)[0].place.address == CODE + 0x18


@pytest.mark.parametrize("wild", [0, 3, 0xFFFFFFFC, 0xFFFFFFFF, STACK + 0xFFC, TABLE, 0x7FFFFFFD])
def test_wild_registers_give_a_short_trace(wild: int) -> None:
    space = memory({0x100: BL}, [CODE + 0x104] * 1024, [prel31(TABLE, CODE), 0x80B0B0B0] * 16)
    for index in (None, (TABLE, 128), (wild, 0xFFFFFFF8), (wild, 5)):
        for steps in (
            traced(space, wild, lr=wild, sp=wild, r11=wild, index=index), traced(space, CODE, sp=wild, index=index),
            traced(space, CODE, r11=wild, index=index), traced(space, wild, in_call=True, lr=CODE + 0x104, index=index),
        ):  # fmt: skip
            assert 1 <= len(steps) <= 256
