"""Arguments of a launch are checked by their own bounds, and what goes astray is told with its place and its buffer."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from pocketgpu.maxwell.compute.raw_module import Device
from pocketgpu.maxwell.memory import page_table
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.faults import Buffer, nearest
from pocketgpu.wording import counted

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
    result = device.launcher.launch(code, (1,), (threads,), {0: bytes(bank)}, tier=tier, buffers=lambda: [buffer])
    at = start + offset + 4 * np.arange(threads)
    bad = int(((at < mapping.address) | (at + 4 > mapping.address + size)).sum())
    assert result.fault_count == len(result.faults) == bad <= 1
    for fault in result.faults:
        wanted = "4 bytes before the start of" if offset < 0 else "just beyond the end of"
        place = mapping.address + (-4 if offset < 0 else size)
        said = f"store of 4 bytes at {place:#x}, {wanted} argument 0, which has {counted(size, 'byte')}"
        assert fault.cause == said and fault.address == place
        assert (fault.block, fault.thread) == ((0, 0, 0), (0 if offset < 0 else threads - 1, 0, 0))
        assert (fault.access, fault.size, fault.kind) == ("store", 4, "unmapped") and fault.buffer is buffer
        assert fault.buffer_offset == (-4 if offset < 0 else size)
        assert len(repr(fault)) <= 200 and fault.instruction.startswith("STG.E [R2")
    device.release(mapping)
    device.close_left()
    gone = device.launcher.launch(code, (1,), (threads,), {0: bytes(bank)}, tier=tier, buffers=lambda: [buffer])
    assert gone.fault_count == 2 * threads  # nothing is left of freed memory


def test_the_nearest_buffer_is_named() -> None:
    a, b = Buffer("argument 0", 0x1000, 0x100, 0), Buffer("argument 1", 0x3000, 256, 1)
    assert nearest([a, b], 0x1104) is a and nearest([a, b], 0x2FFC) is b and nearest([], 5) is None
    assert a.relation(0x1104) == "4 bytes beyond the end of argument 0, which has 256 bytes"
    assert b.relation(0x2FFF) == "1 byte before the start of argument 1, which has 256 bytes"
    assert a.relation(0x10F8, 16) == "at offset 248 of argument 0, which has 256 bytes; the last 8 bytes beyond its end"
    assert a.relation(0x10F8, 8) == "at offset 248 of argument 0, which has 256 bytes"
    assert Buffer("argument 2", 0, 0, 2).relation(16) == "16 bytes from the null pointer of argument 2"


# Each way that memory is accessed, at an end that is no multiple of what it accesses at once.
WAYS = {
    "load": ("LDG.E R8, [R2]", 4),
    "wide load": ("LDG.E.128 R8, [R2]", 16),
    "byte load": ("LDG.E.U8 R8, [R2]", 1),
    "store": ("STG.E.64 [R2], R8", 8),
    "short store": ("STG.E.U16 [R2], R8", 2),
    "generic load": ("LD.E R8, [R2]", 4),
    "atomic": ("ATOM.E.ADD R8, [R2], R9", 4),
    "wide atomic": ("ATOM.E.CAS.64 R8, [R2], R8, R10", 8),
    "reducing atomic": ("RED.E.ADD [R2], R8", 4),
}
SCATTERED = """
    S2R R0, SR_TID.X
    LOP32I.XOR R0, R0, 0x15
    XMAD R0, R0, c[0x0][0x148], RZ
    IADD R2.CC, R0, c[0x0][0x140]
    IADD.X R3, RZ, c[0x0][0x144]
    {text}
    EXIT
"""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stride", [1, 65])
@pytest.mark.parametrize("size", [96, 4096 + 96])
def test_every_way_to_memory_ends_with_the_array(ways: tuple[Device, str], way: str, stride: int, size: int) -> None:
    """32 threads in mixed order: accesses up to the very end are sound, and each one beyond it is a fault.

    stride: in accesses; 65 of 16 bytes lead into further pages.
    """
    device, tier = ways
    text, width = WAYS[way]
    mapping = device.allocate(size)
    buffer = Buffer("argument 0", mapping.address, size, 0)
    code = Code("k", assemble(SCATTERED.format(text=text)).code, 12)
    for past in (0, 1, 5):  # accesses beyond the end
        last = (size // width - 1 + past) * width
        start = mapping.address + last - 31 * stride * width
        bank = bytearray(0x14C)
        bank[0x140:0x14C] = struct.pack("<QI", start, stride * width)
        result = device.launcher.launch(
            code, (1,), (32,), {0: bytes(bank)}, tier=tier, buffers=lambda: [buffer]
        )
        at = start + stride * width * np.arange(32)
        bad = (at < mapping.address) | (at + width > mapping.address + size)
        assert result.fault_count == bad.sum() == len(result.faults)
        assert {fault.address for fault in result.faults} == set(at[bad].tolist())
        assert {(fault.access, fault.size) for fault in result.faults} <= {(way.split()[-1], width)}
        assert {fault.thread[0] ^ 0x15 for fault in result.faults} == set(np.flatnonzero(bad).tolist())
    device.release(mapping)


def test_arrays_of_a_launch_are_far_from_each_other() -> None:
    """An index beyond the end, scaled twice or negative, lands in no other array."""
    device = Device("numpy")
    sizes = [4, 4096, 100_000, 3 << 20]
    mappings = [device.allocate(size) for size in sizes]
    for one, size in zip(mappings, sizes, strict=True):
        reach = range(one.address - (1 << 20), one.address + max(size + (1 << 20), 5 * size))
        assert not any(other.address in reach or other.address + more - 1 in reach
                       for other, more in zip(mappings, sizes, strict=True) if other is not one)  # fmt: skip


def test_memory_that_is_free_is_closed_and_used_again() -> None:
    device = Device("numpy")
    a, b = device.allocate(100), device.allocate(200)
    for one in (a, b):
        device.release(one)
    assert device.allocate(100) is a and device.allocate(200) is b
    device.release(b)
    device.close_left()
    words = [device.memory.arena.view("u4")[_word_at(device, one.address) // 4] for one in (a, b)]
    assert int(words[0]) & 4095 == 4096 - 100 and words[1] == 0
    assert device.allocate(3) is b and device.allocate(5) is not a


def _word_at(device: Device, address: int) -> int:
    """Where the page table has the word of an address."""
    root = device.memory.arena.view("u4")[(page_table.ROOT + 4 * (address >> page_table.TABLE_SHIFT)) // 4]
    return int(root) + 4 * (address >> 12 & (page_table.TABLE_WORDS - 1))
