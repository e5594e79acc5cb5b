"""Single texels, sums of texels, and the results of instructions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pocketgpu.facts.maxwell.formats import COLOR_TARGET
from pocketgpu.lanes import BOOL, F32, I32, Lang, Value
from pocketgpu.maxwell.formats.channels import Channels
from pocketgpu.maxwell.formats.components import Quotient
from pocketgpu.maxwell.formats.small_floats import halves_of
from pocketgpu.maxwell.sampling import coordinates as c
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.lookup import Record, Request
from pocketgpu.maxwell.sampling.records import BOOK, RECORD, Call
from pocketgpu.maxwell.sass.semantics.convert import pack16
from pocketgpu.maxwell.sass.semantics.unit import Unit
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH

Words = tuple[Value, Value, Value, Value]


def texel_offsets(request: Request) -> list[Value]:
    """Offsets in texels along x, y and z of an instruction, or 0."""
    k, mode = request.k, request.bits(Call.OFFSETS)
    nibbles = (mode == r.NIBBLES) | (mode == r.UPPER_NIBBLES)
    word = request.take(r.V_OFFSETS)
    word = k.select(mode == r.UPPER_NIBBLES, word.lsr(16), word)
    found = []
    for axis in range(3):
        short, long = word.bits(4 * axis, 4, signed=True), word.bits(8 * axis, 6, signed=True)
        one = k.select(nibbles, short, k.select(mode == r.BYTES, long, k.splat(0)))
        found.append(one)
    return found


def level_start(k: Lang, record: Record, number: Value, layer: Value, sizes: Sequence[Value]) -> tuple[Value, Value]:
    """(arena offset of a level's copy, texels before a layer): per lane."""
    start = k.gather(I32, (number << 2) + (record.at + RECORD.LEVEL))
    volume = record.word("TARGET") == 2  # THREE_D: slices are stored like layers
    return start, k.select(volume, k.splat(0), layer * (sizes[0] * sizes[1]))


def decoded(request: Request, kind: int, words: Sequence[Value]) -> Words:
    """Four words of texels of a storage kind, bits of f32 or integers, of the words that they are stored in."""
    k = request.k
    if kind in r.FORMAT_OF_BYTES:
        linear = k.load(I32, request.launch + LAUNCH.TEXTURES) + BOOK.LINEAR
        layout = COLOR_TARGET.named(r.FORMAT_OF_BYTES[kind])
        red, green, blue, alpha = Channels.of(layout).unpack(k, tuple(words), linear, Quotient.NEAREST)
        return k.bits_i32(red), k.bits_i32(green), k.bits_i32(blue), k.bits_i32(alpha)
    if kind == r.HALF:
        words = [k.bits_i32(v) for v in halves_of(k, words)]
    return words[0], words[1], words[2], words[3]


def load_texel(request: Request, record: Record, start: Value, index: Value, lanes: Value) -> Words:
    """Four words of texels by their numbers: bits of f32, or integers."""
    k = request.k

    def case(kind: int) -> Words:
        size = r.TEXEL_BYTES[kind]
        at = start + index * size
        words = [k.gather(I32, at, lanes)] if size == 4 else k.gather_words(k.select(lanes, at, 0), size // 4)
        return decoded(request, kind, words)

    cases = [partial(case, kind) for kind in range(len(r.TEXEL_BYTES))]
    cases[r.INTEGER] = cases[r.FLOAT]  # the same words
    found: Words = k.switch(record.word("KIND"), cases)
    return found


def texel(
    request: Request, record: Record, x: Value, y: Value, z: Value, layer: Value, number: Value,
    sizes: Sequence[Value], cube: Value, lanes: Value,
) -> tuple[Words, Value]:  # fmt: skip
    """(words of texels at positions on a level, after address modes; whether there is none: beyond a cube's corner)."""
    k = request.k
    powers = record.flag(r.POWERS)
    no = k.fit(False, BOOL, 32)

    def wrapped() -> tuple[Value, ...]:
        px, out_x = c.wrap(k, x, sizes[0], record.word("WRAP", 0), powers)
        py, out_y = c.wrap(k, y, sizes[1], record.word("WRAP", 1), powers)
        pz, out_z = c.wrap(k, z, sizes[2], record.word("WRAP", 2), powers)
        dimensions = request.bits(Call.DIMENSIONS)
        outside = out_x | (out_y & (dimensions >= 2)) | (out_z & (dimensions >= 3) & ~cube)
        return px, py, pz, layer, outside, no

    def on_cube() -> tuple[Value, ...]:
        whole = k.udiv(layer, 6) * 6
        face, px, py, nowhere = c.across_edges(k, layer - whole, x, y, sizes[0])
        return px, py, k.splat(0), k.clamp(whole + face, 0, record.word("LAYERS") - 1), no, nowhere

    px, py, pz, layer, outside, nowhere = k.branch(cube & record.flag(r.SEAMLESS), on_cube, wrapped)
    start, before = level_start(k, record, number, layer, sizes)
    samples = [record.word("SAMPLES", n) for n in range(2)]
    # Of multisampled textures the first sample of each pixel.
    index = before + ((pz * sizes[1] + py) << (samples[0] + samples[1])) * sizes[0] + (px << samples[0])
    found = load_texel(request, record, start, index, lanes)
    border = tuple(k.select(outside, k.splat(record.word("BORDER", n)), found[n]) for n in range(4))
    words: Words = k.branch(k.any(outside), lambda: border, lambda: found)
    for name, value in (("x", px), ("y", py), ("z", pz), ("layer", layer)):
        k.probe(f"texture.{name}", value)
    for n, w in enumerate(words):
        k.probe(f"texture.texel.{'rgba'[n]}", w)
    return words, nowhere


def compared(request: Request, record: Record, words: Words) -> Words:
    """The result (1 or 0) of comparing the reference with the first component, in all four words, if the instruction
    compares."""
    k = request.k
    depth, reference = k.bits_f32(words[0]), k.bits_f32(request.take(r.V_REFERENCE))

    def test() -> Words:
        tests = [
            lambda: k.fit(False, BOOL, 32), lambda: reference < depth, lambda: reference == depth,
            lambda: reference <= depth, lambda: reference > depth, lambda: reference != depth,
            lambda: reference >= depth, lambda: k.fit(True, BOOL, 32),
        ]  # fmt: skip
        one = k.select(k.switch(record.word("COMPARE"), tests), k.splat(0x3F800000), 0)
        return one, one, one, one

    found: Words = k.branch(request.bits(Call.COMPARE) != 0, test, lambda: words)
    return found


class TexelSum:
    """A weighted sum of texels, or the minimum or maximum of those with a weight."""

    def __init__(self, k: Lang) -> None:
        self.k = k
        self.sums = [k.var(k.splat(0.0, type=F32)) for _ in range(4)]
        self.last = [k.var(k.splat(0)) for _ in range(4)]
        self.empty = k.var(k.fit(True, BOOL, 32))

    def add(self, words: Words, weight: Value, reduction: Value) -> None:
        k = self.k
        counts = weight > 0.0
        before = [v.value for v in self.sums]
        values = [k.bits_f32(w) for w in words]
        fresh = self.empty.value

        def weighted() -> tuple[Value, ...]:
            return tuple(a + weight * v for a, v in zip(before, values, strict=True))

        def least() -> tuple[Value, ...]:
            return tuple(k.select(fresh, v, k.min(a, v)) for a, v in zip(before, values, strict=True))

        def greatest() -> tuple[Value, ...]:
            return tuple(k.select(fresh, v, k.max(a, v)) for a, v in zip(before, values, strict=True))

        after = k.switch(reduction, [weighted, least, greatest])
        for n in range(4):
            self.sums[n].value = k.select(counts, after[n], before[n])
            self.last[n].value = k.select(counts, words[n], self.last[n].value)
        self.empty.value = fresh & ~counts

    def values(self) -> list[Value]:
        return [v.value for v in self.sums]

    def words(self) -> list[Value]:
        """The words of the last texel: integers are not filtered."""
        return [v.value for v in self.last]


def finish(
    request: Request, values: Sequence[Value], integers: tuple[Value, Sequence[Value]] | None, lanes: Value
) -> None:  # fmt: skip
    """Return four f32 to the instruction, or the four words of `integers[1]` where the scalar `integers[0]` holds."""
    k = request.k
    words = [k.bits_i32(v) for v in values]
    if integers is not None:
        chosen, others = integers
        words = [k.select(chosen, b, a) for a, b in zip(words, others, strict=True)]
    return_words(request, words, lanes, None if integers is None else integers[0])


def return_words(request: Request, words: Sequence[Value], lanes: Value, integers: Value | None) -> None:
    """Return four words to the instruction, as pairs of f16 if it uses those (of integers the lower halves)."""
    for n, word in enumerate(words):
        request.put(r.V_RESULT + n, word, lanes)
    halve(request, lanes, integers)


def halve(request: Request, lanes: Value, integers: Value | None) -> None:
    """Turn the words that were returned to all lanes into pairs of f16 if the instruction uses those."""
    k = request.k
    for _ in k.when(request.bits(Call.HALVES) != 0):
        order = request.bits(Call.ORDER)
        halves = []
        for n in range(4):
            word = request.take((order.lsr(2 * n) & 3) + r.V_RESULT)
            wide = k.bits_i64(k.to_f64(k.bits_f32(word)))
            half = pack16(Unit(k, {}), wide, 0)
            halves.append(half if integers is None else k.select(integers, word & 0xFFFF, half))
        for n in range(2):
            request.put(r.V_RESULT + n, halves[2 * n] | (halves[2 * n + 1] << 16), lanes)
