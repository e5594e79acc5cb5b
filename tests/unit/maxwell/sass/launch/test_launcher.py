"""What a launch may ask for."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu import UsageError
from pocketgpu.events import EventLog
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.launcher import MAX_SHARED, Launcher

BUFFER = 0x1_0000_0000
# The word at the end of shared memory, by its last thread, and what it leaves in memory.
TEXT = """
    S2R R0, SR_TID.X
    MOV R1, c[0x0][0x148]
    MOV R2, c[0x0][0x140]
    MOV R3, c[0x0][0x144]
    ISETP.EQ.AND P0, PT, R0, c[0x0][0x14c], PT
    @P0 STS [R1], R0
    @P0 LDS R4, [R1]
    @P0 STG.E [R2], R4
    EXIT
"""


class Gpu:
    def __init__(self) -> None:
        work = 32 * MIB
        self.memory, self.events = GpuMemory(work_size=work, capacity=1 * MIB), EventLog()
        self.memory.map(BUFFER, 4096)
        engine = Engine(self.memory.arena)
        self.launcher = Launcher(self.memory, engine, self.events, (self.memory.work_offset, work))
        self.code = Code("test", assemble(TEXT).code, 8)

    def run(self, threads: tuple[int, ...], shared: int, place: int) -> int:
        last = int(np.prod(threads)) - 1
        bank = bytes(0x140) + np.array([BUFFER & 0xFFFFFFFF, BUFFER >> 32, place, last], "<u4").tobytes()
        self.memory.write(BUFFER, bytes(4))
        self.launcher.launch(self.code, (1,), threads, {0: bank}, shared, tier="interpreter")
        return int.from_bytes(self.memory.read(BUFFER, 4), "little")


def test_shared_memory_up_to_its_limit() -> None:
    gpu = Gpu()
    for shared in (4, 0x1000, MAX_SHARED, 2 * MAX_SHARED):
        assert gpu.run((1024,), shared, shared - 4) == 1023 and not list(gpu.events)
    gpu.run((64,), 0x1000, 0x1000)
    assert [event.kind for event in gpu.events] == ["fault", "fault"]  # the store and the load
    for shared in (-1, 2 * MAX_SHARED + 1):
        with pytest.raises(UsageError, match=f"{shared} bytes of shared memory"):
            gpu.run((1,), shared, 0)


@pytest.mark.parametrize("threads", [(1025,), (32, 33), (1024, 2)])
def test_blocks_have_up_to_1024_threads(threads: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="a block has up to 1024 threads"):
        Gpu().run(threads, 0, 0)
