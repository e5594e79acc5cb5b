"""Which registers an instruction reads and writes, written out by hand for one instruction of each kind."""

from __future__ import annotations

import re

import pytest

from pocketgpu.maxwell.sass import decode_program
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.program.make_steps import step_of
from pocketgpu.maxwell.sass.program.registers import FLAGS_BIT, PREDICATE_BIT, reads, surely_writes, writes
from pocketgpu.maxwell.sass.program.steps import Step


def step(text: str) -> Step:
    return step_of(decode_program(assemble(text).code), 0)


def numbers(text: str) -> set[int]:
    """Bits of a set that is written as "R2-R4 P1 CC"."""
    found: set[int] = set()
    for word in text.split():
        first, _, last = word.partition("-")
        begin, end = (int(part[1:]) for part in (first, last or first)) if word != "CC" else (0, 0)
        start = {"R": 0, "P": PREDICATE_BIT, "C": FLAGS_BIT}[word[0]]
        found |= set(range(start + begin, start + end + 1))
    return found


def named(text: str) -> tuple[set[int], set[int]]:
    """(bits that must be there, bits that may be): what is in brackets only may."""
    return numbers(re.sub(r"\(.*?\)", "", text)), numbers(re.sub("[()]", "", text))


def bits(found: int) -> set[int]:
    return {n for n in range(found.bit_length()) if found >> n & 1}


