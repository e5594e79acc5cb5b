"""Programs found in memory by their first instruction alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pocketgpu.maxwell.sass import SassError, decode_program
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.isa.instruction import Program
from pocketgpu.maxwell.sass.program.gather import LIMIT, Gathered, gather


class Text:
    """Code memory with pieces of code at offsets; what lies between them is no code."""

    def __init__(self, **pieces: str) -> None:
        self.size = 1 << 20
        self.bytes = bytearray(self.size)
        for at, text in pieces.items():
            offset = int(at.removeprefix("at_"), 16)
            code = assemble(text, offset).code
            self.bytes[offset : offset + len(code)] = code

    def __call__(self, at: int, size: int) -> bytes:
        return bytes(self.bytes[at : at + size])


def ops(found: Gathered) -> list[str]:
    return [instruction.op for instruction in decode_program(found.data)]


def texts(found: Gathered) -> list[str]:
    return [str(instruction) for instruction in decode_program(found.data) if instruction.op != "NOP"]


def test_a_program_ends_where_it_ends() -> None:
    text = Text(at_1000="MOV R0, R1\n@P0 EXIT\nMOV R2, R3\nEXIT\nMOV R4, R5\nMOV R6, R7")
    found = gather(text, 0x1000)
    assert ops(found) == ["MOV", "EXIT", "MOV", "EXIT", "NOP", "NOP"]
    assert (found.start, found.indirect, found.origins) == (8, (), ((0, 0),))
    assert found.pieces == ((0x1000, 64),)
    # Where it lies changes nothing, nor does what lies beside it.
    assert gather(Text(at_77e0="MOV R0, R1\n@P0 EXIT\nMOV R2, R3\nEXIT"), 0x77E0).data == found.data


def test_an_entry_in_the_middle_of_a_bundle() -> None:
    text = Text(at_1000="MOV R0, R1\nMOV R2, R3\nEXIT")
    found = gather(text, 0x1010)
    assert ops(found) == ["NOP", "MOV", "EXIT"] and found.start == 16


def test_both_sides_and_all_that_is_pushed() -> None:
    text = Text(
        at_2000="""
        SSY `(meet)
        PBK `(out)
        @P0 BRA `(other)
        BRK
        MOV R9, R9
    other:
        SYNC
        MOV R9, R9
    meet:
        EXIT
        MOV R9, R9
    out:
        RET
    """
    )
    assert [op for op in ops(gather(text, 0x2000)) if op != "NOP"] == [
        "SSY",
        "PBK",
        "BRA",
        "BRK",
        "SYNC",
        "EXIT",
        "RET",
    ]


def test_functions_far_away_come_near() -> None:
    """A call backwards over half a megabyte, one by an absolute address, and a jump from there back."""
    text = Text(
        at_100="MOV R0, R1\nRET",
        at_40000="MOV R2, R3\nBRA 0x80040",
        at_80000="CAL 0x40000\nJCAL 0x100\nEXIT\nMOV R9, R9\nMOV R9, R9\nMOV R9, R9\nRET",
    )
    found = gather(text, 0x80000)
    assert len(found.data) == 5 * 32
    assert found.origins == ((0, 0x100 - 0x80000), (32, 0x40000 - 0x80000), (64, 0))
    program: Program = decode_program(found.data)
    entry = program.index_of(found.start)
    assert entry == 6
    call, absolute = program[6], program[7]
    assert call.target == 0x28 and program[3].op == "MOV"
    assert str(absolute).startswith("JCAL 0x8")
    assert program[4].op == "BRA" and program[4].target == program[12].address and program[12].op == "RET"
    assert [piece[1] for piece in found.pieces] == [32, 32, 96]


def test_targets_of_a_table_of_jumps() -> None:
    """Nothing names them, so what is after the jump belongs to the program, up to where no code is."""
    text = Text(at_3000="BRX R0 -0x8\nMOV R1, R2\nEXIT\nMOV R3, R4\nBRA `(end)\nMOV R5, R6\nend: EXIT")
    found = gather(text, 0x3000)
    assert [op for op in ops(found) if op != "NOP"] == ["BRX", "MOV", "EXIT", "MOV", "BRA", "MOV", "EXIT"]
    assert found.indirect == (0x10, 0x28, 0x38)


@pytest.mark.parametrize("jump", ["JMX R0 0x0", "LEPC R4\nEXIT", "BRA c[0x3][0x0]"])
def test_addresses_as_numbers_stay(jump: str) -> None:
    """A program that knows its own address keeps it."""
    found = gather(Text(at_2000=jump), 0x2000)
    assert found.start == 0x2008 and found.origins == ((0, -0x2000),) and len(found.data) == 0x2020
    assert decode_program(found.data)[0x2000 // 32 * 3].op == jump[:4].strip()
    with pytest.raises(SassError, match="spread over"):
        gather(Text(at_f0000=jump), 0xF0000)


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda at, size: b"", "no code is"),
        (lambda at, size: bytes(size), "no instruction"),
        (lambda at, size: b"\0" * size if at else b"\0" * 8 + 0x50B0000000070F00.to_bytes(8, "little") * 3, "no instr"),
        (Text(at_1000="BRA 0x200000"), "no code is"),
        (Text(at_1000="CAL 0x1004"), "a jump to"),
        (Text(at_1000="BRA 0x100"), "no instruction"),
    ],
)
def test_what_is_no_program(read: Callable[[int, int], bytes], message: str) -> None:
    with pytest.raises(SassError, match=message):
        gather(read, 0x1000)


def test_where_none_can_begin() -> None:
    with pytest.raises(SassError, match="multiple of 8"):
        gather(Text(), 0x1004)


def test_too_long() -> None:
    nops = (bytes(8) + 0x50B0000000070F00.to_bytes(8, "little") * 3) * 128
    with pytest.raises(SassError, match=f"more than {LIMIT}"):
        gather(lambda at, size: nops[:size], 0)
