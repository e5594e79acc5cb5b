"""Warps of a block that run in a row: barriers at which they meet or do not, ends, turns, and who takes over from whom.

Each program is held to a model written here, on both evaluators and both executors.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.sass_gpu import FORMS, SassGpu

from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.launcher import Launcher
from pocketgpu.maxwell.sass.thread_memory.work import SlotLayout

TABLE = 0x1_0000_0000
THREADS = 96
# R1: thread; R2:R3: its word of the table; R5: its word of shared memory, R7: that of a thread of the next warp;
# R6: the warp.
HEAD = """
    S2R R1, SR_TID.X
    S2R R6, SR_VIRTID
    SHL R5, R1, 0x2
    IADD R2.CC, R5, c[0x0][0x140]
    IADD.X R3, RZ, c[0x0][0x144]
    IADD32I R7, R5, 0x80
    ISETP.GE.AND P2, PT, R7, 0x180, PT
    @P2 IADD32I R7, R7, -0x180
    MOV R0, RZ
    MOV R12, RZ
"""
TAIL = """
    STG.E [R2], R0
    EXIT
"""
Words = NDArray[np.uint32]
THREAD = np.arange(THREADS, dtype=np.uint32)
WARP = THREAD >> 5
NEXT = (THREAD + 32) % THREADS


class Late(Launcher):
    """The interpreter begins; specialised code takes over after so many calls."""

    late = 0

    def _function(
        self, code: Code, layout: SlotLayout, tier: str, count: bool, block: Sequence[int]
    ) -> Callable[[], tuple[int, int]]:
        if tier != "both":
            return super()._function(code, layout, tier, count, block)
        general = super()._function(code, layout, "interpreter", count, block)()
        special = super()._function(code, layout, "specialised", count, block)()
        ways = itertools.chain([general] * self.late, itertools.repeat((special[0], general[0])))
        return lambda: next(ways)


class Gpu(SassGpu):
    def __init__(self, evaluator: str, tier: str) -> None:
        super().__init__(evaluator, tier, Late)
        self.memory.map(TABLE, 0x1000)

    def run(self, text: str, threads: int = THREADS, **more: Any) -> Words:
        """What the threads leave in the table."""
        self.memory.write(TABLE, bytes(0x1000))
        bank = bytearray(0x160)
        bank[0x140:0x148] = TABLE.to_bytes(8, "little")
        code = Code("test", assemble(text).code, 16)
        self.result = self.launcher.launch(code, (1,), (threads,), {0: bytes(bank)}, 512, tier=self.tier, **more)
        return np.frombuffer(self.memory.read(TABLE, 4 * threads), "<u4")


@pytest.fixture(params=FORMS)
def gpu(request: pytest.FixtureRequest) -> Iterator[Gpu]:
    yield Gpu(*request.param.split())


TWO_BARRIERS = """
again:
    ISETP.EQ.AND P1, PT, R12, R6, PT
    @P1 BRA `(other)
    STS [R5], R0
    BAR.SYNC 0x0
    BRA `(on)
other:
    IADD32I R0, R0, 0x64
    STS [R5], R0
    BAR.SYNC 0x0
on:
    LDS.U.32 R8, [R7]
    BAR.SYNC 0x0
    IADD R0, R0, R8
    IADD R0, R0, R1
    IADD32I R12, R12, 0x1
    ISETP.LT.AND P0, PT, R12, 0x5, PT
    @P0 BRA `(again)
"""


@pytest.mark.parametrize("turn", [None, 1, 9, 60])
def test_warps_meet_by_different_instructions(gpu: Gpu, turn: int | None) -> None:
    """In three of five rounds one warp comes to the barrier elsewhere than the others."""
    if turn is not None:
        gpu.launcher.slice, gpu.launcher.turns = turn, 4
    out = gpu.run(HEAD + TWO_BARRIERS + TAIL)
    r0 = np.zeros(THREADS, np.uint32)
    for number in range(5):
        r0 = r0 + np.uint32(100) * (number == WARP)
        r0 = r0 + r0[NEXT] + THREAD
    assert out.tolist() == r0.tolist() and not gpu.events


@pytest.mark.parametrize("last", [0, 1, 2])
def test_a_warp_that_has_ended_is_not_waited_for(gpu: Gpu, last: int) -> None:
    text = f"""
    ISETP.EQ.AND P1, PT, R6, {last:#x}, PT
    MOV32I R0, 0x7
    @P1 BRA `(end)
    STS [R5], R1
    BAR.SYNC 0x0
    LDS.U.32 R0, [R7]
