"""Divergence, barriers, hangs and faults of assembled programs, the same on both evaluators and both executors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.sass_gpu import SassGpu

from pocketgpu.maxwell.sass import decode_program
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code

BUFFER, SIZE = 0x1_0000_0000, 8192
Run = Callable[..., NDArray[np.uint32]]
# R2:R3 is the address of the thread's own word; tail stores R0 there.
HEAD = """
    S2R R1, SR_TID.X
    SHL R2, R1, 0x2
    IADD R2.CC, R2, c[0x0][0x140]
    IADD.X R3, RZ, c[0x0][0x144]
"""
TAIL = """
    STG.E [R2], R0
    EXIT
"""


class Gpu(SassGpu):
    """A memory with a buffer that programs write."""

    def __init__(self, evaluator: str, tier: str) -> None:
        super().__init__(evaluator, tier)
        self.memory.map(BUFFER, SIZE)

    def run(self, text: str, threads: int = 32, grid: int = 1, **options: Any) -> NDArray[np.uint32]:
        bank = bytearray(0x160)
        bank[0:8] = (0x0100_0000).to_bytes(4, "little") + (0x0200_0000).to_bytes(4, "little")
        bank[0x140:0x148] = BUFFER.to_bytes(8, "little")
        bank[0x148:0x14C] = options.pop("constant", 0).to_bytes(4, "little")
        code = Code("test", assemble(text).code, 16, indirect=options.pop("indirect", ()))
        shared, local = options.pop("shared", 0), options.pop("local", 0)
        self.result = self.launcher.launch(
            code, (grid,), (threads,), {0: bytes(bank)}, shared, local, tier=self.tier, **options
        )
        return np.frombuffer(self.memory.read(BUFFER, SIZE), "<u4")[:threads]

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(event.kind, event.message) for event in self.events]


@pytest.fixture(params=["llvm specialised", "llvm interpreter", "numpy specialised", "numpy interpreter"])
def gpu(request: pytest.FixtureRequest) -> Iterator[Gpu]:
    yield Gpu(*request.param.split())


LANES = np.arange(32, dtype=np.uint32)


def test_sides_of_a_branch_meet_at_the_sync_point(gpu: Gpu) -> None:
    out = gpu.run(
        HEAD
        + """
    LOP.AND R4, R1, 0x1
    ISETP.EQ.AND P0, PT, R4, RZ, PT
    SSY `(meet)
    @P0 BRA `(even)
    MOV32I R0, 0x11
    SYNC
even:
    MOV32I R0, 0x22
    SYNC
meet:
    VOTE.ALL R5, PT, PT
    LOP.XOR R0, R0, R5
"""
        + TAIL
    )
    # After the sync point all lanes vote together again.
    assert out.tolist() == [(0x11 if i & 1 else 0x22) ^ 0xFFFFFFFF for i in range(32)]


def test_lanes_leave_a_loop_one_by_one(gpu: Gpu) -> None:
    out = gpu.run(
        HEAD
        + """
    MOV R0, RZ
    PBK `(out)
again:
    ISETP.GE.AND P0, PT, R0, R1, PT
    @P0 BRK
    IADD32I R0, R0, 0x1
    BRA `(again)
out:
    VOTE.ANY R5, PT, PT
    LOP.AND R5, R5, 0x7f
    ISCADD R0, R0, R5, 0x8
"""
        + TAIL
    )
    assert out.tolist() == [(i << 8) + 0x7F for i in range(32)]


def test_continue_and_calls(gpu: Gpu) -> None:
    out = gpu.run(
        HEAD
        + """
    MOV R0, RZ
    MOV R4, RZ
    PBK `(out)
again:
    PCNT `(next)
    LOP.AND R5, R4, 0x1
    ISETP.EQ.AND P0, PT, R5, RZ, PT
    @P0 CONT
    CAL `(add)
    CONT
next:
    IADD32I R4, R4, 0x1
    ISETP.GT.AND P1, PT, R4, R1, PT
    @P1 BRK
    BRA `(again)
add:
    IADD R0, R0, R4
    RET
