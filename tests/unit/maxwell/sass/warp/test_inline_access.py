"""Accesses that specialised code does without a call, and registers that stay in the record over barriers.

Each program is held to a model written here, on both evaluators and both executors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.sass_gpu import FORMS, SassGpu

from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.program.flow_of import flow_of
from pocketgpu.maxwell.sass.program.residence import Residence
from pocketgpu.maxwell.sass.warp.inline_access import accesses

LOW, SIZE = 0xFFFF_E000, 4 << 12
"""The buffer lies across the place where the lower word of addresses wraps; nothing is mapped beside it."""
TABLE, DATA = LOW, LOW + 0x1000
SHARED = 512
# R1: thread; R2:R3: its word of the table, where results go to; R4: what the table has for it; R0 adds up.
HEAD = """
    S2R R1, SR_TID.X
    SHL R2, R1, 0x2
    IADD R2.CC, R2, c[0x0][0x140]
    IADD.X R3, RZ, c[0x0][0x144]
    LDG.E R4, [R2]
    MOV R0, RZ
    MOV R12, RZ
"""
TWICE = """
    IADD32I R12, R12, 0x1
    ISETP.LT.AND P0, PT, R12, 0x2, PT
    @P0 BRA `(again)
    STG.E [R2], R0
    EXIT
"""
Words = NDArray[np.uint32]


class Gpu(SassGpu):
    def __init__(self, evaluator: str, tier: str) -> None:
        super().__init__(evaluator, tier)
        self.mapping = self.memory.map(LOW, SIZE)
        self.data = np.random.default_rng(5).integers(0, 1 << 32, 3 << 10, np.uint32, endpoint=False)
        self.memory.write(DATA, self.data.tobytes())

    def run(self, text: str, table: Any, threads: int = 32, shared: int = SHARED) -> Words:
        """What the threads leave in the table."""
        self.memory.write(TABLE, np.asarray(table, np.uint32).tobytes())
        bank = bytearray(0x160)
        bank[0x140:0x148] = TABLE.to_bytes(8, "little")
        code = Code("test", assemble(text).code, 16)
        self.result = self.launcher.launch(code, (1,), (threads,), {0: bytes(bank)}, shared, tier=self.tier)
        return np.frombuffer(self.memory.read(TABLE, 4 * threads), "<u4")


@pytest.fixture(params=FORMS)
def gpu(request: pytest.FixtureRequest) -> Iterator[Gpu]:
    yield Gpu(*request.param.split())


LANE = np.arange(32, dtype=np.int64)
PATTERNS = {
    "row": 4 * LANE,
    "two rows": 4 * (LANE & 15) + 256 * (LANE >> 4),
    "alike": 0 * LANE + 64,
    "alike by half": 64 * (LANE >> 4) + 32,
    "backwards": 4 * (31 - LANE),
    "far apart": 16 * LANE,
    "one off": np.where(LANE == 21, 0, 4 * LANE),
    "up to the end": 4 * LANE + SHARED - 128,
    "beyond the end": 4 * LANE + SHARED - 124,
    "below the beginning": 4 * LANE - 8,
    "misaligned": 4 * LANE + 2,
}


def words_at(memory: Words, at: NDArray[np.int64], count: int = 1) -> tuple[Words, int]:
    """(sum of the words at byte offsets, how many accesses are bad); bad ones read zero."""
    good = (at % (4 * count) == 0) & (at >= 0) & (at + 4 * count <= 4 * len(memory))
    total = np.zeros(len(at), np.uint32)
    for n in range(count):
        total += np.where(good, memory[np.where(good, at // 4 + n, 0)], 0).astype(np.uint32)
    return total, int((~good).sum())


FILL = """
    SHL R5, R1, 0x4
    MOV32I R6, 0x1234567
    IMUL R6, R6, R1
    STS [R5], R6
    IADD32I R6, R6, 0x11
    STS [R5+0x4], R6
    IADD32I R6, R6, 0x11
    STS [R5+0x8], R6
    IADD32I R6, R6, 0x11
    STS [R5+0xc], R6
    BAR.SYNC 0x0
"""
FILLED = np.uint32(0x1234567) * np.arange(32, dtype=np.uint32)[:, None] + np.uint32([0, 0x11, 0x22, 0x33])
FILLED = FILLED.reshape(-1)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("offset", [0, 8, -4])
def test_loads_of_shared_words(gpu: Gpu, pattern: str, offset: int) -> None:
    at = PATTERNS[pattern]
    text = f"""again:
    LDS.U.32 R5, [R4+{offset:#x}]
    LDS.U.32 R6, [R4+0x40]
    IADD R0, R0, R5
    IADD R0, R0, R6
    """
    out = gpu.run(HEAD + FILL + text + TWICE, at)
    a, bad = words_at(FILLED, at + offset)
    b, also = words_at(FILLED, at + 0x40)
    assert out.tolist() == (2 * (a + b)).astype(np.uint32).tolist()
    assert gpu.result.fault_count == 2 * (bad + also)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_wide_loads_of_shared_words(gpu: Gpu, pattern: str) -> None:
    at = PATTERNS[pattern] & ~15 if pattern != "misaligned" else PATTERNS[pattern]
    text = """again:
    LDS.U.128 R8, [R4]
    IADD R0, R0, R8
    IADD R0, R0, R9
    IADD R0, R0, R10
    IADD R0, R0, R11
    """
    out = gpu.run(HEAD + FILL + text + TWICE, at)
    total, bad = words_at(FILLED, at, 4)
    assert out.tolist() == (2 * total).astype(np.uint32).tolist()
    assert gpu.result.fault_count == 2 * bad


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("guard", ["", "@P1 "])
def test_stores_of_shared_words(gpu: Gpu, pattern: str, guard: str) -> None:
    at = PATTERNS[pattern]
    text = f"""again:
    LOP.AND R7, R1, 0x3
    ISETP.NE.AND P1, PT, R7, RZ, PT
    {guard}STS [R4], R1
    {guard}LDS.U.32 R5, [R4]
    SHL R6, R1, 0x4
    LDS.U.32 R6, [R6]
    IADD R0, R0, R6
    """
    out = gpu.run(HEAD + FILL + text + TWICE, at)
    memory = FILLED.copy()
    works = (LANE & 3 != 0) if guard else LANE >= 0
    good = (at % 4 == 0) & (at >= 0) & (at + 4 <= SHARED)
    for lane in LANE[works & good]:
        memory[at[lane] // 4] = lane
    assert out.tolist() == (2 * memory[4 * LANE]).astype(np.uint32).tolist()
    assert gpu.result.fault_count == 4 * int((works & ~good).sum())


GLOBAL = {
    "row": 4 * LANE,
    "two rows": 4 * (LANE & 15) + 2048 * (LANE >> 4),
    "over the end of a page": 4 * LANE + 0x1000 - 32,
    "page for each half": 4 * LANE + 0x1000 - 64,
    "alike": 0 * LANE + 8,
    "far apart": 380 * LANE,
    "far apart, some beyond": 400 * LANE,
    "unmapped": 4 * LANE + 0x3000 - 64,
    "misaligned": 4 * LANE + 1,
}


@pytest.mark.parametrize("pattern", GLOBAL)
@pytest.mark.parametrize("offset", [0, 0x80, -0x40])
def test_global_words(gpu: Gpu, pattern: str, offset: int) -> None:
    """The buffer has a place where the lower word of addresses wraps around: at 0x1000 of the data."""
    at = GLOBAL[pattern] + 0x40
    text = f"""
    IADD32I R8.CC, R4, {DATA & 0xFFFFFFFF:#x}
    MOV R9, RZ
    IADD.X R9, R9, RZ
again:
    LDG.E R5, [R8+{offset:#x}]
    IADD R0, R0, R5
    IADD32I R5, R5, 0x7
    STG.E [R8+{offset:#x}], R5
    """
    out = gpu.run(HEAD + text + TWICE, at)
    memory, total, faults = gpu.data.copy(), np.zeros(32, np.uint32), 0
    for _ in range(2):
        found, bad = words_at(memory, at + offset)
        total, faults = total + found, faults + 2 * bad
        where = at + offset
        good = (where % 4 == 0) & (where >= 0) & (where + 4 <= 4 * len(memory))
        memory[where[good] // 4] = found[good] + np.uint32(7)
    assert out.tolist() == total.tolist()
    assert gpu.result.fault_count == faults
    assert gpu.memory.read(DATA, 4 * len(memory)) == memory.tobytes()


@pytest.mark.parametrize("closed", [4, 64, 2048, 4092])
@pytest.mark.parametrize("past", [-64, -4, 0, 4, 60, 64, 128])
def test_global_words_up_to_a_closed_place(gpu: Gpu, closed: int, past: int) -> None:
    """Words side by side in a loop; the last one ends `past` bytes after the place that threads do not reach."""
    size = len(gpu.data) * 4 - closed
    start = size + past - 128
    text = f"""
    SHL R8, R1, 0x2
    IADD32I R8.CC, R8, {(DATA + start) & 0xFFFFFFFF:#x}
    MOV R9, {(DATA + start) >> 32:#x}
    IADD.X R9, R9, RZ
again:
    LDG.E R5, [R8]
    IADD R0, R0, R5
    IADD32I R5, R5, 0x7
    STG.E [R8], R5
    """
    gpu.memory.close_after(gpu.mapping, SIZE - closed)
    try:
        out = gpu.run(HEAD + text + TWICE, np.zeros(32, np.int64))
    finally:
        gpu.memory.close_after(gpu.mapping, SIZE)
    memory, total = gpu.data.copy(), np.zeros(32, np.uint32)
    good = start + 4 * LANE < size
    places = (start + 4 * LANE[good]) // 4
    for _ in range(2):
        total[good] += memory[places]
        memory[places] += np.uint32(7)
    assert out.tolist() == total.tolist()
    assert gpu.result.fault_count == 4 * int((~good).sum()) == past // 4 * 4 * (past > 0)
    assert gpu.memory.read(DATA, 4 * len(memory)) == memory.tobytes()


@pytest.mark.parametrize("step", [0x40, 0x7C, 0x80, 0x82, 0x1000])
@pytest.mark.parametrize("varied", [False, True])
def test_rows_that_move(gpu: Gpu, step: int, varied: bool) -> None:
    """A loop adds the same to all addresses, or less to one of them: across pages, and beyond the end."""
    rounds = 12
    text = f"""
    SHL R8, R1, 0x2
    IADD32I R8.CC, R8, {DATA + 0x1F00 & 0xFFFFFFFF:#x}
    MOV R9, {DATA + 0x1F00 >> 32:#x}
    IADD.X R9, R9, RZ
again:
    LDG.E R5, [R8]
    IADD R0, R0, R5
    IADD R8.CC, R8, {"R4" if varied else f"{step:#x}"}
    IADD.X R9, R9, RZ
    IADD32I R12, R12, 0x1
    ISETP.LT.AND P0, PT, R12, {rounds:#x}, PT
    @P0 BRA `(again)
    STG.E [R2], R0
    EXIT
    """
    steps = np.where(LANE == 9, 4, step) if varied else np.full(32, step)
    out = gpu.run(HEAD + text, steps)
    total, faults = np.zeros(32, np.uint32), 0
    for number in range(rounds):
        found, bad = words_at(gpu.data, 0x1F00 + 4 * LANE + steps * number)
        total, faults = total + found, faults + bad
    assert out.tolist() == total.tolist() and gpu.result.fault_count == faults


BARRIERS = """
    IADD32I R8, R1, 0x100
    IADD32I R9, R1, 0x200
    XMAD R10, R1, R1, RZ
    SHL R5, R1, 0x2
    LOP.XOR R6, R5, 0x80
    LOP.AND R7, R1, 0x3
    ISETP.EQ.AND P1, PT, R7, RZ, PT
    STS [R5], R1
