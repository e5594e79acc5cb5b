"""Two warps at once from one barrier to the next: which stretches get a form for that, and that all forms agree.

The program is a small product of matrices: rows of 16 threads, tiles in shared memory. It is held to a model, by both
evaluators and both executors, for blocks that the form fits, partly fits and does not fit.
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
from pocketgpu.maxwell.sass.warp import pairs
from pocketgpu.maxwell.sass.warp.row_table import RowTable

IN, OUT = 0x1_0000_0000, 0x1_0010_0000
ROUNDS = 6
SHARED = 0x1100
# R1, R2: x and y; R3: the thread; R4:R5: its word of the input; R6: its word of shared memory; R7: the word of its
# column, R8: that of its row; R9: bytes of a round; R10: the sum; R11: the round.
PROGRAM = """
    S2R R1, SR_TID.X
    S2R R2, SR_TID.Y
    XMAD R3, R2, c[0x0][0x8], R1
    SHL R6, R3, 0x2
    SHL R7, R1, 0x2
    SHL R8, R2, {row}
    MOV R9, c[0x0][0x150]
    IADD R4.CC, R6, c[0x0][0x140]
    IADD.X R5, RZ, c[0x0][0x144]
    MOV R10, RZ
    MOV R11, RZ
again:
    LDG.E R12, [R4]
    STS [R6], R12
    IADD32I R11, R11, 0x1
    BAR.SYNC 0x0
    LDS.U.32 R13, [R7]
    LDS.U.128 R16, [R8]
    LDS.U.32 R14, [R7+0x40]
    FFMA R10, R13, R16, R10
    FFMA R10, R14, R17, R10
    BAR.SYNC 0x0
    ISETP.LT.AND P0, PT, R11, c[0x0][0x154], PT
    IADD R4.CC, R4, R9
    IADD.X R5, RZ, R5
    @P0 BRA `(again)
    IADD R14.CC, R6, c[0x0][0x148]
    IADD.X R15, RZ, c[0x0][0x14c]
    STG.E [R14], R10
    EXIT
"""
BLOCKS = [(16, 8), (16, 6), (16, 5), (16, 16), (16, 36), (16, 64), (32, 4), (8, 16)]


class Gpu(SassGpu):
    def __init__(self, evaluator: str, tier: str) -> None:
        super().__init__(evaluator, tier)
        self.input = self.memory.map(IN, 0x8000)
        self.memory.map(OUT, 0x1000)

    def run(self, block: tuple[int, int], data: NDArray[np.float32], **more: Any) -> NDArray[np.float32]:
        threads = block[0] * block[1]
        self.memory.write(IN, data.tobytes())
        bank = bytearray(0x160)
        bank[8:12] = block[0].to_bytes(4, "little")
        numbers = np.array([IN, OUT], np.uint64).tobytes() + np.array([4 * threads, ROUNDS], np.uint32).tobytes()
        bank[0x140:0x158] = numbers
        row = {8: 5, 16: 6, 32: 7}[block[0]]
        code = Code("test", assemble(PROGRAM.format(row=hex(row))).code, 32)
        self.result = self.launcher.launch(code, (1,), block, {0: bytes(bank)}, SHARED, tier=self.tier, **more)
        return np.frombuffer(self.memory.read(OUT, 4 * threads), np.float32)


@pytest.fixture(params=FORMS)
def gpu(request: pytest.FixtureRequest) -> Iterator[Gpu]:
    yield Gpu(*request.param.split())


def _model(block: tuple[int, int], data: NDArray[np.float32]) -> NDArray[np.float32]:
    """In f64 a product of f32 is exact; the sums of these small integers are, too."""
    x, y = block
    total = np.zeros(x * y)
    for tile in data.reshape(-1, x * y)[:ROUNDS].astype(np.float64):
        words = np.concatenate([tile, np.zeros(SHARED // 4)])
        thread = np.arange(x * y)
        total += words[thread % x] * words[thread // x * x] + words[thread % x + 16] * words[thread // x * x + 1]
    return total.astype(np.float32)


@pytest.mark.parametrize("block", BLOCKS)
def test_all_forms_agree(gpu: Gpu, block: tuple[int, int]) -> None:
    data = np.random.default_rng(block).integers(-9, 9, ROUNDS * block[0] * block[1]).astype(np.float32)
    assert gpu.run(block, data).tolist() == _model(block, data).tolist()
    steps = gpu.result.steps
    assert not gpu.events and not gpu.result.faults
    assert steps == -(-block[0] * block[1] // 32) * (11 + 14 * ROUNDS + 4)


@pytest.mark.parametrize("turn", [1, 20, 50])
def test_turns_end_in_the_middle(gpu: Gpu, turn: int) -> None:
    gpu.launcher.slice = turn
    block = (16, 8)
    data = np.arange(ROUNDS * 128, dtype=np.float32) % 7
    assert gpu.run(block, data).tolist() == _model(block, data).tolist() and not gpu.events


def test_what_memory_ends_in_a_round_faults(gpu: Gpu) -> None:
    """Threads reach all but the last bytes of the last round: what they load from there is zero."""
    block, data = (16, 8), np.ones(ROUNDS * 128, np.float32)
    reached = 4 * (ROUNDS * 128 - 20)
    gpu.memory.close_after(gpu.input, reached)
    out = gpu.run(block, data)
    cut = data.copy()
    cut[reached // 4 :] = 0
    assert out.tolist() == _model(block, cut).tolist()
    assert gpu.result.fault_count == 20
    gpu.memory.close_after(gpu.input, 0x8000)
    assert gpu.run(block, data).tolist() == _model(block, data).tolist() and not gpu.result.faults


def test_both_stretches_of_the_loop_run_in_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The form is there for the loop's code after each barrier, also across the branch back, and it is what runs."""
    found: list[list[pairs.Stretch]] = []
    together: list[bool] = []
    stretches, prepare = pairs.stretches, RowTable.prepare

    def noted(row: Any) -> list[pairs.Stretch]:
        found.append(stretches(row))
        return found[-1]

    def prepared(self: RowTable, stretch: pairs.Stretch) -> Any:
        good = prepare(self, stretch)
        together.append(bool(good.raw))
        return good

    monkeypatch.setattr("pocketgpu.maxwell.sass.warp.row.stretches", noted)
    monkeypatch.setattr(RowTable, "prepare", prepared)
    gpu = Gpu("numpy", "specialised")
    gpu.run((16, 8), np.ones(ROUNDS * 128, np.float32))
    assert [(len(one.blocks), len(one.branches), one.early) for one in found[0]] == [(1, 0, 5), (2, 1, 5)]
    assert together == [True] * (2 * ROUNDS)
