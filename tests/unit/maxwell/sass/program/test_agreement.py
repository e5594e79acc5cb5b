"""Where the lanes of a warp agree, and what is done before a barrier."""

from __future__ import annotations

import pytest

from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.program.flow import Flow
from pocketgpu.maxwell.sass.program.flow_of import flow_of


def flow(text: str) -> Flow:
    return flow_of(assemble(text).code, 0, ())


def together(text: str) -> list[str]:
    """The conditional instructions of control flow of a program that do not divide."""
    found = flow(text)
    return [found.steps[i].op for i in sorted(found.agreement.together)]


LOOP = """
    MOV R0, RZ
    {}
again:
    {}
    IADD32I R0, R0, 0x1
    ISETP.LT.AND P0, PT, R0, R1, PT
    @P0 BRA `(again)
    EXIT
"""


@pytest.mark.parametrize(
    ("limit", "same"),
    [
        ("MOV32I R1, 0x5", True),
        ("MOV R1, c[0x0][0x140]", True),
        ("S2R R1, SR_CTAID.X", True),
        ("LDS.U.32 R1, [0x10]", True),
        ("S2R R1, SR_TID.X", False),
        ("LDG.E R1, [R2]", False),
        ("MOV R1, c[0x0][0x140], 0x7", False),
        ("SHFL.IDX PT, R1, R0, 0x1, 0x1f", False),
    ],
)
def test_a_loop_by_a_counter(limit: str, same: bool) -> None:
    """The branch back divides if lanes may have other limits; then waiting lanes need what the loop changes."""
    found = flow(LOOP.format(limit, "NOP"))
    assert bool(found.agreement.together) == same
    assert bool(found.kept & 1) != same


def test_what_is_written_while_lanes_are_apart_differs_afterwards() -> None:
    apart = """
    S2R R4, SR_TID.X
    ISETP.EQ.AND P1, PT, R4, RZ, PT
    MOV32I R1, 0x5
    SSY `(meet)
    @P1 BRA `(other)
    {}
    SYNC
other:
    SYNC
meet:
    """
    assert together(LOOP.format(apart.format("MOV32I R5, 0x3"), "NOP")) == ["BRA"]
    assert together(LOOP.format(apart.format("MOV32I R1, 0x3"), "NOP")) == []


def test_lanes_that_leave_a_loop_early_are_apart_until_its_end() -> None:
    text = """
    S2R R4, SR_TID.X
    MOV R0, RZ
    PBK `(end)
again:
    IADD32I R0, R0, 0x1
    ISETP.EQ.AND P1, PT, R0, R4, PT
    @P1 BRK
    ISETP.LT.AND P0, PT, R0, 0x9, PT
    @P0 BRA `(again)
    BRK
end:
    ISETP.LT.AND P2, PT, R0, 0x5, PT
    @P2 EXIT
    MOV32I R5, 0x2
    ISETP.LT.AND P3, PT, R5, c[0x0][0x140], PT
    @P3 BRK
    EXIT
    """
    # R0 counts further in lanes that stay. At the end all lanes are there again.
    assert together(text) == ["BRK"]


def test_lanes_that_end_do_not_come_back() -> None:
    text = "    S2R R4, SR_TID.X\n    ISETP.GE.AND P1, PT, R4, c[0x0][0x140], PT\n    @P1 EXIT\n"
    assert together(text + LOOP.format("MOV32I R1, 0x5", "NOP")) == ["BRA"]


def test_jumps_to_anywhere_leave_nothing_known() -> None:
    text = "    MOV32I R1, 0x5\n    @P3 BRX R1 0x0\n"
    assert together(text + LOOP.format("MOV32I R1, 0x5", "NOP")) == []


BARRIER = """
    LDS.U.32 R8, [R1]
    LDS.U.32 R9, [R1+0x4]
    BAR.SYNC 0x0
    {}
    FFMA R4, R8, R9, R4
    STS [R1], R4
    BAR.SYNC 0x0
    LDS.U.32 R0, [R1]
    STG.E [R2], R0
    EXIT
"""


@pytest.mark.parametrize(
    ("between", "moved"),
    [
        ("NOP", True),
        ("LDG.E R5, [R2]", True),
        ("LDG.E R8, [R2]", False),
        ("STS [R1], R4", False),
        ("BAR.SYNC 0x0", True),
    ],
)
def test_arithmetic_before_a_barrier(between: str, moved: bool) -> None:
    """It is done before its turn if nothing in between gives it an operand or needs what it writes."""
    found = flow(BARRIER.format(between))
    assert ("FFMA" in {found.steps[i].op for early in found.early.values() for i in early}) == moved
    for block in found.blocks:
        assert (found.steps[block.last].op == "BAR") <= (block.body[-1] == block.last)
    assert sorted(i for block in found.blocks for i in block.body) == sorted(found.reached)


def test_arithmetic_that_needs_more_than_it_gives_stays() -> None:
    found = flow(BARRIER.format("NOP").replace("FFMA R4, R8, R9, R4", "IADD R4, R8, 0x1").replace("R9", "R8"))
    kept = flow(BARRIER.format("IADD R5, R2, R3\n    STS [R1+0x8], R8\n    STS [R1+0xc], R9"))
    assert found.early == {} and kept.early == {}