again:
    BAR.SYNC 0x0
    LDS.U.32 R11, [R6]
    IADD R0, R0, R11
    BAR.SYNC 0x0
    @P1 IADD32I R9, R9, 0x10
    SSY `(meet)
    @P1 BRA `(some)
    IADD R8, R8, R12
    SYNC
some:
    IADD R10, R10, R11
    SYNC
meet:
    BAR.SYNC 0x0
    STS [R5], R0
    IADD32I R12, R12, 0x1
    ISETP.LT.AND P0, PT, R12, 0x5, PT
    @P0 BRA `(again)
    BAR.SYNC 0x0
    IADD R0, R0, R8
    XMAD R9, R9, 0x5, R10
    IADD R0, R0, R9
    STG.E [R2], R0
    EXIT
"""


@pytest.mark.parametrize("turn", [None, 1, 7, 30])
def test_registers_over_barriers(gpu: Gpu, turn: int | None) -> None:
    """With turns so short that most loops are taken up again from the record."""
    if turn is not None:
        gpu.launcher.slice, gpu.launcher.turns = turn, 4
    out = gpu.run(HEAD + BARRIERS, np.zeros(64), 64)
    thread = np.arange(64, dtype=np.uint32)
    r8, r9, r10, r0, shared = thread + 0x100, thread + 0x200, thread * thread, thread * 0, thread.copy()
    some = (thread & 3) == 0
    for n in range(5):
        other = shared[thread ^ 32]
        r0 = r0 + other
        r9, r8, r10 = r9 + 0x10 * some, r8 + n * ~some, r10 + other * some
        shared = r0.copy()
    assert out.tolist() == (r0 + r8 + r9 * 5 + r10).astype(np.uint32).tolist()
    assert not gpu.events


def flow(text: str) -> Any:
    return flow_of(assemble(text).code, 0, ())


def test_registers_stay_in_the_record_where_nothing_comes_again_before_a_barrier() -> None:
    found = flow(HEAD + BARRIERS)
    places = Residence(found)
    after = [b.number for b in found.blocks if b.first and found.steps[b.first - 1].op == "BAR"]
    assert all(places.recorded(number) and not places.local[number] for number in after)
    stored = [places.barrier(n, n + 1) for n, b in enumerate(found.blocks) if found.steps[b.last].op == "BAR"]
    # The second one stores those two that changed, the address not again.
    assert {n for n in range(16) if stored[1] >> n & 1} == {0, 11}


def test_only_what_repeats_is_quick() -> None:
    found = flow(HEAD + FILL + "again:\n LDS.U.32 R5, [R4]\n LDS.U.32 R6, [R4+0x8]\n IADD R0, R5, R6\n" + TWICE)
    loop = [b for b in found.blocks if b.number in found.repeated]
    assert [found.steps[b.first].op for b in loop] == ["LDS"]
    quick = accesses(found.steps, loop[0].body)
    # The first one asks for both.
    assert [(a.asks, a.low, a.high) for a in quick.values()] == [(True, 0, 8), (False, 8, 8)]


@pytest.mark.parametrize("first", [0xF90, 0xFC0, 0xFE0, 0x1F90])
def test_a_row_over_two_pages_is_stored_and_both_are_stamped(gpu: Gpu, first: int) -> None:
    """The pages lie in the arena one after the other, so a row may go on in the next one."""
    text = """
    IADD R6.CC, R2, R4
    IADD.X R7, RZ, R3
again:
    STG.E [R6], R1
    """
    before = [gpu.memory.newest(gpu.memory.offset_of(LOW + n * 0x1000, 1) or 0, 1) for n in range(4)]
    gpu.run(HEAD + text + TWICE.replace("STG.E [R2], R0", "NOP"), np.full(32, first))
    assert np.frombuffer(gpu.memory.read(TABLE + first, 128), "<u4").tolist() == list(range(32))
    after = [gpu.memory.newest(gpu.memory.offset_of(LOW + n * 0x1000, 1) or 0, 1) for n in range(4)]
    written = {first >> 12, (first + 127) >> 12}
    assert {n for n in range(1, 4) if after[n] != before[n]} == written - {0}
    assert not gpu.result.faults
