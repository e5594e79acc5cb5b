"""The plainest filtered reads: one level of a texture without layers, with one filter, inside of the texture.

There nothing wraps, and the texels of a row lie side by side in memory: two are read together. Lanes are taken in
parts that fit into registers; parts in which a lane reads elsewhere are left to `sample_quick`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pocketgpu.lanes import F32, I32, Value
from pocketgpu.maxwell.sampling import coordinates as c
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.filters import CODE_ONE, divided, filtered_codes, filtered_numbers
from pocketgpu.maxwell.sampling.lookup import Record, Request
from pocketgpu.maxwell.sampling.texels import decoded


class _Part:
    """Some lanes of a call."""

    def __init__(self, request: Request, record: Record, choices: Mapping[str, str]) -> None:
        self.k, self.request, self.record, self.choices = request.k, request, record, choices

    def _scaled(self, axis: int) -> Value:
        """A coordinate in texels."""
        return self.request.take(r.V_X + axis, F32) * self.record.number("SIDE", axis)

    def near(self, bits: Value) -> Value:
        """The texels at the coordinates. bits: the lanes, as a ballot. Returns the lanes that are left."""
        texels = [c.texel_at(self.k, self._scaled(axis)) for axis in range(2)]
        return self._read(texels, [self.request.splat(0)] * 2, bits, 0, self._one)

    def smooth(self, bits: Value) -> Value:
        """Between texels."""
        at = [c.places(self.k, self._scaled(axis), True, self.choices) for axis in range(2)]
        return self._read([one >> 8 for one in at], [one & 255 for one in at], bits, 1, self._four)

    def _read(
        self, texels: Sequence[Value], parts: Sequence[Value], bits: Value, more: int,
        read: Callable[[int, Value, Sequence[Value]], Sequence[Value]],
    ) -> Value:  # fmt: skip
        """Read if all lanes have their texels, and `more` after these along both axes, inside of the texture."""
        k, record, request = self.k, self.record, self.request
        found, inside = [], []
        for axis, number in enumerate(texels):
            last = record.word("LAST", axis)
            # Repeated sizes that are powers of two need the lower bits only. The mirrored half is left.
            one = number & record.word("MASK", axis)
            found.append(one)
            inside.append(one.below(last) if more else ~request.splat(last).below(one))
        outside = ~k.ballot(inside[0] & inside[1]) & bits

        def inner() -> None:
            k.probe("texture.lanes", request.mask(bits))
            k.probe("texture.level", request.splat(0.0, F32))
            for name, value in zip(("x", "y", "part_x", "part_y"), (*found, *parts), strict=True):
                k.probe(f"texture.{name}", value)
            index = found[1] * record.word("WIDTH") + found[0]
            cases = [partial(read, kind, index, parts) for kind in range(len(r.TEXEL_BYTES))]
            values = k.switch(record.word("KIND"), cases)

            def put(mask: Value | None) -> None:
                for n, value in enumerate(values):
                    request.put(r.V_RESULT + n, k.bits_i32(value), mask)

            k.branch(bits == k.i32(request.whole()), lambda: put(None), lambda: put(request.mask(bits)), usual=True)

        k.branch(outside == 0, inner, lambda: None, usual=True)
        return k.select(outside == 0, k.i32(0), bits)

    def _words(self, index: Value, kind: int, count: int, row: int = 0, column: int = 0) -> list[Value]:
        """`count` texels from those of some numbers on, as words. row, column: so many after these."""
        k, record, size = self.k, self.record, r.TEXEL_BYTES[kind]
        start = record.word("LEVEL") + column * size
        if row:
            start = start + record.word("WIDTH") * (row * size)
        at, words = index * size, count * size // 4
        return [k.gather(I32, at + start)] if words == 1 else k.gather_words(at, words, start)

    def _one(self, kind: int, index: Value, parts: Sequence[Value]) -> Sequence[Value]:
        """One texel."""
        k = self.k
        words = self._words(index, kind, 1)
        if kind != r.UNORM8:
            return tuple(k.bits_f32(word) for word in decoded(self.request, kind, words))
        k.probe("texture.texel", words[0])
        return tuple(divided(k, k.to_f32(words[0].lsr(8 * n) & 255), 255.0) for n in range(4))

    def _four(self, kind: int, index: Value, parts: Sequence[Value]) -> Sequence[Value]:
        """Four texels, filtered."""
        k, size = self.k, r.TEXEL_BYTES[kind] // 4
        words: list[Value] = []
        for row in range(2):
            if size <= 2:
                words += self._words(index, kind, 2, row)
            else:
                words += self._words(index, kind, 1, row) + self._words(index, kind, 1, row, 1)
        if kind == r.UNORM8:
            for word in words:
                k.probe("texture.texel", word)
            return tuple(divided(k, total, 255 * CODE_ONE) for total in filtered_codes(k, words, *parts))
        texels = [decoded(self.request, kind, words[n : n + size]) for n in range(0, 4 * size, size)]
        return tuple(filtered_numbers(k, [[k.bits_f32(word) for word in one] for one in texels], *parts))


def plain_reads(request: Request, record: Record, here: Value, choices: Mapping[str, str]) -> Value:
    """The reads of some lanes (a ballot) of a call from one texture, as f32. Returns the lanes that are left."""
    k = request.k
    left = k.var(0)

    def each(read: Callable[[_Part, Value], Value]) -> None:
        for part, bits in request.parts(here):
            left.value = left.value | (read(_Part(part, record, choices), bits) << part.first)

    k.branch(record.word("PLAIN") == r.SMOOTH, lambda: each(_Part.smooth), lambda: each(_Part.near))
    return left.value


__all__ = ["plain_reads"]