out:
"""
        + TAIL
    )
    assert out.tolist() == [sum(n for n in range(i + 1) if n & 1) for i in range(32)]


def test_threads_that_ended_do_not_vote_or_wait(gpu: Gpu) -> None:
    out = gpu.run(
        HEAD
        + """
    ISETP.GE.AND P0, PT, R1, 0x28, PT
    MOV32I R0, 0x5
    @P0 EXIT
    BAR.SYNC 0x0
    VOTE.ALL R0, PT, PT
"""
        + TAIL,
        threads=64,
    )
    assert out[:40].tolist() == [0xFFFFFFFF] * 32 + [0xFF] * 8 and not out[40:].any()


def test_barrier_lets_warps_see_each_others_stores(gpu: Gpu) -> None:
    out = gpu.run(
        HEAD
        + """
    SHL R4, R1, 0x2
    STS [R4], R1
    BAR.SYNC 0x0
    LOP.XOR R4, R4, 0x1fc
    LDS R0, [R4]
"""
        + TAIL,
        threads=128,
        shared=512,
    )
    assert out.tolist() == [i ^ 127 for i in range(128)]


def test_reduction_at_a_barrier(gpu: Gpu) -> None:
    out = gpu.run(
        HEAD
        + """
    ISETP.LT.AND P0, PT, R1, 0x25, PT
    BAR.RED.POPC 0x0, P0
    B2R.RESULT R0
    BAR.RED.AND 0x0, P0
    B2R.RESULT RZ, P1
    BAR.RED.OR 0x0, P0
    B2R.RESULT RZ, P2
    @P1 IADD32I R0, R0, 0x100
    @P2 IADD32I R0, R0, 0x200
"""
        + TAIL,
        threads=96,
    )
    assert out.tolist() == [0x200 + 0x25] * 96


def test_endless_loop_is_a_hang_that_names_it(gpu: Gpu) -> None:
    out = gpu.run(
        HEAD
        + """
    MOV32I R0, 0x7
    STG.E [R2], R0
again:
    IADD32I R4, R4, 0x1
    BRA `(again)
""",
        limit=1000,
    )
    assert out.tolist() == [7] * 32 and gpu.result.hung
    assert gpu.told == [("hang", "test: the loop from 0x0048 to 0x0050 does not end; block (0, 0, 0)")]


@pytest.mark.parametrize("before", ["", "BAR.SYNC 0x0"])
def test_lanes_that_wait_for_their_own_wait_are_a_hang(gpu: Gpu, before: str) -> None:
    """The stack leads back to where it was filled; registers are kept over the turns."""
    out = gpu.run(
        HEAD
        + f"""
    MOV32I R0, 0x7
    {before}
    STG.E [R2], R0
again:
    IADD32I R0, R0, 0x1
    SSY `(again)
    SYNC
""",
        limit=1000,
    )
    assert out.tolist() == [7] * 32 and gpu.result.hung
    assert all(kind == "hang" for kind, _ in gpu.told)


def test_barrier_that_nobody_joins_is_a_hang(gpu: Gpu) -> None:
    gpu.run(
        HEAD
        + """
    ISETP.LT.AND P0, PT, R1, 0x20, PT
    @P0 BRA `(other)
    BAR.SYNC 0x1, 0x40
    EXIT
other:
    BAR.SYNC 0x2, 0x40
    EXIT
""",
        threads=64,
    )
    assert gpu.result.hung and [kind for kind, _ in gpu.told] == ["hang", "hang"]
    assert {"barrier 1", "barrier 2"} == {text[text.index("barrier") :][:9] for _, text in gpu.told}


def test_wild_address_is_a_fault_with_its_place(gpu: Gpu) -> None:
    out = gpu.run(
        HEAD
        + """
    MOV32I R0, 0x9
    ISETP.EQ.AND P0, PT, R1, 0x3, PT
    @P0 MOV32I R5, 0x7f
    @!P0 MOV R5, R3
    MOV R4, R2
    LDG.E R0, [R4]
    IADD32I R0, R0, 0x1
"""
        + TAIL
    )
    assert out.tolist() == [1] * 32  # what cannot be reached reads as zero
    message = "test+0x0068 (LDG): nothing is mapped at 0x7f0000000c; block (0, 0, 0), thread (3, 0, 0)"
    assert gpu.told == [("fault", message)]


def test_misaligned_and_outside_of_shared_memory(gpu: Gpu) -> None:
    gpu.run(HEAD + "    LDG.E.64 R4, [R2]\n    STS [R1+0x40], R1\n" + TAIL, threads=2, shared=64)
    texts = [text.partition(": ")[2].partition(";")[0] for _, text in gpu.told]
    assert texts == ["0x100000004 is no multiple of 8", "0x40 is outside of shared memory", "0x41 is no multiple of 4"]


def test_recursion_without_end_is_a_fault(gpu: Gpu) -> None:
    gpu.run(HEAD + "deep:\n    CAL `(deep)\n" + TAIL, threads=1, limit=5000)
    assert any(kind == "fault" and "divergence stack" in text for kind, text in gpu.told)


