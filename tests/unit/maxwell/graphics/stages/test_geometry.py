"""The geometry stage: invocations in order, strips and streams as lists, batches, pass-through programs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from support.stage_case import StageCase

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics import records
from pocketgpu.maxwell.graphics.programs.headers import layout_of
from pocketgpu.maxwell.graphics.records import (
    LINE_LIST,
    POINT_LIST,
    PRIMITIVE_COLUMNS,
    PRIMITIVE_FLAGS,
    PRIMITIVE_ID,
    PRIMITIVES,
    PROVOKING,
    TRIANGLE_LIST,
    VERTICES,
)
from pocketgpu.maxwell.graphics.stages.chain import THREAD_ROOM, Chain, with_invocation
from pocketgpu.maxwell.graphics.stages.geometry import GeometryRoom, GeometryStage, list_geometry, run_geometry

POINTS, LINE_STRIP, TRIANGLE_STRIP = 1, 6, 7
X = 0x70
BEGINS = records.FLAG_BEGINS
STRIPS = """
    S2R R0, SR_INVOCATION_ID
    ALD R8, a[0x60]
    MOV R1, RZ
    MOV R3, RZ
    PBK done
    again:
    IADD R9, R0, 0x2
    ISETP.GT.AND P0, PT, R1, R9, PT
    @P0 BRK
    ISBERD R4, [RZ]
    ALD R5, a[0x80], R4
    I2F.F32.S32 R6, R1
    FFMA R5, R6, 0.125, R5
    AST a[0x70], R5, R3
    OUT.EMIT R3, R3, RZ
    IADD R1, R1, 0x1
    BRA again
    done:
    OUT.CUT R3, R3, RZ
    AST a[0x70], R8, R3
    OUT.EMIT R3, R3, 0x1
    EXIT
    """
"""Emits invocation + 3 vertices: the number of the input vertex and eighths; then the primitive's id to stream 1."""


