"""Observers of specialised code: every instruction in order, the lanes at work, and those that it holds for."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.events import EventLog
from pocketgpu.inspect.switch.watched import Watch
from pocketgpu.lanes import I32, Engine, LaneError, Lang, Value, kernel
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.launcher import Launcher
from pocketgpu.maxwell.sass.program.registers import PREDICATE_BIT
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH
from pocketgpu.maxwell.sass.warp.row import run_warp
from pocketgpu.maxwell.sass.warp.variable_machine import VariableMachine

WORK = 32 * MIB
# Lanes below 4 leave the loop after one round, the others after two.
PROGRAM = """
    S2R R1, SR_LANEID
    ISETP.LT.AND P0, PT, R1, 0x4, PT
    MOV R0, RZ
    PBK `(out)
again:
    IADD32I R0, R0, 0x1
    @P0 BRK
    ISETP.EQ.AND P1, PT, R0, 0x2, PT
    @!P1 BRA `(again)
    BRK
out:
    NOP
    EXIT
"""
EVERY, FIRST = (1 << 32) - 1, (1 << 4) - 1
LATER = EVERY & ~FIRST


def _ballot(mask: Value) -> int:
    lanes = np.broadcast_to(np.asarray(mask.raw), (32,))
    return sum(1 << n for n in np.flatnonzero(lanes).tolist())


class _Noted:
    """Notes what it is told: (instruction, lanes at work, lanes that it holds for, R0 and P1 of lane 5)."""

    def __init__(self) -> None:
        self.turns = 0
        self.seen: list[list[object]] = []

    def begins(self, warp: VariableMachine) -> None:
        self.turns += 1
        self.warp = warp

    def comes_to(self, step: Step, active: Value) -> None:
        self.seen.append([step.op, _ballot(active), None, self.warp.look(0, 5), self.warp.look(PREDICATE_BIT + 1, 5)])

    def holds_for(self, mask: Value) -> None:
        assert self.seen[-1][2] is None
        self.seen[-1][2] = _ballot(mask)


def _launcher(evaluator: str) -> Launcher:
    memory = GpuMemory(work_size=WORK, capacity=1 * MIB)
    return Launcher(memory, Engine(memory.arena, evaluator), EventLog(), (memory.work_offset, WORK))


def _watched(launcher: Launcher, observer: _Noted) -> None:
    words = launcher.memory.arena[launcher.record : launcher.record + LAUNCH.size].view(np.int32)

    def look(code: Code, interpreter: int) -> int:
        data, start, indirect = code.key
        static = {"code": data, "start": start, "indirect": indirect, "stride": int(words[LAUNCH.WARP_STRIDE // 4])}
        return launcher.engine.handle(run_warp, **static, count=False, observer=observer)

    launcher.launch(Code("test", assemble(PROGRAM).code, 8), (1,), (32,), {}, watch=look)


def test_every_instruction_is_told_with_its_lanes() -> None:
    noted = _Noted()
    _watched(_launcher("numpy"), noted)
    assert noted.turns == 1
    assert [row[:3] for row in noted.seen] == [
        ["S2R", EVERY, EVERY], ["ISETP", EVERY, EVERY], ["MOV", EVERY, EVERY], ["PBK", EVERY, None],
        ["IADD", EVERY, EVERY], ["BRK", EVERY, FIRST],
        ["ISETP", LATER, LATER], ["BRA", LATER, LATER],
        ["IADD", LATER, LATER], ["BRK", LATER, 0], ["ISETP", LATER, LATER], ["BRA", LATER, 0], ["BRK", LATER, LATER],
        ["NOP", EVERY, None], ["EXIT", EVERY, EVERY],
    ]  # fmt: skip
    assert [row[3] for row in noted.seen if row[0] == "IADD"] == [0, 1]
    assert [row[4] for row in noted.seen if row[0] == "BRA"] == [0, 1]


def test_machine_code_takes_no_observer() -> None:
    with pytest.raises(LaneError, match="only the NumPy evaluator"):
        _watched(_launcher("llvm"), _Noted())


def test_the_watched_engine_checks_what_other_engines_check() -> None:
    @kernel(lanes=4, a=I32)
    def stops_early(k: Lang, a: Value) -> None:
        for _ in k.when(a == 1):
            break

    watch = Watch(GM20B())
    run = watch.engine.get(stops_early)
    with pytest.raises(TypeError, match="called with 2 arguments"):
        run(1, 2)
    with pytest.raises(LaneError, match=r"k\.when was left early"):
        run(1)
