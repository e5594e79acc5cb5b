"""Programs of the stages of a draw, on both evaluators, as machine code and interpreted."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest
from support.stage_case import CODE, DATA, PixelCase, StageCase, call_stage, header

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.constants import Binding
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics.programs import programs
from pocketgpu.maxwell.graphics.programs.headers import LINEAR, PERSPECTIVE, Header, layout_of, patch_layout
from pocketgpu.maxwell.graphics.programs.programs import StageProgram
from pocketgpu.maxwell.graphics.records import FRAGMENTS, LANE_X, LANE_Y
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.stages.attributes import ENDS_STRIP
from pocketgpu.maxwell.sass.stages.stage import CONTROL, GEOMETRY, PIXEL, VERTEX
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH
from pocketgpu.maxwell.sass.warp.specialise import run_stage_warp

WAYS = [("numpy", "specialised"), ("numpy", "interpreter"), ("llvm", "specialised"), ("llvm", "interpreter")]
QUICK = WAYS[:3]
POSITION = {f"OMAP_POSITION_{c}": 1 for c in "XYZW"}
GENERIC0 = {f"GENERIC_OMAP_{c}__0": 1 for c in "XYZW"}
X, Y = np.array(LANE_X) + 0.5, np.array(LANE_Y) + 0.5
LANE = np.arange(32)


def ways(some: list[tuple[str, str]] = WAYS) -> Any:
    return pytest.mark.parametrize(("evaluator", "tier"), some)


# -- vertices ---------------------------------------------------------------------------------------------------------
@ways()
def test_a_vertex_program(evaluator: str, tier: str) -> None:
    """Words and vectors in, constants, a branch that divides, indexed inputs; lanes outside write nothing."""
    case = StageCase(
        1,
        """
        ALD.64 R0, a[0x80]
        ALD R2, a[0x88]
        FMUL R2, R2, c[0x3][0x8]
        MOV R3, c[0x3][0xc]
        AST.128 a[0x70], R0
        ALD R4, a[0x2fc]
        LOP.AND R5, R4, 0x1
        ISETP.NE.AND P0, PT, R5, RZ, PT
        SSY joined
        @P0 BRA odd
        MOV32I R6, 0x40000000
        SYNC
        odd:
        MOV32I R6, 0x3f000000
        SYNC
        joined:
        SHL R7, R5, 0x2
        AL2P R8, R7, 0x80
        ALD.PHYS R9, a[R8]
        FMUL R0, R6, R9
        I2F.F32.S32 R1, R4
        AST.64 a[0x80], R0
        EXIT
        """,
        evaluator, tier, {3: np.array([0, 0, 0.25, 7], np.float32).tobytes()}, **POSITION, **GENERIC0,
    )  # fmt: skip
    inputs, outputs = case.inputs([0x80, 0x84, 0x88, 0x2FC]), case.outputs()
    x = LANE * 1.5
    page = case.page(inputs, {0x80: x, 0x84: x + 100, 0x88: x + 200, 0x2FC: LANE + 1000})
    out = case.page(outputs, {0x70: np.full(32, -1.0), 0x88: np.full(32, -2.0)})
    case.set_block(IN_AT=page, OUT_AT=out)
    case.run(0x7FFFFFFF)
    some = LANE < 31
    assert np.array_equal(case.get(out, outputs, 0x70), np.where(some, x, -1))
    assert np.array_equal(case.get(out, outputs, 0x74), np.where(some, x + 100, 0))
    assert np.array_equal(case.get(out, outputs, 0x78), np.where(some, (x + 200) / 4, 0))
    assert np.array_equal(case.get(out, outputs, 0x7C), np.where(some, 7, 0))
    picked = np.where(LANE & 1, (x + 100) / 2, x * 2)
    assert np.array_equal(case.get(out, outputs, 0x80), np.where(some, picked, 0))
    assert np.array_equal(case.get(out, outputs, 0x84), np.where(some, LANE + 1000, 0))
    assert (case.get(out, outputs, 0x88) == -2).all()
    assert not list(case.events)


@ways(QUICK)
def test_two_vertex_programs_in_a_row(evaluator: str, tier: str) -> None:
    """What the first writes is what the second reads; what it does not write reads as zero."""
    first = StageCase(0, "ALD R0, a[0x80]\nFADD R0, R0, 1\nAST a[0x90], R0\nEXIT", evaluator, tier,
                      GENERIC_OMAP_X__1=1)  # fmt: skip
    second = "ALD.64 R0, a[0x90]\nFADD R0, R0, 2\nFADD R1, R1, 3\nAST.64 a[0x70], R0\nEXIT"
    first.memory.write(CODE + 0x1000, header(VERTEX, **POSITION) + assemble(second).code)
    program = first.programs.find(1, CODE + 0x1000)
    assert program is not None
    stage = first.programs.stages[1]
    assert stage.bind(program, first.bindings, tier=tier)
    inputs, outputs = first.inputs([0x80]), program.outputs
    stage.set_map("OUT_MAP", outputs.written)
    first.stage.chain(stage)
    page, out = first.page(inputs, {0x80: LANE * 1.0}), first.page(outputs)
    first.set_block(IN_AT=page, OUT_AT=out)
    first.run(0x7FFFFFFF)
    assert not first.get(out, outputs, 0x70)[31]
    first.run()
    assert np.array_equal(first.get(out, outputs, 0x70), LANE + 3.0)
    assert np.array_equal(first.get(out, outputs, 0x74), np.full(32, 3.0))


# -- pixels -----------------------------------------------------------------------------------------------------------
PLANES = {
    0x7C: (0.5, 0.0, 0.0, 0), 0x80: (1.0, 0.25, 0.5, 5), 0x84: (-3.0, 1.0, 2.0, 77), 0x3FC: (0.0, 0.0, 0.0, -1),
    0x280: (0.25, 0.125, 0.0, 0x3F800000),
}  # fmt: skip


def plane(address: int, x: Any = X, y: Any = Y) -> Any:
    c, dx, dy, _ = PLANES[address]
    return c + dx * x + dy * y


@ways()
def test_interpolation(evaluator: str, tier: str) -> None:
    """All kinds of IPA: as it is, times w, of one vertex, by the shade mode, clamped, indexed."""
    case = PixelCase(
        """
        IPA.PASS R9, a[0x7c], RZ
        MUFU.RCP R9, R9
        IPA R0, a[0x80], R9
        IPA.CONSTANT R1, a[0x84], RZ
        IPA.PASS.SAT R2, a[0x84], RZ
        IPA.PASS R3, a[0x3fc], RZ
        IPA.SC R4, a[0x280], RZ
        IPA.SC R5, a[0x280], R9
        S2R R6, SR_LANEID
        LOP.AND R6, R6, 0x1
        SHL R6, R6, 0x2
        IADD R6, R6, 0x80
        IPA.IDX.PASS R6, a[R6], RZ, RZ, PT
        MOV32I R7, 0x3fc
        IPA.IDX.PASS R7, a[R7], RZ, RZ, PT
        EXIT
        """,
        PLANES, evaluator=evaluator, tier=tier, OMAP_RED__1=1, OMAP_GREEN__1=1, OMAP_BLUE__1=1, OMAP_ALPHA__1=1,
    )  # fmt: skip
    case.run()
    assert np.array_equal(case.output(0), plane(0x80) * 2)
    assert (case.output(1, np.int32) == 77).all()
    assert np.array_equal(case.output(2), np.clip(plane(0x84), 0, 1))
    assert (case.output(3, np.int32) == -1).all()
    assert np.array_equal(case.output(4), plane(0x280))
    assert np.array_equal(case.output(5), plane(0x280) * 2)
    assert np.array_equal(case.output(6), np.where(LANE & 1, plane(0x84), plane(0x80)))
    assert (case.output(7, np.int32) == -1).all()
    case.stage.set(FLAT=1)
    case.run()
    assert (case.output(4) == 1).all() and (case.output(5) == 1).all()


def _positions(case: StageCase, xs: list[int], ys: list[int]) -> None:
    """Sample positions in 1/16 pixel."""
    at = case.allocate(128)
    case.words(at, len(xs))[:] = xs
    case.words(at + 64, len(ys))[:] = ys
    case.stage.set(SAMPLES_AT=at)


SAMPLES_X, SAMPLES_Y = [6, 14, 2, 10], [2, 6, 10, 14]


@ways()
def test_samples(evaluator: str, tier: str) -> None:
    """Centroids, offsets, and what PIXLD tells."""
    case = PixelCase(
        """
        IPA.PASS.CENTROID R0, a[0x80], RZ
        MOV32I R1, 0xfc000800
        IPA.PASS.OFFSET R1, a[0x80], RZ, R1
        PIXLD.COVMASK R2, [RZ]
        PIXLD.OFFSET R3, [RZ+0x1]
        PIXLD.CENTROID_OFFSET R4, [RZ]
        PIXLD.MY_INDEX R5, [RZ]
        IPA.PASS R6, a[0x80], RZ
        PIXLD.COVERED R7, [RZ]
        EXIT
        """,
        PLANES, evaluator=evaluator, tier=tier, OMAP_RED__1=1, OMAP_GREEN__1=1, OMAP_BLUE__1=1, OMAP_ALPHA__1=1,
    )  # fmt: skip
    _positions(case, SAMPLES_X, SAMPLES_Y)
    covers = [0x0000FF0F, 0x0000FFFF, 0x0F00FF0F, 0x0000F03F]
    case.set_fragments(SAMPLES=4, COVERED=0x0F00FFFF)
    for s, cover in enumerate(covers):
        case.words(case.fragments + FRAGMENTS.COVER + 4 * s, 1)[0] = cover
    case.run()
    masks = [sum((cover >> lane & 1) << s for s, cover in enumerate(covers)) for lane in range(32)]
    firsts = [(m & -m).bit_length() - 1 if m not in (0, 15) else None for m in masks]
    dx = np.array([0 if s is None else SAMPLES_X[s] / 16 - 0.5 for s in firsts])
    dy = np.array([0 if s is None else SAMPLES_Y[s] / 16 - 0.5 for s in firsts])
    assert {None, 0, 1, 2} == {*firsts}
    assert np.array_equal(case.output(0), plane(0x80, X + dx, Y + dy))
    assert np.array_equal(case.output(1), plane(0x80, X + 0.5, Y - 0.25))
    assert case.output(2, np.int32).tolist() == masks

    def packed(x: float, y: float) -> int:
        return (int(x * 4096) & 0xFFFF) | (int(y * 4096) & 0xFFFF) << 16

    assert (case.output(3, np.uint32) == packed(14 / 16 - 0.5, 6 / 16 - 0.5)).all()
    assert case.output(4, np.uint32).tolist() == [packed(a, b) for a, b in zip(dx, dy, strict=True)]
    assert not case.output(5, np.int32).any()
    assert np.array_equal(case.output(6), plane(0x80))
    assert case.output(7, np.int32).tolist() == [0x0F00FFFF >> lane & 1 for lane in range(32)]
    case.set_fragments(SAMPLE=2)
    case.run()
    assert (case.output(5, np.int32) == 2).all()
    assert np.array_equal(case.output(6), plane(0x80, X + 2 / 16 - 0.5, Y + 10 / 16 - 0.5))


@ways()
def test_discard_and_helpers(evaluator: str, tier: str) -> None:
    """Killed pixels and helpers go on, but store nothing and count nothing."""
    code = """
        IPA.PASS R0, a[0x80], RZ
        FSETP.GT.AND P0, PT, R0, 3, PT
        @P0 KIL
        S2R R1, SR_LANEID
        S2R R2, SR_THREAD_KILL
        MOV R4, c[0x0][0x0]
        MOV R5, c[0x0][0x4]
        MOV32I R6, 0x1
        RED.E.ADD [R4], R6
        ISCADD R4, R1, R4, 0x2
        IADD R7, R1, 0x64
        STG.E [R4+0x100], R7
        MOV R0, R1
        EXIT
        """
    constants = {0: np.array([DATA], np.uint64).tobytes()}
    case = PixelCase(code, PLANES, evaluator=evaluator, tier=tier, constants=constants, KILLS_PIXELS=1)
    case.set_fragments(COVERED=0x00FFFF0F)
    case.run(0x00FFFFFF)
    killed = sum(1 << n for n in range(24) if plane(0x80)[n] > 3)
    assert case.fragment("KILLED") == killed != 0
    left = 0x00FFFF0F & ~killed
    assert int.from_bytes(case.memory.read(DATA, 4), "little") == left.bit_count()
    stored = np.frombuffer(case.memory.read(DATA + 0x100, 128), np.int32)
    assert stored.tolist() == [100 + n if left >> n & 1 else 0 for n in range(32)]
    assert case.output(0, np.int32)[:24].tolist() == list(range(24))
    assert case.output(2, np.int32)[:24].tolist() == [0 if left >> n & 1 else -1 for n in range(24)]
    # Without the header's word KIL does nothing.
    other = PixelCase(code, PLANES, evaluator=evaluator, tier=tier, constants=constants)
    other.run()
    assert other.fragment("KILLED") == 0
    assert int.from_bytes(other.memory.read(DATA, 4), "little") == 32


@ways()
def test_outputs_of_lanes_that_ended_stay(evaluator: str, tier: str) -> None:
    """Lanes end at different places; what others compute afterwards in the same registers does not touch theirs."""
    case = PixelCase(
        """
        S2R R8, SR_LANEID
        MOV32I R0, 0x1
        MOV32I R1, 0x2
        MOV32I R2, 0x3
        MOV32I R3, 0x4
        ISETP.LT.AND P0, PT, R8, 0x5, PT
        @P0 EXIT
        MOV32I R0, 0xa
        ISETP.LT.AND P1, PT, R8, 0x14, PT
        SSY joined
        @P1 BRA some
        MOV32I R1, 0x14
        SYNC
        some:
        MOV32I R2, 0x1e
        SYNC
        joined:
        MOV32I R3, 0x28
        MOV R4, R8
        MOV32I R5, 0x3f000000
        EXIT
        """,
        {}, evaluator=evaluator, tier=tier, OMAP_SAMPLE_MASK=1, OMAP_DEPTH=1,
    )  # fmt: skip
    case.set_fragments(SAMPLES=3)
    case.words(case.fragments + FRAGMENTS.DEPTH, 16 * 32)[:] = -1
    case.run()
    first, some = LANE < 5, LANE < 20
    expected = [
        np.where(first, 1, 10), np.where(first | some, 2, 20), np.where(~first & some, 30, 3), np.where(first, 4, 40),
    ]  # fmt: skip
    for n, v in enumerate(expected):
        assert np.array_equal(case.output(n, np.int32), v), n
    assert np.array_equal(case.words(case.fragments + FRAGMENTS.SAMPLE_MASK, 32), np.where(first, 0, LANE))
    depth = case.words(case.fragments + FRAGMENTS.DEPTH, 16 * 32, np.float32).reshape(16, 32)
    assert (depth[:3] == np.where(first, 0, 0.5)).all()
    assert (depth[3:].view(np.int32) == -1).all()


@ways(QUICK)
def test_derivatives(evaluator: str, tier: str) -> None:
    """The difference across a quad, as compilers take it; with all lanes on inside of SAM and RAM."""
    case = PixelCase(
        """
        IPA.PASS R0, a[0x80], RZ
        S2R R8, SR_LANEID
        ISETP.LT.AND P0, PT, R8, 0x6, PT
        SSY joined
        @!P0 BRA others
        SAM
        SHFL.BFLY PT, R1, R0, 0x1, 0x1c03
        FSWZADD R1, R1, R0, PNPNPNPN
        SHFL.BFLY PT, R2, R0, 0x2, 0x1c03
        FSWZADD R2, R2, R0, PPNNPPNN
        RAM
        MOV32I R3, 0x1
        SYNC
        others:
        SYNC
        joined:
        EXIT
        """.replace("PNPNPNPN", "PNNPPNNP").replace("PPNNPPNN", "PNPNNPNP"),
        PLANES, evaluator=evaluator, tier=tier,
    )  # fmt: skip
    case.run()
    assert np.allclose(case.output(1), 0.25) and np.allclose(case.output(2), 0.5)
    assert np.array_equal(case.output(3, np.int32), LANE < 6)


# -- patches and primitives -------------------------------------------------------------------------------------------
@ways()
def test_tessellation_control(evaluator: str, tier: str) -> None:
    """Ten patches of four vertices, three threads each: inputs by vertex, outputs of other threads after a barrier,
    words of the patch."""
    code = """
        S2R R0, SR_INVOCATION_ID
        S2R R1, SR_INVOCATION_INFO
        S2R R9, SR_LANEID
        BFE.U32 R2, R1, 0x810
        IADD R3, R2, -0x1
        IADD R3, R3, -R0
        ISBERD R4, [R3]
        ALD R5, a[0x80], R4
        AST a[0x80], R5
        BAR.SYNC 0x0
        ISETP.EQ.AND P0, PT, R0, RZ, PT
        IADD R6, R9, 0x2
        @P0 ALD.O R7, a[0x80], R6
        @P0 AST.P a[0x20], R7
        ALD R8, a[0x60]
        @P0 AST.P a[0x4], R8
        EXIT
        """
    fields = {"THREADS_PER_INPUT_PRIMITIVE": 3, "PER_PATCH_ATTRIBUTE_COUNT": 2, "GENERIC_OMAP_X__0": 1}
    case = StageCase(2, code, evaluator, tier, **fields)
    vertex_layout, outputs, patches = layout_of([0x80]), case.outputs(), patch_layout(case.program.header)
    mine = layout_of([0x60])
    table = vertex_layout.read.copy()
    table[0x60 >> 2] = mine.read[0x60 >> 2]
    case.stage.set_map("IN_MAP", table)
    case.stage.set_map("PATCH_MAP", patches.written)
    case.stage.set(VERTICES=4, INVOCATION_INFO=4 << 16)
    pages = [case.page(vertex_layout, {0x80: 100.0 * p + LANE}) for p in range(2)]
    patch_of, thread = LANE // 3, LANE % 3
    columns = [[pages[(4 * p + i) >> 5] + 4 * (4 * p + i & 31) for p in patch_of] for i in range(4)]
    out, patch = case.page(outputs), case.page(patches)
    own = case.page(mine, {0x60: patch_of + 7})
    case.set_block(
        IN_AT=own, OUT_AT=out, VERTICES_AT=case.vectors(*columns), INVOCATIONS_AT=case.vectors(thread),
        PATCHES_AT=case.vectors(patch + 4 * patch_of),
    )  # fmt: skip
    case.run(0x3FFFFFFF)
    number = 4 * patch_of + 3 - thread
    value = 100.0 * (number >> 5) + (number & 31)
    assert np.array_equal(case.get(out, outputs, 0x80)[:30], value[:30])
    assert np.array_equal(case.get(patch, patches, 0x20)[:10], value[2:30:3])
    assert np.array_equal(case.get(patch, patches, 0x4, np.int32)[:10], np.arange(10) + 7)
    assert not list(case.events)


@ways(QUICK)
def test_tessellation_evaluation(evaluator: str, tier: str) -> None:
    """Coordinates, asked for as compilers do among the outputs; vertices and words of the patch."""
    code = """
        S2R R2, SR_LANEID
        ALD.O.64 R0, a[0x2f0], R2
        MOV32I R3, 0x1
        ISBERD R4, [R3]
        ALD R5, a[0x80], R4
        ALD.P R6, a[0x20]
        FFMA R0, R0, R5, R1
        FADD R0, R0, R6
        AST a[0x70], R0
        EXIT
        """
    case = StageCase(3, code, evaluator, tier, **POSITION, OMAP_TESSELLATION_EVALUATION_POINT_U=1)
    outputs, vertex_layout, mine = case.outputs(), layout_of([0x80]), layout_of([0x2F0, 0x2F4])
    table = mine.read.copy()
    table[0x20] = vertex_layout.read[0x20]
    patches = layout_of([0x20])
    case.stage.set_map("IN_MAP", table)
    case.stage.set_map("PATCH_MAP", patches.read)
    case.stage.set(VERTICES=3, INVOCATION_INFO=3 << 16)
    vertices, patch = case.page(vertex_layout, {0x80: LANE * 2.0}), case.page(patches, {0x20: LANE * 1000.0})
    patch_of = LANE // 8
    columns = [vertices + 4 * (3 * patch_of + i) for i in range(3)]
    own, out = case.page(mine, {0x2F0: LANE / 32, 0x2F4: LANE / 64}), case.page(outputs)
    case.set_block(IN_AT=own, OUT_AT=out, VERTICES_AT=case.vectors(*columns),
                   PATCHES_AT=case.vectors(patch + 4 * patch_of))  # fmt: skip
    case.run()
    expected = LANE / 32 * (3 * patch_of + 1) * 2.0 + LANE / 64 + patch_of * 1000.0
    assert np.array_equal(case.get(out, outputs, 0x70), expected.astype(np.float32))


@ways()
def test_geometry(evaluator: str, tier: str) -> None:
    """Lanes emit different numbers of vertices, end strips, name streams; what is too much is lost."""
    code = """
        S2R R0, SR_INVOCATION_ID
        MOV R1, RZ
        MOV R3, RZ
        PBK done
        again:
        ISETP.GT.AND P0, PT, R1, R0, PT
        @P0 BRK
        ISBERD R4, [R1]
        ALD R5, a[0x80], R4
        AST a[0x70], R5, R3
        OUT.EMIT R3, R3, RZ
        IADD R1, R1, 0x1
        BRA again
        done:
        OUT.CUT R3, R3, RZ
        MOV32I R6, 0x40400000
        AST a[0x70], R6, R3
        OUT.EMIT_THEN_CUT R3, R3, 0x1
        EXIT
        """
    case = StageCase(4, code, evaluator, tier, **POSITION, MAX_OUTPUT_VERTEX_COUNT=4, THREADS_PER_INPUT_PRIMITIVE=4)
    outputs, vertex_layout = case.outputs(), layout_of([0x80])
    case.stage.set_map("IN_MAP", vertex_layout.read)
    stride = outputs.vectors * 128
    case.stage.set(VERTICES=3, INVOCATION_INFO=3 << 16, OUT_STRIDE=stride)
    vertices = case.page(vertex_layout, {0x80: LANE + 0.5})
    primitive, invocation = LANE // 4, LANE % 4
    columns = [vertices + 4 * (3 * primitive + i) for i in range(3)]
    pages = [case.page(outputs) for _ in range(4)]
    assert {b - a for a, b in itertools.pairwise(pages)} == {stride}
    emitted = case.vectors(*[np.zeros(32, np.int32)] * 5)
    case.set_block(OUT_AT=pages[0], VERTICES_AT=case.vectors(*columns), INVOCATIONS_AT=case.vectors(invocation),
                   EMITTED_AT=emitted)  # fmt: skip
    case.run()
    counts = case.words(emitted, 32)
    codes = case.words(emitted + 128, 4 * 32).reshape(4, 32)
    for lane in range(32):
        n = lane % 4
        # A triangle has three vertices: a fourth reads as zero.
        own = [3 * (lane // 4) + i + 0.5 if i < 3 else 0.0 for i in range(n + 1)]
        all_of_it = ([*own, 3.0])[:4]
        assert counts[lane] == len(all_of_it)
        assert [float(case.get(page, outputs, 0x70)[lane]) for page in pages][: len(all_of_it)] == all_of_it
        expected = [0] * n + [ENDS_STRIP] + ([1 | ENDS_STRIP] if n < 3 else [])
        assert codes[: len(all_of_it), lane].tolist() == expected
    assert not list(case.events)


@ways(QUICK)
def test_vertices_that_are_not_there(evaluator: str, tier: str) -> None:
    """Whatever a register says: what is read lies in the primitive, or is zero."""
    code = "S2R R1, SR_INVOCATION_ID\nALD R0, a[0x80], R1\nAST a[0x70], R0\nEXIT"
    case = StageCase(3, code, evaluator, tier, **POSITION)
    outputs, layout = case.outputs(), layout_of([0x80])
    case.stage.set_map("IN_MAP", layout.read)
    case.stage.set(VERTICES=3)
    page, out = case.page(layout, {0x80: LANE + 1.0}), case.page(outputs)
    handles = np.array([0, 1, 2, 3, 31, 32, 1 << 20, -1] * 4)
    case.set_block(OUT_AT=out, VERTICES_AT=case.vectors(*[page + 4 * i + 0 * LANE for i in range(3)]),
                   INVOCATIONS_AT=case.vectors(handles))  # fmt: skip
    case.run()
    assert case.get(out, outputs, 0x70).tolist() == [1, 2, 3, 0, 0, 0, 0, 0] * 4


# -- trouble ----------------------------------------------------------------------------------------------------------
@ways(QUICK)
def test_faults_name_pixel_and_place(evaluator: str, tier: str) -> None:
    case = PixelCase("MOV32I R0, 0x12340\nMOV32I R1, 0x7\nLDG.E R0, [R0]\nEXIT", {}, evaluator=evaluator, tier=tier)
    case.run(1 << 6)
    (event,) = case.events
    assert (event.kind, event.id, event.at) == ("fault", "draw.fault", "here")
    assert event.message == "pixel program 0x100000000+0x0018 (LDG): nothing is mapped at 0x700012340; pixel (18, 9)"
    assert not case.output(0, np.int32).any()
    case.run(1 << 6)
    assert [e.count for e in case.events] == [2]


@ways(QUICK)
def test_what_does_not_end(evaluator: str, tier: str) -> None:
    """A warp has its steps; then there is an event, pixels count as killed, and the slot runs nothing more."""
    case = PixelCase("again:\nIADD R0, R0, 0x1\nBRA again\nEXIT", {}, evaluator=evaluator, tier=tier)
    case.stage.set(SLICE=50, TURNS=4)
    case.run()
    (event,) = case.events
    assert (event.kind, event.id) == ("hang", "draw.hang") and "pixel (16, 8)" in event.message
    assert case.fragment("KILLED") == 0xFFFFFFFF


@ways()
def test_lanes_without_an_entry_of_the_stack_give_nothing(evaluator: str, tier: str) -> None:
    """Lanes that wait for others with nobody to wake them: their pixels are thrown away, and no place is named."""
    code = """
        MOV32I R0, 0x3
        S2R R8, SR_LANEID
        ISETP.LT.AND P0, PT, R8, 0x5, PT
        @P0 SYNC
        EXIT
        """
    case = PixelCase(code, {}, evaluator=evaluator, tier=tier)
    case.run()
    assert case.fragment("KILLED") == 0x1F
    (event,) = case.events
    assert event.id == "draw.fault" and "divergence stack" in event.message and "+0x" not in event.message


@ways()
def test_budget_of_a_draw(evaluator: str, tier: str) -> None:
    """Warps that end, but take too long together: the later ones are left out, and the next draw begins again."""
    code = """
        MOV32I R1, 0x10
        again:
        IADD32I R1, R1, -0x1
        ISETP.NE.AND P0, PT, R1, RZ, PT
        @P0 BRA again
        MOV32I R0, 0x7
        AST a[0x70], R0
        EXIT
        """
    case = StageCase(1, code, evaluator, tier, **POSITION)
    outputs = case.outputs()
    case.stage.set(BUDGET=120)
    for _ in range(2):
        assert case.stage.bind(case.program, case.bindings, tier=tier)
        pages = [case.page(outputs) for _ in range(4)]
        for page in pages:
            case.set_block(OUT_AT=page)
            case.engine.get(call_stage)(case.stage.record, case.slot, -1)
        assert [int(case.get(page, outputs, 0x70, np.int32)[9]) for page in pages] == [7, 7, 7, 0]
        case.stage.tell_failures("here")
    (event,) = case.events
    assert (event.kind, event.id, event.count) == ("hang", "draw.hang", 2) and "left out" in event.message


def test_programs_that_are_none() -> None:
    case = StageCase(1, "EXIT")

    def find(address: int, pipeline: int = 1) -> StageProgram | None:
        return case.programs.find(pipeline, address)

    assert find(0x9_0000_0000) is None
    case.memory.write(DATA, header(PIXEL) + assemble("EXIT").code)
    assert find(DATA) is None and find(DATA, 5) is not None and find(DATA) is None
    case.memory.write(DATA + 0x1000, header(VERTEX) + bytes(64))
    assert find(DATA + 0x1000) is None
    assert {e.id for e in case.events} == {"draw.program"} and all(e.kind == "fault" for e in case.events)


def test_local_memory_has_an_end() -> None:
    """A header can ask for as much local memory as it likes."""
    case = StageCase(1, "EXIT")
    data = header(VERTEX, SHADER_LOCAL_MEMORY_LOW_SIZE=(1 << 24) - 16) + assemble("EXIT").code
    case.memory.write(DATA, data)
    program = case.programs.find(1, DATA)
    assert program is not None and not case.stage.bind(program, case.bindings)
    assert [e.id for e in case.events] == ["draw.program"]


# -- what is remembered -----------------------------------------------------------------------------------------------
def test_constants_are_copied_when_they_change() -> None:
    code = "MOV R0, c[0x2][0x4]\nAST a[0x70], R0\nEXIT"
    case = StageCase(1, code, constants={2: np.array([1, 2, 3], np.int32).tobytes()}, **POSITION)
    outputs = case.outputs()
    out = case.page(outputs)
    case.set_block(OUT_AT=out)
    bound = case.bindings[2]
    assert bound is not None

    def seen(bindings: list[Binding | None] = case.bindings) -> int:
        case.memory.open_version()
        assert case.stage.bind(case.program, bindings)
        case.run()
        return int(case.get(out, outputs, 0x70, np.int32)[5])

    assert seen() == 2
    case.memory.write(bound.address + 4, (77).to_bytes(4, "little"))
    assert seen() == 77
    other = [*case.bindings]
    other[2] = bound._replace(address=bound.address + 4)
    assert seen(other) == 3
    other[2] = bound._replace(size=4)
    assert seen(other) == 0
    assert seen([None] * 18) == 0
    assert seen() == 77
    other[2] = Binding(0x9_0000_0000, 64)
    assert seen(other) == 0 and [e.id for e in case.events] == ["draw.constants"]


def test_programs_change_with_their_memory() -> None:
    case = StageCase(1, "MOV32I R0, 0x1\nAST a[0x70], R0\nEXIT", **POSITION)
    assert case.programs.find(1, CODE) is case.program
    case.memory.write(CODE + 0x50, assemble("MOV32I R0, 0x2\nAST a[0x70], R0\nEXIT").code)
    changed = case.programs.find(1, CODE)
    assert changed is not None and changed is not case.program
    outputs = case.outputs()
    assert case.stage.bind(changed, case.bindings)
    case.stage.set_map("OUT_MAP", outputs.written)
    out = case.page(outputs)
    case.set_block(OUT_AT=out)
    case.run()
    assert (case.get(out, outputs, 0x70, np.int32) == 2).all()


def test_programs_without_end_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are remembered, but not all that ever were."""
    monkeypatch.setattr(programs, "MAX_KNOWN", 3)
    case = StageCase(1, "EXIT")
    kept = []
    for n in range(8):
        case.memory.write(CODE + 0x50, assemble(f"MOV32I R0, {n:#x}\nAST a[0x70], R0\nEXIT").code)
        kept.append(case.programs.find(1, CODE))
        assert case.programs.find(1, CODE) is kept[-1]
        assert len(case.programs._known) <= 3
    assert None not in kept and len(set(map(id, kept))) == 8