@pytest.mark.parametrize("gpu", ["llvm specialised", "llvm interpreter"], indirect=True)
def test_steps_of_all_warps_are_counted(gpu: Gpu) -> None:
    """A loop of three instructions that each warp runs as often as its number says, in turns of few steps."""
    gpu.launcher.slice = 7
    text = "S2R R1, SR_VIRTID\nSHL R1, R1, 0x2\nagain:\nIADD32I R1, R1, -0x1\nISETP.GE.AND P0, PT, R1, RZ, PT\n"
    gpu.run(text + "@P0 BRA `(again)\nEXIT\n", threads=64 + 5, limit=1000)
    rounds = [1, 1 + 4, 1 + 8]
    assert gpu.result.steps == sum(3 + 3 * n for n in rounds) and not gpu.told
    gpu.run(text + "@P0 BRA `(again)\nEXIT\n", threads=64 + 5, limit=1000, count=True)
    assert gpu.result.lane_steps == sum(lanes * (3 + 3 * n) for n, lanes in zip(rounds, (32, 32, 5), strict=True))


@pytest.mark.parametrize("gpu", ["llvm specialised", "llvm interpreter"], indirect=True)
def test_warps_that_hang_at_one_place_are_told_once(gpu: Gpu) -> None:
    """One line for the loop of two warps, one for that of a third; a warp that has ended is left out."""
    gpu.run(
        HEAD
        + """
    ISETP.LT.AND P0, PT, R1, 0x20, PT
    @P0 EXIT
    ISETP.LT.AND P1, PT, R1, 0x60, PT
    @P1 BRA `(first)
second:
    BRA `(second)
first:
    BRA `(first)
""",
        threads=128,
        limit=100,
    )
    assert gpu.result.hung and [kind for kind, _ in gpu.told] == ["hang", "hang"]
    assert len(set(gpu.told)) == 2 and all("does not end" in text for _, text in gpu.told)


PAD = 12
"""Instructions of a landing pad, four bundles: number n adds 1 << n to R0."""


