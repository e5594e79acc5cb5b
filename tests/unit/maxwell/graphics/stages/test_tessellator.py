"""The tessellator: domains are covered once, edges have the points of their levels, places, windings, bad levels."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pocketgpu.facts.maxwell import B197
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics.programs.headers import layout_of
from pocketgpu.maxwell.graphics.records import LINE_LIST, POINT_LIST, PRIMITIVE_ID, PROVOKING, TRIANGLE_LIST, VERTICES
from pocketgpu.maxwell.graphics.stages.tessellation import (
    TESSELLATION,
    TessellationRoom,
    TessellationStage,
    begin_patches,
    tessellate,
)
from pocketgpu.maxwell.graphics.stages.tessellator import (
    FRACTIONAL_EVEN,
    FRACTIONAL_ODD,
    INTEGER,
    ISOLINES,
    OUT_CLOCKWISE,
    OUT_COUNTERCLOCKWISE,
    OUT_LINES,
    OUT_POINTS,
    QUADS,
    TRIANGLES,
)
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory

LEVELS = (
    *(f"SET_TESSELLATION_LOD_{name}" for name in ("U0_OR_DENSITY", "V0_OR_DETAIL", "U1_OR_W0", "V1")),
    "SET_TG_LOD_INTERIOR_U", "SET_TG_LOD_INTERIOR_V",
)  # fmt: skip


@dataclass
class Patch:
    """Points as (u, v) in units of 1/65536, primitives as numbers of points."""

    points: list[tuple[int, int]]
    primitives: list[tuple[int, ...]]
    provoking: list[int]


class Case:
    """A machine that tessellates patches with levels from registers."""

    def __init__(self, evaluator: str = "llvm", patches: int = 1) -> None:
        self.memory = GpuMemory(work_size=32 * MIB)
        self.engine = Engine(self.memory.arena, evaluator)
        at = (self.memory.work_offset + 127) & -128
        self.vertices, self.list, self.slots = at, at + 128, at + 256
        columns, stride = at + 4096, 4096
        self.words(self.list, 4)[:] = patches, 3, columns, stride
        self.words(columns + PRIMITIVE_ID * stride, patches)[:] = np.arange(patches) + 500
        self.stage = TessellationStage(self.memory, self.engine, TessellationRoom(at + 0x20000, 20000))
        self.registers = np.zeros(0x1000, np.uint32)

    def words(self, at: int, count: int, dtype: Any = np.int32) -> Any:
        return self.memory.arena[at : at + 4 * count].view(dtype)

    def begin(self, domain: int, spacing: int, out: int, levels: list[float], last: bool = False) -> None:
        values = {"SET_TESSELLATION_PARAMETERS": domain | spacing << 4 | out << 8, "SET_PROVOKING_VERTEX": int(last)}
        values |= {name: int(np.float32(level).view(np.uint32)) for name, level in zip(LEVELS, levels, strict=True)}
        for name, v in values.items():
            self.registers[B197[name].word] = v
        state = State(B197, self.registers)
        assert self.stage.begin(state, 3, self.vertices, self.list, self.slots, 0, layout_of([0x70]), 0)
        self.engine.get(begin_patches)(self.stage.room.record, 0)

    def step(self) -> list[Patch]:
        """The patches that the tessellator makes in one go."""
        self.engine.get(tessellate)(self.stage.room.record)
        record = self.words(self.stage.room.record, TESSELLATION.size // 4)
        at = [int(record[TESSELLATION.offsets[name] // 4]) for name in ("POINT_U", "POINT_V", "POINT_PATCH")]
        count = int(self.words(self.stage.vertices + VERTICES.COUNT, 1)[0])
        u, v = (self.words(place, count, np.float32).astype(np.float64) * 65536 for place in at[:2])
        assert np.array_equal(u, np.round(u)) and np.array_equal(v, np.round(v))
        owner = self.words(at[2], count)
        listed, kind, columns, stride = self.words(self.stage.primitives, 4).tolist()
        corners = [self.words(columns + c * stride, listed) for c in range(kind + 1)]
        ids, provoking = (self.words(columns + c * stride, listed) for c in (PRIMITIVE_ID, PROVOKING))
        found = []
        for n in np.unique(owner):
            first = int(np.flatnonzero(owner == n)[0])
            points = list(zip(u[owner == n].astype(int).tolist(), v[owner == n].astype(int).tolist(), strict=True))
            mine = ids == 500 + n
            rows = (np.stack(corners, axis=1)[mine] - first).tolist()
            found.append(Patch(points, [tuple(row) for row in rows], (provoking[mine] - first).tolist()))
        return found

    def patch(self, *args: Any, **more: Any) -> Patch:
        self.begin(*args, **more)
        return (self.step() or [Patch([], [], [])])[0]


def segments(level: float, spacing: int) -> int:
    """Of an edge, by OpenGL's rules."""
    if spacing == INTEGER:
        return math.ceil(min(max(level, 1), 64))
    if spacing == FRACTIONAL_EVEN:
        return 2 * math.ceil(min(max(level, 2), 64) / 2)
    return 2 * math.ceil((min(max(level, 1), 63) + 1) / 2) - 1


