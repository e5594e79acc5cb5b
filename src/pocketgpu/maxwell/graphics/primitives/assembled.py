"""Primitives in lanes before set-up: their corners in clip space and on the screen; trivial rejection and culling.

Thirty-two primitives are processed at a time. The results go to scratch vectors, from which set-up takes the remaining
primitives one by one. Where programs write masks of viewports, there is a copy of a primitive for each of the sixteen
viewports, and the mask selects some.
Sources: class header B197 (viewport swizzles, clip control, faces); NV_viewport_array2, for masks.
"""

from __future__ import annotations

from pocketgpu.lanes import F32, I32, Lang, Value
from pocketgpu.maxwell.graphics.primitives.layout import CORNER_VECTORS, OWN_VECTORS, USER_PLANES
from pocketgpu.maxwell.graphics.records import (
    PRIMITIVE_FLAGS,
    PRIMITIVE_ID,
    PRIMITIVES,
    PROVOKING,
    RASTER,
    VERTICES,
    VIEWPORT,
    VIEWPORT_COUNT,
)
from pocketgpu.maxwell.sass.thread_memory.work import LANES, VECTOR

GUARD = 32767.0
"""Pixels from the window's origin to the edge of the guard band; primitives beyond it are clipped."""
LEAST_W = 1e-12
COPY_BITS = VIEWPORT_COUNT.bit_length() - 1
"""Where masks select viewports, numbers of primitives are shifted by this; the lower bits are the viewport."""
SUBPIXEL_BITS = 8
SUBPIXELS = 1 << SUBPIXEL_BITS

# Bits of a vertex: the planes that it is outside of.
NEAR, FAR, BEHIND, LEFT_OF, RIGHT_OF, ABOVE, BELOW = (1 << n for n in range(7))
USER_SHIFT = 7
PLANES = USER_SHIFT + USER_PLANES
NOT_A_NUMBER = 1 << PLANES

# Scratch vectors: of each corner, then of the primitive, then distances from user planes for each corner.
AT, X, Y, WINDOW_Z, INVERSE_W, CLIP_X, CLIP_Y, CLIP_Z, CLIP_W = range(9)
CODES, VIEWPORT_OFFSET, LAYER, PROVOKING_AT, NUMBER, FLAGS, SIZE, VIEWPORT_NUMBER = range(
    3 * CORNER_VECTORS, 3 * CORNER_VECTORS + OWN_VECTORS
)
DISTANCES = VIEWPORT_NUMBER + 1


def snap(k: Lang, v: Value) -> Value:
    """Window coordinates (f32, at most GUARD) in 1/256 pixel, ties to even."""
    scaled = v * float(SUBPIXELS)
    low = k.floor(scaled)
    n = k.to_i32(low, -(1 << 23), 1 << 23)
    rest = scaled - low
    up = (rest > 0.5) | ((rest == 0.5) & ((n & 1) != 0))
    return n + k.select(up, 1, 0)


