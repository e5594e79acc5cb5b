"""Arguments of a launch are checked by their own bounds, and what goes astray is told with its place and its buffer."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from pocketgpu.maxwell.compute.raw_module import Device
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.faults import Buffer, nearest

TEXT = """
    S2R R0, SR_TID.X
    SHL R0, R0, 0x2
    IADD R2.CC, R0, c[0x0][0x140]
    IADD.X R3, RZ, c[0x0][0x144]
    LDG.E R4, [R2+{load:#x}]
    STG.E [R2+{store:#x}], R4
    EXIT
"""


@pytest.fixture(scope="module", params=["llvm interpreter", "llvm specialised", "numpy specialised"])
def ways(request: pytest.FixtureRequest) -> tuple[Device, str]:
    evaluator, tier = request.param.split()
    return Device(evaluator), tier


@pytest.mark.parametrize("size", [4, 100, 128, 132, 4096, 4100])
@pytest.mark.parametrize("offset", [0, 4, -4])
def test_each_byte_outside_is_a_fault_and_none_inside(ways: tuple[Device, str], size: int, offset: int) -> None:
    device, tier = ways
    words = size // 4
    threads = min(words, 1024)
    mapping = device.allocate(size)
    start = mapping.address + 4 * (words - threads)  # the last threads reach the end
    code = Code("k", assemble(TEXT.format(load=0, store=offset)).code, 8)
    bank = bytearray(0x148)
    bank[0x140:0x148] = struct.pack("<Q", start)
    buffer = Buffer("argument 0", mapping.address, size, 0)
    result = device.launcher.launch(code, (1,), (threads,), {0: bytes(bank)}, tier=tier, buffers=[buffer])
    at = start + offset + 4 * np.arange(threads)
    bad = int(((at < mapping.address) | (at + 4 > mapping.address + size)).sum())
    assert result.fault_count == len(result.faults) == bad <= 1
    for fault in result.faults:
        wanted = "4 bytes before the start of" if offset < 0 else "just beyond the end of"
        assert f"{wanted} argument 0, which has {size} bytes" in fault.cause
        assert (fault.access, fault.size, fault.kind) == ("store", 4, "unmapped") and fault.buffer is buffer
        assert fault.buffer_offset == (-4 if offset < 0 else size)
        assert len(repr(fault)) <= 200 and fault.instruction.startswith("STG.E [R2")
    device.release(mapping)
    gone = device.launcher.launch(code, (1,), (threads,), {0: bytes(bank)}, tier=tier, buffers=[buffer])
    assert gone.fault_count == 2 * threads  # nothing is left of freed memory


def test_the_nearest_buffer_is_named() -> None:
    a, b = Buffer("argument 0", 0x1000, 0x100, 0), Buffer("argument 1", 0x3000, 256, 1)
    assert nearest([a, b], 0x1104) is a and nearest([a, b], 0x2FFC) is b and nearest([], 5) is None
    assert a.relation(0x1104) == "4 bytes beyond the end of argument 0, which has 256 bytes"
    assert b.relation(0x2FFF) == "1 byte before the start of argument 1, which has 256 bytes"
    assert Buffer("argument 2", 0, 0, 2).relation(16) == "16 bytes from the null pointer of argument 2"