# Instruction, what it reads (what it is allowed to name as read, too), what it writes.
ARITHMETIC = [
    ("MOV R2, R3", "R3", "R2"),
    ("MOV R2, c[0x0][0x140]", "", "R2"),
    ("MOV R2, R3, 0x5", "R2 R3", "R2"),  # the other lanes of each quad keep theirs
    ("MOV32I R2, 0x7", "", "R2"),
    ("MOV RZ, R3", "R3", ""),
    ("MOV R254, RZ", "", "R254"),
    ("@P3 MOV R2, R3", "R3 P3", "R2"),
    ("@!P0 MOV R2, R3", "R3 P0", "R2"),
    ("IADD R2, R3, R4", "R3 R4", "R2"),
    ("IADD R2, R3, 0x1", "R3", "R2"),
    ("IADD R2.CC, R3, R4", "R3 R4", "R2 CC"),
    ("IADD.X R2, R3, R4", "R3 R4 CC", "R2"),
    ("IADD.X R2.CC, R3, R4", "R3 R4 CC", "R2 CC"),
    ("IADD RZ.CC, R3, R4", "R3 R4", "CC"),
    ("FFMA R2, R3, R4, R5", "R3-R5", "R2"),
    ("FFMA R2, R3, c[0x2][0x8], R5", "R3 R5", "R2"),
    ("DADD R2, R4, R6", "R4-R7", "R2 R3"),
    ("DADD R2, R4, 0.5", "R4 R5", "R2 R3"),
    ("DFMA R2, R4, R6, R8", "R4-R9", "R2 R3"),
    ("DSETP.LT.AND P1, P2, R4, R6, P3", "R4-R7 P3", "P1 P2"),
    ("ISETP.GE.AND P0, PT, R4, R6, PT", "R4 R6", "P0"),
    ("ISETP.GE.X.AND P0, PT, R4, R6, !P1", "R4 R6 P1 CC", "P0"),
    ("PSETP.AND.OR P4, P5, P1, !P2, P6", "P1 P2 P6", "P4 P5"),
    ("SEL R2, R3, R4, !P6", "R3 R4 P6", "R2"),
    ("IMNMX R2, R3, R4, P1", "R3 R4 P1 (CC)", "R2"),
    ("SHF.L.W.U64 R2, R3, R4, R6", "R3 R4 R6", "R2"),
    ("XMAD R2, R3, R4, R5", "R3-R5", "R2"),
    ("MUFU.RCP64H R2, R3", "R3", "R2"),
    ("F2F.F64.F32 R2, R4", "R4 (R5)", "R2 R3"),
    ("F2F.F32.F64 R2, R4", "R4 R5", "R2"),
    ("F2F.F16.F32 R2, R4", "R4 (R5)", "R2"),
    ("F2F.F64.F64.FLOOR R2, R4", "R4 R5", "R2 R3"),
    ("F2I.S32.F32 R2, R4", "R4 (R5)", "R2"),
    ("F2I.S64.F64 R2, R4", "R4 R5", "R2 R3"),
    ("F2I.U64.F32 R2, R4", "R4 (R5)", "R2 R3"),
    ("F2I.U16.F32 R2, R4", "R4 (R5)", "R2"),
    ("I2F.F64.S32 R2, R4", "R4 (R5)", "R2 R3"),
    ("I2F.F32.S32 R2, R4", "R4 (R5)", "R2"),
    ("I2F.F32.U64 R2, R4", "R4 R5", "R2"),
    ("I2F.F16.U32 R2, R4", "R4 (R5)", "R2"),
    ("R2P PR, R3, 0x3", "R3 P0-P6 (CC)", "P0-P6 CC"),  # those that it leaves alone keep their value
    ("P2R R2, PR, RZ, 0x7f", "P0-P6 (CC)", "R2"),
    ("HADD2 R2, R3, R4", "R3 R4 (R2)", "R2"),
    ("HADD2.MRG_H0 R2, R3, R4", "R2-R4", "R2"),
]
MEMORY = [
    ("LDC R2, c[0x3][R8+0x4]", "R8", "R2"),
    ("LDC.U8 R2, c[0x3][R8]", "R8", "R2"),
    ("LDC.S16 R2, c[0x3][R8]", "R8", "R2"),
    ("LDC.64 R2, c[0x3][R8]", "R8", "R2 R3"),
    ("LDG R2, [R8]", "R8", "R2"),
    ("LDG.E R2, [R8]", "R8 R9", "R2"),
    ("LDG.E.U8 R2, [R8]", "R8 R9", "R2"),
    ("LDG.E.S16 R2, [R8]", "R8 R9", "R2"),
    ("LDG.E.64 R2, [R8]", "R8 R9", "R2 R3"),
    ("LDG.E.128 R4, [R8]", "R8 R9", "R4-R7"),
    ("LDG.E.128 R252, [R8]", "R8 R9", "R252-R254"),
    ("@P2 LDG.E.64 R2, [R8]", "R8 R9 P2", "R2 R3"),
    ("STG.E [R8], R2", "R8 R9 R2", ""),
    ("STG.E.U8 [R8], R2", "R8 R9 R2", ""),
    ("STG.E.64 [R8], R2", "R8 R9 R2 R3", ""),
    ("STG.E.128 [R8], R4", "R8 R9 R4-R7", ""),
    ("STG [R8], RZ", "R8", ""),
    ("LDS R2, [R8]", "R8", "R2"),
    ("LDS.U.64 R2, [R8]", "R8", "R2 R3"),
    ("LDS.U.128 R4, [0x20]", "", "R4-R7"),
    ("STS [R8], R2", "R8 R2", ""),
    ("STS.64 [R8], R2", "R8 R2 R3", ""),
    ("STS.128 [R8], R4", "R8 R4-R7", ""),
    ("LDL.64 R2, [R8]", "R8", "R2 R3"),
    ("STL.64 [R8], R2", "R8 R2 R3", ""),
    ("ATOM.E.ADD R2, [R8], R4", "R8 R9 R4 (R5)", "R2"),
    ("ATOM.E.ADD.U64 R2, [R8], R4", "R8 R9 R4 R5", "R2 R3"),
    ("ATOM.E.MIN.S64 R2, [R8], R4", "R8 R9 R4 R5", "R2 R3"),
    ("ATOM.E.ADD.S32 R2, [R8], R4", "R8 R9 R4 (R5)", "R2"),
    ("ATOM.E.ADD.F32.FTZ.RN R2, [R8], R4", "R8 R9 R4 (R5)", "R2"),
    ("ATOM.E.CAS R2, [R8], R4, R5", "R8 R9 R4 R5 (R6)", "R2"),
    ("ATOM.E.CAS.64 R2, [R8], R4, R6", "R8 R9 R4-R7", "R2 R3"),
    ("ATOMS.ADD R2, [R8], R4", "R8 R4 (R5)", "R2"),
    ("ATOMS.ADD.U64 R2, [R8], R4", "R8 R4 R5", "R2 R3"),
    ("ATOMS.MAX.S64 R2, [R8], R4", "R8 R4 R5", "R2 R3"),
    ("ATOMS.CAS R2, [R8], R4, R5", "R8 R4 R5 (R6)", "R2"),
    ("ATOMS.CAS.64 R2, [R8], R4, R6", "R8 R4-R7", "R2 R3"),
    ("RED.E.ADD.U64 [R8], R4", "R8 R9 R4 R5", ""),
]
OTHERS = [
    ("S2R R2, SR_TID.X", "", "R2"),
    ("CS2R R2, SR_CLOCKLO", "", "R2 R3"),
    ("SHFL.UP P2, R3, R4, R5, R6", "R4-R6", "R3 P2"),
    ("SHFL.IDX PT, R3, R4, 0x1, RZ", "R4", "R3"),
    ("VOTE.ANY R2, P1, !P2", "P2", "R2 P1"),
    ("BAR.RED.AND 0x0, P3", "P3", ""),
    ("B2R.RESULT R2, P1", "", "R2 P1"),
    ("ALD R2, a[0x70]", "", "R2"),
    ("ALD.64 R2, a[0x70], R8", "R8", "R2 R3"),
    ("ALD.96 R4, a[0x70]", "", "R4-R6"),
    ("ALD.128 R4, a[0x70]", "", "R4-R7"),
    ("AST a[0x70], R2", "R2", ""),
    ("AST.96 a[0x70], R4", "R4-R6", ""),
    ("AST.128 a[0x70], R4", "R4-R7", ""),
    ("IPA R2, a[0x80], R3", "R3", "R2"),
    ("AL2P R2, R3, 0x10", "R3", "R2"),
    ("TEX R4, R8, R12, 0x54, 2D, 0xf", "R8 R9", "R4-R7"),
    ("TEX.LL R4, R8, R12, 0x54, ARRAY_2D, 0x5", "R8-R10 R12", "R4 R5"),
    ("TEXS R2, R14, R18, R19, 0x50, 2D, RGBA", "R18 R19", "R2 R3 R14 R15"),
    ("TEXS RZ, R2, R18, R19, 0x50, 2D, RG", "R18 R19", "R2 R3"),
    ("TLD4.R R4, R8, R12, 0x54, CUBE, 0x1", "R8-R10", "R4"),
    ("TXQ R4, R8, TEX_HEADER_DIMENSION, 0x50, 0x3", "R8", "R4 R5"),
    ("SULD.D.BA.2D.64 R4, [R8], 0x54", "R8 R9", "R4 R5"),
    ("SUST.P.3D.RG [R8], R4, R12", "R8-R10 R4 R5 R12", ""),
    ("BRX R3 -0x100", "R3", ""),
    ("@P1 BRA 0x8", "P1", ""),
    ("BRA CC.LT, 0x8", "CC", ""),
    ("EXIT CC.NE", "CC", ""),
    ("EXIT", "", ""),
    ("NOP", "", ""),
]


@pytest.mark.parametrize("text, read, written", ARITHMETIC + MEMORY + OTHERS)
def test_registers_of(text: str, read: str, written: str) -> None:
    one = step(text)
    must, may = named(read)
    assert must <= bits(reads(one)) <= may
    assert bits(writes(one)) == numbers(written)


@pytest.mark.parametrize(
    "text, written",
    [
        ("MOV R2, R3", "R2"),
        ("MOV R2, R3, 0x5", ""),  # the other lanes of each quad keep theirs
        ("@P0 MOV R2, R3", ""),
        ("@!PT MOV R2, R3", ""),
        ("IADD R2.CC, R3, R4", "R2 CC"),
        ("LDG.E.64 R2, [R8]", "R2 R3"),
        ("@P0 LDG.E.64 R2, [R8]", ""),
    ],
)
def test_what_all_active_lanes_surely_write(text: str, written: str) -> None:
    assert bits(surely_writes(step(text))) == numbers(written)
