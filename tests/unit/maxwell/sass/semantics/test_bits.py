"""LOP3 with each of its 256 tables, as a program that is specialised for them."""

from __future__ import annotations

import numpy as np

from pocketgpu.events import EventLog
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.launcher import Launcher

BUFFER = 0x1_0000_0000
A, B, C = 0xF0F0_A5C3, 0xCCCC_5A3C, 0xAAAA_0FF0
"""Their upper halves have every combination of three bits."""


def test_every_table_of_lop3() -> None:
    """Bit a*4 + b*2 + c of a table is the result for the bits a, b and c."""
    work = 32 * MIB
    memory, events = GpuMemory(work_size=work, capacity=1 * MIB), EventLog()
    memory.map(BUFFER, 4096)
    launcher = Launcher(memory, Engine(memory.arena, "numpy"), events, (memory.work_offset, work))
    text = f"MOV32I R4, {A:#x}\nMOV32I R5, {B:#x}\nMOV32I R6, {C:#x}\nMOV R2, c[0x0][0x140]\nMOV R3, c[0x0][0x144]\n"
    for table in range(256):
        text += f"LOP3.LUT R0, R4, R5, R6, {table:#x}\nSTG.E [R2+{4 * table:#x}], R0\n"
    bank = bytes(0x140) + BUFFER.to_bytes(8, "little")
    code = Code("test", assemble(text + "EXIT\n").code, 8)
    launcher.launch(code, (1,), (1,), {0: bank}, tier="specialised")
    assert not list(events)
    found = np.frombuffer(memory.read(BUFFER, 1024), "<u4").tolist()
    digits = [(A >> n & 1) * 4 + (B >> n & 1) * 2 + (C >> n & 1) for n in range(32)]
    assert found == [sum((table >> digit & 1) << n for n, digit in enumerate(digits)) for table in range(256)]