def test_headers() -> None:
    """Words of attribute space by their places in a header; registers of a pixel program's outputs."""
    vtg = Header.of(header(VERTEX, GENERIC_IMAP_Y__3=1, IMAP_VERTEX_ID=1, OMAP_POINT_SIZE=1, GENERIC_OMAP_W__31=1,
                           OMAP_CLIP_DISTANCE7=1, OMAP_COLOR_BACK_SPECULAR_ALPHA=1, TEX_OMAP_Q__9=1,
                           OMAP_TESSELLATION_LOD_LEFT=1))  # fmt: skip
    assert set(vtg.inputs) == {0x80 + 16 * 3 + 4, 0x2FC}
    assert vtg.outputs == (0x6C, 0x27C, 0x2BC, 0x2DC, 0x39C)
    assert vtg.fits and vtg.stage == VERTEX and vtg.targets == ()
    pixel = Header.of(header(
        PIXEL, GENERIC_IMAP_Z__1=PERSPECTIVE, IMAP_COLOR_SPECULAR_GREEN=LINEAR, IMAP_POSITION_W=1,
        IMAP_POINT_SPRITE_T=1, TEX_IMAP_R__2=1, OMAP_RED__0=1, OMAP_BLUE__2=1, OMAP_DEPTH=1, KILLS_PIXELS=1,
    ))  # fmt: skip
    assert pixel.inputs == {0x98: PERSPECTIVE, 0x294: LINEAR, 0x7C: 1, 0x2E4: 1, 0x328: 1}
    assert pixel.targets == (1, 0, 4, 0, 0, 0, 0, 0)
    assert pixel.target_registers == (0, None, 4, None, None, None, None, None)
    assert (pixel.mask_register, pixel.depth_register, pixel.kills) == (None, 9, True)
    assert pixel.output_registers == (0, 6, 9)
    control = Header.of(header(CONTROL, PER_PATCH_ATTRIBUTE_COUNT=5, THREADS_PER_INPUT_PRIMITIVE=3))
    assert (control.patch_words, control.threads) == (5, 3)
    geometry = Header.of(header(GEOMETRY, MAX_OUTPUT_VERTEX_COUNT=12, OUTPUT_TOPOLOGY=7, STREAM_OUT_MASK=5))
    assert (geometry.most_vertices, geometry.topology, geometry.streams, geometry.threads) == (12, 7, 5, 1)
    assert not Header.of(header(PIXEL, SHADER_TYPE=VERTEX)).fits and not Header.of(bytes(0x50)).fits


