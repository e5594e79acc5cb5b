"""From shapes to blocks of pixels, and each block through tests, pixel program and writes.

Threads of the host take strips of rows in turn, so no two of them ever access the same pixel, and the shapes of each
pixel are drawn in order: any number of threads gives the same bytes. A block is processed by kernels that are called by
handle: `output.test`, the program (`programs.run_stage`), `output.write`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.lanes import F32, I32, I64, Lang, Value, kernel
from pocketgpu.maxwell.graphics.primitives.layout import plane_bytes, plane_offset
from pocketgpu.maxwell.graphics.primitives.planes import move
from pocketgpu.maxwell.graphics.primitives.shapes import FADE_LINE, FADE_NONE, FADE_POLYGON, room
from pocketgpu.maxwell.graphics.programs.run_stage import run_stage, whole_quads
from pocketgpu.maxwell.graphics.raster.coverage import Coverage, lane_x, lane_y
from pocketgpu.maxwell.graphics.records import (
    BLOCK_HEIGHT,
    BLOCK_WIDTH,
    FILL,
    FRAGMENTS,
    INSIDE_ANY,
    KILL_ABOVE,
    KILL_BELOW,
    LINE,
    MAX_SAMPLES,
    NOTHING,
    PLANE,
    RASTER,
    REGION,
    SHAPE,
    VIEWPORT,
)
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, LANES, VECTOR

STRIP_BITS = 3
"""Rows of a strip: 8, or a multiple. Pixels that share a cache line are in the same strip."""
_MORE_BITS, _FEWEST_STRIPS = 2, 4
"""Strips or columns that threads share are up to four times as large for small shapes, if a region has about so many of
them for each thread."""
_ALL_COLUMNS = 30
"""Bits of columns: pixels of all columns of a target are in the first."""
_BLOCK_X, _BLOCK_Y = BLOCK_WIDTH.bit_length() - 1, BLOCK_HEIGHT.bit_length() - 1
_WINDOWS = 8
_TOGETHER = 256
"""Shapes that are drawn strip by strip: few enough that their records and planes stay in the cache."""
_WIDE = 2
"""Shapes are drawn strip by strip if their boxes have more than so many times 256 pixels on average."""
_COPY = 64  # bytes of planes copied at a time
_ALPHA_REGISTERS = 32


class _Raster:
    def __init__(self, k: Lang, raster: Value, slot: Value, fragments: Value, multi: bool) -> None:
        self.k, self.raster, self.slot, self.fragments, self.multi = k, raster, slot, fragments, multi
        of = self.of
        self.count = k.clamp(of(RASTER.SAMPLES), 1, MAX_SAMPLES) if multi else k.i32(1)
        self.passes = k.clamp(of(RASTER.PASSES), 1, self.count)
        self.masked = of(RASTER.MASKED) != 0
        self.depth_wanted = of(RASTER.DEPTH_WANTED) != 0
        self.output, self.program = of(RASTER.OUTPUT), of(RASTER.PROGRAM)
        self.early = of(RASTER.EARLY) != 0
        self.runs = (self.program != 0) & (of(RASTER.UNSEEN) == 0)
        self.viewports = of(RASTER.VIEWPORTS)
        self.saved = k.array(MAX_SAMPLES, I32, lanes=1)
        put = lambda word, v: k.store(I32, fragments + word, v)
        self.strip_bits: Value = k.i32(STRIP_BITS)
        self.column_bits: Value = k.i32(_ALL_COLUMNS)
        put(FRAGMENTS.SAMPLES, self.count)
        put(FRAGMENTS.SAMPLE, -1)
        put(FRAGMENTS.KILLED, 0)
        self.groups, self.planes = of(RASTER.INPUT_GROUPS), fragments + FRAGMENTS.PLANES
        k.store(I32, slot + BLOCK.FRAGMENTS, fragments)
        k.store(I32, slot + BLOCK.IN_AT, self.planes)
        k.store(F32, slot + BLOCK.PIXEL_X, 0.5)
        k.store(F32, slot + BLOCK.PIXEL_Y, 0.5)

    def of(self, word: int) -> Value:
        return self.k.load(I32, self.raster + word)

    def fragment(self, word: int) -> Value:
        return self.k.load(I32, self.fragments + word)

    # -- shapes ---------------------------------------------------------------------------------------------------
    def share(self, at: Value, end: Value, wide: Value, part: Value, parts: Value) -> None:
        """Choose this thread's pixels of the shapes of a region: strips of rows whose number is `part` modulo `parts`;
        or columns, where targets have blocks that are a column each (RASTER.COLUMN_BITS)."""
        k = self.k
        wanted = self.of(RASTER.COLUMN_BITS)
        by_columns = (parts > 1) & (wanted != 0)
        bits = k.var(k.select(by_columns, wanted, k.i32(STRIP_BITS)))
        for _ in k.when(~wide & (parts > 1)):
            # Threads that share small shapes need not take as many of them twice if strips or columns are large.
            first, last = k.var(k.i32((1 << 31) - 1)), k.var(k.i32(-(1 << 31)))
            for shape in self._each(at, end):
                low, high = (
                    k.select(by_columns, k.load(I32, shape + across), k.load(I32, shape + down))
                    for across, down in ((SHAPE.LEFT, SHAPE.TOP), (SHAPE.RIGHT, SHAPE.BOTTOM))
                )
                first.value, last.value = k.min(first.value, low), k.max(last.value, high)
            each = k.udiv(k.max(last.value - first.value, 0), parts * _FEWEST_STRIPS)
            least = bits.value
            for more in range(1, _MORE_BITS + 1):
                bits.value = k.select(each >= k.i32(1) << (least + more), least + more, bits.value)
        self.strip_bits = k.select(by_columns, STRIP_BITS, bits.value)
        self.column_bits = k.select(by_columns, bits.value, _ALL_COLUMNS)
        within, anywhere = (k.i32(1) << bits.value) - 1, k.i32(-1)
        k.store(I32, self.fragments + FRAGMENTS.COLUMN, k.select(by_columns, within, anywhere))
        k.store(I32, self.fragments + FRAGMENTS.STRIP, k.select(~by_columns & (parts > 1), within, anywhere))
        self.strips = k.select(by_columns, 0, part), k.select(by_columns, 1, parts)
        self.columns = k.select(by_columns, part, k.i32(0)), k.select(by_columns, parts, k.i32(1))

    def shapes(self, at: Value, end: Value, wide: Value) -> None:
        """This thread's pixels of the shapes in a piece of memory. Each pixel sees them in order.

        wide: take the strips one after the other, with all shapes of the piece in each, so that a strip's pixels stay
        in the cache; else the shapes, with all strips of each, which is quicker if they are small.
        """
        k = self.k
        top, bottom = k.var(k.i32((1 << 31) - 1)), k.var(k.i32(-(1 << 31)))
        for _ in k.when(wide):
            for shape in self._each(at, end):
                top.value = k.min(top.value, k.load(I32, shape + SHAPE.TOP))
                bottom.value = k.max(bottom.value, k.load(I32, shape + SHAPE.BOTTOM))
        strip, last = self._own(top.value, self.strip_bits, self.strips), bottom.value >> self.strip_bits
        strip = k.select(wide, strip, last)
        current = k.var(strip)
        for _ in k.loop(lambda: current.value <= last):
            for shape in self._each(at, end):
                upper, lower = k.load(I32, shape + SHAPE.TOP), k.load(I32, shape + SHAPE.BOTTOM)
                first, final = self._own(upper, self.strip_bits, self.strips), lower >> self.strip_bits
                begins = k.select(wide, k.max(first, current.value), first)
                final = k.select(wide, k.min(final, current.value), final)
                self._shape(shape, begins, final)
            current.value = current.value + self.strips[1]

    def _each(self, at: Value, end: Value) -> Iterator[Value]:
        """The SHAPE records in a piece of memory."""
        k, place = self.k, self.k.var(at)
        for _ in k.loop(lambda: place.value < end):
            yield place.value
            place.value = place.value + room(SHAPE.size)

    def _own(self, pixel: Value, bits: Value, whose: tuple[Value, Value]) -> Value:
        """The first strip or column of this thread that does not end before a row or column of pixels.

        whose: (part, parts) of this thread.
        """
        k, (part, parts), first = self.k, whose, pixel >> bits

        def following() -> Value:
            ahead = part - (first - k.udiv(first, parts) * parts)
            return first + k.select(ahead < 0, ahead + parts, ahead)

        found: Value = k.branch(parts > 1, following, lambda: first)
        return found

    def _shape(self, shape: Value, first: Value, last: Value) -> None:
        """The blocks of a shape in some strips of this thread."""
        k = self.k
        strip = k.var(first)
        columns = self._own(k.load(I32, shape + SHAPE.LEFT), self.column_bits, self.columns)
        some = columns << self.column_bits <= k.load(I32, shape + SHAPE.RIGHT)
        for _ in k.when((first <= last) & some):
            top, bottom = k.load(I32, shape + SHAPE.TOP), k.load(I32, shape + SHAPE.BOTTOM)
            coverage = Coverage(k, self.raster, shape)
            self._take(shape)
            for _ in k.loop(lambda: strip.value <= last):
                upper = k.max(top, strip.value << self.strip_bits)
                lower = k.min(bottom, ((strip.value + 1) << self.strip_bits) - 1)
                for row in k.range(upper >> _BLOCK_Y, (lower >> _BLOCK_Y) + 1):
                    self._row(coverage, shape, row << _BLOCK_Y)
                strip.value = strip.value + self.strips[1]

    def _row(self, coverage: Coverage, shape: Value, y: Value) -> None:
        """The blocks of a shape in this thread's columns of the row of blocks at pixel row `y`."""
        k, (low, high) = self.k, coverage.span(y)
        column = k.var(self._own(low, self.column_bits, self.columns))
        for _ in k.loop(lambda: column.value << self.column_bits <= high):
            left = k.max(low, column.value << self.column_bits)
            right = k.min(high, ((column.value + 1) << self.column_bits) - 1)
            for block in k.range(left >> _BLOCK_X, (right >> _BLOCK_X) + 1):
                self._block(coverage, shape, block << _BLOCK_X, y)
            column.value = column.value + self.columns[1]

    def _take(self, shape: Value) -> None:
        """Load what all blocks of a shape share."""
        k = self.k
        for name in ("LAYER", "VIEWPORT", "FRONT"):
            k.store(I32, self.fragments + FRAGMENTS.offsets[name], k.load(I32, shape + SHAPE.offsets[name]))
        planes = k.load(I32, shape + SHAPE.PLANES)
        for at in k.range(0, plane_bytes(self.groups), _COPY):
            k.store(I32, self.planes + at, k.load(I32, planes + at, _COPY // 4))
        viewport = self.viewports + k.load(I32, shape + SHAPE.VIEWPORT) * VIEWPORT.size
        for name in ("MIN_Z", "MAX_Z"):
            k.store(F32, self.fragments + FRAGMENTS.offsets[name], k.load(F32, viewport + VIEWPORT.offsets[name]))

    # -- blocks ---------------------------------------------------------------------------------------------------
    def _block(self, coverage: Coverage, shape: Value, x: Value, y: Value) -> None:
        """A block from its coverage to its writes. x, y: its upper left pixel."""
        k, cover = self.k, self.fragments + FRAGMENTS.COVER
        allowed = k.var(coverage.box(x, y))
        for _ in k.when(self.masked):
            allowed.value = allowed.value & self._masks(coverage, shape, x, y)
        if self.multi:
            covered = k.var(0)
            for _ in k.when(allowed.value != 0):
                covered.value = coverage.samples(x, y, allowed.value, self.count, cover)
        else:
            covered = k.var(coverage.centres(x, y) & allowed.value & self.of(RASTER.SAMPLES_LEFT))
        k.probe("raster.allowed", allowed.value)
        k.probe("raster.covered", covered.value)
        for _ in k.when(covered.value != 0):
            put = lambda word, v: k.store(I32, self.fragments + word, v)
            if not self.multi:
                put(FRAGMENTS.COVER, covered.value)
            put(FRAGMENTS.COVERED, covered.value)
            put(FRAGMENTS.X, x)
            put(FRAGMENTS.Y, y)
            move(k, k.load(I32, shape + SHAPE.PLANES), self.groups, self.planes, x, y, self._origin(shape))
            for _ in k.when(self.depth_wanted):
                self._depth(shape)
            for _ in k.when(self.fragment(FRAGMENTS.COVERED) != 0):
                self._run(shape)

    def _origin(self, shape: Value) -> tuple[Value, Value]:
        """The origin of a shape's planes, in pixels."""
        k = self.k
        return k.load(I32, shape + SHAPE.ORIGIN_X), k.load(I32, shape + SHAPE.ORIGIN_Y)

    def _from_origin(self, shape: Value) -> tuple[Value, Value]:
        """x and y of the block's pixels (f32), relative to it."""
        k = self.k
        block = self.fragment(FRAGMENTS.X), self.fragment(FRAGMENTS.Y)
        lanes = lane_x(k), lane_y(k)
        x, y = (k.to_f32(n + (b - o)) + 0.5 for n, b, o in zip(lanes, block, self._origin(shape), strict=True))
        return x, y

    def _depth(self, shape: Value) -> None:
        """Depth of each sample, between the viewport's limits; removes pixels beyond them if required."""
        k = self.k
        plane = self.planes + plane_offset("Z")
        c, dx, dy = (k.load(F32, plane + w) for w in (PLANE.C, PLANE.DX, PLANE.DY))
        low, high = (k.load(F32, self.fragments + w) for w in (FRAGMENTS.MIN_Z, FRAGMENTS.MAX_Z))
        x, y = k.to_f32(lane_x(k)) + 0.5, k.to_f32(lane_y(k)) + 0.5
        kill = self.of(RASTER.DEPTH_KILL)
        bias = k.load(F32, shape + SHAPE.BIAS)
        some = k.var(0)
        centre = self.of(RASTER.CENTRE_DEPTH) != 0
        for s in k.range(0, self.count):
            px, py = x, y
            if self.multi:
                at = self.raster + (s << 2)
                shift = lambda word, at=at: k.select(centre, 0.0, k.to_f32(k.load(I32, at + word) - 8) * (1 / 16))
                px, py = x + shift(RASTER.SAMPLE_X), y + shift(RASTER.SAMPLE_Y)
            z = k.fma(dx, px, k.fma(dy, py, c))
            k.probe("raster.depth", z)
            k.store(F32, self.fragments + FRAGMENTS.DEPTH + s * VECTOR, k.clamp(z, low, high))
            for _ in k.when(kill != 0):
                bare = z - bias
                gone = (bare < low) & ((kill & KILL_BELOW) != 0) | (bare > high) & ((kill & KILL_ABOVE) != 0)
                place = self.fragments + FRAGMENTS.COVER + (s << 2)
                left = k.load(I32, place) & ~k.ballot(gone)
                k.store(I32, place, left)
                some.value = some.value | left
        for _ in k.when(kill != 0):
            k.store(I32, self.fragments + FRAGMENTS.COVERED, some.value)

    def _call(self, word: int) -> None:
        """Call a kernel of the output, if there is one."""
        k = self.k
        function = k.load(I64, self.raster + word)
        for _ in k.when(function != 0):
            k.invoke(function, self.output, self.fragments)

    def _run(self, shape: Value) -> None:
        """Tests, program and writes: once, or for one sample after the other."""
        k = self.k
        for _ in k.when(self.early):
            self._call(RASTER.TEST)

        def whole() -> None:
            for _ in k.when(self.fragment(FRAGMENTS.COVERED) != 0):
                self._shade(shape)

        if not self.multi:
            whole()
        else:
            k.branch(self.passes > 1, lambda: self._in_passes(shape), whole)

    def _in_passes(self, shape: Value) -> None:
        """Sample shading: each pass has its own samples, and the program runs at the first of them."""
        k, cover = self.k, self.fragments + FRAGMENTS.COVER
        for s in k.range(0, self.count):
            self.saved[s] = k.load(I32, cover + (s << 2))
        each = k.udiv(self.count + (self.passes - 1), self.passes)
        for number in k.range(0, self.passes):
            begin, some = number * each, k.var(0)
            for s in k.range(0, self.count):
                mine = (s >= begin) & (s < begin + each)
                here = k.select(mine, self.saved[s], 0)
                k.store(I32, cover + (s << 2), here)
                some.value = some.value | here
            k.store(I32, self.fragments + FRAGMENTS.COVERED, some.value)
            k.store(I32, self.fragments + FRAGMENTS.SAMPLE, begin)
            for _ in k.when(some.value != 0):
                self._shade(shape)
        k.store(I32, self.fragments + FRAGMENTS.SAMPLE, -1)

    def _shade(self, shape: Value) -> None:
        k = self.k
        for _ in k.when(self.runs):
            covered = self.fragment(FRAGMENTS.COVERED)
            run_stage(k, self.program, self.slot, whole_quads(covered))
            for _ in k.when(k.load(I32, shape + SHAPE.FADE) != FADE_NONE):
                self._fade(shape)
        for _ in k.when(~self.early):
            self._call(RASTER.TEST)
        for _ in k.when(self.fragment(FRAGMENTS.COVERED) != 0):
            self._call(RASTER.WRITE)

    # -- pixels removed by masks or faded ---------------------------------------------------------------------------
    def _fade(self, shape: Value) -> None:
        """Multiply alpha by the fraction of a pixel that a smooth shape covers: of lines and points by a box filter one
        pixel wide, of polygons by their area."""
        k = self.k
        x, y = self._from_origin(shape)
        plane = lambda word: [k.load(F32, shape + (word + 4 * i)) for i in range(3)]
        distance = lambda p: k.abs(x * p[1] + y * p[2] + p[0])
        across, along = distance(plane(SHAPE.ACROSS)), distance(plane(SHAPE.ALONG))
        half, length = k.load(F32, shape + SHAPE.HALF_WIDTH), k.load(F32, shape + SHAPE.HALF_LENGTH)
        line = k.clamp(half + 0.5 - across, 0.0, k.min(half * 2.0, 1.0)) * k.clamp(length + 0.5 - along, 0.0, 1.0)
        disc = k.clamp(half + 0.5 - k.sqrt(across * across + along * along), 0.0, 1.0)
        kind = k.load(I32, shape + SHAPE.FADE)
        area = k.load(F32, self.fragments + FRAGMENTS.PART, LANES)
        part = k.select(kind == FADE_LINE, line, k.select(kind == FADE_POLYGON, area, disc))
        registers, outputs = self.of(RASTER.ALPHAS), self.fragment(FRAGMENTS.OUTPUTS)
        for n in k.range(0, _ALPHA_REGISTERS):
            for _ in k.when((registers.lsr(n) & 1) != 0):
                at = outputs + n * VECTOR
                k.store(F32, at, k.load(F32, at, LANES) * part)

    def _masks(self, coverage: Coverage, shape: Value, x: Value, y: Value) -> Value:
        """The ballot of pixels that window rectangles and stipples keep, and that a smooth polygon covers in part."""
        k = self.k
        columns, rows = lane_x(k) + x, lane_y(k) + y
        left = k.var(-1)
        mode = self.of(RASTER.WINDOW_CLIPS)
        for _ in k.when(mode != 0):
            inside = k.var(0)
            for n in k.range(0, _WINDOWS):
                at = self.raster + RASTER.WINDOWS + (n << 4)
                x0, y0, x1, y1 = (k.load(I32, at + 4 * i) for i in range(4))
                inside.value = inside.value | k.ballot((columns >= x0) & (columns <= x1) & (rows >= y0) & (rows <= y1))
            passed = k.select(mode == INSIDE_ANY, inside.value, ~inside.value)
            left.value = k.select(mode == NOTHING, 0, passed)
        for _ in k.when(k.load(I32, shape + SHAPE.FADE) == FADE_POLYGON):
            part = coverage.part(x, y)
            k.store(F32, self.fragments + FRAGMENTS.PART, part)
            left.value = left.value & k.ballot(part > 0.0)
        kind = k.load(I32, shape + SHAPE.KIND)
        for _ in k.when((kind == FILL) & (self.of(RASTER.POLYGON_STIPPLE) != 0)):
            words = k.gather(I32, ((rows & 31) << 2) + (self.raster + RASTER.POLYGON_PATTERN))
            left.value = left.value & k.ballot(((words >> (31 - (columns & 31))) & 1) != 0)
        for _ in k.when((kind == LINE) & (self.of(RASTER.LINE_STIPPLE) != 0)):
            origin = self._origin(shape)
            px, py = (k.to_f32(v - o) + 0.5 for v, o in zip((columns, rows), origin, strict=True))
            start, step_x, step_y = (k.load(F32, shape + w) for w in (SHAPE.COUNTER, SHAPE.STEP_X, SHAPE.STEP_Y))
            number = k.to_i32(k.floor(px * step_x + py * step_y + start), -(1 << 24), 1 << 24)
            factor = k.splat(k.max(self.of(RASTER.STIPPLE_FACTOR), 1))
            bit = k.udiv(k.max(number, 0), factor) & 15
            pattern = k.splat(self.of(RASTER.STIPPLE_PATTERN))
            left.value = left.value & k.ballot(((pattern >> bit) & 1) != 0)
        return left.value


@kernel(lanes=32, raster=I32, region=I32, slot=I32, fragments=I32, part=I32, parts=I32)
def raster_shapes(
    k: Lang, raster: Value, region: Value, slot: Value, fragments: Value, part: Value, parts: Value, *, multi: bool
) -> None:  # fmt: skip
    """Draw one of `parts` parts of the pixels of the shapes of a region; each has strips of rows, or columns.

    raster: offset of a RASTER record. region: of a REGION that `set_up` has filled. slot: of the thread's slot
    (`sass.work.BLOCK`) for the pixel program. fragments: of the thread's FRAGMENTS record. multi: whether there are
    several samples; otherwise RASTER.SAMPLES is ignored.
    """
    work = _Raster(k, raster, slot, fragments, multi)
    at = k.var(k.load(I32, region + REGION.AT))
    end = k.load(I32, region + REGION.SHAPES_END)
    wide = k.load(I32, region + REGION.AREA) > _WIDE * k.udiv(end - at.value, k.i32(room(SHAPE.size)))
    work.share(at.value, end, wide, part, parts)
    for _ in k.loop(lambda: at.value < end):
        after = k.min(at.value + _TOGETHER * room(SHAPE.size), end)
        work.shapes(at.value, after, wide)
        at.value = after
