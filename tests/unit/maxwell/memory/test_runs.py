"""The list of runs for kernels: the longest ones, exact at their ends, and empty as soon as a mapping changes."""

from __future__ import annotations

import numpy as np

from pocketgpu.arena import PAGE_SIZE
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.memory.page_table import ROW_BYTES, RUN, RUNS

BASE = 0x1_0000_0000


def listed(memory: GpuMemory) -> dict[int, tuple[int, int]]:
    """Places and arena offsets of the runs in the books, by address."""
    starts, places = (memory.arena[at : at + 8 * RUNS].view(np.int64).tolist() for at in (RUN.START, RUN.PLACES))
    offsets = memory.words(RUN.OFFSET, RUNS).tolist()
    return {s: (p, o) for s, p, o in zip(starts, places, offsets, strict=True) if p}


def test_the_longest_runs_are_listed_and_forgotten() -> None:
    memory = GpuMemory(work_size=MIB, capacity=4 * MIB)
    made = [memory.map(BASE + (n << 20), (n + 1) * PAGE_SIZE) for n in range(RUNS + 3)]
    memory.list_runs()
    assert listed(memory) == {
        m.address: (m.size - ROW_BYTES + 1, m.backing.offset) for m in made[3:]
    }  # fmt: skip
    last = made[-1]
    memory.close_after(last, PAGE_SIZE + 100)
    assert not listed(memory)
    memory.list_runs()
    assert last.address not in listed(memory)  # it is one of the short ones now
    for m in made[: RUNS + 2]:
        memory.unmap(m)
        assert not listed(memory)
    memory.list_runs()
    assert listed(memory) == {last.address: (PAGE_SIZE + 100 - ROW_BYTES + 1, last.backing.offset)}
    snapshot = memory.snapshot()
    memory.unmap(last)
    memory.list_runs()
    assert not listed(memory)
    memory.restore(snapshot)
    memory.list_runs()
    assert list(listed(memory)) == [last.address]
    memory.reset()
    assert not listed(memory)


def test_a_run_shows_what_counts_at_its_addresses() -> None:
    """A mapping that covers a part of another one cuts it."""
    memory = GpuMemory(work_size=MIB, capacity=MIB)
    under = memory.map(BASE, 8 * PAGE_SIZE)
    over = memory.map(BASE + 4 * PAGE_SIZE, PAGE_SIZE)
    memory.list_runs()
    found = {address: offset for address, (_, offset) in listed(memory).items()}
    assert found == {
        BASE: under.backing.offset, over.address: over.backing.offset,
        BASE + 5 * PAGE_SIZE: under.backing.offset + 5 * PAGE_SIZE,
    }  # fmt: skip
