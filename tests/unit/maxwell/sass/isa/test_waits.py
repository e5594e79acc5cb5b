"""Code that waits for its own results, against programs that real compilers made."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import recordings

from pocketgpu.facts.maxwell.sass import FORMS
from pocketgpu.facts.maxwell.sass.scheduling import READ_LATER, RESULT_LATER
from pocketgpu.inspect.shaders.files import open_shader
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.isa.decoder import decode_program
from pocketgpu.maxwell.sass.isa.waits import one_by_one

TEXT = """
    S2R R0, SR_TID.X
    ISCADD R2, R0, c[0x0][0x0], 0x2
    LDG.E R4, [R2]
    FADD R4, R4, 1
    STG.E [R2], R4
    EXIT
"""


def test_each_instruction_waits_for_those_before_it() -> None:
    code = assemble(TEXT).code
    careful = list(decode_program(one_by_one(code)))
    assert [one.word for one in careful] == [one.word for one in decode_program(code)]
    controls = [one.control for one in careful]
    assert {(one.wait_mask, one.stall, one.dual) for one in controls} == {(0b11, 15, False)}
    assert [one.write_barrier for one in controls] == [0, None, 0, None, None, None]
    assert [one.read_barrier for one in controls] == [None, None, None, None, 1, None]
    assert one_by_one(one_by_one(code)) == one_by_one(code) and one_by_one(b"") == b""


def test_the_operations_exist() -> None:
    known = {form.op for form in FORMS.values()}
    assert not (RESULT_LATER | READ_LATER) - known and not RESULT_LATER & READ_LATER


def test_compilers_set_barriers_for_these_operations(shared_dir: Path) -> None:
    """Each operation that has one anywhere in the kernels is known, and is of the kind that it has there."""
    paths = sorted((shared_dir / "kernels").glob("*/kernel.cubin"))
    if not paths:
        pytest.skip(recordings.REASON)
    written: set[str] = set()
    read: set[str] = set()
    for path in paths:
        for program in open_shader(path.read_bytes(), path.parent.name).programs:
            for one in decode_program(program.code):
                if one.control.write_barrier is not None:
                    written.add(one.op)
                elif one.control.read_barrier is not None:
                    read.add(one.op)
    assert len(written) > 25 and len(read) > 2
    assert written - RESULT_LATER == set() and read - READ_LATER - RESULT_LATER == set()
