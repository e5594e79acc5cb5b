"""Where the parts of a block's work memory are."""

from __future__ import annotations

import pytest

from pocketgpu.maxwell.sass.thread_memory.work import LANES, VECTOR, WARPS, SlotLayout, rounded


@pytest.mark.parametrize("to", [1, 16, VECTOR, 4096])
def test_sizes_are_rounded_up(to: int) -> None:
    for size in (0, 1, 2, to - 1, to, to + 1, to + 2, 3 * to - 1, 3 * to, 3 * to + 1):
        found = rounded(size, to)
        assert found % to == 0 and size <= found < size + to


@pytest.mark.parametrize("warps", [1, 2, 32])
@pytest.mark.parametrize("registers", [1, 24, 255])
@pytest.mark.parametrize("shared, local", [(0, 0), (1, 1), (129, 15), (130, 17), (0xC000, 0x200)])
def test_parts_of_a_slot_do_not_overlap(warps: int, registers: int, shared: int, local: int) -> None:
    slot = SlotLayout(warps, registers, shared, local)
    assert slot.warp_stride >= VECTOR * registers
    assert slot.shared_at >= WARPS + warps * slot.warp_stride
    assert slot.local_at >= slot.shared_at + shared and slot.local_at < slot.shared_at + shared + VECTOR
    assert LANES * local <= slot.local_stride < LANES * (local + 16)
    assert slot.local_at + warps * slot.local_stride <= slot.size < slot.local_at + warps * slot.local_stride + 4096
    assert slot.size % 4096 == slot.local_at % VECTOR == slot.local_stride % VECTOR == 0
