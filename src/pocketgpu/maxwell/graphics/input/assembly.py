"""Primitive assembly: from places of a window to primitives, for all topologies, 32 primitives at a time.

A run is the vertices between two restarts. If it continues in the next piece, only the primitives that are already
certain are made. Where a topology is split into triangles the order of vertices is OpenGL's (Vulkan's where the first
vertex provokes), so that the provoking vertex of a triangle or line is its first or its last.
Source: OpenGL 4.6 core, tables of primitive types; OpenGL 4.6 compatibility for quads and polygons, whose provoking
vertex is their first or last one (of a polygon always the first).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pocketgpu.lanes import I32, Lang, Value
from pocketgpu.maxwell.graphics.input.indices import word
from pocketgpu.maxwell.graphics.input.vertex_records import INPUT
from pocketgpu.maxwell.graphics.records import (
    FLAG_BEGINS,
    FLAG_EDGE0,
    FLAG_EDGE1,
    FLAG_EDGE2,
    PATCH_LIST,
    PRIMITIVE_FLAGS,
    PRIMITIVE_ID,
    PRIMITIVES,
    PROVOKING,
    V0,
    V1,
    V2,
    V3,
    V4,
    V5,
)
from pocketgpu.maxwell.sass.thread_memory.work import LANES

_EDGES = FLAG_EDGE0 | FLAG_EDGE1 | FLAG_EDGE2
_VERTICES = (V0, V1, V2, V3, V4, V5)
Made = tuple[Value, ...]
"""Places of up to six vertices and of the provoking one, then the flags."""


class _PrimitiveRun:
    """Primitives of a run: the places of vertices as functions of the primitive's number (32 lanes)."""

    def __init__(self, k: Lang, record: Value, shift: Value, first: Value, total: Value, ended: Value) -> None:
        self.k, self.shift, self.first, self.total, self.ended = k, shift, first, total, ended
        self.last_provokes = word(k, record, "LAST_PROVOKES") != 0
        self.neighbours = word(k, record, "NEIGHBOURS") != 0
        self.quad_cut = word(k, record, "QUAD_CUT")

    def made(self, places: list[Value], provoking: Value, flags: Value) -> Made:
        """Vertices that a kind does not have are replaced by the first one."""
        k = self.k
        fit = lambda v: k.fit(v, I32, LANES)
        vertices = [fit(v) for v in places] + [fit(places[0])] * (6 - len(places))
        return (*vertices, fit(provoking), fit(flags))

    def provoking(self, first: Value, last: Value) -> Value:
        return self.k.select(self.last_provokes, last, first)

    def begins(self, i: Value) -> Value:
        return self.k.select(i == 0, FLAG_BEGINS | _EDGES, _EDGES)

    def item(self, n: int) -> Callable[[Value, Value], Made]:
        """Items with n vertices each, which they don't share."""
        k = self.k

        def make(i: Value, part: Value) -> Made:
            places = [i * n + (j + self.shift) for j in range(n)]
            return self.made(places, self.provoking(places[0], places[-1]), k.splat(FLAG_BEGINS | _EDGES))

        return make

    def patch(self, step: Value) -> Callable[[Value, Value], Made]:
        def make(i: Value, part: Value) -> Made:
            at = i * step + self.shift
            return self.made([at], at, self.k.splat(FLAG_BEGINS))

        return make

    def line_strip(self, i: Value, part: Value) -> Made:
        a = i + self.shift
        return self.made([a, a + 1], self.provoking(a, a + 1), self.begins(i))

    def line_loop(self, i: Value, part: Value) -> Made:
        a = i + self.shift
        closing = self.ended & (i == self.total - 1)
        b = self.k.select(closing, self.first, a + 1)
        return self.made([a, b], self.provoking(a, b), self.begins(i))

    def triangle_strip(self, i: Value, part: Value) -> Made:
        k, a, odd = self.k, i + self.shift, i & 1
        # Odd ones are rotated: around their first vertex, or before their last.
        one = [k.select(self.last_provokes, a + odd, a), k.select(self.last_provokes, a + 1 - odd, a + 1 + odd)]
        third = k.select(self.last_provokes, a + 2, a + 2 - odd)
        return self.made([*one, third], self.provoking(a, a + 2), k.splat(FLAG_BEGINS | _EDGES))

    def triangle_fan(self, i: Value, part: Value) -> Made:
        k, b, hub = self.k, i + self.shift + 1, self.first
        last = self.last_provokes
        places = [k.select(last, hub, b), k.select(last, b, b + 1), k.select(last, b + 1, hub)]
        return self.made(places, self.provoking(b, b + 1), k.splat(FLAG_BEGINS | _EDGES))

    def polygon(self, i: Value, part: Value) -> Made:
        k, b, hub = self.k, i + self.shift + 1, self.k.splat(self.first)
        flags = k.select(i == 0, FLAG_EDGE0 | FLAG_BEGINS, 0) | FLAG_EDGE1
        flags = flags | k.select(self.ended & (i == self.total - 1), FLAG_EDGE2, 0)
        return self.made([hub, b, b + 1], hub, flags)

    def _half(self, corners: list[Value], part: Value) -> Made:
        """One of the two triangles of a quad, split from corner 0 to corner 2, or from 1 to 3."""
        k, a = self.k, corners
        first, other = part == 0, self.quad_cut != 0
        cut, uncut = FLAG_EDGE0 | FLAG_EDGE1, FLAG_EDGE1 | FLAG_EDGE2
        flags = k.select(first, cut | FLAG_BEGINS, uncut)
        flags = k.select(other, k.select(first, FLAG_EDGE0 | FLAG_EDGE2 | FLAG_BEGINS, cut), flags)
        places = [
            k.select(first | ~other, a[0], a[1]),
            k.select(first, a[1], a[2]),
            k.select(first, k.select(other, a[3], a[2]), a[3]),
        ]
        return self.made(places, a[0], flags)

    def quads(self, i: Value, part: Value) -> Made:
        a = (i << 2) + self.shift
        made = self._half([a, a + 1, a + 2, a + 3], part)
        return (*made[:6], self.provoking(a, a + 3), made[7])

    def quad_strip(self, i: Value, part: Value) -> Made:
        a = (i << 1) + self.shift
        made = self._half([a, a + 1, a + 3, a + 2], part)
        return (*made[:6], self.provoking(a, a + 3), made[7])

    def _line(self, a: Value, i: Value, flags: Value) -> Made:
        k, n = self.k, self.neighbours
        places = [k.select(n, a, a + 1), k.select(n, a + 1, a + 2), a + 2, a + 3]
        return self.made(places, self.provoking(a + 1, a + 2), flags)

    def lines_adjacent(self, i: Value, part: Value) -> Made:
        return self._line((i << 2) + self.shift, i, self.k.splat(FLAG_BEGINS | _EDGES))

    def line_strip_adjacent(self, i: Value, part: Value) -> Made:
        return self._line(i + self.shift, i, self.begins(i))

    def _triangle(self, corners: list[Value], across: list[Value]) -> Made:
        """A triangle, with the neighbours across its edges if a geometry program reads them."""
        k, n = self.k, self.neighbours
        a, b, c = corners
        ab, bc, ca = across
        places = [a, k.select(n, ab, b), k.select(n, b, c), bc, c, ca]
        return self.made(places, self.provoking(a, c), k.splat(FLAG_BEGINS | _EDGES))

    def triangles_adjacent(self, i: Value, part: Value) -> Made:
        at = [i * 6 + (j + self.shift) for j in range(6)]
        return self._triangle(at[0::2], at[1::2])

    def triangle_strip_adjacent(self, i: Value, part: Value) -> Made:
        k, a = self.k, (i << 1) + self.shift
        final = self.ended & (i == self.total - 1)
        odd, last = (i & 1) != 0, self.last_provokes
        before = k.select(i == 0, a + 1, a - 2)
        ahead = k.select(final, a + 5, a + 6)
        beside = a + 3
        # Odd triangles run the other way; they begin, or end, with the provoking vertex.
        turned, swapped = odd & last, odd & ~last
        corners = [
            k.select(turned, a + 2, a),
            k.select(turned, a, k.select(swapped, a + 4, a + 2)),
            k.select(swapped, a + 2, a + 4),
        ]
        across = [
            k.select(swapped, beside, before),
            k.select(turned, beside, ahead),
            k.select(turned, ahead, k.select(swapped, before, beside)),
        ]
        return self._triangle(corners, across)


