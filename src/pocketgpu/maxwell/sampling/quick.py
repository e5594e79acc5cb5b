"""The usual filtered reads: two dimensions, no border.

Lanes are taken in parts that fit into registers. Most parts read texels inside of the texture only: there nothing
wraps, and the two texels of a row lie side by side in memory and are read together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from pocketgpu.lanes import F32, I32, Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sampling import coordinates as c
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.detail import Sampling
from pocketgpu.maxwell.sampling.filters import CODE_ONE, divided, filtered_codes, filtered_numbers
from pocketgpu.maxwell.sampling.lookup import Record, Request
from pocketgpu.maxwell.sampling.records import RECORD, Call
from pocketgpu.maxwell.sampling.texels import halve, load_texel

_NEAR, _SMOOTH, _MIXED = range(3)
"""Lanes without a filter between texels, with one, or some of both."""
Values = tuple[Value, ...]


@dataclass
class _Usual:
    """What is the same in all lanes of a call.

    sides: of the first level, in texels. masks: see MASK of records. start: arena offset of the first level. way: _NEAR
    to _MIXED.
    """

    sides: list[Value]
    masks: list[Value]
    start: Value
    codes: Value
    way: Value
    levels: Value

    @staticmethod
    def of(k: Lang, record: Record) -> _Usual:
        mag, least = record.word("MAG"), record.word("MIN")
        return _Usual(
            [record.word("WIDTH"), record.word("HEIGHT")],
            [record.word("MASK", axis) for axis in range(2)],
            record.word("LEVEL"),
            record.word("KIND") == r.UNORM8,
            k.select(mag != least, k.i32(_MIXED), k.select(mag == r.LINEAR, k.i32(_SMOOTH), _NEAR)),
            record.flag(r.NEEDS_LEVEL) & (record.word("MIP") != r.MIP_NONE),
        )  # fmt: skip


class _Level:
    """One level of the texture. sides, start (arena offset of its copy): scalars, or lanes."""

    def __init__(self, sides: Sequence[Value], masks: Sequence[Value], start: Value) -> None:
        self.sides, self.masks, self.start = sides, masks, start


class _Part(Sampling):
    """Some lanes of a call."""

    def __init__(
        self, request: Request, record: Record, lanes: Value, choices: Mapping[str, str], usual: _Usual
    ) -> None:
        super().__init__(request, record, lanes, choices)
        self.usual, self.faces = usual, False
        self.at = self._f32(r.V_X), self._f32(r.V_Y)

    def run(self, everyone: Value) -> None:
        """Read, and return the results to the instruction. everyone: whether all lanes read."""
        k, record, request = self.k, self.record, self.request
        k.probe("texture.lanes", self.lanes)
        level = k.branch(record.flag(r.NEEDS_LEVEL), self.level, lambda: request.splat(0.0, F32))
        k.probe("texture.level", level)
        self.nearby = level <= 0.0
        self.layer = k.branch(
            request.bits(Call.ARRAY) != 0,
            lambda: k.clamp(request.take(r.V_LAYER) & 0xFFFF, 0, record.word("LAYERS") - 1),
            lambda: request.splat(0),
        )
        one = _Level(self.usual.sides, self.usual.masks, self.usual.start)
        values = k.branch(self.usual.levels, partial(self._levels, level), lambda: self._on(one, True))

        def put(mask: Value | None) -> None:
            for n, value in enumerate(values):
                request.put(r.V_RESULT + n, k.bits_i32(value), mask)

        k.branch(everyone, lambda: put(None), lambda: put(self.lanes))

    def _levels(self, level: Value) -> Values:
        """With mipmaps: from one level or two."""
        k, record, request = self.k, self.record, self.request
        first, last, part = self.levels_of(level)

        def at(n: Value) -> Values:
            sides = [k.max(request.splat(side).lsr(n), 1) for side in self.usual.sides]
            masks = [request.splat(mask) >> n for mask in self.usual.masks]
            return self._on(_Level(sides, masks, k.gather(I32, (n << 2) + (record.at + RECORD.LEVEL))), False)

        # The lower level is mixed in by a second turn of a loop, so that there is one piece of code for both.
        mixed = [k.var(request.splat(0.0, F32)) for _ in range(4)]
        share = k.to_f32(part) * (1.0 / 256.0)
        for number in k.range(0, k.select(k.any((part != 0) & self.lanes), 2, 1)):
            for total, value in zip(mixed, at(k.min(first + number, last)), strict=True):
                both = total.value + (value - total.value) * share
                total.value = k.select(number == 0, value, k.select(part != 0, both, total.value))
        sums = tuple(total.value for total in mixed)
        whole = lambda: tuple(divided(k, v, 255 * CODE_ONE) for v in sums)
        return tuple(k.branch(self.usual.codes, whole, lambda: sums))

    # -- one level --------------------------------------------------------------------------------------------------
    def _on(self, level: _Level, only: bool) -> Values:
        """Four components on one level. If it is not the `only` one: of UNORM8 sums of weights (CODE_ONE in all) times
        codes."""
        k, usual = self.k, self.usual
        scaled = [at * k.to_f32(side) for at, side in zip(self.at, level.sides, strict=True)]

        def near() -> Values:
            x, y = (c.texel_at(k, v) for v in scaled)
            x, y = self._one(x, y, level)
            return tuple(
                k.branch(usual.codes, partial(self._code, x, y, level, only), partial(self._number, x, y, level))
            )

        def smooth(linear: Value | bool) -> Values:
            u, v = (c.places(k, one, linear, self.choices) for one in scaled)
            codes = partial(self._codes, u, v, level, only)
            return tuple(k.branch(usual.codes, codes, partial(self._numbers, u, v, level, linear)))

        def mixed() -> Values:
            mag, least = (self.request.splat(self.record.word(name) == r.LINEAR) for name in ("MAG", "MIN"))
            return smooth(k.select(self.nearby, mag, least))

        return tuple(k.switch(usual.way, [near, partial(smooth, True), mixed]))

    def _around(self, n: Value, axis: int, level: _Level) -> Value:
        """The texel for a texel number along an axis."""
        side = level.sides[axis]
        side = self.request.splat(side) if side.lanes == 1 else side
        mode, powers = self.record.word("WRAP", axis), self.record.flag(r.POWERS)
        return c.wrap(self.k, n, side, mode, powers)[0]

    def _inside(self, x: Value, y: Value, level: _Level, more: int) -> tuple[Value, Value, Value]:
        """Texels for texel numbers, and whether all lanes have theirs, and `more` after it along both axes, inside of
        the texture in the order of memory.

        Where sizes are powers of two, those of repeated textures are the lower bits; texels in the mirrored half of two
        sizes are not in the order of memory.
        """
        k = self.k
        x, y = x & level.masks[0], y & level.masks[1]
        good = x.below(level.sides[0] - more) & y.below(level.sides[1] - more)
        # Lanes that do not read may be anywhere.
        return k.select(good, x, 0), k.select(good, y, 0), k.all(good | ~self.lanes)

    def _index(self, x: Value, y: Value, level: _Level) -> Value:
        """Number of a texel in the level's copy."""
        width, height = level.sides
        before = self.k.branch(
            self.request.bits(Call.ARRAY) != 0,
            lambda: self.layer * (width * height), lambda: self.request.splat(0),
        )  # fmt: skip
        return before + (y * width + x)

    def _words(self, index: Value, size: int, count: int, level: _Level, more: Value | int = 0) -> list[Value]:
        """`count` words from the texels of some numbers on. size: bytes of a texel. more: bytes after that, a
        scalar."""
        at = index * size
        if level.start.lanes == 1:
            return self.k.gather_words(at, count, level.start + more)
        return self.k.gather_words(at + level.start, count, more)

    def _one(self, x: Value, y: Value, level: _Level) -> tuple[Value, Value]:
        """The texel of each lane."""
        k = self.k
        tx, ty, good = self._inside(x, y, level, 0)
        careful = lambda: (self._around(x, 0, level), self._around(y, 1, level))
        x, y = k.branch(good, lambda: (tx, ty), careful, usual=True)
        zero = self.request.splat(0)
        for name, value in (("x", x), ("y", y), ("part_x", zero), ("part_y", zero)):
            k.probe(f"texture.{name}", value)
        return x, y

    def _code(self, x: Value, y: Value, level: _Level, only: bool) -> Values:
        """Codes of 8 bits of one texel."""
        k = self.k
        word = k.gather(I32, (self._index(x, y, level) << 2) + level.start)
        k.probe("texture.texel", word)
        codes = [k.to_f32(word.lsr(8 * n) & 255) for n in range(4)]
        return tuple(divided(k, v, 255.0) if only else v * CODE_ONE for v in codes)

    def _number(self, x: Value, y: Value, level: _Level) -> Values:
        """Floats of one texel."""
        words = load_texel(self.request, self.record, level.start, self._index(x, y, level), self.lanes)
        return tuple(self.k.bits_f32(w) for w in words)

    def _four(self, u: Value, v: Value, level: _Level) -> tuple[list[Value], list[Value], Value]:
        """The two columns and rows of texels that each lane's filter takes, and whether all are inside of the texture
        in the order of memory."""
        k = self.k
        x, y = u >> 8, v >> 8
        tx, ty, good = self._inside(x, y, level, 1)

        def careful() -> Values:
            return (
                self._around(x, 0, level), self._around(x + 1, 0, level),
                self._around(y, 1, level), self._around(y + 1, 1, level),
            )  # fmt: skip

        x0, x1, y0, y1 = k.branch(good, lambda: (tx, tx + 1, ty, ty + 1), careful, usual=True)
        for name, value in (("x", x0), ("y", y0), ("part_x", u & 255), ("part_y", v & 255)):
            k.probe(f"texture.{name}", value)
        return [x0, x1], [y0, y1], good

    def _codes(self, u: Value, v: Value, level: _Level, only: bool) -> Values:
        """Codes of 8 bits, filtered. Sums of a row have 16 bits."""
        k = self.k
        xs, ys, good = self._four(u, v, level)

        def side_by_side() -> Values:
            index = self._index(xs[0], ys[0], level)
            width = level.sides[0]
            if width.lanes == 1:
                return *self._words(index, 4, 2, level), *self._words(index, 4, 2, level, width << 2)
            return *self._words(index, 4, 2, level), *self._words(index + width, 4, 2, level)

        def apart() -> Values:
            at = [(self._index(x, y, level) << 2) + level.start for y in ys for x in xs]
            return tuple(k.gather(I32, one) for one in at)

        words = k.branch(good, side_by_side, apart, usual=True)
        for word in words:
            k.probe("texture.texel", word)
        sums = filtered_codes(k, words, u & 255, v & 255)
        return tuple(divided(k, total, 255 * CODE_ONE) if only else total for total in sums)

    def _numbers(self, u: Value, v: Value, level: _Level, linear: Value | bool) -> Values:
        """Floats, filtered."""
        k = self.k
        xs, ys, _ = self._four(u, v, level)
        found = k.array(16, I32, u.lanes)
        for n in k.range(0, 4):  # reading one is long code
            x, y = k.select((n & 1) != 0, xs[1], xs[0]), k.select(n > 1, ys[1], ys[0])
            words = load_texel(self.request, self.record, level.start, self._index(x, y, level), self.lanes)
            for i, word in enumerate(words):
                found[(n << 2) + i] = word
        texels = [[k.bits_f32(found[4 * n + i]) for i in range(4)] for n in range(4)]
        total = filtered_numbers(k, texels, u & 255, v & 255)
        if linear is True:
            return tuple(total)
        return tuple(k.select(linear, a, b) for a, b in zip(total, texels[0], strict=True))


def quick_reads(request: Request, record: Record, here: Value, choices: Mapping[str, str]) -> None:
    """The reads of some lanes (a ballot) of a call from one texture."""
    k, usual = request.k, _Usual.of(request.k, record)
    for part, bits in request.parts(here):
        _Part(part, record, part.mask(bits), choices, usual).run(bits == k.i32(part.whole()))
    halve(request, k.mask_of(here), None)


__all__ = ["quick_reads"]
