"""Tessellation from patches to vertices: real control and evaluation programs, several patches a warp, no control."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.stage_case import StageCase, header

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics.programs.headers import layout_of, patch_layout
from pocketgpu.maxwell.graphics.records import PRIMITIVE_COLUMNS, PRIMITIVE_ID, PRIMITIVES, V0
from pocketgpu.maxwell.graphics.stages.chain import THREAD_ROOM, with_invocation
from pocketgpu.maxwell.graphics.stages.tessellation import (
    TESSELLATION,
    TessellationRoom,
    TessellationStage,
    begin_patches,
    run_control,
    run_evaluation,
    tessellate,
)
from pocketgpu.maxwell.sass.isa.assembler import assemble

PROGRAM_2 = 0x1_0000_4000
CONTROL, EVALUATION = 2, 3
X, Y, Z = 0x70, 0x74, 0x78
CONTROL_CODE = """
    S2R R0, SR_INVOCATION_ID
    ISBERD R4, [R0]
    ALD R5, a[0x80], R4
    FADD R5, R5, 0.5
    AST a[0x80], R5
    MOV32I R1, 0x40000000
    MOV32I R2, 0x40800000
    ALD R8, a[0x60]
    I2F.F32.S32 R9, R8
    ISETP.EQ.AND P0, PT, R0, RZ, PT
    @P0 AST.P a[0x0], R1
    @P0 AST.P a[0x4], R1
    @P0 AST.P a[0x8], R1
    @P0 AST.P a[0xc], R1
    @P0 AST.P a[0x10], R2
    @P0 AST.P a[0x14], R2
    @P0 AST.P a[0x20], R9
    EXIT
    """
"""Outer levels 2, inner ones 4; vertices half a unit on; the first word of the patch is the primitive's id."""
EVALUATION_CODE = """
    S2R R2, SR_LANEID
    ALD.O R0, a[0x2f0], R2
    ALD.O R1, a[0x2f4], R2
    MOV32I R3, 0x1
    ISBERD R4, [R3]
    ALD R5, a[0x80], R4
    {patch}
    ALD R8, a[0x60]
    I2F.F32.S32 R8, R8
    AST a[0x70], R0
    AST a[0x74], R1
    AST a[0x78], R5
    AST a[0x7c], R6
    AST a[0x80], R8
    EXIT
    """
OUTPUTS = {**{f"OMAP_POSITION_{c}": 1 for c in "XYZW"}, "GENERIC_OMAP_X__0": 1}
THREADS = 3


