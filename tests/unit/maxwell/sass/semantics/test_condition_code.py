"""The 32 tests of the condition code as a table: each for all 16 codes, of CSET, CSETP and branches."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pocketgpu.events import EventLog
from pocketgpu.facts.maxwell.sass.table import ENUMS
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.launcher import Launcher

BUFFER, SIZE = 0x1_0000_0000, 8192

TESTS = {
    # Zero (Z) changes fastest, then sign (S), carry (C) and overflow (O). A comparison of a and b without overflow
    # leaves Z for equal, S for less and both for NaN; overflow exchanges less and greater.
    # O:    0       0       1       1
    # C:    0       1       0       1
    "F": "0000 0000 0000 0000",
    "LT": "0010 0010 1000 1000",
    "EQ": "0100 0100 0100 0100",
    "LE": "0110 0110 1100 1100",
    "GT": "1000 1000 0010 0010",
    "NE": "1010 1010 1010 1010",
    "GE": "1100 1100 0110 0110",
    "NUM": "1110 1110 1110 1110",
    "NAN": "0001 0001 0001 0001",
    "LTU": "0011 0011 1001 1001",
    "EQU": "0101 0101 0101 0101",
    "LEU": "0111 0111 1101 1101",
    "GTU": "1001 1001 0011 0011",
    "NEU": "1011 1011 1011 1011",
    "GEU": "1101 1101 0111 0111",
    "T": "1111 1111 1111 1111",
    "OFF": "1111 1111 0000 0000",
    "LO": "1111 0000 1111 0000",
    "SFF": "1100 1100 1100 1100",
    "LS": "1111 0101 1111 0101",
    "HI": "0000 1010 0000 1010",
    "SFT": "0011 0011 0011 0011",
    "HS": "0000 1111 0000 1111",
    "OFT": "0000 0000 1111 1111",
    # Tests of the clip state, which a compute program does not have.
    "CSM_TA": "0000 0000 0000 0000",
    "CSM_TR": "0000 0000 0000 0000",
    "CSM_MX": "0000 0000 0000 0000",
    "FCSM_TA": "0000 0000 0000 0000",
    "FCSM_TR": "0000 0000 0000 0000",
    "FCSM_MX": "0000 0000 0000 0000",
    "RLE": "0111 0111 0111 0111",
    "RGT": "1000 1000 1000 1000",
}
# Thread n has the condition code n; R2:R3 is the address of its own word.
HEAD = """
    S2R R1, SR_TID.X
    SHL R2, R1, 0x2
    IADD R2.CC, R2, c[0x0][0x140]
    IADD.X R3, RZ, c[0x0][0x144]
    R2P CC, R1, 0xf
"""


def run(text: str, evaluator: str, tier: str) -> NDArray[np.uint32]:
    """(n, 16) words that the threads stored, 64 bytes for each of n stores."""
    work = 32 * MIB
    memory, events = GpuMemory(work_size=work, capacity=1 * MIB), EventLog()
    memory.map(BUFFER, SIZE)
    launcher = Launcher(memory, Engine(memory.arena, evaluator), events, (memory.work_offset, work))
    bank = bytes(0x140) + BUFFER.to_bytes(8, "little")
    launcher.launch(Code("test", assemble(HEAD + text).code, 8), (1,), (16,), {0: bank}, tier=tier)
    assert not list(events)
    return np.frombuffer(memory.read(BUFFER, SIZE), "<u4").reshape(-1, 16)


def expected(name: str) -> list[int]:
    return [int(digit) for digit in TESTS[name].replace(" ", "")]


@pytest.fixture(params=["llvm specialised", "llvm interpreter", "numpy specialised", "numpy interpreter"])
def way(request: pytest.FixtureRequest) -> list[str]:
    return str(request.param).split()


def test_the_table_has_every_test_in_the_order_of_the_encoding() -> None:
    assert [member.name for member in ENUMS["cc_test"].members(5)] == list(TESTS)


def test_each_test_for_each_condition_code(way: list[str]) -> None:
    """As a word (CSET), and as a predicate and its opposite (CSETP)."""
    text = ""
    for n, name in enumerate(TESTS):
        text += f"CSET.{name}.AND R0, CC, PT\nSTG.E [R2+{64 * n:#x}], R0\n"
        text += f"CSETP.{name}.AND P0, P1, CC, PT\nSEL R0, RZ, 0x1, !P0\n@P1 LOP32I.OR R0, R0, 0x2\n"
        text += f"STG.E [R2+{64 * (n + 32):#x}], R0\n"
    found = run(text + "EXIT\n", *way)
    for n, name in enumerate(TESTS):
        wanted = expected(name)
        assert found[n].tolist() == [-digit & 0xFFFFFFFF for digit in wanted], name
        assert found[n + 32].tolist() == [1 if digit else 2 for digit in wanted], name


def test_each_test_as_the_condition_of_a_branch(way: list[str]) -> None:
    text = ""
    for n, name in enumerate(TESTS):
        text += f"SSY `(meet{n})\nMOV32I R0, 0x1\nBRA CC.{name}, `(on{n})\nMOV R0, RZ\nSYNC\n"
        text += f"on{n}:\nSYNC\nmeet{n}:\nSTG.E [R2+{64 * n:#x}], R0\n"
    found = run(text + "EXIT\n", *way)
    for n, name in enumerate(TESTS):
        assert found[n].tolist() == expected(name), name
