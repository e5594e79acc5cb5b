"""The plainest filtered reads: a texture without layers, with one filter, inside of the texture.

There nothing wraps, and the texels of a row lie side by side in memory: two are read together. Lanes are taken in
parts that fit into registers; parts in which a lane reads elsewhere are left to `sample_quick`, and so are parts whose
lanes read different levels of a texture with mipmaps.

Of textures without mipmaps the places of all parts are found first, and stored as scratch vectors. Then loads of texels
have their addresses at once, while computing these takes as long as the filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pocketgpu.lanes import F32, I32, Lang, Value
from pocketgpu.maxwell.sampling import coordinates as c
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.detail import Sampling
from pocketgpu.maxwell.sampling.filters import CODE_ONE, divided, filtered_codes, filtered_numbers
from pocketgpu.maxwell.sampling.lookup import Record, Request
from pocketgpu.maxwell.sampling.records import RECORD
from pocketgpu.maxwell.sampling.texels import decoded

Values = tuple[Value, ...]
Reader = Callable[[int, int, int], list[Value]]
"""Gives so many words of each lane, of the texel so many down and to the right."""


class _Level:
    """What reads need of a level, as scalars: its width and sides (f32), the bits of texel numbers that count, the last
    texels, and where its copy is. number: None for the only level."""

    def __init__(self, record: Record, number: Value | None = None) -> None:
        k = record.k
        of = lambda name: [record.word(name, axis) for axis in range(2)]
        self.width, self.masks, self.start = record.word("WIDTH"), of("MASK"), record.word("LEVEL")
        if number is None:
            self.sides, self.last = [record.number("SIDE", axis) for axis in range(2)], of("LAST")
            return
        sides = [k.max(record.word(name).lsr(number), 1) for name in ("WIDTH", "HEIGHT")]
        self.width, self.sides = sides[0], [k.to_f32(side) for side in sides]
        self.masks, self.last = [mask >> number for mask in self.masks], [side - 1 for side in sides]
        self.start = k.load(I32, (number << 2) + (record.at + RECORD.LEVEL))


class _Place:
    """Where lanes read on a level. texels: numbers along both axes. parts: 1/256 of a texel. outside: the lanes (a
    ballot) that do not have all their texels inside of the texture, in the order of memory."""

    def __init__(self, request: Request, level: _Level, texels: Sequence[Value], parts: Sequence[Value], more: int):
        """more: how many texels after these are read along both axes, 0 or 1."""
        k = request.k
        self.level, self.parts = level, parts
        # Repeated sizes that are powers of two need the lower bits only. The mirrored half is left.
        self.texels = [number & mask for number, mask in zip(texels, level.masks, strict=True)]
        inside = [
            number.below(last) if more else ~request.splat(last).below(number)
            for number, last in zip(self.texels, level.last, strict=True)
        ]
        self.inside = inside[0] & inside[1]
        self.outside = ~k.ballot(self.inside)

    def tell(self, k: Lang) -> None:
        """Tell observers."""
        for name, value in zip(("x", "y", "part_x", "part_y"), (*self.texels, *self.parts), strict=True):
            k.probe(f"texture.{name}", value)


class _Part(Sampling):
    """Some lanes of a call. bits: the lanes as a ballot. Readers return the lanes that are left."""

    def __init__(self, request: Request, record: Record, bits: Value, choices: Mapping[str, str]) -> None:
        super().__init__(request, record, request.mask(bits), choices)
        self.bits, self.faces = bits, False

    def _scaled(self, axis: int, level: _Level) -> Value:
        """A coordinate in texels."""
        return self.request.take(r.V_X + axis, F32) * level.sides[axis]

    def find(self, level: _Level, smooth: bool, size: Value) -> Value:
        """Find and store where the lanes read on the only level. smooth: between texels. size: bytes of a texel."""
        k, request = self.k, self.request
        if smooth:
            at = self._positions(level)
            place = self._between(level, at)
            for axis in range(2):
                request.put(r.V_POSITION + axis, at[axis], None)
        else:
            texels = [c.texel_at(k, self._scaled(axis, level)) for axis in range(2)]
            place = _Place(request, level, texels, [request.splat(0)] * 2, 0)
        # Lanes that do not read may be anywhere.
        start = place.texels[1] * (level.width * size) + place.texels[0] * size
        request.put(r.V_PLACE, k.select(place.inside, start, 0), None)
        bad = place.outside & self.bits
        for _ in k.when(bad == 0):
            self._tell(None)
            place.tell(k)
        return k.select(bad == 0, k.i32(0), self.bits)

    def read(self, level: _Level, smooth: bool, kind: int) -> None:
        """Read texels of a storage kind at the places that `find` has stored, and return values to the instruction."""
        request, size = self.request, r.TEXEL_BYTES[kind]
        places, row = request.scratch(r.V_PLACE), level.width * size

        def words(count: int, down: int, right: int) -> list[Value]:
            start = level.start + right * size
            return self.k.gather_words_at(places, request.lanes, count, start + row if down else start)

        if smooth:
            parts = [request.take(r.V_POSITION + axis) & 255 for axis in range(2)]
            self._put(self._whole(kind, self._four(words, parts, kind)))
        else:
            self._put(self._one(words, kind))

    def _positions(self, level: _Level) -> list[Value]:
        """The coordinates in 1/256 of a texel."""
        return [c.places(self.k, self._scaled(axis, level), True, self.choices) for axis in range(2)]

    def _between(self, level: _Level, at: Sequence[Value]) -> _Place:
        return _Place(self.request, level, [one >> 8 for one in at], [one & 255 for one in at], 1)

    def mipmapped(self, raw: Callable[[], Value]) -> Value:
        """Between texels of one level or two. raw: gives `raw_level`."""
        k = self.k
        level = self.level(raw)
        first, last, part = self.levels_of(level)
        number = k.lane(first, 0)
        others = ~k.ballot(first == number)
        mixed = k.ballot(part != 0) & self.bits
        levels = [_Level(self.record, at) for at in (number, k.min(number + 1, last))]
        one, two = (self._between(level, self._positions(level)) for level in levels)
        outside = others | one.outside | k.select(mixed != 0, two.outside, 0)

        def four(place: _Place, kind: int) -> Values:
            place.tell(k)
            return self._four(self._reader(place, kind), place.parts, kind)

        def read(kind: int) -> Values:
            upper = four(one, kind)

            def both() -> Values:
                lower, share = four(two, kind), k.to_f32(part) * (1.0 / 256.0)
                mix = [a + (b - a) * share for a, b in zip(upper, lower, strict=True)]
                return tuple(k.select(part != 0, m, a) for m, a in zip(mix, upper, strict=True))

            return self._whole(kind, k.branch(mixed != 0, both, lambda: upper))

        bad = outside & self.bits

        def run() -> None:
            self._tell(level)
            cases = [partial(read, kind) for kind in range(len(r.TEXEL_BYTES))]
            values: Values = k.switch(self.record.word("KIND"), cases)
            self._put(values)

        k.branch(bad == 0, run, lambda: None, usual=True)
        return k.select(bad == 0, k.i32(0), self.bits)

    def _whole(self, kind: int, values: Sequence[Value]) -> Values:
        """Values of filtered sums."""
        if kind != r.UNORM8:
            return tuple(values)
        return tuple(divided(self.k, total, 255 * CODE_ONE) for total in values)

    def _tell(self, level: Value | None) -> None:
        """Tell observers which lanes read, and the level of detail."""
        self.k.probe("texture.lanes", self.lanes)
        self.k.probe("texture.level", self.request.splat(0.0, F32) if level is None else level)

    def _put(self, values: Values) -> None:
        """Return values to the instruction."""
        k, request = self.k, self.request

        def put(mask: Value | None) -> None:
            for n, value in enumerate(values):
                request.put(r.V_RESULT + n, k.bits_i32(value), mask)

        k.branch(self.bits == k.i32(request.whole()), lambda: put(None), lambda: put(self.lanes), usual=True)

    def _reader(self, place: _Place, kind: int) -> Reader:
        """Reads around a place."""
        k, level, size = self.k, place.level, r.TEXEL_BYTES[kind]
        # Lanes that do not read may be anywhere.
        at = k.select(place.inside, place.texels[1] * level.width + place.texels[0], 0) * size

        def words(count: int, down: int, right: int) -> list[Value]:
            start = level.start + right * size
            start = start + level.width * size if down else start
            return [k.gather(I32, at + start)] if count == 1 else k.gather_words(at, count, start)

        return words

    def _one(self, words: Reader, kind: int) -> Values:
        """One texel."""
        k, found = self.k, words(r.TEXEL_BYTES[kind] // 4, 0, 0)
        if kind != r.UNORM8:
            return tuple(k.bits_f32(word) for word in decoded(self.request, kind, found))
        k.probe("texture.texel", found[0])
        return tuple(divided(k, k.to_f32(found[0].lsr(8 * n) & 255), 255.0) for n in range(4))

    def _four(self, words: Reader, parts: Sequence[Value], kind: int) -> Values:
        """Four texels, filtered; of UNORM8 sums of weights (CODE_ONE in all) times codes."""
        k, size = self.k, r.TEXEL_BYTES[kind] // 4
        found: list[Value] = []
        for down in range(2):
            if size <= 2:
                found += words(2 * size, down, 0)
            else:
                found += words(size, down, 0) + words(size, down, 1)
        if kind == r.UNORM8:
            for word in found:
                k.probe("texture.texel", word)
            return tuple(filtered_codes(k, found, *parts))
        texels = [decoded(self.request, kind, found[n : n + size]) for n in range(0, 4 * size, size)]
        return tuple(filtered_numbers(k, [[k.bits_f32(word) for word in one] for one in texels], *parts))


class _QuadLevels:
    """The level of detail of neighbours, which is the same in the four lanes of a quad, for all parts of a call."""

    def __init__(self, request: Request, record: Record, choices: Mapping[str, str]) -> None:
        k = self.k = request.k
        count = k.register_lanes
        self.levels = k.array(request.lanes // count, F32, count)
        whole = Sampling(request, record, k.mask_of(k.i32(-1)), choices)
        # Of gradients that are given lanes may have different ones.
        self.known = whole.quads() & (whole.lod != r.GRADIENTS)
        for _ in k.when(self.known & whole.from_pixels()):
            along: list[list[Value]] = [[], []]
            for axis, scale in enumerate(whole.scale()[:2]):
                lanes = request.take(r.V_X + axis, F32)
                first, right, lower = (k.shuffle(lanes, range(n, request.lanes, 4)) for n in range(3))
                along[0].append((right - first) * scale)
                along[1].append((lower - first) * scale)
            found = c.level_of(k, *along)
            for n in range(request.lanes // count):
                self.levels[n] = k.shuffle(found, [(n * count + lane) // 4 for lane in range(count)])

    def of(self, part: _Part) -> Value:
        """The levels of detail of a part's lanes."""
        k, request = self.k, part.request
        number = k.fit(request.first, I32, 1).lsr(request.lanes.bit_length() - 1)
        return k.branch(self.known, lambda: self.levels[number], part.raw_level)


