"""Loading and storing the samples of a block of 8 x 4 pixels as 32 lanes. Samples of a pixel are adjacent.

`WideBlock` is for block-linear targets known while tracing: the order of address bits in a GOB makes a block a few runs
of bytes (one of 128 bytes where pixels have four), which are loaded whole and sorted into lanes by constant shuffles.
`TableBlock` is for everything else: it takes each lane's offset from tables in the SURFACE record.

A block with all its bytes belongs to one thread; so a `WideBlock` may store unchanged bytes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

from pocketgpu.lanes import I32, Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.formats.samples import sample_place
from pocketgpu.maxwell.formats.words import Number, Words, load, store, unit_of, words_of
from pocketgpu.maxwell.graphics.output.records import SURFACE
from pocketgpu.maxwell.graphics.records import BLOCK_HEIGHT, BLOCK_WIDTH, FRAGMENTS, LANE_X, LANE_Y, MAX_SAMPLES, TARGET
from pocketgpu.maxwell.memory.blocklinear import GOB_HEIGHT, GOB_SIZE, GOB_WIDTH, Layout

SIZES = (1, 2, 4, 8, 16)
"""Bytes that a sample can have."""
MAX_WIDE = 32
"""The most bytes of a pixel with all its samples for which a `WideBlock` is used."""
_RUN = 32  # elements of a load
_CACHE_LINE = 64
_MOST_WORDS = words_of(SIZES[-1])


@cache
def place_tables(
    bytes: int, grid: tuple[int, int], pitch: int, layout: Layout | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """LANE_OFFSETS and SAMPLE_OFFSETS of a target in pitch or block-linear layout.

    :param grid: log2 of a pixel's samples across and down.
    """
    across, down = grid

    def offset(column: int, row: int) -> int:
        if layout is None:
            return column * bytes + row * pitch
        return layout.offset_of(column * bytes, row)

    lanes = [offset(x << across, y << down) for x, y in zip(LANE_X, LANE_Y, strict=True)]
    samples = [offset(*sample_place(s)) if s >> (across + down) == 0 else 0 for s in range(MAX_SAMPLES)]
    return tuple(lanes), tuple(samples)


# Runs of a block


@dataclass(frozen=True)
class _ElementRun:
    """Contiguous elements: GOBs to the right and down, the first byte in the GOB, number of elements."""

    across: int
    down: int
    first: int
    count: int


Places = tuple[tuple[int, int], ...]
"""For each lane a run, and the element in it."""


@cache
def _runs(bytes: int, grid: tuple[int, int]) -> tuple[tuple[_ElementRun, ...], tuple[tuple[Places, ...], ...]]:
    """The runs of a block, all of one length, and the position of each word of each sample in them."""
    unit = min(bytes, 4)
    gob = Layout(GOB_WIDTH, GOB_HEIGHT)

    def place(lane: int, sample: int, word: int) -> tuple[int, int, int]:
        dx, dy = sample_place(sample)
        at, row = ((LANE_X[lane] << grid[0]) + dx) * bytes + word * unit, (LANE_Y[lane] << grid[1]) + dy
        return row // GOB_HEIGHT, at // GOB_WIDTH, gob.offset_of(at % GOB_WIDTH, row % GOB_HEIGHT)

    samples, words, lanes = range(1 << sum(grid)), range(bytes // unit), range(len(LANE_X))
    runs: list[_ElementRun] = []
    found: dict[tuple[int, int, int], tuple[int, int]] = {}
    for one in sorted(place(lane, s, w) for lane in lanes for s in samples for w in words):
        last = runs[-1] if runs else _ElementRun(-1, -1, 0, 0)
        follows = one == (last.down, last.across, last.first + last.count * unit)
        if follows and last.count < _RUN:
            runs[-1] = _ElementRun(last.across, last.down, last.first, last.count + 1)
        else:
            runs.append(_ElementRun(one[1], one[0], one[2], 1))
        found[one] = (len(runs) - 1, runs[-1].count - 1)
    return tuple(runs), tuple(tuple(tuple(found[place(n, s, w)] for n in lanes) for w in words) for s in samples)


def gobs_of_block(bytes: int, grid: tuple[int, int]) -> tuple[int, int]:
    """The number of GOBs that a block of pixels spans, across and down."""
    return max(1, (BLOCK_WIDTH * bytes << grid[0]) // GOB_WIDTH), max(1, (BLOCK_HEIGHT << grid[1]) // GOB_HEIGHT)


def _collect(k: Lang, vectors: Sequence[Value], places: Sequence[tuple[int, int]]) -> Value:
    """A vector of elements of several vectors, all of the same length: places are (vector, element)."""
    used = sorted({v for v, _ in places})
    n, parts = vectors[0].lanes, []
    for i in range(0, len(used), 2):
        a, b = used[i], used[min(i + 1, len(used) - 1)]
        chosen = [e if v == a else e + n if v == b else 0 for v, e in places]
        parts.append(([v in (a, b) for v, _ in places], k.shuffle(vectors[a], chosen, vectors[b])))
    while len(parts) > 1:
        (in_a, a_part), (in_b, b_part) = parts[:2]
        chosen = [i + len(places) * there for i, there in enumerate(in_b)]
        both = [one or other for one, other in zip(in_a, in_b, strict=True)]
        parts = [*parts[2:], (both, k.shuffle(a_part, chosen, b_part))]
    return parts[0][1]


# Blocks


class TargetBlock:
    """The current block in one target.

    :param surface, fragments: offsets (i64) of the records.
    :param bytes: of a sample.
    :param grid: log2 of a pixel's samples across and down.
    :param linear: whether the target is in pitch layout; None: PITCH decides at run time.
    """

    def __init__(
        self, k: Lang, surface: Value, fragments: Value, bytes: Number, grid: tuple[Number, Number], linear: bool | None
    ) -> None:
        self.k, self.surface, self.bytes, self.grid = k, surface, bytes, grid
        self._fragments = fragments
        self._x, self._y = (k.load(I32, fragments + at) for at in (FRAGMENTS.X, FRAGMENTS.Y))
        self._layer = k.load(I32, fragments + FRAGMENTS.LAYER) + self._word(TARGET.FIRST_LAYER)
        self._linear = linear

    def _word(self, at: int) -> Value:
        return self.k.load(I32, self.surface + at)

    def pixels(self) -> Value:
        """Ballot of the pixels inside the target; none if the layer does not exist."""
        k = self.k
        right, below = self._word(SURFACE.COLUMNS) - self._x, self._word(SURFACE.ROWS) - self._y
        exists = self._layer.below(self._word(TARGET.LAYERS))
        edge = lambda: k.ballot((k.pattern(LANE_X) < right) & (k.pattern(LANE_Y) < below))
        cut: Value = k.branch((right >= BLOCK_WIDTH) & (below >= BLOCK_HEIGHT), lambda: k.i32(-1), edge)
        return k.select(exists, cut, 0)

    def origin(self, right: Number = 0, down: Number = 0) -> Value:
        """Offset (i64) of the first sample of the block. right, down: of another one, so many pixels away."""
        k = self.k
        x, y = ((self._x + right) << self.grid[0]) * self.bytes, (self._y + down) << self.grid[1]
        pitch = self._word(TARGET.PITCH)
        linear: bool | Value = pitch != 0 if self._linear is None else self._linear
        within: Value = k.branch(linear, lambda: y * pitch + x, lambda: self._in_blocks(x, y))
        return k.to_i64(self._word(TARGET.BASE) + within + self._start_of_layer())

    def _high_deep(self) -> tuple[Value, Value]:
        return self._word(TARGET.BLOCK_HEIGHT), self._word(TARGET.BLOCK_DEPTH)

    def _in_blocks(self, x: Value, y: Value) -> Value:
        """`Layout.offset_of` without the slice."""
        high, deep = self._high_deep()
        size, gob = self.k.i32(GOB_SIZE) << (high + deep), y >> 3
        column = (x >> 6) * size + ((x & 32) << 3) + ((x & 16) << 1) + (x & 15)
        row = (gob & ((1 << high) - 1)) * GOB_SIZE + ((y & 6) << 5) + ((y & 1) << 4)
        return column + row + (gob >> high) * (self._word(TARGET.GOBS) * size)

    def _start_of_layer(self) -> Value:
        k, layer, slices = self.k, self._layer, self._word(SURFACE.SLICE_STRIDE)

        def of_slice() -> Value:
            high, deep = self._high_deep()
            return (layer >> deep) * slices + (layer & ((1 << deep) - 1)) * (k.i32(GOB_SIZE) << high)

        start: Value = k.branch(slices != 0, of_slice, lambda: layer * self._word(TARGET.LAYER_STRIDE))
        return start

    # For WideBlock: steps from one GOB to the next.

    def _gob_steps(self) -> tuple[Value, Value]:
        """Bytes to the GOB on the right, and to the one below, for blocks that begin at a multiple of two GOBs."""
        high, deep = self._high_deep()
        size = self.k.i32(GOB_SIZE) << (high + deep)
        return size, self.k.select(high != 0, GOB_SIZE, self._word(TARGET.GOBS) * size)


class WideBlock(TargetBlock):
    """A block whose GOBs all exist: all samples are loaded and stored at once."""

    bytes: int
    grid: tuple[int, int]

    def __init__(self, k: Lang, surface: Value, fragments: Value, bytes: int, grid: tuple[int, int]) -> None:
        super().__init__(k, surface, fragments, bytes, grid, False)
        self._runs, self._places = _runs(bytes, grid)

    def expect_next(self) -> None:
        """Ask for the bytes of the blocks to the right and below, of which one mostly comes next.

        Not for another thread's: on processors that share no cache, that doubled the time of large shapes.
        """
        k, size = self.k, unit_of(self.bytes).bytes
        right, down = (
            k.select((at + step) & k.load(I32, self._fragments + mask) != 0, step, k.i32(0))
            for at, step, mask in (
                (self._x, BLOCK_WIDTH, FRAGMENTS.COLUMN), (self._y, BLOCK_HEIGHT, FRAGMENTS.STRIP)
            )
        )  # fmt: skip
        for distance in ((right, 0), (0, down)):
            for at, run in zip(self.places(*distance), self._runs, strict=True):
                if run.first % _CACHE_LINE == 0:
                    for line in range(0, run.count * size, _CACHE_LINE):
                        k.prefetch(at + line)

    def places(self, right: Number = 0, down: Number = 0) -> list[Value]:
        """Offsets of the runs, for `load` and `store`. right, down: see `origin`."""
        origin, k = self.origin(right, down), self.k
        if all(run.across == run.down == 0 for run in self._runs):
            return [origin + run.first for run in self._runs]
        next_gob, lower_gob = (k.to_i64(step) for step in self._gob_steps())
        return [origin + next_gob * run.across + lower_gob * run.down + run.first for run in self._runs]

    def load(self, places: Sequence[Value]) -> list[Words]:
        """The words of each sample."""
        k, type = self.k, unit_of(self.bytes)
        runs = [k.load(type, at, run.count) for at, run in zip(places, self._runs, strict=True)]
        return [tuple(_collect(k, runs, places) for places in words) for words in self._places]

    def store(self, places: Sequence[Value], samples: Sequence[Words]) -> None:
        """Store the words of each sample."""
        k, type = self.k, unit_of(self.bytes)
        vectors = [word for words in samples for word in words]
        sources: list[list[tuple[int, int]]] = [[(0, 0)] * run.count for run in self._runs]
        for number, lanes in enumerate(one for words in self._places for one in words):
            for lane, (run, element) in enumerate(lanes):
                sources[run][element] = (number, lane)
        for at, source in zip(places, sources, strict=True):
            k.store(type, at, _collect(k, vectors, source))


class TableBlock(TargetBlock):
    """A block of any shape: samples are loaded and stored one by one, each lane at its own offset."""

    def lanes(self) -> Value:
        """Offsets (i64) of sample 0 of each lane."""
        return self.k.to_i64(self.k.load(I32, self.surface + SURFACE.LANE_OFFSETS, len(LANE_X))) + self.origin()

    def _places(self, lanes: Value, sample: Number) -> Value:
        step = self.k.to_i64(sample << 2) if isinstance(sample, Value) else 4 * sample
        return lanes + self.k.to_i64(self.k.load(I32, self.surface + SURFACE.SAMPLE_OFFSETS + step))

    def load(self, lanes: Value, sample: Number, mask: Value) -> Words:
        """The words of a sample in the lanes of the mask, 0 elsewhere; four words if the size is not known while
        tracing."""
        k = self.k
        places = self._places(lanes, sample)

        if isinstance(self.bytes, int):
            return load(k, self.bytes, places, mask)
        nothing = k.splat(0)

        def whole(size: int) -> Words:
            return (*load(k, size, places, mask), *(nothing,) * (_MOST_WORDS - 1))

        def several() -> Words:
            words = [k.var(nothing) for _ in range(_MOST_WORDS)]
            for n in k.range(0, self.bytes >> 2):
                found = k.gather(I32, places + k.to_i64(n << 2), mask)
                for i, word in enumerate(words):
                    word.value = k.select(n == i, found, word.value)
            return tuple(word.value for word in words)

        # Samples of whole words share the code, because gathers are long.
        found: Words = k.switch(k.trailing_zeros(self.bytes), [partial(whole, 1), partial(whole, 2), several])
        return found

    def store(self, lanes: Value, sample: Number, words: Words, mask: Value) -> None:
        """Store the words of a sample in the lanes of the mask."""
        k = self.k
        places = self._places(lanes, sample)

        if isinstance(self.bytes, int):
            store(k, self.bytes, places, words, mask)
        else:
            small = [partial(store, k, size, places, words, mask) for size in (1, 2)]

            def several() -> None:
                for n in k.range(0, self.bytes >> 2):
                    word = words[0]
                    for i in range(1, _MOST_WORDS):
                        word = k.select(n == i, words[i], word)
                    k.scatter(I32, places + k.to_i64(n << 2), word, mask)

            k.switch(k.trailing_zeros(self.bytes), [*small, several])


__all__ = ["MAX_WIDE", "SIZES", "TableBlock", "TargetBlock", "WideBlock", "gobs_of_block", "place_tables"]
