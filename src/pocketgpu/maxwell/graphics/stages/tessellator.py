"""The tessellator: points and primitives of one patch in the domain's coordinates, by its levels.

Positions of points on an edge use fixed-point arithmetic with 16 fractional bits, as Direct3D 11 prescribes: on an edge
with a fractional level a point is between its positions for the next smaller and the next larger number of segments,
interpolated by the level. Rings of points go from the outer edges to the middle. The triangles between two rings are
those of Direct3D as well, where OpenGL leaves them open; the exception is the innermost row of a quad, for which no
source was available.

Sides run counterclockwise in (u, v) with v upwards, as triangles do where the register says clockwise (its v points
downwards). Source: OpenGL 4.6, "Tessellation Primitive Generation", and the Direct3D 11.3 functional specification,
"Tessellator", for levels, rings and positions.
"""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.facts.maxwell import B197
from pocketgpu.lanes import BOOL, F32, I32, Array, Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.graphics.records import (
    FLAG_BEGINS,
    FLAG_EDGE0,
    FLAG_EDGE1,
    FLAG_EDGE2,
    PRIMITIVE_FLAGS,
    PRIMITIVE_ID,
    PROVOKING,
    V0,
    V1,
    V2,
)
from pocketgpu.maxwell.graphics.stages.chain import LEVELS

_DOMAINS, _SPACINGS, _OUTPUTS = (
    B197.values(f"SET_TESSELLATION_PARAMETERS.{name}") for name in ("DOMAIN_TYPE", "SPACING", "OUTPUT_PRIMITIVES")
)
ISOLINES, TRIANGLES, QUADS = _DOMAINS.ISOLINE, _DOMAINS.TRIANGLE, _DOMAINS.QUAD
INTEGER, FRACTIONAL_ODD, FRACTIONAL_EVEN = _SPACINGS.INTEGER, _SPACINGS.FRACTIONAL_ODD, _SPACINGS.FRACTIONAL_EVEN
OUT_POINTS, OUT_LINES = _OUTPUTS.POINTS, _OUTPUTS.LINES
OUT_CLOCKWISE, OUT_COUNTERCLOCKWISE = _OUTPUTS.TRIANGLES_CW, _OUTPUTS.TRIANGLES_CCW
TURNED = {OUT_CLOCKWISE: OUT_COUNTERCLOCKWISE, OUT_COUNTERCLOCKWISE: OUT_CLOCKWISE}
"""The other winding."""
MAX_LEVEL = 64
ONE = 1 << 16
_HALF, _TWO_THIRDS = ONE >> 1, 0xAAAA
_ROW = MAX_LEVEL + 2
_INNER_U, _INNER_V = 4, 5
_ABOVE_ONE = 1.0 + 1.0 / ONE
_EDGES = FLAG_EDGE0 | FLAG_EDGE1 | FLAG_EDGE2 | FLAG_BEGINS
MOST_POINTS, MOST_PRIMITIVES = 4608, 9216
"""Upper limits for a patch."""
# The outer level of each side, counterclockwise from the edge v = 0.
_SIDE_LEVELS = {TRIANGLES: (1, 2, 0), QUADS: (1, 2, 3, 0)}


class PatchSink:
    """Destination of a patch's points and primitives: columns, and the numbers so far (k.var)."""

    def __init__(self, k: Lang, points: tuple[Value, Value, Value], columns: Value, stride: Value) -> None:
        self.k, self.columns, self.stride = k, columns, stride
        self.u_at, self.v_at, self.patch_at = points
        self.count, self.listed = k.var(0), k.var(0)


