"""Traces of lanes of stages: pixels and vertices, in turns of one instruction, with the results of any run."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from support.stage_case import DATA, PixelCase, StageCase

from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping import LaneWatch, Trace, listing_of
from pocketgpu.maxwell.sass.work import FAULT_TEXT, UNMAPPED

PLANES = {0x7C: (0.5, 0.0, 0.0, 0), 0x80: (1.0, 0.25, 0.5, 5), 0x84: (-3.0, 1.0, 2.0, 77)}
EVALUATORS = pytest.mark.parametrize("evaluator", ["llvm", "numpy"])


def watch(case: StageCase, lane: int, mask: int = -1, **options: Any) -> list[Trace]:
    """Run a case's stage with an eye on one lane."""
    listing = listing_of(case.program.code)
    looking = LaneWatch(
        case.engine, case.memory.arena, listing, lambda launch, slot, warp: lane, name="program", lane=f"lane {lane}",
        **options,
    )  # fmt: skip
    with looking.on_stage(case.stage.record):
        case.run(mask)
    return looking.traces


@EVALUATORS
def test_a_pixel_shows_where_its_nan_was_born(evaluator: str) -> None:
    case = PixelCase(
        """
        IPA.PASS R0, a[0x84], RZ
        MUFU.LG2 R1, R0
        FADD R2, R1, 1
        FSETP.GT.AND P0, PT, R0, 0, PT
        @P0 FMUL R3, R2, R2
        @!P0 MOV R3, c[0x0][0x4]
        EXIT
        """,
        PLANES, evaluator=evaluator, tier="interpreter", constants={0: struct.pack("<2f", 1, 2)},
    )  # fmt: skip
    (bad,) = watch(case, 0)
    assert np.isnan(case.output(2)[0]) and case.output(0)[0] == -3 + 0.5 + 1
    birth = bad.first_nan
    assert birth is not None and birth.step.index == 1 and birth.value.name == "R1"
    assert [(one.name, one.number) for one in birth.inputs] == [("R0", -1.5)]
    assert [step.skipped for step in bad] == [False, False, False, False, True, False, False]
    assert bad[5].reads[0].name == "c[0x0][0x4]" and bad.end.float("R3") == 2 and bad.hits[bad[4].address] == 1
    good_lane = int(np.flatnonzero(case.output(0) > 0)[0])
    (good,) = watch(case, good_lane)
    assert good.first_nan is None and good[5].skipped and not good[4].skipped
    for n in range(4):
        assert good.end.word(f"R{n}") == int(case.output(n, np.uint32)[good_lane])
    assert bad[3].lanes == 0xFFFFFFFF and bad[6].flow == "taken" and not bad.cut


@EVALUATORS
def test_lanes_that_part_are_followed_to_where_they_meet(evaluator: str) -> None:
    case = PixelCase(
        """
        SSY end
        S2R R0, SR_LANEID
        ISETP.GT.AND P0, PT, R0, 0x7, PT
        @P0 BRA high
        MOV32I R1, 0x64
        SAM
        MOV32I R2, 0x5
        RAM
        SYNC
        high:
        MOV32I R1, 0xc8
        SYNC
        end:
        IADD R3, R1, R0
        EXIT
        """,
        PLANES, evaluator=evaluator, tier="interpreter",
    )  # fmt: skip
    (low,) = watch(case, 3)
    assert case.output(3, np.int32).tolist() == [100 + n if n < 8 else 200 + n for n in range(32)]
    (high,) = watch(case, 30)
    for lane, trace in ((3, low), (30, high)):
        assert trace.end.word("R3") == int(case.output(3, np.uint32)[lane]) and trace.end.word("R2") == 5
        assert trace[3].flow == ("taken" if lane == 30 else "not taken")
        assert [step.text.split()[0] for step in trace][-2:] == ["IADD", "EXIT"]
    assert [step.lanes for step in low if "0x64" in step.text] == [0xFF]
    plain = PixelCase(case_text(case), PLANES, evaluator=evaluator, tier="specialised")
    plain.run()
    for n in range(4):
        assert (plain.output(n, np.int32) == case.output(n, np.int32)).all()


def case_text(case: StageCase) -> str:
    """The program of a case, as text again."""
    listing = listing_of(case.program.code)
    targets = {step.target for step in listing.steps if step.target is not None}
    lines = []
    for n in range(len(listing)):
        text = listing.text(n)
        step = listing.steps[n]
        if step.target is not None:
            text = f"{text.rsplit(' ', 1)[0]} l{step.target}"
        lines.append((f"l{n}:\n" if n in targets else "") + text)
    return "\n".join(lines)


def test_a_vertex_program_and_the_hook_itself() -> None:
    code = "ALD R0, a[0x80]\nFADD R1, R0, 1\nAST a[0x90], R1\nEXIT"
    case = StageCase(0, code, "llvm", "interpreter", GENERIC_OMAP_X__1=1)
    inputs = case.inputs([0x80])
    outputs = case.outputs()
    page = case.page(inputs, {0x80: np.arange(32.0)})
    case.set_block(IN_AT=page, OUT_AT=case.page(outputs))
    (trace,) = watch(case, 9)
    assert trace.end.float("R1") == 10 and trace[1].reads[0].number == 9
    assert len(watch(case, 9, most=2)[0]) == 2 and watch(case, 9, most=2)[0].cut.startswith("2 steps are kept")
    assert watch(case, 31, mask=0x7FFFFFFF)[0].steps == []
    automatic = StageCase(0, "EXIT", "numpy", "specialised")
    with pytest.raises(UsageError, match="runs on the interpreter"):
        watch(automatic, 0)
    listing = listing_of(case.program.code)
    looking = LaneWatch(case.engine, case.memory.arena, listing, lambda *_: 1 // 0, name="", lane="")
    with pytest.raises(ZeroDivisionError), looking.on_stage(case.stage.record):
        case.run()  # it must end all the same
    with looking.on(case.stage.record), pytest.raises(UsageError, match="already"), looking.on(case.stage.record):
        pass


def test_helpers_store_nothing_and_faults_are_told() -> None:
    code = "MOV R4, c[0x0][0x0]\nMOV R5, c[0x0][0x4]\nMOV32I R6, 0x7\nSTG.E [R4], R6\nLDG.E R0, [R6+0x100]\nEXIT"
    case = PixelCase(
        code, PLANES, evaluator="llvm", tier="interpreter", constants={0: np.array([DATA], np.uint64).tobytes()}
    )
    case.set_fragments(COVERED=0b10)
    (helper,) = watch(case, 0, mask=0b1111)
    assert not helper[3].accesses and "helper" in helper[3].happened
    (pixel,) = watch(case, 1, mask=0b1111)
    assert str(pixel[3].accesses[0]) == f"store 4 bytes of global memory at {DATA:#x}: 0x00000007"
    assert any("fault" in note for note in pixel[4].notes) and FAULT_TEXT[UNMAPPED][:10] in "nothing is mapped"
