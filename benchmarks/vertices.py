"""The vertex side of the Switch's draws on one thread: indices to slots and primitives, attributes, the tessellator.

A mesh of 100,000 vertices and 300,000 indices, whose triangles name vertices near each other, or anywhere. The vertex
program does nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from common import Report, clock, run, turns

from pocketgpu.facts.choices import choose
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import VERTEX
from pocketgpu.lanes import I32, Engine, Lang, Value, kernel
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics.input.vertex_input import InputShape, VertexInput
from pocketgpu.maxwell.graphics.input.vertex_records import INPUT, VertexRoom
from pocketgpu.maxwell.graphics.input.vertex_stage import next_piece, run_vertices
from pocketgpu.maxwell.graphics.programs.headers import layout_of
from pocketgpu.maxwell.graphics.records import PRIMITIVES, VERTICES
from pocketgpu.maxwell.graphics.stages.tessellation import (
    TessellationRoom,
    TessellationStage,
    begin_patches,
    tessellate,
)
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.sass.thread_memory.work import DONE, LAUNCH, WARP, WARPS

MESH, INDICES = 0x1_0000_0000, 0x1_0100_0000
COUNT, STRIDE = 100_000, 24
ATTRIBUTES = (("R32_G32_B32", 7), ("A2B10G10R10", 1), ("R32_G32", 7))
"""Format and numerical type of position, normal and texture coordinates, side by side."""
TRIANGLES = 4
PATCHES, LEVEL = 100, 16.0
BEGINS = 1000


@kernel(32, launch=I32, slot=I32, warp=I32)
def nothing(k: Lang, launch: Value, slot: Value, warp: Value) -> None:
    """A program that has ended."""
    k.store(I32, slot + (WARPS + WARP.STATE), DONE)


class Mesh:
    """A mesh in memory, and the buffers of the vertex side."""

    def __init__(self) -> None:
        self.memory = GpuMemory(work_size=64 * MIB, capacity=64 * MIB)
        self.engine = Engine(self.memory.arena)
        self.memory.map(MESH, 16 * MIB)
        self.memory.map(INDICES, 16 * MIB)
        rng = np.random.default_rng(1)
        self.memory.write(MESH, rng.integers(0, 256, COUNT * STRIDE, np.uint8).tobytes())
        near = (np.arange(COUNT)[:, None] + np.arange(3)) % COUNT
        self.places = {"near": INDICES, "far": INDICES + 8 * MIB}
        self.memory.write(self.places["near"], near.astype("<u4").tobytes())
        self.memory.write(self.places["far"], rng.permutation(COUNT)[near].astype("<u4").tobytes())
        self.registers = np.zeros(0x1000, np.uint32)
        self.state = State(B197, self.registers)
        offset = 0
        for number in range(16):
            word = B197["SET_VERTEX_ATTRIBUTE_A"].encode(SOURCE=1)
            if number < len(ATTRIBUTES):
                name, kind = ATTRIBUTES[number]
                layout = VERTEX.named(name)
                word = B197["SET_VERTEX_ATTRIBUTE_A"].encode(
                    COMPONENT_BIT_WIDTHS=layout.code, NUMERICAL_TYPE=kind, OFFSET=offset
                )
                offset += layout.bytes
            self.registers[B197["SET_VERTEX_ATTRIBUTE_A"].word + number] = word
        self.put("SET_VERTEX_STREAM_A_FORMAT", 1 << 12 | STRIDE)
        self.address("SET_VERTEX_STREAM_A_LOCATION_A", MESH)
        self.address("SET_VERTEX_STREAM_LIMIT_A_A", MESH + COUNT * STRIDE - 1)
        at = (self.memory.work_offset + 4095) & -4096
        self.launch, self.slot, self.thread = at, at + 4096, at + 65536
        words = self.memory.arena[self.launch : self.launch + LAUNCH.size].view(np.int32)
        words[LAUNCH.RUN // 4 : LAUNCH.RUN // 4 + 2].view(np.int64)[0] = self.engine.handle(nothing)
        words[LAUNCH.SLICE // 4] = words[LAUNCH.TURNS // 4] = 1
        self.input = VertexInput(self.memory, self.engine, VertexRoom(at + 131072, 1 << 14, 32), choose())
        shape = InputShape.of(self.state)
        self.plan = self.input.plan(
            self.state, TRIANGLES, 4, True, shape, self.launch, shape.vectors, 0, tier="specialised"
        )

    def put(self, name: str, value: int) -> None:
        self.registers[B197[name].word] = value

    def address(self, name: str, value: int) -> None:
        word = B197[name].word
        self.registers[word], self.registers[word + 1] = value >> 32, value & 0xFFFFFFFF

    def draw(self, which: str, shades: bool) -> Callable[[], object]:
        """A draw of all triangles, piece by piece."""
        pieces, shade, record = self.engine.get(next_piece), self.engine.get(run_vertices), self.input.room.input
        words = self.memory.arena[record : record + INPUT.size].view(np.int32).data
        more, count = INPUT.MORE // 4, (INPUT.VERTICES + VERTICES.COUNT) // 4

        def go() -> None:
            self.address("SET_INDEX_BUFFER_A", self.places[which])
            self.address("SET_INDEX_BUFFER_C", self.places[which] + 12 * COUNT - 1)
            self.input.begin(self.plan, self.state, 0, 3 * COUNT)
            while words[more]:
                pieces(record)
                if shades:
                    shade(record, self.slot, self.thread, 0, (words[count] + 31) // 32)

        return go

    def begins(self) -> None:
        """What Python does for a draw."""
        for _ in range(BEGINS):
            self.input.begin(self.plan, self.state, 0, 36)


class Patches:
    """Quads of one level."""

    def __init__(self) -> None:
        memory = GpuMemory(work_size=64 * MIB, capacity=MIB)
        engine = Engine(memory.arena)
        at = (memory.work_offset + 4095) & -4096
        registers = np.zeros(0x1000, np.uint32)
        for word in range(B197["SET_TESSELLATION_LOD_U0_OR_DENSITY"].word, B197["SET_TG_LOD_INTERIOR_V"].word + 1):
            registers[word] = np.float32(LEVEL).view(np.uint32)
        registers[B197["SET_TESSELLATION_PARAMETERS"].word] = 2 | 2 << 8
        memory.arena[at + 128 : at + 144].view(np.int32)[:] = PATCHES, 3, at + 4096, 4096
        stage = TessellationStage(memory, engine, TessellationRoom(at + 0x20000, 400_000))
        stage.begin(State(B197, registers), 3, at, at + 128, at + 256, 0, layout_of([0x70]), 0)
        begin, cut, record = engine.get(begin_patches), engine.get(tessellate), stage.room.record
        count = memory.arena[stage.primitives + PRIMITIVES.COUNT :][:4].view(np.int32).data
        self.triangles = 0

        def go() -> None:
            begin(record, 0)
            self.triangles = 0
            while stage.left:
                cut(record)
                self.triangles += count[0]

        self.go = go


def measure(report: Report, arguments: argparse.Namespace) -> None:
    mesh, patches = Mesh(), Patches()
    cases = {
        "near, assembled": mesh.draw("near", False), "near, with attributes": mesh.draw("near", True),
        "far, assembled": mesh.draw("far", False), "far, with attributes": mesh.draw("far", True),
    }  # fmt: skip
    work = [*cases.values(), patches.go, mesh.begins]
    found = turns(arguments.repeat, *(lambda w=w: clock(w) for w in work))
    for what, series in zip(cases, found, strict=False):
        report.add(f"indices {what}", 3 * COUNT / 1e6 / series.median, "M/s", best=3 * COUNT / 1e6 / series.best)
    made = patches.triangles / 1e6
    report.add("triangles of the tessellator", made / found[-2].median, "M/s", best=made / found[-2].best)
    each = 1e6 / BEGINS
    report.add("set-up of a draw", found[-1].median * each, "us", best=found[-1].best * each, more=False)


if __name__ == "__main__":
    run("vertices", measure, repeat=15)