class Tessellator:
    """The code of one kernel for patches. domain, spacing, output, last_provokes: scalars."""

    def __init__(
        self, k: Lang, sink: PatchSink, domain: Value, spacing: Value, output: Value, last_provokes: Value
    ) -> None:  # fmt: skip
        self.k, self.sink = k, sink
        self.domain, self.spacing, self.output, self.last_provokes = domain, spacing, output, last_provokes
        self.places: Array = k.array(LEVELS * _ROW, I32, 1)
        self.segments: Array = k.array(LEVELS, I32, 1)
        self.halves: Array = k.array(LEVELS, I32, 1)
        self.levels: Array = k.array(LEVELS, F32, 1)
        self.patch = k.var(0)
        self.id = k.var(0)

    # -- levels -----------------------------------------------------------------------------------------------------
    def _segments(self, level: Value, spacing: Value) -> tuple[Value, Value, Value]:
        """(half of the level in fixed point, rounded to its parity; whether the number of segments is odd; that
        number)."""
        k = self.k
        whole, odd_kind = spacing == INTEGER, spacing == FRACTIONAL_ODD
        low = k.select(spacing == FRACTIONAL_EVEN, 2.0, 1.0)
        high = k.select(odd_kind, float(MAX_LEVEL - 1), float(MAX_LEVEL))
        clamped = k.clamp(level, low, high)
        fixed = k.to_i32(clamped * float(ONE), 0, MAX_LEVEL * ONE)
        up = (fixed + (ONE - 1)) & -ONE
        # A level slightly above a whole number, which fixed point would round down to it, still counts as above.
        up = k.select((k.to_f32(fixed) < clamped * float(ONE)) & (up == fixed), up + ONE, up)
        fixed = k.select(whole, up, fixed)
        odd = odd_kind | (whole & (((fixed >> 16) & 1) != 0))
        half = ((fixed + 1) >> 1) + k.select(odd, _HALF, 0)
        count = (((half + (ONE - 1)) >> 16) << 1) - k.select(odd, 1, 0)
        return half, odd, count

    def _set_edge(self, row: Value, level: Value, spacing: Value) -> None:
        """Compute the number of segments and the positions of points for one of the six levels."""
        k = self.k
        half, odd, count = self._segments(level, spacing)
        self.segments[row] = count
        self.halves[row] = count >> 1
        floor, fraction = half >> 16, half & (ONE - 1)
        middle = (half + (ONE - 1)) >> 16
        less = k.select(odd, 1, 0)
        rest = k.max(floor - less, 0)
        low = k.select(rest > 0, rest ^ (1 << (31 - k.leading_zeros(k.max(rest, 1)))), 0)
        split = k.select(fraction == 0, middle + 1, k.select(odd & (floor == 1), 0, (low << 1) + 1))
        inverse = lambda n: k.udiv(ONE + (n >> 1), n)
        by_floor, by_ceiling = inverse((floor << 1) - less), inverse((middle << 1) - less)
        for i in k.range(0, count + 1):
            far = i >= middle
            n = k.select(far, (middle << 1) - less - i, i)
            below = n - k.select(n > split, 1, 0)
            mixed = below * by_floor * (ONE - fraction) + n * by_ceiling * fraction + _HALF
            place = k.select(n == middle, _HALF, mixed.lsr(16))
            self.places[row * _ROW + i] = k.select(far & (n != middle), ONE - place, place)

    def _place(self, row: Value, i: Value) -> Value:
        return self.places[row * _ROW + self.k.min(i, _ROW - 1)]

    # -- what comes out ---------------------------------------------------------------------------------------------
    def _point(self, u: Value, v: Value) -> None:
        k, sink = self.k, self.sink
        at = sink.count.value << 2
        k.store(F32, sink.u_at + at, k.to_f32(u) * (1.0 / ONE))
        k.store(F32, sink.v_at + at, k.to_f32(v) * (1.0 / ONE))
        k.store(I32, sink.patch_at + at, self.patch.value)
        for _ in k.when(self.output == OUT_POINTS):
            self._list(sink.count.value, sink.count.value, sink.count.value)
        sink.count.value = sink.count.value + 1

    def _list(self, a: Value, b: Value, c: Value) -> None:
        """Add a primitive; c is its last vertex."""
        k, sink = self.k, self.sink
        at = sink.columns + (sink.listed.value << 2)
        provoking = k.select(self.last_provokes, c, a)
        for column, v in (
            (V0, a), (V1, b), (V2, c), (PROVOKING, provoking), (PRIMITIVE_ID, self.id.value), (PRIMITIVE_FLAGS, _EDGES)
        ):  # fmt: skip
            k.store(I32, at + column * sink.stride, v)
        sink.listed.value = sink.listed.value + 1

    def _triangle(self, a: Value, b: Value, c: Value) -> None:
        """Add a counterclockwise triangle."""
        k = self.k
        turned = self.output == OUT_COUNTERCLOCKWISE
        for _ in k.when(self.output != OUT_POINTS):
            self._list(a, k.select(turned, c, b), k.select(turned, b, c))

    # -- patches ----------------------------------------------------------------------------------------------------
    def run(self, levels: list[Value], patch: Value, id: Value) -> None:
        """Add a patch. levels: f32 scalars, as LEVELS; a patch with an outer level that is not above 0 has nothing."""
        k = self.k
        self.patch.value, self.id.value = patch, id
        used = k.select(self.domain == QUADS, 4, k.select(self.domain == TRIANGLES, 3, 2))
        alive = k.fit(True, BOOL, 1)
        for n in range(4):
            alive = alive & ((levels[n] > 0.0) | (used <= n))
        quad, lines = self.domain == QUADS, self.domain == ISOLINES
        for n, level in enumerate(levels):
            self.levels[n] = k.select(quad, level, levels[_INNER_U]) if n == _INNER_V else level
        # If any level has more than one segment, there is a ring inside.
        many = k.var(0)
        for row in k.range(0, LEVELS):
            _, _, count = self._segments(self.levels[row], self.spacing)
            many.value = k.select((count > 1) & (quad | (row != 3)), 1, many.value)
        for row in k.range(0, LEVELS):
            inside = (row >= _INNER_U) & (many.value != 0)
            own = k.select(inside, k.max(self.levels[row], _ABOVE_ONE), self.levels[row])
            self._set_edge(row, own, k.select(lines & (row == 0), INTEGER, self.spacing))
        for _ in k.when(alive & lines):
            self._isolines()
        for _ in k.when(alive & ~lines):
            self._rings(k.select(quad, 4, 3))

    def _isolines(self) -> None:
        """Lines of equal v, none at v = 1: the first level is their number, the second that of their segments."""
        k, sink = self.k, self.sink
        parts = self.segments[1]
        for line in k.range(0, self.segments[0]):
            v = self._place(k.i32(0), line)
            for i in k.range(0, parts + 1):
                for _ in k.when((i > 0) & (self.output != OUT_POINTS)):
                    self._list(sink.count.value - 1, sink.count.value, sink.count.value)
                self._point(self._place(k.i32(1), i), v)

    def _rings(self, sides: Value) -> None:
        k = self.k
        outermost = Ring(self, k.i32(0), sides)
        start = k.var(outermost.start)
        for s in k.range(0, sides):
            outermost.emit(s)
        least = k.min(self.segments[_INNER_U], self.segments[_INNER_V])
        rings = least >> 1
        for r in k.range(1, rings + 1):
            outside, ring = Ring(self, r - 1, sides, start.value), Ring(self, r, sides)
            for s in k.range(0, sides):
                ring.emit(s)
            ring.emit_last()
            for s in k.range(0, sides):
                self._stitch(outside, ring, s, r)
            start.value = ring.start
        for _ in k.when((least & 1) != 0):
            last = Ring(self, rings, sides, start.value)
            corner = lambda n: last.side(k.i32(n)).index(k.i32(0))
            k.branch(
                sides == 4, lambda: self._fill(last), lambda: self._triangle(corner(0), corner(1), corner(2))
            )  # fmt: skip

    def _stitch(self, outside: Ring, inside: Ring, side: Value, ring: Value) -> None:
        """Triangles between a side of one ring and that of the next, number `ring`."""
        self.k.branch(
            ring == 1,
            lambda: self._stitch_outermost(outside, inside, side),
            lambda: self._stitch_inner(outside, inside, side),
        )

    def _walk(
        self, a: RingSide, b: RingSide, steps: Value, decide: Callable[[Value], tuple[Value, Value, Value]]
    ) -> None:
        """Triangles between two sides. decide: for a step whether the outer and the inner side advance by a point, and
        whether the inner one does first."""
        k = self.k
        i, j = k.var(0), k.var(0)
        for step in k.range(0, steps):
            outer, inner, inner_first = decide(step)
            for turn in k.range(0, 2):
                is_inner = (turn == 0) == inner_first
                for _ in k.when((is_inner & inner) | (~is_inner & outer)):
                    ahead = k.select(is_inner, b.index(j.value + 1), a.index(i.value + 1))
                    self._triangle(a.index(i.value), ahead, b.index(j.value))
                    i.value = i.value + k.select(is_inner, 0, 1)
                    j.value = j.value + k.select(is_inner, 1, 0)

    def _stitch_outermost(self, outside: Ring, inside: Ring, side: Value) -> None:
        """Triangles between an edge and the first ring, with any levels.

        Each half of an edge has its points in the order in which they appear when its level grows: the binary tree
        whose node n has the children 2n and 2n + 1, read from left to right, without nodes that do not exist yet. Both
        sides advance in that order.
        """
        k = self.k
        a, b = outside.side(side), inside.side(side)
        half_a, half_b = self.halves[a.row], self.halves[b.row]
        most = k.max(half_a, half_b)
        depth = 32 - k.leading_zeros(k.max(most - 1, 0))
        nodes = (k.i32(1) << depth) - 1
        odd_a, odd_b = ((self.segments[row] & 1) != 0 for row in (a.row, b.row))
        last = (nodes << 1) + 2

        def decide(step: Value) -> tuple[Value, Value, Value]:
            second, middle, end = step > nodes + 1, step == nodes + 1, (step == 0) | (step == last)
            place = k.max(k.select(second, last - step, step), 1) << k.max(5 - depth, 0)
            below = k.trailing_zeros(place | 32)
            node = (k.i32(1) << k.max(4 - below, 0)) + place.lsr(below + 1)
            outer = k.select(middle, k.select(odd_a, 1, 0), k.select(k.select(end, 0, node) < half_a, 1, 0))
            inner = k.select(middle, k.select(odd_b, 1, 0), k.select((node < half_b) & ~end, 1, 0))
            return outer != 0, inner != 0, ~second

        self._walk(a, b, last + 1, decide)

    def _stitch_inner(self, outside: Ring, inside: Ring, side: Value) -> None:
        """Triangles between two inner rings whose numbers of segments differ by two: their diagonals are mirrored."""
        a, b = outside.side(side), inside.side(side)
        last = (b.length << 1) + 1

        def decide(step: Value) -> tuple[Value, Value, Value]:
            end = (step == 0) | (step == last)
            first_half = ((step - 1) >> 1) < ((b.length + 1) >> 1)
            even = ((step - 1) & 1) == 0
            inner = ~end & (even == first_half)
            return ~inner, inner, inner

        self._walk(a, b, last + 1, decide)

    def _fill(self, ring: Ring) -> None:
        """The innermost ring of a quad, one segment wide."""
        k = self.k
        side = k.select(ring.length(k.i32(0)) > 1, 0, 1)
        one, other = ring.side(side), ring.side(side + 2)
        count = one.length
        for i in k.range(0, count):
            a, b = one.index(i), one.index(i + 1)
            c, d = other.index(count - i - 1), other.index(count - i)
            self._triangle(a, b, c)
            self._triangle(a, c, d)