@ways()
@pytest.mark.parametrize(
    ("pipeline", "store"),
    [
        (5, "AST a[0x70], R0"),
        (1, "AST.P a[0x20], R0"),
        (4, "OUT.EMIT R1, R1, RZ\nAST.128 a[0x70], R0"),
        (5, "OUT.EMIT R1, R1, RZ"),
    ],
)
def test_outputs_that_a_stage_does_not_have(evaluator: str, tier: str, pipeline: int, store: str) -> None:
    """They change nothing, the zeros at the arena's beginning least of all, where words that nobody set lead to."""
    case = StageCase(pipeline, f"MOV32I R0, 0x7\n{store}\nEXIT", evaluator, tier)
    case.set_block(FRAGMENTS=case.allocate(FRAGMENTS.size))
    if pipeline == 4:
        case.set_block(EMITTED_AT=case.allocate(1024))
    case.run()
    assert not case.memory.arena[: 1 << 17].any()
    assert not list(case.events)


@ways(QUICK)
def test_jumps_by_register(evaluator: str, tier: str) -> None:
    """Lanes go where their registers say; tables of jumps are found after the code."""
    code = """
        S2R R1, SR_LANEID
        LOP.AND R0, R1, 0x1
        SHL R0, R0, 0x5
        NOP
        NOP
        BRX R0 0x8
        MOV32I R2, 0x5
        AST a[0x70], R2
        EXIT
        MOV32I R2, 0x9
        AST a[0x70], R2
        EXIT
        """
    case = StageCase(1, code, evaluator, tier, **POSITION)
    outputs = case.outputs()
    out = case.page(outputs)
    case.set_block(OUT_AT=out)
    case.run()
    assert np.array_equal(case.get(out, outputs, 0x70, np.int32), np.where(LANE & 1, 9, 5))
    assert not list(case.events)