def onto_a_pad(jump: str, before: str = "") -> tuple[str, range]:
    """(a program that jumps by R4 to a word of a pad, code addresses of the words of the pad).

    jump: BRX or JMX, with its guard. before: code that may change R4, the bytes from the pad's beginning on.
    """
    head = HEAD + "    MOV32I R0, 0x10000\n    LOP.AND R4, R1, 0xf\n    SHL R4, R4, 0x3\n" + before
    program = decode_program(assemble(head + f"    {jump} R4 0x0\n").code)
    at = next(n for n in range(len(program)) if program[n].op in ("BRX", "JMX"))
    start = (at // 3 + 1) * 32
    counted_from = program[at].address + 8 if program[at].op == "BRX" else 0
    lines = [f"{jump} R4 {start - counted_from:#x}", *["NOP"] * (2 - at % 3)]
    lines += [f"IADD32I R0, R0, {1 << n:#x}" for n in range(PAD)]
    return head + "".join(f"    {line}\n" for line in lines) + TAIL, range(start, start + PAD // 3 * 32, 8)


def landed(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """R0 of lanes that jumped to a word of the pad: that of a control word leads to the instruction after it."""
    place = words // 4 * 3 + np.maximum(words % 4, 1) - 1
    return 0x10000 + (1 << PAD) - (1 << place)


@pytest.mark.parametrize("gpu", ["llvm specialised", "llvm interpreter", "numpy specialised"], indirect=True)
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("jump", ["BRX", "JMX"])
def test_jumps_to_every_word_of_some_bundles(gpu: Gpu, jump: str, listed: bool) -> None:
    """Each lane goes where its register says, whether the table of jumps is known before or not."""
    text, places = onto_a_pad(jump)
    out = gpu.run(text, indirect=tuple(places) if listed else ())
    assert out.tolist() == landed(LANES & 15).tolist() and not gpu.told


@pytest.mark.parametrize("gpu", ["llvm specialised", "llvm interpreter"], indirect=True)
def test_a_jump_by_register_under_a_guard(gpu: Gpu) -> None:
    """Lanes that do not jump go on after it: here with all of the pad."""
    text, _ = onto_a_pad("@P0 BRX", "    ISETP.LT.AND P0, PT, R1, 0xb, PT\n")
    out = gpu.run(text)
    assert out.tolist() == landed(np.where(LANES < 11, LANES & 15, 0)).tolist() and not gpu.told


@pytest.mark.parametrize("gpu", ["llvm specialised", "llvm interpreter"], indirect=True)
@pytest.mark.parametrize("wrong", [4, 1, -0x4000, 0x4000])
def test_jumps_to_where_no_instruction_is(gpu: Gpu, wrong: int) -> None:
    """A lane with an address between two words or outside of the code is lost with a fault, and no other one."""
    before = f"    ISETP.EQ.AND P0, PT, R1, 0x5, PT\n    @P0 IADD32I R4, R4, {wrong & 0xFFFFFFFF:#x}\n"
    text, _ = onto_a_pad("BRX", before)
    out = gpu.run(text)
    assert out.tolist() == np.where(LANES == 5, 0, landed(LANES & 15)).tolist()
    (fault,) = gpu.told
    assert fault[0] == "fault" and "(BRX)" in fault[1] and "thread (5, 0, 0)" in fault[1]


@pytest.mark.parametrize("gpu", ["llvm specialised", "llvm interpreter"], indirect=True)
def test_the_first_and_last_instruction_of_a_program_can_be_jumped_to(gpu: Gpu) -> None:
    """The first one is at 8 and at 0; right after the last one nothing is."""
    text = """
    S2R R1, SR_TID.X
    ISETP.EQ.AND P0, PT, R1, RZ, PT
    MOV R4, c[0x0][0x148]
    JMX R4 0x0
    NOP
    EXIT
"""
    size = len(assemble(text).code)
    assert size == 64
    for address, told in ((size - 8, 0), (size, 1)):
        gpu.events.clear()
        gpu.run(text, constant=address)
        assert len(gpu.told) == told and not gpu.result.hung
    gpu.run(text, constant=0, limit=60)
    assert gpu.result.hung


def test_a_block_that_waits_for_a_later_one_goes_on(gpu: Gpu) -> None:
    """Block 0 spins until block 1 has written; it is put aside and taken up again."""
    gpu.launcher.slice, gpu.launcher.turns = 16, 2
    out = gpu.run(
        HEAD
        + """
    S2R R4, SR_CTAID.X
    ISETP.EQ.AND P0, PT, R4, RZ, PT
    MOV R6, c[0x0][0x140]
    MOV R7, c[0x0][0x144]
    MOV32I R0, 0x1
    @!P0 BRA `(second)
wait:
    LDG.E R5, [R6+0x100]
    ISETP.EQ.AND P1, PT, R5, RZ, PT
    @P1 BRA `(wait)
    MOV R0, R5
    STG.E [R2], R0
    EXIT
second:
    MOV32I R0, 0x2a
    STG.E [R6+0x100], R0
    EXIT
""",
        threads=1,
        grid=2,
        limit=1000,
    )
    assert out[0] == 0x2A and not gpu.result.hung
