"""Programs for the tests of the debug adapter."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.dap_client import Editor

PICA = """; doubles, and sums
main:
    mov r0, v0
    call twice
    add r1, r2, r0
    loop i0
        add r3, c1[aL], r3
        nop
    endloop
    rsq r4.x, -r0.x
    mov o0, r0
    mov o1, r4.x
    end
.proc twice
    add r0, r0, r0
    nop
.endproc
"""
"""Line by line: 3 mov, 4 call, 5 add reads r2, 7 add in the loop, 10 makes a NaN of a positive number, 15 and 16."""

SASS = """.kernel adds
.registers 8
.param data ptr
S2R R0, SR_TID.X;
SHL R1, R0, 0x2;
IADD R2.CC, R1, c[0x0][0x140];
IADD.X R3, RZ, c[0x0][0x144];
LDG.E R4, [R2];
IADD R4, R4, R0;
STG.E [R2], R4;
EXIT;
"""


@pytest.fixture
def pica(tmp_path: Path) -> Path:
    path = tmp_path / "sums.v.pica"
    path.write_text(PICA)
    return path


@pytest.fixture
def sass(tmp_path: Path) -> Path:
    path = tmp_path / "adds.sass"
    path.write_text(SASS)
    return path


@pytest.fixture
def editor() -> Editor:
    return Editor()
