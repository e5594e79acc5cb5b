"""Kernels that turn rows of elements into rows of texels of a copy. Formats are data: records of `OUTPUT`, one for each
output of a pixel, so these few kernels serve all formats.

Rows are read from anywhere in the arena; texels are written where the copy is. Nothing beyond a row's texels changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pocketgpu.lanes import BOOL, F32, I32, I64, Lang, Value, kernel
from pocketgpu.maxwell.formats.components import ABSENT, Channel, Quotient, decode
from pocketgpu.maxwell.formats.words import Words, load, unit_of, words_of
from pocketgpu.maxwell.sampling.texel_outputs import SHARED, STEPS, TABLE
from pocketgpu.maxwell.textures.block_bits import interleave
from pocketgpu.struct_words import Struct

OUTPUT = Struct("TYPE", "WORD", "LOW", "WIDTH", "CONSTANT", "SHIFT", "TABLE:2")
"""An output: as `texel_outputs.Output`. SHIFT: of a small float to a half float. TABLE: arena offset of its table."""
OUTPUTS = 4
_MOST_STEPS = 1 << 16
_EXPONENT_LOW, _EXPONENT_SCALE, _F32_MANTISSA = 27, 127 - 24, 23
_PARAMETERS = {
    "source": I64, "source_pitch": I64, "target": I64, "target_pitch": I64, "count": I32, "rows": I32, "outputs": I64,
}  # fmt: skip


def _elements(k: Lang, size: int, at: Value) -> Words:
    """The words of `k.lanes` elements that begin at an arena offset."""
    words = words_of(size)
    if words == 1:
        return (k.load(unit_of(size), at, k.lanes),)
    if words & (words - 1):
        return load(k, size, k.to_i64(k.iota() * size) + at)
    return tuple(_apart(k, [k.load(I32, at + 4 * k.lanes * n, k.lanes) for n in range(words)]))


def _apart(k: Lang, vectors: Sequence[Value]) -> Sequence[Value]:
    """Vectors of words of elements that lie side by side as one vector for each word of an element."""
    if len(vectors) == 1:
        return vectors
    pairs = list(zip(vectors[::2], vectors[1::2], strict=True))
    even, odd = (_apart(k, [k.shuffle(a, range(n, 2 * k.lanes, 2), b) for a, b in pairs]) for n in range(2))
    return [word for both in zip(even, odd, strict=True) for word in both]


class _Outputs:
    """The records of the outputs of a pixel, read before the loops."""

    def __init__(self, k: Lang, at: Value, size: int) -> None:
        self.k, self.words = k, words_of(size)
        self._field = [
            {name: k.load(I32, at + (OUTPUT.size * n + OUTPUT.offsets[name])) for name in OUTPUT.offsets}
            for n in range(OUTPUTS)
        ]
        self._tables = [k.load(I64, at + (OUTPUT.size * n + OUTPUT.TABLE)) for n in range(OUTPUTS)]

    def word(self, n: int, words: Words) -> Value:
        """The word of an element that has output `n`."""
        found = words[0]
        for i in range(1, self.words):
            found = self.k.select(self._field[n]["WORD"] == i, words[i], found)
        return found

    def code(self, n: int, words: Words) -> Value:
        """The bits of output `n`."""
        field, k = self._field[n], self.k
        return self.word(n, words).lsr(field["LOW"]) & k.i32(-1).lsr(32 - field["WIDTH"])

    def is_constant(self, n: int) -> Value:
        return self._field[n]["TYPE"] == ABSENT

    def constant(self, n: int) -> Value:
        return self._field[n]["CONSTANT"]

    def bits(self, n: int, words: Words) -> Value:
        """Output `n` where it is a code that only moves, or a constant."""
        k, field = self.k, self._field[n]
        there = k.select(field["TYPE"] == ABSENT, k.i32(0), k.i32(-1))
        return ((self.code(n, words) << field["SHIFT"]) & there) | field["CONSTANT"]

    def value(self, n: int, words: Words) -> Value:
        """Output `n` as the bits of f32, or an integer."""
        k, field, table = self.k, self._field[n], self._tables[n]
        word = self.word(n, words)

        def plain(type: int) -> Value:
            channel = Channel(type, 0, field["LOW"], field["WIDTH"])
            return k.bits_i32(decode(k, channel, word, table, Quotient.NEAREST))

        def looked_up() -> Value:
            return k.bits_i32(k.gather(F32, k.to_i64(self.code(n, words) << 2) + table))

        def shared() -> Value:
            scale = k.bits_f32((words[0].lsr(_EXPONENT_LOW) + _EXPONENT_SCALE) << _F32_MANTISSA)
            return k.bits_i32(k.to_f32(self.code(n, words)) * scale)

        cases: list[Callable[[], Value]] = [partial(plain, type) for type in range(TABLE)]
        cases[ABSENT] = lambda: k.splat(field["CONSTANT"])

        def steps() -> Value:
            code = k.to_i32(k.bits_f32(word) * k.to_f32(field["CONSTANT"]) + 0.5, 0, _MOST_STEPS)
            return k.bits_i32(k.gather(F32, k.to_i64(k.min(code, field["CONSTANT"]) << 2) + table))

        cases += [looked_up, shared, steps]
        assert len(cases) == STEPS + 1 == SHARED + 2
        return k.switch(field["TYPE"], cases)


def _rows(
    k: Lang, size: int, texel: int, source: Value, source_pitch: Value, target: Value, target_pitch: Value,
    count: Value, rows: Value, made: Callable[[Words], Sequence[Value]], step: Value | None = None,
) -> None:  # fmt: skip
    """Write rows of texels, whose words `made` makes of elements. step: bytes from one texel to the next, if not
    `texel`."""
    read, write = k.var(source), k.var(target)
    for _ in k.range(0, rows):
        start, line = read.value, write.value
        for first in k.range(0, count, k.lanes):
            # Elements beyond the row are read, too: there is room after every mapping.
            vectors = made(_elements(k, size, k.to_i64(first) * size + start))
            whole = k.fit(False, BOOL, 1) if step is not None else first + k.lanes <= count
            for _ in k.when(whole):
                at = k.to_i64(first) * texel + line
                for n, vector in enumerate(_side_by_side(k, vectors)):
                    k.store(I32, at + 4 * k.lanes * n, vector)
            for _ in k.when(~whole):
                lane = k.iota() + first
                apart = k.to_i64(lane) * (texel if step is None else step) + line
                for n, vector in enumerate(vectors):
                    k.scatter(I32, apart + 4 * n, vector, lane < count)
        read.value = start + source_pitch
        write.value = line + target_pitch


def _side_by_side(k: Lang, vectors: Sequence[Value]) -> Sequence[Value]:
    """Words of texels, one vector for each place in a texel, in the order of memory."""
    if len(vectors) == 1:
        return vectors
    if len(vectors) == 4:
        return interleave(k, vectors)
    lanes = k.lanes
    return [
        k.shuffle(vectors[0], [p for i in range(at, at + lanes // 2) for p in (i, i + lanes)], vectors[1])
        for at in (0, lanes // 2)
    ]


@kernel(None, **_PARAMETERS)
def narrow_texels(
    k: Lang, source: Value, source_pitch: Value, target: Value, target_pitch: Value, count: Value, rows: Value,
    outputs: Value, *, size: int,
) -> None:  # fmt: skip
    """Texels of four bytes: of `rows` rows of `count` elements of `size` bytes."""
    found = _Outputs(k, outputs, size)

    def made(words: Words) -> Sequence[Value]:
        a, b, c, d = (found.bits(n, words) for n in range(OUTPUTS))
        return (a | (b << 8) | (c << 16) | (d << 24),)

    _rows(k, size, 4, source, source_pitch, target, target_pitch, count, rows, made)


@kernel(None, **_PARAMETERS, misfits=I64)
def narrow_floats(
    k: Lang, source: Value, source_pitch: Value, target: Value, target_pitch: Value, count: Value, rows: Value,
    outputs: Value, misfits: Value,
) -> None:  # fmt: skip
    """Texels of four bytes, of four f32 from 0 to 1. The word at `misfits` is set if one is not a whole byte."""
    found = _Outputs(k, outputs, 16)
    misfit = k.var(k.fit(False, BOOL, k.lanes))

    def made(words: Words) -> Sequence[Value]:
        total = k.splat(0)
        for n in range(OUTPUTS):
            value, constant = k.bits_f32(found.word(n, words)), found.constant(n)
            code = k.to_i32(value * 255.0 + 0.5, 0, 255)
            bad = (k.to_f32(code) / 255.0 != value) & ~found.is_constant(n)
            misfit.value = misfit.value | bad
            total = total | (k.select(found.is_constant(n), k.splat(constant), code) << (8 * n))
        return (total,)

    _rows(k, 16, 4, source, source_pitch, target, target_pitch, count, rows, made)
    for _ in k.when(k.any(misfit.value)):
        k.store(I32, misfits, k.i32(1))


@kernel(None, **_PARAMETERS)
def half_texels(
    k: Lang, source: Value, source_pitch: Value, target: Value, target_pitch: Value, count: Value, rows: Value,
    outputs: Value, *, size: int,
) -> None:  # fmt: skip
    """Texels of four half floats, of elements with floats of 16, 11 or 10 bits."""
    found = _Outputs(k, outputs, size)

    def made(words: Words) -> Sequence[Value]:
        a, b, c, d = (found.bits(n, words) for n in range(OUTPUTS))
        return a | (b << 16), c | (d << 16)

    _rows(k, size, 8, source, source_pitch, target, target_pitch, count, rows, made)


@kernel(None, **_PARAMETERS, step=I32)
def wide_texels(
    k: Lang, source: Value, source_pitch: Value, target: Value, target_pitch: Value, count: Value, rows: Value,
    outputs: Value, step: Value, *, size: int, spread: bool,
) -> None:  # fmt: skip
    """Texels of four words: f32, or integers. spread: they are `step` bytes apart, not 16."""
    found = _Outputs(k, outputs, size)

    def made(words: Words) -> Sequence[Value]:
        return [found.value(n, words) for n in range(OUTPUTS)]

    apart = k.to_i64(step) if spread else None
    _rows(k, size, 16, source, source_pitch, target, target_pitch, count, rows, made, apart)


__all__ = ["OUTPUT", "OUTPUTS", "half_texels", "narrow_floats", "narrow_texels", "wide_texels"]
