"""Where the flow of a program is cut into blocks."""

from __future__ import annotations

import pytest

from pocketgpu.maxwell.sass import decode_program
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.program.flow import likely_functions
from pocketgpu.maxwell.sass.program.make_steps import step_of
from pocketgpu.maxwell.sass.program.steps import Step

FUNCTIONS = """
    MOV32I R0, {:#x}
    {}
    CAL `(called)
    @P0 EXIT
    MOV R1, R2
    EXIT
    MOV R3, R4
    MOV R5, R6
    RET
called:
    MOV R7, R8
    MOV R9, R10
    RET
"""
"""A program with a number, and a jump: the functions begin with instructions 6 and 9."""


def steps(text: str) -> tuple[Step, ...]:
    program = decode_program(assemble(text).code)
    return tuple(step_of(program, i) for i in range(len(program)))


@pytest.mark.parametrize("jump", ["BRX R0 0x0", "JMX R0 0x0"])
def test_indirect_jumps_may_go_to_functions_whose_address_is_a_number(jump: str) -> None:
    """A function begins where CAL goes, and after an instruction that all lanes leave; no other address counts."""
    places = [step.address for step in steps(FUNCTIONS.format(0, jump))]
    found = [likely_functions(steps(FUNCTIONS.format(place, jump))) for place in places]
    assert [n for n, targets in enumerate(found) if targets] == [6, 9]
    assert found[6] == {6} and found[9] == {9}


def test_without_an_indirect_jump_nothing_is_likely() -> None:
    places = [step.address for step in steps(FUNCTIONS.format(0, "NOP"))]
    assert [likely_functions(steps(FUNCTIONS.format(place, "NOP"))) for place in places] == [set()] * len(places)