def edges_of(domain: int) -> list[tuple[int, Any]]:
    """(outer level, whether a point is on that edge)."""
    left, bottom = (0, lambda p: p[0] == 0), (1, lambda p: p[1] == 0)
    if domain == QUADS:
        return [left, bottom, (2, lambda p: p[0] == 65536), (3, lambda p: p[1] == 65536)]
    return [left, bottom, (2, lambda p: p[0] + p[1] == 65536)]


def check_cover(domain: int, patch: Patch) -> None:
    """Triangles against the clock that fit together and fill the domain: no holes, nothing twice."""
    total, seen = 0, Counter()
    for a, b, c in patch.primitives:
        (ax, ay), (bx, by), (cx, cy) = (patch.points[n] for n in (a, b, c))
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        assert area >= 0, (a, b, c)
        total += area
        seen.update([(a, b), (b, c), (c, a)])
    assert total == (2 if domain == QUADS else 1) << 32
    assert set(seen.values()) == {1}
    border = {edge for edge in seen if edge[::-1] not in seen}
    for a, b in border:
        assert any(on(patch.points[a]) and on(patch.points[b]) for _, on in edges_of(domain))
    used = {n for triangle in patch.primitives for n in triangle}
    assert used == set(range(len(patch.points)))


@pytest.mark.parametrize("spacing", [INTEGER, FRACTIONAL_ODD, FRACTIONAL_EVEN])
@pytest.mark.parametrize("domain", [TRIANGLES, QUADS])
def test_domains_are_covered_once(domain: int, spacing: int) -> None:
    case, rng = Case(), random.Random(domain * 3 + spacing)
    for n in range(60):
        top = rng.choice([1.0, 2.0, 5.0, 12.0, 66.0]) if n < 55 else 64.0
        levels = [rng.choice([rng.uniform(0.1, top), float(rng.randrange(1, int(top) + 1)), top]) for _ in range(6)]
        patch = case.patch(domain, spacing, OUT_CLOCKWISE, levels)
        check_cover(domain, patch)
        wanted = {level: segments(levels[level], spacing) for level, _ in edges_of(domain)}
        outermost = patch.points[: sum(wanted.values())]
        for level, on in edges_of(domain):
            assert sum(map(on, outermost)) == wanted[level] + 1
        assert len(set(patch.points)) == len(patch.points) or spacing != INTEGER