def plain_reads(request: Request, record: Record, here: Value, choices: Mapping[str, str]) -> Value:
    """The reads of some lanes (a ballot) of a call from one texture, as f32. Returns the lanes that are left."""
    k, left, kinds = request.k, request.k.var(0), len(r.TEXEL_BYTES)

    def single(smooth: bool) -> None:
        level, kind = _Level(record), record.word("KIND")
        size: Value = k.switch(kind, [partial(k.i32, size) for size in r.TEXEL_BYTES])
        for part, bits in request.parts(here):
            left.value = left.value | (_Part(part, record, bits, choices).find(level, smooth, size) << part.first)

        def read(kind: int) -> None:
            for part, bits in request.parts(here & ~left.value):
                _Part(part, record, bits, choices).read(level, smooth, kind)

        k.switch(kind, [partial(read, number) for number in range(kinds)])

    def mipmapped() -> None:
        levels = _QuadLevels(request, record, choices)
        for part, bits in request.parts(here):
            one = _Part(part, record, bits, choices)
            left.value = left.value | (one.mipmapped(partial(levels.of, one)) << part.first)

    cases: dict[int, Callable[[], None]] = {
        r.NEAR: partial(single, False), r.SMOOTH: partial(single, True), r.MIPMAPPED: mipmapped,
    }  # fmt: skip
    k.switch(record.word("PLAIN") - r.NEAR, [cases[kind] for kind in sorted(cases)])
    return left.value


__all__ = ["plain_reads"]