class TessellationCase(StageCase):
    """Patches of `size` vertices, one after the other in the list of slots; a[0x80] of vertex v is v."""

    def __init__(self, count: int, size: int, control: bool, evaluator: str) -> None:
        patch = f"ALD.P R6, a[{0x20 if control else 0x14:#x}]"  # without a program patches have levels
        super().__init__(EVALUATION, EVALUATION_CODE.format(patch=patch), evaluator, **OUTPUTS)
        self.control = self.programs.stages[CONTROL]
        self.incoming = layout_of([0x80])
        vertices = count * size
        pages = -(-vertices // 32)
        at = self.allocate(pages * self.incoming.vectors * 128)
        data = self.words(at, pages * self.incoming.vectors * 32, np.float32).reshape(pages, self.incoming.vectors, 32)
        data[:, 3] = np.arange(pages * 32).reshape(pages, 32)
        self.in_vertices, self.in_list = self.allocate(128), self.allocate(128)
        slots = self.allocate(4 * vertices + 128)
        self.words(slots, vertices)[:] = np.arange(vertices)[::-1]
        stride = 128 * (count // 32 + 1)
        columns = self.allocate(stride * PRIMITIVE_COLUMNS)
        self.words(columns + V0 * stride, count)[:] = np.arange(count) * size
        self.words(columns + PRIMITIVE_ID * stride, count)[:] = np.arange(count) + 10
        self.words(self.in_vertices, 4)[:] = at, self.incoming.vectors * 128, 0, vertices
        self.words(self.in_list, 4)[:] = count, 3, columns, stride
        self.thread = self.allocate(THREAD_ROOM)
        self.tessellation = TessellationStage(self.memory, self.engine, TessellationRoom(self.allocate(0), 6000))
        self.registers = np.zeros(0x1000, np.uint32)
        self.registers[B197["SET_TESSELLATION_PARAMETERS"].word] = 2 | 0 << 4 | 2 << 8
        self.out = self.outputs()
        more: dict[str, Any] = {}
        read = self.incoming.read
        if control:
            fields = {"THREADS_PER_INPUT_PRIMITIVE": THREADS, "PER_PATCH_ATTRIBUTE_COUNT": 4, "GENERIC_OMAP_X__0": 1}
            self.memory.write(PROGRAM_2, header(CONTROL, **fields) + assemble(CONTROL_CODE).code)
            program = self.programs.find(CONTROL, PROGRAM_2)
            assert program is not None
            self.memory.open_version()
            assert self.control.bind(program, self.bindings)
            own, patches = layout_of([0x80]), patch_layout(program.header)
            self.control.set_map("IN_MAP", with_invocation(read))
            self.control.set_map("OUT_MAP", own.written)
            self.control.set_map("PATCH_MAP", patches.written)
            self.stage.set_map("PATCH_MAP", patches.read)
            read = own.read
            more = {"control": self.control.record, "header": program.header, "control_output": own, "patches": patches}
        self.stage.set_map("IN_MAP", with_invocation(read))
        for n, level in enumerate((2, 2, 2, 2, 4, 4)):
            names = ("LOD_U0_OR_DENSITY", "LOD_V0_OR_DETAIL", "LOD_U1_OR_W0", "LOD_V1")
            name = f"SET_TESSELLATION_{names[n]}" if n < 4 else f"SET_TG_LOD_INTERIOR_{'UV'[n - 4]}"
            self.registers[B197[name].word] = np.float32(level).view(np.uint32)
        state = State(B197, self.registers)
        assert self.tessellation.begin(
            state, size, self.in_vertices, self.in_list, slots, self.stage.record, self.out, 0, **more
        )

    def run_all(self) -> list[dict[int, np.ndarray]]:
        """Words of the points of each patch, in order."""
        stage, record, out = self.tessellation, self.tessellation.room.record, []
        total = int(self.words(self.in_list + PRIMITIVES.COUNT, 1)[0])
        first = 0
        while first < total:
            self.engine.get(begin_patches)(record, first)
            if stage.control_warps:
                for warp in reversed(range(stage.control_warps)):
                    self.engine.get(run_control)(record, self.control.slots[0], self.thread, warp, warp + 1)
            while stage.left:
                self.engine.get(tessellate)(record)
                self.engine.get(run_evaluation)(record, self.slot, self.thread, 0, stage.pages)
                out += self._points()
            first += int(self.words(record + TESSELLATION.COUNT, 1)[0])
        self.programs.tell_failures("here")
        assert not list(self.events)
        return out

    def _points(self) -> list[dict[int, np.ndarray]]:
        pages, size, _, count = self.words(self.tessellation.vertices, 4).tolist()
        number = -(-count // 32)
        data = self.words(pages, number * size // 4, np.float32).reshape(number, -1, 32)
        words = {a: data[:, int(self.out.read[a >> 2]) // 128].reshape(-1)[:count] for a in (X, Y, Z, 0x7C, 0x80)}
        at = int(self.words(self.tessellation.room.record + TESSELLATION.POINT_PATCH, 1)[0])
        owner = self.words(at, count)
        return [{a: v[owner == n].copy() for a, v in words.items()} for n in np.unique(owner)]


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
@pytest.mark.parametrize("control", [True, False])
def test_patches(control: bool, evaluator: str) -> None:
    """Each point knows its coordinates, the vertices and the words of its patch, and the primitive."""
    count = 150 if evaluator == "llvm" else 23
    case = TessellationCase(count, 4, control, evaluator)
    found = case.run_all()
    assert len(found) == count
    grid = [0, 0.25, 0.5, 0.75, 1]
    for n, words in enumerate(found):
        points = list(zip(words[X].tolist(), words[Y].tolist(), strict=True))
        assert len(points) == 8 + 9 and {p[0] for p in points} == {p[1] for p in points} == set(grid)
        slot = 4 * count - 1 - (4 * n + 1)  # vertex 1 of the patch
        assert (words[Z] == slot + 0.5 * control).all()
        assert (words[0x80] == 10 + n).all()
        assert (words[0x7C] == (10 + n if control else 4.0)).all()