# In the order of BEGIN's numbers.
def _makers(run: _PrimitiveRun, step: Value) -> list[Callable[[Value, Value], Made]]:
    return [
        run.item(1), run.item(2), run.line_loop, run.line_strip, run.item(3), run.triangle_strip, run.triangle_fan,
        run.quads, run.quad_strip, run.polygon, run.lines_adjacent, run.line_strip_adjacent, run.triangles_adjacent,
        run.triangle_strip_adjacent, run.patch(step),
    ]  # fmt: skip


LINE_LOOP, POLYGON = 2, 9


def assemble_run(k: Lang, record: Value, start: Value, end: Value, ended: Value, listed: Value) -> Value:
    """Add the primitives of places start .. end-1, where a run begins or continues; `listed`: primitives in the list
    before.

    Stores how many primitives of the run are done (RUN_DONE); returns the new length of the list.
    """
    get = lambda name: word(k, record, name)
    step, base, done, kept = get("STEP"), get("RUN_BASE"), get("RUN_DONE"), get("RUN_HUB")
    topology, parts = get("TOPOLOGY"), get("PARTS")
    length = base + (end - start) - kept
    need = k.select(ended, get("NEED_LAST"), get("NEED"))
    total = k.select(length >= need, k.udiv(length - need, step) + 1, 0)
    total = k.select((topology == LINE_LOOP) & ended & (length > 1), length, total)
    run = _PrimitiveRun(k, record, start + kept - base, start, total, ended)
    makers = _makers(run, step)
    count = (total - done) * parts
    shift = k.select(parts == 2, 1, 0)
    number = get("PRIMITIVE")
    whole = topology == POLYGON  # its triangles are one primitive
    slots = get("SLOTS")
    columns, stride = (k.load(I32, record + INPUT.PRIMITIVES + w) for w in (PRIMITIVES.COLUMNS, PRIMITIVES.STRIDE))
    per_patch = get("KIND") == PATCH_LIST
    for j in k.range(0, count, LANES):
        n = k.iota() + j
        i = done + (n >> shift)
        part = n & (parts - 1)
        made = k.switch(topology, [partial(make, i, part) for make in makers])
        at = columns + ((listed + j) << 2)
        wanted = n < count
        put = lambda column, v, at=at: k.store(I32, at + column * stride, v)
        slot = lambda place, wanted=wanted: k.gather(I32, slots + (place << 2), wanted)
        put(PRIMITIVE_ID, k.select(whole, number, number + (i - done)))
        put(PRIMITIVE_FLAGS, made[7])
        put(V0, k.select(per_patch, made[0], slot(made[0])))
        for column, place in zip((*_VERTICES[1:], PROVOKING), made[1:7], strict=True):
            put(column, slot(place))
    for _ in k.when(count > 0):
        ids = k.select(whole, k.select(ended, 1, 0), total - done)
        k.store(I32, record + INPUT.PRIMITIVE, number + ids)
        k.store(I32, record + INPUT.RUN_DONE, total)
    return listed + k.max(count, 0)


