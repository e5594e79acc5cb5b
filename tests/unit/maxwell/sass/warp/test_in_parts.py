"""Programs whose code is made in parts: the results of one piece, wherever control crosses from part to part."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fuzz import load
from support.sass_gpu import FORMS, SassGpu
from support.stage_case import PixelCase

from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.special_code import SpecialCode
from pocketgpu.maxwell.sass.program import parts
from pocketgpu.maxwell.sass.program.flow_of import flow_of
from pocketgpu.maxwell.sass.warp.row import run_warp

TABLE = 0x1_0000_0000
THREADS = 96


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Parts of a few instructions, with a cache of their own: the same code is whole elsewhere."""
    monkeypatch.setenv("POCKETGPU_CACHE", str(tmp_path))
    monkeypatch.setattr(parts, "LONGEST", 7)
    monkeypatch.setattr(parts, "PART", 6)
    flow_of.cache_clear()
    yield
    flow_of.cache_clear()


def test_random_programs_in_tiny_parts(tiny: None) -> None:
    """Branches, loops, calls, barriers, jumps anywhere and short turns, each against the interpreter."""
    counts = load("sass_programs").run(40, seed=7, specialised=16, numpy=4)
    assert (counts["cases"], counts["specialised"], counts["numpy"]) == (40, 16, 4)
    assert counts["faults"] >= 10 and counts["both"] >= 3


# R1: thread; R2:R3: its word of the table; R5: its word of shared memory; R7: that of the next thread.
PROGRAM = """
    S2R R1, SR_TID.X
    SHL R5, R1, 0x2
    IADD R2.CC, R5, c[0x0][0x140]
    IADD.X R3, RZ, c[0x0][0x144]
    IADD32I R7, R5, 0x4
    ISETP.EQ.AND P2, PT, R7, 0x180, PT
    @P2 MOV R7, RZ
    MOV R0, R1
    MOV R10, RZ
    again:
    STS [R5], R0
    BAR.SYNC 0x0
    LDS R4, [R7]
    BAR.SYNC 0x0
    LOP.AND R6, R0, 0x1
    ISETP.EQ.AND P0, PT, R6, RZ, PT
    SSY joined
    @P0 BRA even
{odd}
    IADD R0, R0, R4
    SYNC
    even:
{even}
    CAL function
    SYNC
    joined:
    IADD32I R10, R10, 0x1
    ISETP.LT.AND P1, PT, R10, 0x5, PT
    @P1 BRA again
    STG.E [R2], R0
    EXIT
    function:
{function}
    LOP.XOR R0, R0, R4
    RET
"""


def program(length: int) -> str:
    odd, even, function = ("\n".join([f"IADD32I R0, R0, {n}"] * length) for n in (3, 5, 7))
    return PROGRAM.format(odd=odd, even=even, function=function)


def model(length: int) -> Any:
    r = np.arange(THREADS, dtype=np.uint32)
    for _ in range(5):
        other = np.roll(r, -1)
        odd = r + np.uint32(3 * length) + other
        r = np.where(r & 1, odd, (r + np.uint32(12 * length)) ^ other)
    return r


class Gpu(SassGpu):
    def run(self, text: str, **more: Any) -> Any:
        self.memory.write(TABLE, bytes(0x1000))
        bank = bytearray(0x160)
        bank[0x140:0x148] = TABLE.to_bytes(8, "little")
        code = Code("test", assemble(text).code, 16)
        self.code = code
        self.result = self.launcher.launch(code, (1,), (THREADS,), {0: bytes(bank)}, 512, tier=self.tier, **more)
        assert not self.result.fault_count and not self.result.hung
        return np.frombuffer(self.memory.read(TABLE, 4 * THREADS), "<u4")


@pytest.fixture(params=FORMS)
def gpu(request: pytest.FixtureRequest) -> Gpu:
    made = Gpu(*request.param.split())
    made.memory.map(TABLE, 0x1000)
    return made


def test_barriers_divergence_and_calls_from_part_to_part(gpu: Gpu) -> None:
    """A loop around two barriers, with lanes that part and a function that they call, each in other parts."""
    found = gpu.run(program(250))
    assert len(gpu.code.flow.cuts) >= 2
    assert np.array_equal(found, model(250))


def test_steps_are_those_of_one_piece(gpu: Gpu, tiny: None) -> None:
    whole = Gpu("llvm", "interpreter")
    whole.memory.map(TABLE, 0x1000)
    assert np.array_equal(whole.run(program(2)), model(2))
    assert np.array_equal(gpu.run(program(2)), model(2)) and len(gpu.code.flow.cuts) > 3
    assert gpu.result.steps == whole.result.steps


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_an_endless_loop_across_parts_ends_as_a_hang(evaluator: str) -> None:
    gpu = Gpu(evaluator, "specialised")
    gpu.launcher.slice, gpu.launcher.turns = 4000, 2
    text = "again:\n" + "IADD32I R0, R0, 0x1\n" * 700 + "BRA again\nEXIT"
    code = Code("endless", assemble(text).code, 16)
    done = gpu.launcher.launch(code, (1,), (32,), {}, limit=20_000, tier="specialised")
    assert done.hung and 16_000 <= done.steps <= 20_000


def test_the_interpreter_serves_until_all_parts_are_made() -> None:
    gpu = Gpu("llvm", "auto")
    gpu.memory.map(TABLE, 0x1000)
    number = time.time_ns() & 0xFFFF  # a program that no cache knows
    text = program(260).replace("MOV R10, RZ", f"MOV32I R10, {number:#x}\nMOV R10, RZ")
    assert np.array_equal(gpu.run(text), model(260))
    code, engine = gpu.code, gpu.launcher.engine
    assert len(code.flow.cuts) >= 2
    data, start, indirect = code.key
    static = {"code": data, "start": start, "indirect": indirect, "stride": 0, "count": False}
    ours = SpecialCode(run_warp, code.flow, static)
    assert not ours.loaded(engine) and not ours.has(engine)
    assert repr(ours) == f"<code of run_warp in {len(code.flow.cuts)} parts>"
    assert repr(SpecialCode(run_warp, flow_of(assemble("EXIT").code, 0, ()), static)) == "<code of run_warp in 1 parts>"


@pytest.mark.parametrize("form", FORMS)
def test_a_long_pixel_program(form: str) -> None:
    """Helper pixels join between SAM and RAM, which lie in different parts; half of the pixels have ended before."""
    filler = "IADD32I R7, R7, 0x1\n" * 520
    code = f"""
        S2R R6, SR_LANEID
        MOV R0, RZ
        LOP.AND R5, R6, 0x4
        ISETP.NE.AND P0, PT, R5, RZ, PT
        MOV R7, RZ
        SSY joined
        @P0 BRA joining
        SAM
        MOV32I R1, 0x3f000000
        {filler}
        RAM
        MOV32I R0, 0x3f800000
        SYNC
        joining:
        SYNC
        joined:
        I2F.F32.U32 R2, R7
        MOV32I R3, 0x3f800000
        EXIT
    """
    evaluator, tier = form.split()
    case = PixelCase(code, {}, evaluator=evaluator, tier=tier)
    assert len(case.program.flow.cuts) == 2
    case.run()
    lane = np.arange(32)
    first = (lane & 4) == 0
    assert np.array_equal(case.output(0), np.where(first, np.float32(1), np.float32(0)))
    assert np.array_equal(case.output(2)[first], np.full(16, 520, np.float32))
    assert not list(case.events)