@dataclass(frozen=True, eq=False)
class RingSide:
    """A side of a ring: its points are start + first + step * i; number `wrap` is the first of the ring again."""

    k: Lang
    row: Value
    length: Value
    start: Value
    first: Value
    step: Value
    wrap: Value

    def index(self, i: Value) -> Value:
        """Index of point i among the points of the piece."""
        n = self.first + self.step * i
        return self.start + self.k.select(n == self.wrap, 0, n)


class Ring:
    """Points of one ring: `start` is its first, `total` how many it has if it is closed.

    A ring whose sides have no length in one direction is a line (or a point), which is traversed forth and back.
    """

    def __init__(self, t: Tessellator, base: Value, sides: Value, start: Value | None = None) -> None:
        self.t, self.base, self.sides = t, base, sides
        self.start = t.sink.count.value if start is None else start

    def row(self, side: Value) -> Value:
        """The row of positions of a side."""
        k = self.t.k
        quad = self.sides == 4
        outer = _choose(k, side, _SIDE_LEVELS[TRIANGLES])
        outer = k.select(quad, _choose(k, side, _SIDE_LEVELS[QUADS]), outer)
        inner = k.select(quad & ((side & 1) != 0), _INNER_V, _INNER_U)
        return k.select(self.base == 0, outer, inner)

    def length(self, side: Value) -> Value:
        """Segments of a side."""
        return self.t.segments[self.row(side)] - (self.base << 1)

    def side(self, side: Value) -> RingSide:
        """One of the sides."""
        k = self.t.k
        zero, one = self.length(k.i32(0)), self.length(k.i32(1))
        before, total = k.var(0), k.var(0)
        for s in k.range(0, self.sides):
            length = self.length(s)
            before.value = before.value + k.select(s < side, length, 0)
            total.value = total.value + length
        flat = self._flat(zero, one)
        # A line: side 0 (or 1) goes along it, the opposite side back, the others are points at its ends.
        reach = k.max(zero, one)
        turn = (side - k.select(zero == 0, 1, 0)) & 3
        first = k.select(flat, k.select((turn == 1) | (turn == 2), reach, 0), before.value)
        step = k.select(flat & (turn == 2), -1, k.select(flat & (turn != 0), 0, 1))
        wrap = k.select(flat, -1, total.value)
        return RingSide(k, self.row(side), self.length(side), self.start, first, step, wrap)

    def _flat(self, zero: Value, one: Value) -> Value:
        return (self.base > 0) & ((zero == 0) | (one == 0))

    def emit(self, side: Value) -> None:
        """Add the points of a side except for the last, which is the next side's first."""
        k = self.t.k
        zero, one = self.length(k.i32(0)), self.length(k.i32(1))
        flat = self._flat(zero, one)
        # The way back of a line has the same points.
        count = k.select(flat & (side >= 2), 0, self.length(side))
        for i in k.range(0, count):
            self._emit(side, i)

    def emit_last(self) -> None:
        """Add the end of a line, or the single point of a ring."""
        k = self.t.k
        zero, one = self.length(k.i32(0)), self.length(k.i32(1))
        for _ in k.when((zero == 0) | (one == 0)):
            side = k.select((zero == 0) & (one > 0), 1, 0)
            self._emit(side, self.length(side))

    def _emit(self, side: Value, i: Value) -> None:
        t, k = self.t, self.t.k
        row, count = self.row(side), self.length(side)
        ways: list[Callable[[], tuple[Value, Value]]] = [
            lambda: self._on_triangle(side, t._place(row, self.base + i)),
            lambda: self._on_quad(side, t._place(row, self.base + k.select(side >= 2, count - i, i))),
        ]
        u, v = k.branch(self.sides == 4, ways[1], ways[0])
        t._point(u, v)

    def _on_triangle(self, side: Value, along: Value) -> tuple[Value, Value]:
        k = self.t.k
        depth = self.t._place(k.i32(_INNER_U), self.base)
        depth = k.select(self.base == 0, 0, (depth * _TWO_THIRDS + _HALF).lsr(16))
        a = along - ((depth + 1) >> 1)
        rest = ONE - a - depth
        u = k.select(side == 0, a, k.select(side == 1, rest, depth))
        v = k.select(side == 0, depth, k.select(side == 1, a, rest))
        return u, v

    def _on_quad(self, side: Value, along: Value) -> tuple[Value, Value]:
        k = self.t.k
        across = k.select((side & 1) != 0, _INNER_U, _INNER_V)
        depth = k.select(self.base == 0, 0, self.t._place(across, self.base))
        depth = k.select((side == 1) | (side == 2), ONE - depth, depth)
        upright = (side & 1) != 0
        return k.select(upright, depth, along), k.select(upright, along, depth)


def _choose(k: Lang, n: Value, values: tuple[int, ...]) -> Value:
    """Select one of some numbers."""
    found = k.i32(values[-1])
    for i, v in enumerate(values[:-1]):
        found = k.select(n == i, v, found)
    return found