def test_counts_of_whole_levels() -> None:
    """A regular quad has all points of its grid; a triangle those of nested ones."""
    case = Case()
    for n in (1, 2, 3, 4, 7, 64):
        quad = case.patch(QUADS, INTEGER, OUT_CLOCKWISE, [n] * 6)
        assert len(quad.points) == (n + 1) ** 2 and len(quad.primitives) == 2 * n * n
        steps = [round(65536 / n) * i if 2 * i < n else 65536 - round(65536 / n) * (n - i) for i in range(n + 1)]
        middle = [32768 if 2 * i == n else s for i, s in enumerate(steps)]
        assert {p[0] for p in quad.points} == set(middle) == {p[1] for p in quad.points}
        triangle = case.patch(TRIANGLES, INTEGER, OUT_CLOCKWISE, [n] * 6)
        rings = [3 * (n - 2 * r) for r in range(n // 2 + 1)]
        assert len(triangle.points) == sum(rings) + (n % 2 == 0)
        assert len(triangle.primitives) == sum(a + b for a, b in itertools.pairwise(rings)) + n % 2
    long = case.patch(QUADS, INTEGER, OUT_CLOCKWISE, [5, 9, 5, 9, 9, 5])
    assert len(long.points) == 60 and len(long.primitives) == 90


def test_one_ring_at_least() -> None:
    """An inner level of 1 counts as a little more where an outer one is larger."""
    case = Case()
    for spacing, inside in ((INTEGER, 2), (FRACTIONAL_ODD, 3)):
        patch = case.patch(TRIANGLES, spacing, OUT_CLOCKWISE, [4, 1, 1, 0, 1, 0])
        check_cover(TRIANGLES, patch)
        inner = [p for p in patch.points if p[0] > 0 and p[1] > 0 and sum(p) < 65536]
        assert len(inner) == (1 if inside == 2 else 3) or spacing == FRACTIONAL_ODD
        check_cover(QUADS, case.patch(QUADS, spacing, OUT_CLOCKWISE, [1, 1, 1, 1, 1, 6]))
    assert case.patch(TRIANGLES, INTEGER, OUT_CLOCKWISE, [1, 1, 1, 9, 1, 9]).primitives == [(0, 1, 2)]


def test_places_of_fractional_levels() -> None:
    """Between whole levels a point moves from its place for fewer segments to that for more; edges are symmetric."""
    case = Case()

    def at(spacing: int, level: float) -> list[int]:
        patch = case.patch(QUADS, spacing, OUT_CLOCKWISE, [4, level, 4, 4, 4, 4])
        return sorted(p[0] for p in patch.points if p[1] == 0)

    assert at(FRACTIONAL_EVEN, 2.5) == [int(v * 65536) for v in (0, 0.4375, 0.5, 0.5625, 1)]
    assert at(FRACTIONAL_EVEN, 2.0) == [0, 32768, 65536]
    assert at(FRACTIONAL_EVEN, 4.0) == [0, 16384, 32768, 49152, 65536]
    third = round(65536 / 3)
    assert at(FRACTIONAL_ODD, 2.0) == [0, (third + 1) // 2, 65536 - (third + 1) // 2, 65536]
    assert at(FRACTIONAL_ODD, 3.0) == [0, third, 65536 - third, 65536]
    rng = random.Random(2)
    for spacing in (FRACTIONAL_EVEN, FRACTIONAL_ODD):
        before: list[int] = []
        for level in sorted(rng.uniform(1, 64) for _ in range(60)):
            places = at(spacing, level)
            assert places == [65536 - p for p in reversed(places)]
            if len(before) == len(places):  # more level: nearer to the next whole number's even places
                even = [Fraction(65536 * i, len(places) - 1) for i in range(len(places))]
                miss = [max(abs(p - e) for p, e in zip(row, even, strict=True)) for row in (places, before)]
                assert miss[0] <= miss[1] + 2
            before = places


def test_windings_points_and_provoking() -> None:
    case = Case()
    levels = [3.0, 2.0, 5.0, 4.0, 6.0, 3.0]
    clock = case.patch(QUADS, INTEGER, OUT_CLOCKWISE, levels)
    other = case.patch(QUADS, INTEGER, OUT_COUNTERCLOCKWISE, levels, last=True)
    assert [(a, c, b) for a, b, c in clock.primitives] == other.primitives
    assert clock.provoking == [t[0] for t in clock.primitives]
    assert other.provoking == [t[2] for t in other.primitives]
    points = case.patch(QUADS, INTEGER, OUT_POINTS, levels)
    assert case.stage.kind == POINT_LIST
    assert points.points == clock.points and points.primitives == [(n,) for n in range(len(points.points))]
    case.patch(QUADS, INTEGER, OUT_CLOCKWISE, levels)
    assert case.stage.kind == TRIANGLE_LIST


def test_isolines() -> None:
    """The first level is the number of lines, always whole; the second that of their segments."""
    case = Case()
    for last in (False, True):
        patch = case.patch(ISOLINES, FRACTIONAL_EVEN, OUT_LINES, [2.5, 3.5, 0, 0, 0, 0], last=last)
        assert case.stage.kind == LINE_LIST
        assert sorted({p[1] for p in patch.points}) == [0, 21845, 65536 - 21845]
        assert len(patch.points) == 15 and len(patch.primitives) == 12
        for (a, b), provoking in zip(patch.primitives, patch.provoking, strict=True):
            assert patch.points[a][1] == patch.points[b][1] and patch.points[a][0] < patch.points[b][0]
            assert provoking == (b if last else a)
    dots = case.patch(ISOLINES, INTEGER, OUT_POINTS, [2, 3, 0, 0, 0, 0])
    assert len(dots.primitives) == len(dots.points) == 8


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("-inf")])
def test_levels_that_leave_a_patch_out(bad: float) -> None:
    case = Case()
    for domain, used in ((ISOLINES, 2), (TRIANGLES, 3), (QUADS, 4)):
        for n in range(6):
            levels = [2.0] * 6
            levels[n] = bad
            patch = case.patch(domain, INTEGER, OUT_CLOCKWISE, levels)
            assert bool(patch.primitives) == (n >= used), (domain, n)
    inf = case.patch(QUADS, INTEGER, OUT_CLOCKWISE, [float("inf")] * 6)
    assert len(inf.points) == 65 * 65


def test_many_patches_come_in_turns() -> None:
    """Patches that are too many for the room are left for the next turn; all come, in order."""
    case = Case(patches=20)
    case.begin(QUADS, INTEGER, OUT_CLOCKWISE, [40.0] * 6)
    counts = []
    while case.stage.left:
        patches = case.step()
        counts.append(len(patches))
        for patch in patches:
            assert len(patch.points) == 41 * 41 and len(patch.primitives) == 3200
    assert sum(counts) == 20 and len(counts) > 1


def test_both_evaluators_agree() -> None:
    found = []
    for evaluator in ("llvm", "numpy"):
        case = Case(evaluator)
        found.append([
            case.patch(domain, spacing, OUT_CLOCKWISE, [1.3, 4.2, 3.0, 2.7, 3.9, 2.2])
            for domain in (ISOLINES, TRIANGLES, QUADS) for spacing in (INTEGER, FRACTIONAL_ODD, FRACTIONAL_EVEN)
        ])  # fmt: skip
    assert found[0] == found[1]
