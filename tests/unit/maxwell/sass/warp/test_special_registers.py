"""What S2R reads, in a launch of blocks and threads in three directions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pocketgpu.events import EventLog
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.launcher import Launcher

BUFFER = 0x1_0000_0000
BLOCK, GRID = (7, 3, 2), (2, 2, 3)
THREADS, BLOCKS = 42, 12
ALL = 0xFFFFFFFF
# Name -> what a lane reads, by its lane, warp, place in the block and place of the block.
Reading = Callable[[int, int, tuple[int, int, int], tuple[int, int, int]], int]
WANTED: dict[str, Reading] = {
    "SR_LANEID": lambda lane, warp, at, block: lane,
    "SR_VIRTID": lambda lane, warp, at, block: warp,
    "SR_VIRTCFG": lambda lane, warp, at, block: 2 << 16,
    "SR_TID": lambda lane, warp, at, block: at[0] | at[1] << 16 | at[2] << 26,
    "SR_TID.X": lambda lane, warp, at, block: at[0],
    "SR_TID.Y": lambda lane, warp, at, block: at[1],
    "SR_TID.Z": lambda lane, warp, at, block: at[2],
    "SR_CTAID.X": lambda lane, warp, at, block: block[0],
    "SR_CTAID.Y": lambda lane, warp, at, block: block[1],
    "SR_CTAID.Z": lambda lane, warp, at, block: block[2],
    "SR_NTID": lambda lane, warp, at, block: 7 | 3 << 16 | 2 << 26,
    "SR_SWINSZ": lambda lane, warp, at, block: 1 << 24,
    "SR_LWINSZ": lambda lane, warp, at, block: 1 << 24,
    "SR_LMEMLOSZ": lambda lane, warp, at, block: 48,
    "SR_EQMASK": lambda lane, warp, at, block: 1 << lane,
    "SR_LTMASK": lambda lane, warp, at, block: (1 << lane) - 1,
    "SR_LEMASK": lambda lane, warp, at, block: (2 << lane) - 1,
    "SR_GTMASK": lambda lane, warp, at, block: ALL - ((2 << lane) - 1),
    "SR_GEMASK": lambda lane, warp, at, block: ALL - ((1 << lane) - 1),
    "SR_WSCALEFACTOR_XY": lambda lane, warp, at, block: 0x3F800000,
    "SR_MACHINE_ID_0": lambda lane, warp, at, block: 0,  # nothing has it here
}
# R2:R3 is the place of a thread's words; threads count by x first, then blocks do.
HEAD = """
    S2R R4, SR_TID.X
    S2R R5, SR_TID.Y
    S2R R6, SR_TID.Z
    IMAD R5, R6, 0x3, R5
    IMAD R4, R5, 0x7, R4
    S2R R5, SR_CTAID.Y
    S2R R6, SR_CTAID.Z
    IMAD R5, R6, 0x2, R5
    S2R R6, SR_CTAID.X
    IMAD R5, R5, 0x2, R6
    IMAD R4, R5, 0x2a, R4
    IMAD R2.CC, R4, 0x80, RZ
    IADD R2.CC, R2, c[0x0][0x140]
    IADD.X R3, RZ, c[0x0][0x144]
"""


@pytest.mark.parametrize("tier", ["interpreter", "specialised"])
def test_every_thread_reads_its_own(tier: str) -> None:
    work = 32 * MIB
    memory, events = GpuMemory(work_size=work, capacity=1 * MIB), EventLog()
    size = THREADS * BLOCKS * 128
    memory.map(BUFFER, -(-size // 4096) * 4096)
    launcher = Launcher(memory, Engine(memory.arena), events, (memory.work_offset, work))
    lines = [f"    S2R R0, {name}\n    STG.E [R2+{4 * n:#x}], R0\n" for n, name in enumerate(WANTED)]
    code = Code("test", assemble(HEAD + "".join(lines) + "    EXIT\n").code, 16)
    bank = bytes(0x140) + BUFFER.to_bytes(8, "little")
    launcher.launch(code, GRID, BLOCK, {0: bank}, 0, 48, tier=tier)
    assert not list(events)
    found = np.frombuffer(memory.read(BUFFER, size), "<u4").reshape(BLOCKS, THREADS, 32)
    blocks = [(x, y, z) for z in range(GRID[2]) for y in range(GRID[1]) for x in range(GRID[0])]
    places = [(x, y, z) for z in range(BLOCK[2]) for y in range(BLOCK[1]) for x in range(BLOCK[0])]
    for n, (name, wanted) in enumerate(WANTED.items()):
        for row, block in zip(found[:, :, n].tolist(), blocks, strict=True):
            assert row == [wanted(i % 32, i // 32, at, block) for i, at in enumerate(places)], f"{name} {block}"
