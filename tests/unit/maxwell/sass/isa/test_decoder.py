"""Words to instructions: operands by role, modifiers by name, labels, what is refused."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from pocketgpu.errors import UsageError
from pocketgpu.maxwell.sass import (
    Attr,
    Const,
    Imm,
    Indirect,
    Instruction,
    Label,
    Mem,
    Name,
    Pred,
    Reg,
    SassError,
    Set,
    Special,
    Swap,
    decode,
    decode_program,
)  # fmt: skip
from pocketgpu.maxwell.sass.isa.bundles import index_of, label_offset, offset_of
from pocketgpu.maxwell.sass.isa.decoder import find_form, split

NOP = 0x50B0000000070F00
KNOWN = {
    0x4C98078000870001: "MOV R1, c[0x0][0x20]",
    0xF0C8000002570000: "S2R R0, SR_CTAID.X",
    0x5C10000000170002: "IADD R2, R0, R1",
    0x4E007F8000270002: "XMAD R2, R0, c[0x0] [0x8], RZ",
    0x5980010000170003: "FFMA R3, R0, R1, R2",
    0x4B6D038000270007: "ISETP.GE.AND P0, PT, R0, c[0x0][0x8], PT",
    0x5BE7010960170003: "LOP3.LUT R3, R0, R1, R2, 0x96",
    0xEED4200000070202: "LDG.E R2, [R2]",
    0xEEDC200000070200: "STG.E [R2], R0",
    0xE30000000007000F: "EXIT",
    0xF0F800000007000F: "SYNC",
    NOP: "NOP",
    0xE2400FFFFF87000F: "BRA 0x8",
}


@pytest.mark.parametrize(("word", "text"), KNOWN.items())
def test_words_of_the_fact_sheet(word: int, text: str) -> None:
    assert str(decode(word, 0x8)) == text


def test_operands_have_roles() -> None:
    ffma = decode(0x49A2028400470302)
    assert (ffma.op, ffma.form) == ("FFMA", "FFMA.C")
    assert ffma.modifiers == {"fmz": "FTZ", "rounding": "RN", "sat": 0, "cc": 0}
    assert ffma["d"] == Reg(2) and ffma["a"] == Reg(3) and ffma["c"] == Reg(5, negated=True)
    assert ffma["b"] == Const(1, 0x10) and ffma.operands == tuple(ffma.roles.values())
    assert ffma.get("addr") is None
    with pytest.raises(KeyError):
        ffma["addr"]


def test_signs_parts_and_reuse() -> None:
    fadd = decode(0x5C58000000470302 | 1 << 45 | 1 << 46 | 1 << 47)
    assert fadd["a"] == Reg(3, absolute=True) and fadd["b"] == Reg(4, negated=True) and fadd.modifiers["cc"] == 1
    assert str(fadd) == "FADD R2.CC, |R3|, -R4"
    xmad = decode(0x5B00028000470302 | 1 << 53 | 1 << 35, control=0x7E0 | 1 << 17)
    assert xmad["a"] == Reg(3, part="H1", reuse=True) and xmad["b"] == Reg(4, part="H1")
    assert str(xmad) == "XMAD R2, R3.H1.reuse, R4.H1, R5"
    lop = decode(0x5C47000000470302 | 1 << 39)
    assert lop["a"] == Reg(3, inverted=True) and lop["p"] == Pred(7) and str(lop) == "LOP.AND R2, ~R3, R4"


def test_immediates_have_the_bits_that_the_operation_reads() -> None:
    assert decode(0x3858003F80070302)["b"] == Imm(0x3F800000, 1.0)
    assert decode(0x3910000000170302 | 1 << 56)["b"].value == -(1 << 19) + 1  # type: ignore[union-attr]
    double = decode(0x3870003F80070302)["b"]
    assert isinstance(double, Imm) and double.width == 64 and double.value == 0.0078125
    assert double.bits == struct.unpack("<Q", struct.pack("<d", 0.0078125))[0]
    assert decode(0x010000001007F000)["b"] == Imm(0x100, 0x100)
    infinity = decode(0x0807F80000070302)["b"]
    assert isinstance(infinity, Imm) and infinity.is_float and math.isinf(infinity.value)
    assert str(decode(0x0807F80000070302)) == "FADD32I R2, R3, +INF "


def test_addresses_and_other_kinds() -> None:
    assert decode(0xEED4200000470202)["addr"] == Mem(2, 4)
    assert decode(0xEED4200000470202 | 0xFF << 8)["addr"] == Mem(None, 4)
    assert decode(0xEF4C1000FFF7FF00 | 0xFFF << 32)["addr"] == Mem(None, -1)
    assert decode(0xEFD87F800707FF02)["addr"] == Attr(None, 0x70)
    assert decode(0xE250000000A7030F)["target"] == Indirect(3, 10)
    assert decode(0xE24000001007000F, 0x28)["target"] == Label(0x130)
    assert decode(0xF0C8000002170000)["sr"] == Special(0x21, "SR_TID.X")
    assert decode(0xEEF0000000470302)["data"] == Swap(4, 5)
    assert decode(0xF0F0000034170005)["set"] == Set((0, 2))
    exit_on_carry = decode(0xE300000000070002)
    assert exit_on_carry["cc"] == Name("EQ", 2) and exit_on_carry.modifiers["cc"] == "EQ"
    assert str(exit_on_carry) == "EXIT CC.EQ"


def test_guards() -> None:
    assert decode(0xE30000000008000F).guard == Pred(0, True) and str(decode(0xE30000000008000F)) == "@!P0 EXIT"
    assert decode(0xE290000000000000).guard == Pred(7)  # SSY has none


@pytest.mark.parametrize(
    "word",
    [
        0,
        (1 << 64) - 1,
        0xEFD8028000470302,  # a physical attribute address with an offset
        0x5AF8EEE797B7580F,  # IMADSP with a third type that does not exist
        0xEF80000000070300,  # CCTLL without an operation
        0xDF48008780070302,  # TXQ that asks for nothing
        0xF0B80001000700FE,  # B2R.RESULT of a barrier
        0xD1C0000000070302,  # TEXS of target 14
    ],
)
def test_words_that_are_no_instruction(word: int) -> None:
    assert find_form(word) is None
    with pytest.raises(SassError, match="is no instruction") as caught:
        decode(word, 0x40)
    assert caught.value.address == 0x40 and isinstance(caught.value, UsageError)


def test_a_program_loses_its_control_words() -> None:
    code = struct.pack("<8Q", 0x001F8000FC0007E0, 0x4C98078000870001, 0xE24000000087000F, NOP, 0x7E0, NOP, NOP, NOP)
    program = decode_program(code, base=0x100)
    assert [one.address for one in program] == [0x108, 0x110, 0x118, 0x128, 0x130, 0x138]
    assert [one.op for one in program] == ["MOV", "BRA", "NOP", "NOP", "NOP", "NOP"]
    assert program[1].target == 0x120 and program.labels == {0x120: 3}
    assert program.index_of(0x120) == 3 and program.index_of(0x128) == 3 and program.index_of(0x140) is None
    assert program.words.dtype == np.uint64 and len(program) == len(program.forms) == 6
    control = program[0].control
    assert control is not None and (control.stall, control.write_barrier, control.read_barrier) == (0, None, None)


def test_scheduling_fields() -> None:
    raw = 5 | 1 << 4 | 2 << 5 | 7 << 8 | 0b100001 << 11 | 0b101 << 17
    control = decode(NOP, 0, raw).control
    assert control is not None and control.raw == raw
    assert (control.stall, control.yield_, control.write_barrier, control.read_barrier) == (5, 1, 2, None)
    assert control.wait_mask == 0b100001 and control.reuse == 0b101 and not control.dual
    assert decode(NOP, 0, 0x7F0).control.dual  # type: ignore[union-attr]
    assert decode(NOP).control is None


def test_damaged_code() -> None:
    with pytest.raises(SassError, match="bundles"):
        decode_program(bytes(12))
    with pytest.raises(SassError, match="bundles"):
        decode_program(struct.pack("<5Q", 0, NOP, NOP, NOP, 0))
    with pytest.raises(SassError, match="0x0000000000000000 is no instruction") as caught:
        decode_program(struct.pack("<4Q", 0, NOP, 0, NOP), base=0x20)
    assert caught.value.address == 0x30
    assert len(decode_program(b"")) == 0
    words, controls = split(struct.pack("<3Q", 0x7E0 | 1 << 21, NOP, NOP))
    assert words.tolist() == [NOP, NOP] and controls.tolist() == [0x7E0, 1]


def test_places_of_instructions() -> None:
    for index in range(20):
        assert index_of(offset_of(index), 20) == index
        assert index_of(label_offset(index), 20) == index
    assert [offset_of(n) for n in range(4)] == [8, 16, 24, 40]
    assert [label_offset(n) for n in range(4)] == [0, 16, 24, 32]
    assert index_of(4, 20) is None and index_of(-8, 20) is None


def test_instructions_are_made_when_asked_for() -> None:
    one = decode(0x5980010000170003)
    assert "roles" not in vars(one) and isinstance(one, Instruction)
    assert one.roles is one.roles