def test_specialised_code_takes_over() -> None:
    """Whatever serves at first, the next draw takes machine code of the program's own if it is there by then."""
    number = int.from_bytes(os.urandom(3), "little")  # a program that no cache knows
    case = StageCase(1, f"MOV32I R0, {number:#x}\nAST a[0x70], R0\nEXIT", "llvm", "auto", **POSITION)
    outputs = case.outputs()
    out = case.page(outputs)
    case.set_block(OUT_AT=out)
    case.run()
    assert (case.get(out, outputs, 0x70, np.int32) == number).all()
    special = case.engine.handle(run_stage_warp, **case.program.static)
    assert case.stage.bind(case.program, case.bindings)
    assert int(case.words(case.stage.record + LAUNCH.RUN, 2).view(np.int64)[0]) == special
    case.put(out, outputs, 0x70, 0)
    case.run()
    assert (case.get(out, outputs, 0x70, np.int32) == number).all()


@ways(QUICK)
def test_words_that_registers_give(evaluator: str, tier: str) -> None:
    """The shade mode in both numberings, which way y goes, and the window that shows local memory."""
    code = """
        IPA.SC R0, a[0x280], RZ
        S2R R1, SR_Y_DIRECTION
        MOV32I R4, 0x5
        STL [0x8], R4
        MOV32I R2, 0x77000008
        MOV R3, RZ
        LD.E R2, [R2]
        EXIT
        """
    case = PixelCase(code, PLANES, evaluator=evaluator, tier=tier, SHADER_LOCAL_MEMORY_LOW_SIZE=16)
    registers = np.zeros(0x4000, np.uint32)
    state = State(B197, registers)
    registers[B197["SET_SHADER_LOCAL_MEMORY_WINDOW"].word] = 0x77000000
    for mode, origin, flat, y in ((0x1D00, 0, True, 1.0), (0x1D01, 1, False, -1.0), (1, 1, True, -1.0)):
        registers[B197["SET_SHADE_MODE"].word] = mode
        registers[B197["SET_WINDOW_ORIGIN"].word] = origin
        case.stage.follow(state)
        case.run()
        assert np.array_equal(case.output(0), np.ones(32) if flat else plane(0x280))
        assert (case.output(1) == y).all()
        assert (case.output(2, np.int32) == 5).all()
    assert not list(case.events)
