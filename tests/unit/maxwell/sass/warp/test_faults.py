"""Every kind of memory instruction that goes astray is a fault with address, block, thread and instruction."""

from __future__ import annotations

import pytest

from pocketgpu.events import EventLog
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.launcher import Launcher

BUFFER, SIZE = 0x1_0000_0000, 1 << 16
# Bytes of shared and local memory, and where the windows of generic addresses begin.
SHARED, LOCAL, SHARED_WINDOW, LOCAL_WINDOW = 64, 32, 0x0100_0000, 0x0200_0000
# P0 is set in thread (1, 3, 0) of block (2, 0, 0), and P1 in all others; R2:R3 is an address that is right.
HEAD = """
    S2R R0, SR_CTAID.X
    S2R R1, SR_TID.X
    S2R R4, SR_TID.Y
    ISETP.EQ.AND P0, P1, R0, 0x2, PT
    ISETP.EQ.AND P0, P1, R1, 0x1, P0
    ISETP.EQ.AND P0, P1, R4, 0x3, P0
    MOV R2, c[0x0][0x140]
    MOV R3, c[0x0][0x144]
    MOV32I R8, 0x77
    MOV32I R9, 0x77
    MOV32I R6, {low:#x}
    MOV32I R7, {high:#x}
    @!P0 MOV R6, {good}
    @!P0 MOV R7, R3
"""
PLACE = 14
"""Number of the instruction that goes astray."""
GLOBAL, OWN = "R2", "RZ"

CASES = [
    ("LDG.E R8, [R6]", GLOBAL, 0x2_0000_0004, "nothing is mapped at 0x200000004"),
    ("LDG.E.128 R8, [R6+0x10]", GLOBAL, 0x1_0001_0000, "nothing is mapped at 0x100010010"),
    ("LDG.E.64 R8, [R6]", GLOBAL, 0x1_0000_0004, "0x100000004 is no multiple of 8"),
    ("LDG.E.U16 R8, [R6]", GLOBAL, 0x1_0000_0001, "0x100000001 is no multiple of 2"),
    ("STG.E.64 [R6], R8", GLOBAL, 0xFF_0000_0000, "nothing is mapped at 0xff00000000"),
    ("STG.E.U8 [R6+-0x1], R8", GLOBAL, 0x1_0000_0000, "nothing is mapped at 0xffffffff"),
    ("STG.E [R6], R8", GLOBAL, 0x1_0000_0002, "0x100000002 is no multiple of 4"),
    ("LD.E R8, [R6]", GLOBAL, 0x10, "nothing is mapped at 0x10"),
    ("LD.E R8, [R6]", GLOBAL, SHARED_WINDOW + SHARED, "0x1000040 is outside of shared memory"),
    ("ST.E.64 [R6], R8", GLOBAL, LOCAL_WINDOW + LOCAL - 4, "0x200001c is no multiple of 8"),
    ("ST.E.64 [R6], R8", GLOBAL, LOCAL_WINDOW + LOCAL, "0x2000020 is outside of local memory"),
    ("LDS R8, [R6]", OWN, SHARED, "0x40 is outside of shared memory"),
    ("LDS.U.64 R8, [R6]", OWN, 4, "0x4 is no multiple of 8"),
    ("STS.128 [R6+0x10], R8", OWN, SHARED - 16, "0x40 is outside of shared memory"),
    ("STS.U8 [R6], R8", OWN, 0xFFFFFFFF, "0xffffffff is outside of shared memory"),
    ("LDL R8, [R6]", OWN, LOCAL, "0x20 is outside of local memory"),
    ("STL.128 [R6], R8", OWN, 8, "0x8 is no multiple of 16"),
    ("ATOM.E.ADD R8, [R6], R9", GLOBAL, 0x3_0000_0000, "nothing is mapped at 0x300000000"),
    ("ATOM.E.CAS.64 R8, [R6], R8, R10", GLOBAL, 0x1_0000_0004, "0x100000004 is no multiple of 8"),
    ("RED.E.MAX.S32 [R6], R8", GLOBAL, 0x1_0000_0001, "0x100000001 is no multiple of 4"),
    ("ATOMS.XOR R8, [R6], R9", OWN, SHARED, "0x40 is outside of shared memory"),
]


@pytest.fixture(scope="module", params=["llvm interpreter", "llvm specialised", "numpy specialised"])
def gpu(request: pytest.FixtureRequest) -> tuple[Launcher, EventLog, str]:
    evaluator, tier = request.param.split()
    work = 32 * MIB
    memory, events = GpuMemory(work_size=work, capacity=1 * MIB), EventLog()
    memory.map(BUFFER, SIZE)
    launcher = Launcher(memory, Engine(memory.arena, evaluator), events, (memory.work_offset, work))
    return launcher, events, tier


@pytest.mark.parametrize("text, good, address, message", CASES)
def test_fault_has_its_place(
    gpu: tuple[Launcher, EventLog, str], text: str, good: str, address: int, message: str
) -> None:
    launcher, events, tier = gpu
    events.clear()
    head = HEAD.format(low=address & 0xFFFFFFFF, high=address >> 32, good=good)
    program = assemble(head + text + "\n STG.E.64 [R2], R2\n EXIT")
    bank = bytearray(0x148)
    bank[0x140:0x148] = (BUFFER + 0x100).to_bytes(8, "little")
    launcher.memory.write(BUFFER, bytes(SIZE))
    result = launcher.launch(Code("k", program.code, 16), (4,), (2, 9), {0: bytes(bank)}, SHARED, LOCAL, tier=tier)
    place = PLACE // 3 * 32 + 8 + PLACE % 3 * 8
    name = text.split()[0].split(".")[0]
    expected = f"k+{place:#06x} ({name}): {message}; block (2, 0, 0), thread (1, 3, 0)"
    assert [(event.kind, event.message) for event in events] == [("fault", expected)]
    assert result.fault_count == 1 and not result.hung
    # The others went on, and so did the one at fault.
    assert launcher.memory.read(BUFFER + 0x100, 8) == (BUFFER + 0x100).to_bytes(8, "little")
