"""Traces of lanes of stages: pixels and vertices, in turns of one instruction, with the results of any run."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from support import recordings
from support import switch_draws as draws
from support.kernel_cases import NAMES as KERNELS
from support.kernel_cases import Case
from support.stage_case import DATA, PixelCase, StageCase
from support.switch_draws import PIXEL, VERTEX_B

from pocketgpu import GM20B, RawModule
from pocketgpu.builder.maxwell import PushBuffer
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping import (
    LaneWatch,
    Trace,
    listing_of,
    pixel_of,
    trace_thread,
    vertex_of,
    watch_launches,
    watch_stage,
)
from pocketgpu.maxwell.sass.thread_memory.work import FAULT_TEXT, UNMAPPED

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
    assert watch(case, 31, mask=0x7FFFFFFF) == []
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


@pytest.mark.parametrize("lane", [0, 1, 2, 3, 17])
def test_each_lane_has_its_own_predicates_flags_and_memory(lane: int) -> None:
    """P1 is lane > 1, P2 the opposite. Adding -2 gives a negative number to lanes 0 and 1, and a carry to others."""
    code = """
        S2R R0, SR_LANEID
        ISETP.GT.AND P1, P2, R0, 0x1, PT
        IADD R1.CC, R0, c[0x0][0x8]
        MOV R4, c[0x0][0x0]
        MOV R5, c[0x0][0x4]
        ISCADD R4, R0, R4, 0x4
        MOV32I R6, 0x12345678
        MOV32I R7, 0x9abcdef0
        STG.E.64 [R4], R6
        STG.E.U8 [R4+0x8], R7
        LDG.E.U16 R8, [R4+0x2]
        LDG.E.S8 R9, [R4+0x7]
        LDC R10, c[0x0][0x4]
        @!P1 MOV32I R11, 0x5
        EXIT
    """
    constants = {0: np.array([DATA], np.uint64).tobytes() + struct.pack("<i", -2)}
    case = PixelCase(code, PLANES, evaluator="llvm", tier="interpreter", constants=constants)
    case.set_fragments(COVERED=0xFFFFFFFF)
    (trace,) = watch(case, lane)
    end, mine = trace.end, DATA + 16 * lane
    assert end["R0"] == lane and (end["P1"], end["P2"]) == (lane > 1, lane <= 1)
    assert end.word("R1") == (lane - 2) & 0xFFFFFFFF
    flags = {"CC.zero": lane == 2, "CC.sign": lane < 2, "CC.carry": lane >= 2, "CC.overflow": False}
    assert {flag: end[flag] for flag in end if flag.startswith("CC.")} == flags
    accesses = [(one.kind, one.address - mine, one.size, one.words) for step in trace for one in step.accesses]
    assert accesses == [
        ("store", 0, 8, (0x12345678, 0x9ABCDEF0)), ("store", 8, 1, (0xF0,)), ("load", 2, 2, (0x1234,)),
        ("load", 7, 1, (0x9A,)), ("load", 4 - mine, 4, (DATA >> 32,)),
    ]  # fmt: skip
    assert end.word("R8") == 0x1234 and end.word("R9") == 0xFFFFFF9A and end.word("R10") == DATA >> 32
    assert trace[13].skipped == (lane > 1) and (end["R11"] == 5) == (lane <= 1)
    assert [one.index for one in trace.where("R4")] == [3, 5] and trace[0].lanes == 0xFFFFFFFF


class Machine:
    """A GPU with the draws of switch_draws, on the interpreter."""

    def __init__(self) -> None:
        self.gpu = GM20B(1)
        self.gpu.drawing.tier = "general"
        self.gpu.map(LIST, 0x4000)
        for address, size in draws.SIZES.items():
            self.gpu.map(address, size, kind="generic_16bx2" if address == draws.TARGETS else "pitch")
        for address, data in draws.memory().items():
            self.gpu.memory.write(address, data)
        for stage, program in PROGRAMS.items():
            self.gpu.memory.write(draws.PROGRAMS + draws.PROGRAM_ROOM * stage, program.data(stage))
        self.pb = PushBuffer()
        draws.state(self.pb)
        draws.stages(self.pb, PROGRAMS)
        self.pb.method("BEGIN", OP=4).method("DRAW_VERTEX_ARRAY", 24).method("END", 0)
        self.gpu.memory.write(LIST, self.pb.tobytes())

    def draw(self) -> bytes:
        """The targets after the draw on black."""
        self.gpu.memory.write(draws.TARGETS, bytes(draws.SIZES[draws.TARGETS]))
        self.gpu.submit([LIST | 1 << 41 | len(self.pb) << 42])
        self.gpu.finish()
        assert not list(self.gpu.events.drain())
        return self.gpu.memory.read(draws.TARGETS, draws.SIZES[draws.TARGETS])


LIST = 0x5_0000_0000
PROGRAMS = {VERTEX_B: draws.PLAIN, PIXEL: draws.SHADED}


def test_vertices_and_pixels_of_draws() -> None:
    machine = Machine()
    plain = machine.draw()
    assert any(plain)
    programs, words = machine.gpu.drawing.programs, machine.gpu.memory.arena.view(np.uint32)
    with watch_stage(programs, VERTEX_B, vertex_of(words, 7), lane="vertex 7") as vertices:
        assert machine.draw() == plain
    (vertex,) = vertices.traces
    data = machine.gpu.memory.read(draws.VERTICES, 0x800)
    begin = vertex[0]
    assert begin.text.startswith("ALD.128 R0, a[0x80]") and vertex.name.startswith("vertex")
    position = struct.pack("<4I", *(vertex.at(1).word(f"R{n}") for n in range(4)))
    assert position in data
    with watch_stage(programs, PIXEL, pixel_of(words, 11, 9), lane="pixel (11, 9)", runs=99) as pixels:
        assert machine.draw() == plain
    assert pixels.traces and all(trace[0].text.startswith("IPA.PASS R5") for trace in pixels.traces)
    with watch_stage(programs, PIXEL, pixel_of(words, 3999, 9)) as nowhere:
        assert machine.draw() == plain
    assert not nowhere.traces and machine.draw() == plain


def test_launches_of_a_machine_can_be_watched() -> None:
    if not KERNELS:
        pytest.skip(recordings.REASON)
    case = Case("reduction")
    module = RawModule(case.folder / "kernel.cubin")
    kernel, about = module.get_function("reduction"), case.about

    def launch() -> None:
        kernel(about["grid"], about["block"], case.arguments(), shared_mem=about["smem_dynamic"])

    with watch_launches(module.device.launcher, ((1,), (40,)), number=1) as watch:
        launch()
        assert not watch.traces
        launch()
    (trace,) = watch.traces
    want = trace_thread(
        kernel, about["grid"], about["block"], case.arguments(), shared_mem=about["smem_dynamic"], at=((1,), (40,))
    )
    assert [step.text for step in trace] == [step.text for step in want] and trace.name == "reduction"
    with watch_launches(module.device.launcher, ((99,), (0,))) as nobody:
        launch()
    assert not nobody.traces


def test_a_program_without_end_says_so() -> None:
    case = PixelCase("again:\nFADD R0, R0, 1\nBRA again", PLANES, evaluator="llvm", tier="interpreter")
    case.stage.set(SLICE=50, TURNS=2)
    (trace,) = watch(case, 5)
    assert trace.cut == "the program did not end" and 100 <= len(trace) <= 104
    assert [event.kind for event in case.events] == ["hang"]