class GeometryCase(StageCase):
    """A geometry program with primitives coming in: `rows` are their vertices, a[0x80] of vertex v is 1000 * v."""

    def __init__(self, code: str, rows: list[list[int]], kind: int, neighbours: bool = False, last: bool = False,
                 vectors: int = 3000, words: tuple[int, ...] = (0x80,), **options: Any) -> None:  # fmt: skip
        super().__init__(4, code, **options)
        self.incoming = layout_of(words)
        count = 1 + max(v for row in rows for v in row)
        pages = -(-count // 32)
        at = self.allocate(pages * self.incoming.vectors * 128)
        for p in range(pages):
            base = at + p * self.incoming.vectors * 128
            for n, word in enumerate(words):
                values = (np.arange(32) + 32 * p) * 1000.0 + n
                self.words(base + int(self.incoming.read[word >> 2]), 32, np.float32)[:] = values
        vertices, primitives = self.allocate(VERTICES.size), self.allocate(PRIMITIVES.size)
        stride = 128 * (-(-len(rows) // 32) + 1)
        columns = self.allocate(stride * PRIMITIVE_COLUMNS)
        order = (records.V0, records.V1, records.V2, records.V3, records.V4, records.V5)
        for i, row in enumerate(rows):
            for n, v in enumerate(row):
                self.words(columns + order[n] * stride + 4 * i, 1)[0] = v
            self.words(columns + PRIMITIVE_ID * stride + 4 * i, 1)[0] = 70 + i
        self.words(vertices, 4)[:] = at, self.incoming.vectors * 128, 0, count
        self.words(primitives, 4)[:] = len(rows), kind, columns, stride
        self.registers = np.zeros(0x1000, np.uint32)
        self.registers[B197["SET_PROVOKING_VERTEX"].word] = int(last)
        self.out = self.outputs()
        self.stage.set_map("IN_MAP", with_invocation(self.incoming.read))
        room = GeometryRoom(self.allocate(0), vectors)
        self.allocate(room.size)
        self.thread = self.allocate(THREAD_ROOM)
        self.geometry = GeometryStage(self.memory, self.engine, room)
        self.in_records = vertices, primitives
        self.kind, self.neighbours = kind, neighbours

    def begin(self, **masks: int) -> None:
        for name, v in masks.items():
            i = int(name.removeprefix("mask"))
            self.registers[B197["SET_POST_VTG_SHADER_ATTRIBUTE_SKIP_MASK"].word + i] = v
        assert self.geometry.begin(
            State(B197, self.registers), self.program.header, self.stage.record, self.out, 0, *self.in_records,
            self.kind, self.neighbours, self.incoming.read,
        )  # fmt: skip

    def lists(self, stream: int = 0, word: int = X) -> list[tuple[list[float], float, int, int]]:
        """All primitives of a stream: the word of their vertices and of the provoking one, id, flags."""
        out = []
        run, listing = self.engine.get(run_geometry), self.engine.get(list_geometry)
        record, total = self.geometry.room.record, self.geometry.start_piece()
        for first in range(0, total, self.geometry.groups):
            self.geometry.start_batch(first)
            groups = min(self.geometry.groups, total - first)
            for group in reversed(range(groups)):  # as threads may take them
                run(record, self.slot, self.thread, group, group + 1)
            listing(record, groups, stream)
            pages, size, _, vertices = self.words(self.geometry.vertices, 4).tolist()
            count, kind, columns, stride = self.words(self.geometry.primitives, 4).tolist()
            at = pages + int(self.out.read[word >> 2])
            table = np.stack([self.words(columns + c * stride, count) for c in range(PRIMITIVE_COLUMNS)], axis=1)
            for row in table.tolist():
                numbers = [*row[: kind + 1], row[PROVOKING]]
                assert all(0 <= v < vertices for v in numbers)
                places = [at + (v >> 5) * size + 4 * (v & 31) for v in numbers]
                *values, provoking = (float(self.words(place, 1, np.float32)[0]) for place in places)
                out.append((values, provoking, row[PRIMITIVE_ID], row[PRIMITIVE_FLAGS]))
        self.stage.tell_failures("here")
        assert not list(self.events)
        return out


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("topology", [POINTS, LINE_STRIP, TRIANGLE_STRIP])
def test_strips_and_streams(topology: int, last: bool, evaluator: str) -> None:
    """Two invocations of each of 40 points, several batches; strips in OpenGL's order, stream 1 apart."""
    fields = {"MAX_OUTPUT_VERTEX_COUNT": 5, "THREADS_PER_INPUT_PRIMITIVE": 2, "OUTPUT_TOPOLOGY": topology,
              "OMAP_POSITION_X": 1}  # fmt: skip
    rows = [[39 - i] for i in range(40)]
    case = GeometryCase(STRIPS, rows, POINT_LIST, last=last, evaluator=evaluator, vectors=200, **fields)
    case.begin()
    assert case.geometry.groups == 2  # of three
    expected = []
    for i, row in enumerate(rows):
        for invocation in range(2):
            strip = [1000.0 * row[0] + n / 8 for n in range(invocation + 3)]
            if topology == POINTS:
                expected += [([v], v, 70 + i, 7 | BEGINS) for v in strip]
            elif topology == LINE_STRIP:
                for n, (a, b) in enumerate(itertools.pairwise(strip)):
                    expected.append(([a, b], b if last else a, 70 + i, 7 | (0 if n else BEGINS)))
            else:
                for n, (a, b, c) in enumerate(zip(strip, strip[1:], strip[2:], strict=False)):
                    turned = ([b, a, c] if last else [a, c, b]) if n % 2 else [a, b, c]
                    expected.append((turned, c if last else a, 70 + i, 7 | BEGINS))
    assert case.lists() == expected
    if topology == POINTS:
        ids = [np.int32(70 + i).view(np.float32) for i in range(40) for _ in range(2)]
        assert [v[0][0] for v in case.lists(stream=1)] == [float(v) for v in ids]


CORNERS = """
    S2R R0, SR_INVOCATION_INFO
    SHR.U32 R0, R0, 0x10
    MOV R1, RZ
    MOV R3, RZ
    PBK done
    again:
    ISETP.GE.AND P0, PT, R1, R0, PT
    @P0 BRK
    ISBERD R4, [R1]
    ALD R5, a[0x80], R4
    AST a[0x70], R5, R3
    OUT.EMIT R3, R3, RZ
    IADD R1, R1, 0x1
    BRA again
    done:
    EXIT
    """


@pytest.mark.parametrize(("kind", "corners"), [(LINE_LIST, 2), (LINE_LIST, 4), (TRIANGLE_LIST, 3), (TRIANGLE_LIST, 6)])
def test_vertices_of_a_primitive(kind: int, corners: int) -> None:
    """A program finds all vertices of lines and triangles, with neighbours, in order."""
    rows = [[(7 * i + 5 * n) % 50 for n in range(corners)] for i in range(37)]
    case = GeometryCase(CORNERS, rows, kind, corners > kind + 1, evaluator="llvm", MAX_OUTPUT_VERTEX_COUNT=6,
                        OUTPUT_TOPOLOGY=POINTS, OMAP_POSITION_X=1)  # fmt: skip
    case.begin()
    assert [v[0][0] for v in case.lists()] == [1000.0 * v for row in rows for v in row]


def test_pass_through() -> None:
    """Vertices go on with their own words where the mask says so, or where the program has none to give."""
    code = """
        ALD R0, a[0x60]
        I2F.F32.S32 R0, R0
        AST a[0x84], R0
        AST a[0x80], R0
        EXIT
        """
    rows = [[3 * i + 2, 3 * i + 1, 3 * i] for i in range(40)]
    case = GeometryCase(code, rows, TRIANGLE_LIST, evaluator="llvm", words=(0x70, 0x80, 0x84), vectors=500,
                        GENERIC_OMAP_X__0=1, GENERIC_OMAP_Y__0=1)  # fmt: skip
    number = case.program.header.number | 1 << 24
    object.__setattr__(case.program.header, "number", number)
    assert case.program.header.pass_through
    case.out = Chain(case.incoming, {4: case.program.header}).output
    case.stage.set_map("OUT_MAP", case.out.written)
    case.begin(mask1=1 << (0x80 // 4 - 32))
    for word, n in ((0x70, 0), (0x80, 1)):
        assert [v[0] for v in case.lists(word=word)] == [[1000.0 * v + n for v in row] for row in rows]
    found = case.lists(word=0x84)
    assert [v[0] for v in found] == [[70.0 + i] * 3 for i in range(40)]
    assert {v[3] for v in found} == {7 | BEGINS}