class PrimitiveBatch:
    """32 primitives of a draw. scratch: offset of SCRATCH_SIZE bytes. kind: vertices of a primitive. masks: whether
    numbers of primitives include the viewport of a copy."""

    def __init__(self, k: Lang, raster: Value, scratch: Value, kind: int, masks: bool = False) -> None:
        self.k, self.raster, self.scratch, self.kind, self.masks = k, raster, scratch, kind, masks
        of = self.of
        vertices, primitives = of(RASTER.VERTICES), of(RASTER.PRIMITIVES)
        self.pages, self.page_size = (k.load(I32, vertices + w) for w in (VERTICES.PAGES, VERTICES.PAGE_SIZE))
        self.columns, self.stride = (k.load(I32, primitives + w) for w in (PRIMITIVES.COLUMNS, PRIMITIVES.STRIDE))
        self.viewports = of(RASTER.VIEWPORTS)

    def of(self, word: int) -> Value:
        """A word of the RASTER record."""
        return self.k.load(I32, self.raster + word)

    def float_of(self, word: int) -> Value:
        return self.k.load(F32, self.raster + word)

    # -- scratch ----------------------------------------------------------------------------------------------------
    def _put(self, vector: int, v: Value) -> None:
        self.k.store(F32 if v.type is F32 else I32, self.scratch + vector * VECTOR, self.k.fit(v, v.type, LANES))

    def word(self, vector: int, lane: Value) -> Value:
        """A scratch word of the primitive in a lane."""
        return self.k.load(I32, self.scratch + (lane << 2) + vector * VECTOR)

    def number(self, vector: int, lane: Value) -> Value:
        """A scratch f32 of the primitive in a lane."""
        return self.k.load(F32, self.scratch + (lane << 2) + vector * VECTOR)

    # -- processing 32 primitives -------------------------------------------------------------------------------------
    def _column(self, column: int, first: Value, mask: Value) -> Value:
        k, at = self.k, self.columns + column * self.stride
        if self.masks:
            return k.select(mask, k.gather(I32, at + ((first + k.iota()) >> COPY_BITS << 2), mask), 0)
        return k.select(mask, k.load(I32, at + (first << 2), LANES), 0)

    def _place(self, vertex: Value) -> Value:
        """Offset of lane `vertex & 31` of its page."""
        return self.pages + (vertex >> 5) * self.page_size + ((vertex & (LANES - 1)) << 2)

    def _given(self, word: int, provoking: Value, otherwise: Value, is_float: bool = False) -> Value:
        """The program's output at the page offset in a word of RASTER; `otherwise` where it has none."""
        k, at = self.k, self.of(word)
        read = lambda: k.gather(F32 if is_float else I32, provoking + at)
        return k.branch(at >= 0, read, lambda: k.fit(otherwise, otherwise.type, LANES))

    def look(self, first: Value, mask: Value) -> Value:
        """Process the primitives from `first` (a multiple of 32) on; returns the ballot of those that may be visible.

        A primitive is dropped if all its corners are outside of one plane, if one is NaN, if its side is culled, or if
        there is no pixel in its box. CODES is not 0 for primitives that must be clipped.
        """
        k = self.k
        provoking = self._place(self._column(PROVOKING, first, mask))
        self._put(PROVOKING_AT, provoking)
        self._put(NUMBER, self._column(PRIMITIVE_ID, first, mask))
        self._put(FLAGS, self._column(PRIMITIVE_FLAGS, first, mask))
        if self.masks:
            index = (first + k.iota()) & (VIEWPORT_COUNT - 1)
            chosen = k.gather(I32, provoking + self.of(RASTER.VIEWPORT_MASK_AT), mask)
            mask = mask & (((chosen >> index) & 1) != 0)
        else:
            index = self._given(RASTER.VIEWPORT_AT, provoking, k.i32(0))
            index = k.select(index.below(VIEWPORT_COUNT), index, 0)
        self._put(VIEWPORT_NUMBER, index)
        viewport = self.viewports + index * VIEWPORT.size
        self._put(VIEWPORT_OFFSET, viewport)
        layer = self._given(RASTER.LAYER_AT, provoking, self.of(RASTER.LAYER))
        self._put(LAYER, layer + k.select(self.of(RASTER.LAYER_BY_VIEWPORT) != 0, index, 0))
        if self.kind == 1:
            self._put(SIZE, self._given(RASTER.POINT_SIZE_AT, provoking, self.float_of(RASTER.POINT_SIZE), True))
        several = k.i32(0) == 0 if self.masks else self.of(RASTER.VIEWPORT_AT) >= 0

        def parameter(word: int, is_float: bool) -> Value:
            """A word of each primitive's viewport."""
            type = F32 if is_float else I32
            return k.branch(
                several,
                lambda: k.gather(type, viewport + word),
                lambda: k.splat(k.load(type, self.viewports + word)),
            )

        scale = [parameter(VIEWPORT.SCALE + 4 * i, True) for i in range(3)]
        offset = [parameter(VIEWPORT.OFFSET + 4 * i, True) for i in range(3)]
        source = [parameter(VIEWPORT.SOURCE + 4 * i, False) for i in range(4)]
        sign = [parameter(VIEWPORT.SIGN + 4 * i, False) for i in range(4)]
        every, some = k.splat(-1), k.splat(0)
        xs, ys = [], []
        for corner in range(self.kind):
            at = self._place(self._column(corner, first, mask))
            position = [k.bits_f32(k.gather(I32, at + o) ^ s) for o, s in zip(source, sign, strict=True)]
            always, ever, x, y = self._corner(corner, at, position, scale, offset)
            every, some = every & always, some | ever
            xs.append(x)
            ys.append(y)
        self._put(CODES, some)
        seen = mask & (every == 0) & ((some & NOT_A_NUMBER) == 0)
        if self.kind == 1:
            seen = seen & (some == 0)
        if self.kind == 3:
            seen = seen & ((some != 0) | self._shows(xs, ys, viewport, several))
        return k.ballot(seen)

    def _corner(
        self, corner: int, at: Value, position: list[Value], scale: list[Value], offset: list[Value]
    ) -> tuple[Value, Value, Value, Value]:
        """One corner: bits of the planes that it is outside of (all; those that clip), and its position on the
        screen."""
        k = self.k
        x, y, z, w = position
        inverse = 1.0 / w
        window = [p * inverse * s + o for p, s, o in zip(position, scale, offset, strict=False)]
        code = k.select(w >= LEAST_W, 0, BEHIND)
        depth = k.select(z >= k.select(self.of(RASTER.NEAR_ZERO) != 0, 0.0, -w), 0, NEAR) | k.select(z <= w, 0, FAR)
        code = code | k.select(self.of(RASTER.CLIP_Z) != 0, depth, 0)
        for axis, (low, high) in enumerate(((LEFT_OF, RIGHT_OF), (ABOVE, BELOW))):
            p = position[axis] * scale[axis] + offset[axis] * w
            code = code | k.select(p >= w * -GUARD, 0, low) | k.select(p <= w * GUARD, 0, high)
            # After rounding, the side may be different on the screen.
            beyond = (w >= LEAST_W) & ~(k.abs(window[axis]) <= GUARD)
            code = code | k.select(beyond, k.select(window[axis] < 0.0, low, high), 0)
        number = (x == x) & (y == y) & (z == z) & (w == w)
        code = code | k.select(number, 0, NOT_A_NUMBER)
        half = self.of(RASTER.HALF)
        column, row = (snap(k, window[axis]) + half for axis in range(2))
        base = corner * CORNER_VECTORS
        vectors = (at, column, row, window[2], inverse, *position)
        for place, v in enumerate(vectors, base):
            self._put(place, v)
        user = k.var(k.splat(0))
        planes, culls = self.of(RASTER.USER_PLANES), self.of(RASTER.USER_CULLS)
        for _ in k.when(planes != 0):
            for n in k.range(0, USER_PLANES):
                for _ in k.when(((planes >> n) & 1) != 0):
                    d = k.gather(F32, at + k.load(I32, self.raster + RASTER.DISTANCES + (n << 2)))
                    k.store(F32, self.scratch + (n * 3 + (DISTANCES + corner)) * VECTOR, d)
                    user.value = user.value | k.select(d >= 0.0, 0, k.i32(1 << USER_SHIFT) << n)
        clips = ~(culls << USER_SHIFT)
        return code | user.value, code | (user.value & clips), column, row

    def _shows(self, xs: list[Value], ys: list[Value], viewport: Value, several: Value) -> Value:
        """For triangles that need no clipping: whether the side is not culled, and pixels may be covered."""
        k = self.k
        wide = k.to_i64
        area = wide(xs[1] - xs[0]) * wide(ys[2] - ys[0]) - wide(xs[2] - xs[0]) * wide(ys[1] - ys[0])
        negative = area < 0
        front = k.select(self.of(RASTER.FRONT_NEGATIVE) != 0, k.select(negative, 1, 0), k.select(negative, 0, 1))
        cull = self.of(RASTER.CULL)
        dropped = (area == 0) | (k.select(front != 0, cull & 1, cull & 2) != 0)
        plain = (self.of(RASTER.MODES) == 0) & (self.of(RASTER.MODES + 4) == 0) & (self.of(RASTER.CONSERVATIVE) == 0)
        plain = plain & ((self.of(RASTER.FILL_VIA_TRIANGLE) | self.of(RASTER.POLY_SMOOTH)) == 0)
        multi = self.of(RASTER.MULTISAMPLE) != 0
        box = k.splat(0) == 0
        sides = ((xs, VIEWPORT.LEFT, VIEWPORT.RIGHT), (ys, VIEWPORT.TOP, VIEWPORT.BOTTOM))
        for v, least, most in sides:
            low = (k.min(k.min(v[0], v[1]), v[2]) + k.select(multi, 0, SUBPIXELS // 2 - 1)) >> SUBPIXEL_BITS
            high = (k.max(k.max(v[0], v[1]), v[2]) - k.select(multi, 0, SUBPIXELS // 2)) >> SUBPIXEL_BITS
            first, last = (
                k.branch(
                    several,
                    lambda word=word: k.gather(I32, viewport + word),  # type: ignore[misc]
                    lambda word=word: k.splat(k.load(I32, self.viewports + word)),  # type: ignore[misc]
                )
                for word in (least, most)
            )
            box = box & (k.max(low, first) <= k.min(high, last))
        return ~dropped & (box | ~plain)
