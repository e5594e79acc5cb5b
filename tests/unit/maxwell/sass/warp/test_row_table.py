"""Rows of warps whose addresses are added once for all of them: what the warps' registers hold when the row is left.

The program adds to addresses in other registers than they were in, uses the same registers for data in between, and
stores the addresses of all lanes in the end. It is held to a model, by both evaluators and both executors.
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
from pocketgpu.maxwell.sass.warp.row_table import RowTable

IN, OUT = 0x1_FFFF_E000, 0x3_0010_0000
"""The lower words of addresses of the input overflow in the middle of it."""
SIZE = 0x4000
ROUNDS = 3
# R3: the thread; R4:R5: its word of the input; R6: its word of shared memory; R8: bytes of a step, in a register; R10:
# the sum; R11: the round. R16:R17 is the address after a step in other registers, and data in between.
PROGRAM = """
    S2R R1, SR_TID.X
    S2R R2, SR_TID.Y
    XMAD R3, R2, c[0x0][0x8], R1
    SHL R6, R3, 0x2
    MOV R8, c[0x0][0x150]
    IADD R4.CC, R6, c[0x0][0x140]
    IADD.X R5, RZ, c[0x0][0x144]
    MOV R10, RZ
    MOV R11, RZ
again:
    LDG.E R16, [R4]
    STS [R6], R16
    IADD32I R11, R11, 0x1
    BAR.SYNC 0x0
    LDS.U.32 R17, [R6]
    IADD R10, R10, R17
    IADD R16.CC, R4, R8
    IADD.X R17, RZ, R5
    BAR.SYNC 0x0
    LDG.E R13, [R16+0x80]
    STS [R6], R13
    IADD R16.CC, R16, c[0x0][0x150]
    IADD.X R17, RZ, R17
    BAR.SYNC 0x0
    LDS.U.32 R13, [R6]
    IADD R10, R10, R13
    ISETP.LT.AND P0, PT, R11, c[0x0][0x154], PT
    IADD R4.CC, R16, -0x40
    IADD.X R5, R17, -0x1
{more}
    BAR.SYNC 0x0
    @P0 BRA `(again)
    IADD R14.CC, R6, c[0x0][0x148]
    IADD.X R15, RZ, c[0x0][0x14c]
    STG.E [R14], R10
    STG.E [R14+0x1000], R4
    STG.E [R14+0x2000], R5
    STG.E [R14+0x3000], R16
    EXIT
"""
OFFSET, BACK = 0x80, -0x40
"""What the program adds to addresses besides."""


class Gpu(SassGpu):
    def __init__(self, evaluator: str, tier: str) -> None:
        super().__init__(evaluator, tier)
        self.input = self.memory.map(IN, SIZE)
        self.memory.map(OUT, SIZE)

    def run(self, threads: int, data: NDArray[np.int32], step: int, more: str = "") -> list[list[int]]:
        self.memory.write(IN, data.tobytes())
        bank = bytearray(0x160)
        bank[8:12] = (16).to_bytes(4, "little")
        numbers = np.array([IN, OUT], np.uint64).tobytes() + np.array([step, ROUNDS], np.uint32).tobytes()
        bank[0x140:0x158] = numbers
        code = Code("test", assemble(PROGRAM.format(more=more)).code, 32)
        block = (16, threads // 16)
        self.result = self.launcher.launch(code, (1,), block, {0: bytes(bank)}, 4 * threads, tier=self.tier)
        out = np.frombuffer(self.memory.read(OUT, SIZE), np.int32).reshape(4, -1)
        return [row[:threads].tolist() for row in out]


@pytest.fixture(params=FORMS)
def gpu(request: pytest.FixtureRequest) -> Iterator[Gpu]:
    yield Gpu(*request.param.split())


def _model(threads: int, data: NDArray[np.int32], step: int, reached: int = SIZE) -> list[list[int]]:
    words = np.zeros(2 * SIZE, np.int32)
    words[: reached // 4] = data[: reached // 4]
    address, other = IN + 4 * np.arange(threads), np.zeros(threads, np.int64)
    total = np.zeros(threads, np.int32)
    for _ in range(ROUNDS):
        total += words[(address - IN) // 4]
        other = address + step
        total += words[(other + OFFSET - IN) // 4]
        other = other + step
        address = other + BACK
    words = [(v & 0xFFFFFFFF).astype(np.uint32).view(np.int32) for v in (address, address >> 32, other)]
    return [row.tolist() for row in (total, *words)]


@pytest.mark.parametrize("step", [0x40, 0x400, 0x600])
@pytest.mark.parametrize("threads", [64, 128, 256, 576, 1024, 96])
def test_registers_when_the_row_is_left(gpu: Gpu, threads: int, step: int) -> None:
    data = np.random.default_rng(threads).integers(-(1 << 20), 1 << 20, SIZE // 4).astype(np.int32)
    assert gpu.run(threads, data, step) == _model(threads, data, step)
    assert not gpu.events and not gpu.result.faults


def test_half_of_an_address_is_written(gpu: Gpu) -> None:
    """The other half, which only the table has, is read as a number then."""
    data = np.arange(SIZE // 4, dtype=np.int32)
    found, wanted = gpu.run(128, data, 0x400, "MOV R16, R11\nIADD R10, R10, R17"), _model(128, data, 0x400)
    others = [(IN + 4 * np.arange(128) + (n + 1) * 2 * 0x400 + n * BACK) >> 32 for n in range(ROUNDS)]
    assert found[0] == (np.array(wanted[0]) + sum(others)).tolist()
    assert found[1:] == [*wanted[1:3], [ROUNDS] * 128]


@pytest.mark.parametrize("turn", [1, 30, 100])
def test_turns_end_in_the_middle(gpu: Gpu, turn: int) -> None:
    gpu.launcher.slice = turn
    data = np.arange(SIZE // 4, dtype=np.int32)
    assert gpu.run(256, data, 0x400) == _model(256, data, 0x400)


@pytest.mark.parametrize("left", [4, 60, 64, 1000])
def test_a_row_that_leaves_the_memory(gpu: Gpu, left: int) -> None:
    """Some threads reach past what is mapped for them: they read zero, and each fault is noted."""
    data = np.arange(1, SIZE // 4 + 1, dtype=np.int32)
    last = (2 * ROUNDS - 1) * 0x400 + (ROUNDS - 1) * BACK + OFFSET + 4 * 256
    gpu.memory.close_after(gpu.input, last - left)
    assert gpu.run(256, data, 0x400) == _model(256, data, 0x400, last - left)
    assert gpu.result.fault_count == left // 4


def test_sums_are_done_once_for_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stretch runs for all warps, and each has one sum, which is not among the warps' own steps."""
    together: list[tuple[int, int, bool]] = []
    prepare = RowTable.prepare

    def prepared(self: RowTable, stretch: Any) -> Any:
        good = prepare(self, stretch)
        together.append((stretch.first, len(self.plans[stretch.first].sums), bool(good.raw)))
        return good

    monkeypatch.setattr(RowTable, "prepare", prepared)
    gpu = Gpu("numpy", "specialised")
    data = np.arange(SIZE // 4, dtype=np.int32)
    assert gpu.run(128, data, 0x400) == _model(128, data, 0x400)
    assert len({first for first, _, _ in together}) == 4
    assert all(good for _, _, good in together)
    assert {sums for _, sums, _ in together} == {0, 1}


# Warps read a word that one of them writes without a barrier. So those before it and itself have R20 = 0, those after
# it 1, and run one round less. R6: the thread's word; R10: the sum; R11: the round; R12: rounds.
PARTING = """
    S2R R1, SR_TID.X
    S2R R2, SR_TID.Y
    XMAD R3, R2, 0x10, R1
    SHL R6, R3, 0x2
    MOV32I R7, 0x1
    LDS.U.32 R20, [{word}]
    STS [R6], R7
    MOV32I R12, 0x4
    IADD R12, R12, -R20
    MOV R10, RZ
    MOV R11, RZ
    BAR.SYNC 0x0
again:
    IADD32I R11, R11, 0x1
    LDS.U.32 R13, [R6]
    IADD R10, R10, R13
    BAR.SYNC 0x0
    LDS.U.32 R13, [R6]
    IADD R10, R10, R13
    BAR.SYNC 0x0
    ISETP.LT.AND P0, PT, R11, R12, PT
    @P0 BRA `(again)
    IADD R14.CC, R6, c[0x0][0x148]
    IADD.X R15, RZ, c[0x0][0x14c]
    STG.E [R14], R10
    EXIT
