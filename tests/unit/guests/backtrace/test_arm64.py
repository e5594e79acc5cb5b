"""Back traces of 64-bit ARM code, from memory that is made for it: records, the link register, guesses, wild values."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest

from pocketgpu.guests.backtrace.arm64 import FP, LR, NAMES, PC, SP, Arm64Tracer, registers_of
from pocketgpu.guests.kernel.memory import AddressSpace, Area, Permission, host_memory
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.kernel.report import Found, Step
from pocketgpu.guests.symbols.debug import DebugInfo
from pocketgpu.guests.symbols.elf import Function
from pocketgpu.guests.symbols.frames import FrameRules
from pocketgpu.guests.symbols.places import Symbols

CODE, STACK = 0x7100000000, 0x3000000000
BLR_X8, SVC, NOP = 0xD63F0100, 0xD4000421, 0xD503201F


def bl(at: int, target: int) -> int:
    """bl from one offset of the code to another."""
    return 0x94000000 | (target - at) // 4 & 0x03FFFFFF


def memory(code: dict[int, int], stack: Sequence[int] = (), room: int = 0x1000) -> AddressSpace:
    """Pages of code, by offset, and the stack."""
    space = AddressSpace(1 << 39)
    for base, size, right in ((CODE, 0x2000, Permission.READ | Permission.EXECUTE),
                              (STACK, room, Permission.READ | Permission.WRITE)):  # fmt: skip
        area = space.map(Area(base, size, right, "x", host_memory(size)))
        if base == CODE:
            for at in range(0, size, 4):
                struct.pack_into("<I", area.view, at, code.get(at, NOP))
        else:
            struct.pack_into(f"<{len(stack)}Q", area.view, 0, *stack)
    return space


class Rules(DebugInfo):
    """Frame rules by offset of the function, instead of an ELF's."""

    def __init__(self, rules: dict[int, FrameRules]) -> None:
        self._given = rules

    def rules(self, address: int) -> FrameRules | None:
        return self._given.get((address - CODE) // 0x80 * 0x80)


def traced(
    space: AddressSpace, pc: int, *, lr: int = 0, sp: int = STACK, fp: int = 0, in_call: bool = False,
    symbols: Symbols | None = None, rules: dict[int, FrameRules] | None = None,
) -> tuple[Step, ...]:  # fmt: skip
    values = [0] * 33
    values[FP], values[LR], values[SP], values[PC] = fp, lr, sp, pc
    debug = Rules(rules) if rules is not None else None
    program = Program("x", (), 0, b"", symbols=symbols or Symbols(), debug=debug)
    return Arm64Tracer(space, program).trace(registers_of(values, 0), in_call=in_call)


def places(steps: Sequence[Step]) -> list[tuple[int, Found]]:
    return [(one.place.address - CODE, one.found) for one in steps]


def test_registers_for_people() -> None:
    registers = registers_of(range(100, 133), 0x90000000)
    assert (registers["x0"], registers["x30"], registers["sp"], registers["pc"]) == (100, 130, 131, 132)
    assert registers.pc == 132 and registers["nzcv"] == 0x90000000 and registers.flags_text == "NV"
    assert len(NAMES) == 33 and registers.lines[0] == "x0  0000000000000064  x1  0000000000000065"


@pytest.mark.parametrize("call", [bl(0x100, 0), BLR_X8])
def test_return_addresses_follow_a_call(call: int) -> None:
    space = memory({0x100: call}, [1, CODE + 0x200, CODE + 0x102, CODE + 0x104, CODE + 0x104, 1 << 63])
    assert places(traced(space, CODE + 8)) == [
        (8, Found.RUNNING), (0x100, Found.SCAN), (0x100, Found.SCAN)
    ]  # fmt: skip
    assert places(traced(space, CODE + 8, lr=CODE + 0x104, sp=STACK + 40)) == [
        (8, Found.RUNNING), (0x100, Found.LINK)
    ]  # fmt: skip


def test_frame_records() -> None:
    """x29 points at the caller's x29 and the return address after it. A function without a record has its caller's."""
    stack = [STACK + 0x20, CODE + 0x104, 0, 0, STACK + 0x40, CODE + 0x204, 0, 0, 0, CODE + 0x304]
    space = memory({0x100: bl(0x100, 0x1000), 0x200: bl(0x200, 0x100), 0x300: bl(0x300, 0x200)}, stack)
    own = traced(space, CODE + 0x1040, fp=STACK)
    assert places(own) == [
        (0x1040, Found.RUNNING), (0x100, Found.FRAME_POINTER), (0x200, Found.FRAME_POINTER),
        (0x300, Found.FRAME_POINTER),
    ]  # fmt: skip
    assert [one.sure for one in own] == [True, False, False, False]
    leaf = traced(space, CODE + 0x1040, fp=STACK + 0x20, lr=CODE + 0x104)
    assert places(leaf) == [
        (0x1040, Found.RUNNING), (0x100, Found.LINK), (0x200, Found.FRAME_POINTER), (0x300, Found.FRAME_POINTER),
    ]  # fmt: skip


def test_a_link_register_of_another_call_is_not_believed() -> None:
    """It called what is not the function that runs; with symbols, it points into the function that runs."""
    space = memory({0x100: bl(0x100, 0x800), 0x200: BLR_X8}, [0, CODE + 0x204])
    found = traced(space, CODE + 0x140, lr=CODE + 0x104, fp=STACK)
    assert places(found) == [(0x140, Found.RUNNING), (0x200, Found.FRAME_POINTER)]
    symbols = Symbols(lambda: [Function("inner", CODE + 0x180, 0x100), Function("outer", CODE, 0x100)][::-1])
    found = traced(space, CODE + 0x240, lr=CODE + 0x204, symbols=symbols)
    assert str(found[0]) == "inner+0xc0" and [one.found for one in found[1:]] == [Found.SCAN]


def test_a_frame_record_is_on_the_same_stack() -> None:
    space = memory({0x100: BLR_X8}, [0, CODE + 0x104])
    assert places(traced(space, CODE, sp=CODE + 0x1F00, fp=STACK)) == [(0, Found.RUNNING)]
    assert places(traced(space, CODE, sp=STACK + 16, fp=STACK)) == [(0, Found.RUNNING)], "a record that is gone"


def test_tables() -> None:
    """As of .eh_frame: the frame address is sp + 32, with x29 and x30 below it; the outermost one has no caller."""
    usual = FrameRules(SP, 32, {29: -32, 30: -24}, LR)
    rules = {0x80: usual, 0x100: usual, 0x180: FrameRules(SP, 0, {}, LR, outermost=True)}
    stack = [0x29, CODE + 0x104, 0, 0, 0x2929, CODE + 0x184]
    space = memory({0x100: bl(0x100, 0x80), 0x180: bl(0x180, 0x100)}, stack)
    found = traced(space, CODE + 0x90, rules=rules, lr=CODE + 0x184)
    assert places(found) == [(0x90, Found.RUNNING), (0x100, Found.TABLE), (0x180, Found.TABLE)]
    assert all(one.sure for one in found)
    assert len(traced(space, CODE + 0x188, rules=rules, lr=CODE + 0x104)) == 1, "it runs, and x30 is an old one"
    leaf = FrameRules(SP, 0, {}, LR)
    found = traced(space, CODE + 0x90, rules=rules | {0x80: leaf}, lr=CODE + 0x104)
    assert places(found)[1] == (0x100, Found.TABLE)


def test_the_call_itself_is_the_place_of_a_thread_that_made_it() -> None:
    space = memory({0x10: SVC})
    assert traced(space, CODE + 0x14, in_call=True)[0].place.address == CODE + 0x10
    assert traced(space, CODE + 0x14)[0].place.address == CODE + 0x14
    assert traced(space, CODE + 0x18, in_call=True)[0].place.address == CODE + 0x18


def test_searches_are_short() -> None:
    far = [0] * 3000
    far[2500] = CODE + 0x104
    space = memory({0x100: BLR_X8}, far, room=0x8000)
    assert len(traced(space, CODE)) == 1 and len(traced(space, CODE, sp=STACK + 8 * 1000)) == 2


@pytest.mark.parametrize(
    "wild", [0, 3, (1 << 64) - 4, (1 << 64) - 1, 1 << 63, STACK + 0xFF8, STACK + 0xFFF, CODE, 1 << 39]
)  # fmt: skip
def test_wild_registers_give_a_short_trace(wild: int) -> None:
    space = memory({0x100: BLR_X8}, [STACK, CODE + 0x104] * 256)
    rules = {0: FrameRules(SP, 1 << 62, {29: -(1 << 63), 30: 1 << 63}, LR), 0x80: FrameRules(SP, 0, {30: 0}, LR)}
    for table in (None, rules):
        for steps in (
            traced(space, wild, lr=wild, sp=wild, fp=wild, rules=table), traced(space, CODE, sp=wild, rules=table),
            traced(space, CODE, fp=wild, rules=table), traced(space, wild, in_call=True, lr=CODE + 0x104, rules=table),
            traced(space, CODE + 0x80, fp=STACK, lr=wild, rules=table),
        ):  # fmt: skip
            assert 1 <= len(steps) <= 256
