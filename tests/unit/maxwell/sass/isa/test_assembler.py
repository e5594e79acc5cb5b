"""Text to words and to programs, and what is wrong with text that is none."""

from __future__ import annotations

import pytest

from pocketgpu.maxwell.sass import SassError, decode, decode_program
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.isa.encoder import encode
from pocketgpu.maxwell.sass.isa.listing import Labels, Part, listing

TEXTS = [
    "MOV R1, c[0x0][0x20]", "@!P3 IADD.X R9, R11, -R4", "IADD.PO R2, R3, 0x1", "IADD3.RS R3, R3.H0, R5, R6.H1",
    "XMAD.PSL.CBCC R0, R0.H1, R3.H1, R2", "XMAD.S16.S16 R0, R0.H1, -0x1, R2", "LOP3.LUT.NZ P0, R3, R0, R1, R2, 0x96",
    "FFMA.FTZ.RM.SAT R3, R0, -R1, -c[0x2][0xc8]", "FSETP.GEU.FTZ.AND P1, PT, |R21|, -INF , !P2",
    "DADD R2, |R4|, 0.0078125", "HFMA2.MRG_H0.FTZ R1, R2.H0_H0, -R3.F32, R4", "MUFU.RCP64H R3, -|R5|",
    "F2I.FTZ.U32.F32.TRUNC R3, c[0x3] [0x10]", "I2F.F32.U8 R3, R4.B3", "F2F.F16.F16.ROUND R1, R2.H1",
    "LDG.E.CI.128 R4, [R2+-0x10]", "LDS.U.64 R4, [0x20]", "STL.128 [R1+0x10], R4", "LDC.IL R3, c[0x2][R3+0x4]",
    "ATOM.E.CAS.64 R4, [R2], R6, R8", "ATOMS.ADD R4, [R2+0x40], R6", "RED.E.ADD.F32.FTZ.RN [R2], R4",
    "TEX.LZ R4, R4, 0x54, CUBE, 0xf", "TEXS R2, R14, R18, R19, 0x50, 2D, RGBA", "TLDS.LZ RZ, R10, R3, R0, 0x53, 2D, RA",
    "SULD.D.BA.2D.64.TRAP R4, [R8], 0x54", "SUST.P.3D.RG.IGN [R8], R4, R12",
    "TXQ R0, R0, TEX_HEADER_DIMENSION, 0x50, 0x1",
    "IPA.PASS R2, a[0x7c], R4, R5", "ALD.P.64 R2, a[R3+0x4], R5", "AST a[0x70], R2", "KIL CC.SFT",
    "OUT.EMIT R1, R2, R3",
    "BAR.SYNC 0x0", "BAR.RED.POPC 0x1, 0x40, !P3", "VOTE.ANY R14, PT, P2", "SHFL.UP P2, R31, R30, 0x1, RZ",
    "DEPBAR.LE SB5, 0x1, {2,0}", "PRMT.F4E R4, R3, R5, R2", "SHF.L.W.U64 R3, R4, 0x5, R6",
    "BFE.U32.BREV R3, R4, 0x123",
    "VADD.U16.U16.MAX R12, R246.H1, 0x20f8, R236", "VMNMX.MX.MIN R4, R13, RZ, R4", "FSWZADD.NDV R1, R2, R3, ZPPNNPPP",
    "CCTL.E.PF2 [R4]", "MEMBAR.SYS.IVALLD", "S2R R0, SR_TID.X", "BRX R3 -0x100", "PRET.NOINC c[0x1][0x5]", "EXIT",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_text_comes_back(text: str) -> None:
    done = encode(text, 0x8)
    assert str(decode(done.word, 0x8, done.control)) == text


def test_spaces_and_bases_do_not_matter() -> None:
    word = encode("IADD R2, R3, 0x10").word
    for text in ("IADD  R2,R3,16", " IADD R2 , R3 , 0X10 ", "IADD R2, R3, 0x010"):
        assert encode(text).word == word
    assert encode("FADD R2, R3, 0.5").word == encode("FADD R2, R3, 5e-1").word
    assert encode("LDG.E R2, [R3+0x4]").word == encode("LDG.E R2, [R3+4]").word


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("FROB R1, R2", "is no instruction"),
        ("", "is no instruction"),
        ("IADD R1, R2", "no form of IADD"),
        ("IADD R1, R2, R300", "no form of IADD"),
        ("IADD R1, R2, 0x80000", "no form of IADD"),
        ("FADD R1, R2, 0.1", "no form of FADD"),
        ("FFMA.XYZ R1, R2, R3, R4", "no form of FFMA"),
        ("MOV R1, c[0x20][0x0]", "no form of MOV"),
        ("MOV R1, c[0x0][0x2]", "no form of MOV"),
        ("@P0 SSY 0x20", "no form of SSY"),
        ("ALD R2, a[R3+0x4], R5", "no form of ALD"),
        ("BAR.SYNC 0x100", "no form of BAR"),
        ("IADD -R1, R2, R3", "no form of IADD"),
    ],
)
def test_text_that_is_no_instruction(text: str, says: str) -> None:
    with pytest.raises(SassError, match=says):
        encode(text)