end:
    """
    out = gpu.run(HEAD + text + TAIL)
    waiting = last != WARP
    assert out.tolist() == np.where(waiting, np.where(WARP[NEXT] == last, 0, THREAD[NEXT]), 7).tolist()
    assert not gpu.events and not gpu.result.hung


@pytest.mark.parametrize("turn", [None, 10, 64])
def test_many_rounds_take_many_turns(gpu: Gpu, turn: int | None) -> None:
    rounds = 40
    text = f"""
again:
    STS [R5], R0
    BAR.SYNC 0x0
    LDS.U.32 R8, [R7]
    BAR.SYNC 0x0
    IADD R0, R8, R1
    IADD32I R12, R12, 0x1
    ISETP.LT.AND P0, PT, R12, {rounds:#x}, PT
    @P0 BRA `(again)
    """
    if turn is not None:
        gpu.launcher.slice = turn
    out = gpu.run(HEAD + text + TAIL)
    r0 = np.zeros(THREADS, np.uint32)
    for _ in range(rounds):
        r0 = r0[NEXT] + THREAD
    assert out.tolist() == r0.tolist()
    assert gpu.result.steps == 3 * (10 + 8 * rounds + 2) and not gpu.events


def test_an_endless_loop_around_a_barrier_is_a_hang(gpu: Gpu) -> None:
    gpu.launcher.slice = 50
    gpu.run(HEAD + "again:\n    IADD32I R0, R0, 0x1\n    BAR.SYNC 0x0\n    BRA `(again)\n" + TAIL, limit=2000)
    assert gpu.result.hung and {event.kind for event in gpu.events} == {"hang"}
    assert gpu.result.steps < 10 * 2000 * 3


def test_registers_of_each_warp_begin_as_zero(gpu: Gpu) -> None:
    """Only the first warp writes R9 and P3 before they are read."""
    text = """
    ISETP.EQ.AND P1, PT, R6, RZ, PT
    @P1 MOV32I R9, 0x5
    @P1 ISETP.EQ.AND P3, PT, R6, RZ, PT
    BAR.SYNC 0x0
    MOV R0, R9
    @P3 IADD32I R0, R0, 0x20
    """
    assert gpu.run(HEAD + text + TAIL).tolist() == np.where(WARP == 0, 0x25, 0).tolist()


@pytest.mark.parametrize("late", range(8))
def test_specialised_code_takes_over_at_barriers(late: int) -> None:
    """What the interpreter leaves at a barrier has no arithmetic done before its turn."""
    text = """
    I2F.F32.S32 R9, R1
again:
    STS [R5], R9
    BAR.SYNC 0x0
    LDS.U.32 R8, [R7]
    LDS.U.32 R10, [R5]
    MOV32I R11, 0x40000000
    BAR.SYNC 0x0
    FFMA R9, R8, R11, R10
    FADD R9, R9, 0.5
    IADD32I R12, R12, 0x1
    ISETP.LT.AND P0, PT, R12, 0x4, PT
    @P0 BRA `(again)
    MOV R0, R9
    """
    gpu = Gpu("llvm", "both")
    gpu.launcher.slice, gpu.launcher.turns, gpu.launcher.late = 9, 1, late
    code = Code("test", assemble(HEAD + text + TAIL).code, 16)
    assert any(code.flow.steps[i].op == "FFMA" for moved in code.flow.early.values() for i in moved)
    out = gpu.run(HEAD + text + TAIL).view(np.float32)
    x = THREAD.astype(np.float32)
    for _ in range(4):
        x = x[NEXT] * np.float32(2) + x + np.float32(0.5)
    assert out.tolist() == x.tolist() and not gpu.events


def test_nan_is_canonical_where_its_bits_are_read(gpu: Gpu) -> None:
    """A NaN with other bits goes through a barrier and through float operations before its word is stored."""
    text = """
    MOV32I R9, 0xffc00123
    FADD R9, R9, R1
    BAR.SYNC 0x0
    FADD R9, R9, 1.0
    BAR.SYNC 0x0
    FMUL R8, R9, R9
    BAR.SYNC 0x0
    IADD R0, R8, R9
    """
    assert gpu.run(HEAD + text + TAIL).tolist() == [2 * 0x7FFFFFFF] * THREADS