def carry_over(k: Lang, record: Value, start: Value, end: Value) -> None:
    """Keep what a run needs to continue in the next piece."""
    get = lambda name: word(k, record, name)
    numbers, carry = get("NUMBERS"), get("CARRY")
    base, kept, hub = get("RUN_BASE"), get("RUN_HUB"), get("HUB")
    length = base + (end - start) - kept
    since = k.min(k.max(get("RUN_DONE") * get("STEP") - get("LAG"), 0), length)
    since = k.max(since, base)
    hub_first = hub != 0
    for _ in k.when(hub_first):
        k.store(I32, carry, k.load(I32, numbers + (start << 2)))
    source = start + kept + (since - base)
    for i in k.range(0, length - since):
        k.store(I32, carry + ((i + hub) << 2), k.load(I32, numbers + ((source + i) << 2)))
    k.store(I32, record + INPUT.CARRIED, length - since + hub)
    k.store(I32, record + INPUT.RUN_BASE, since)
    k.store(I32, record + INPUT.RUN_HUB, hub)


def new_run(k: Lang, record: Value) -> None:
    """Start a new run at the next vertex."""
    for name in ("RUN_BASE", "RUN_DONE", "RUN_HUB", "CARRIED"):
        k.store(I32, record + INPUT.offsets[name], 0)