"""


@pytest.mark.parametrize("writer", range(8))
def test_warps_part_in_the_middle_of_a_row(gpu: Gpu, writer: int) -> None:
    bank = bytearray(0x160)
    bank[0x148:0x150] = OUT.to_bytes(8, "little")
    code = Code("test", assemble(PARTING.format(word=hex(128 * writer))).code, 32)
    gpu.launcher.launch(code, (1,), (16, 16), {0: bytes(bank)}, 1024, tier=gpu.tier)
    out = np.frombuffer(gpu.memory.read(OUT, 1024), np.int32).reshape(8, 32)
    assert out.tolist() == [[2 * (4 if warp <= writer else 3)] * 32 for warp in range(8)]
    assert not gpu.events


# Each round adds a word at a fixed place, and the thread's own word. R255 is no register of the records.
FIXED = """
    S2R R1, SR_TID.X
    S2R R2, SR_TID.Y
    XMAD R3, R2, 0x10, R1
    SHL R6, R3, 0x2
    MOV R10, RZ
    MOV R11, RZ
    STS [R6], R3
    BAR.SYNC 0x0
again:
    LDS.U.32 R13, [R6]
    LDS.U.32 R14, [0x104]
    LDS.U.32 R15, [0x108]
    IADD R10, R10, R13
    IADD R10, R10, R14
    IADD R10, R10, R15
    IADD32I R11, R11, 0x1
    ISETP.LT.AND P0, PT, R11, 0x4, PT
    BAR.SYNC 0x0
    @P0 BRA `(again)
    IADD R14.CC, R6, c[0x0][0x148]
    IADD.X R15, RZ, c[0x0][0x14c]
    STG.E [R14], R10
    EXIT
"""


def test_words_at_fixed_places(gpu: Gpu) -> None:
    bank = bytearray(0x160)
    bank[0x148:0x150] = OUT.to_bytes(8, "little")
    code = Code("test", assemble(FIXED).code, 32)
    gpu.launcher.launch(code, (3,), (16, 16), {0: bytes(bank)}, 1024, tier=gpu.tier)
    out = np.frombuffer(gpu.memory.read(OUT, 1024), np.int32)
    assert out.tolist() == [4 * (n + 0x41 + 0x42) for n in range(256)]
    assert not gpu.events