PROGRAM = """
// a loop, with a pair that issues together
start:
    MOV R0, RZ
.L_loop:
    [B------:R-:W0:Y:S02] LDG.E R2, [R4] ;   /* a comment */
    { IADD32I R0, R0, 0x1 ;
      STG.E [R4], R0         }
    ISETP.LT.AND P0, PT, R0, 0xa, PT; @P0 BRA `(.L_loop)
    @!P0 BRA start
    .word 0x50b0000000070f00
    EXIT
"""


def test_a_program() -> None:
    done = assemble(PROGRAM)
    program = decode_program(done.code)
    assert [one.op for one in program] == [
        "MOV", "LDG", "IADD32I", "STG", "ISETP", "BRA", "BRA", "NOP", "EXIT",
    ]  # fmt: skip
    assert done.labels == {"start": 0, ".L_loop": 0x10} and len(done.code) == 96
    assert program[5].target == 0x10 and program[6].target == 0
    control = program[1].control
    assert control is not None and control.write_barrier == 0 and control.stall == 2 and control.yield_ == 0
    assert [one.control.dual for one in program if one.control] == [False] * 2 + [True] + [False] * 6


def test_the_last_bundle_is_filled_up() -> None:
    program = decode_program(assemble("EXIT").code)
    assert [one.op for one in program] == ["EXIT", "NOP", "NOP"]
    assert assemble("").code == b""


@pytest.mark.parametrize(
    ("text", "says", "line", "column"),
    [
        ("EXIT\nFROB", "is no instruction", 2, 1),
        ("EXIT\n /*0008*/ [B------:R-:W-:-:S02] { @P0 FROB }", "is no instruction", 2, 39),
        ("a:\nEXIT\na:", "two labels", 3, 1),
        ("\nBRA `(nowhere)", "no label 'nowhere'", 2, 7),
        (".word 0x10000000000000000", "no word of 64 bits", 1, 1),
        (".word", "no word of 64 bits", 1, 1),
        ("[B------:R-:W-] EXIT", "is no instruction", 1, 1),
        ("EXIT ; (* a *) IADD R1,R2 , c[0x0][0x140], R3", "no form of IADD", 1, 44),
        ("LDG.E R4, {R2}", "no form of LDG", 1, 11),
        ("MUFU.RCP R4", "no form of MUFU", 1, 1),
    ],
)
def test_errors_name_line_and_column(text: str, says: str, line: int, column: int) -> None:
    with pytest.raises(SassError, match=says) as caught:
        assemble(text)
    assert caught.value.location == f"line {line}, column {column}"


def test_every_instruction_has_its_line() -> None:
    text = "// one\na: MOV R1, RZ ; MOV R2, RZ\n\n{ IADD R1, R0, 0x1 ;\nLDG.E R2, [R4] }\n.align 32\nBRA a"
    assert assemble(text).lines == (2, 2, 4, 5, 7)


def test_a_listing_with_control_is_exact_for_odd_words() -> None:
    # Bits that no field reads, operands kept that the text does not show, and labels that lie on control words.
    code = assemble(PROGRAM).code
    words = [int.from_bytes(code[at : at + 8], "little") for at in range(0, len(code), 8)]
    words[0] |= 0b1111 << 17 | 0b0110 << 38  # reuse of MOV and LDG
    words[2] |= 1 << 44  # a bit of LDG that nothing reads
    words[6] = words[6] + (8 << 20) & (1 << 64) - 1  # a branch to an instruction instead of its bundle
    data = b"".join(word.to_bytes(8, "little") for word in words)
    parts = [Part("code", decode_program(data))]
    text = "\n".join(listing(parts, 0, Labels(parts), control=True))
    assert assemble(text).code == data
    assert ":U" in text and " ^0x" in text
