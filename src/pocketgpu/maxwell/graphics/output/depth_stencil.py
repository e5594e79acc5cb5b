"""Depth bounds, stencil and depth tests of one block, for all formats: the remaining samples and the stored values.

Depth is compared as it is stored: unorm to the nearest step, halves up, floats unchanged. The bounds test the stored
depth; samples that fail change no stencil, or count as a failed depth test (the choice output.depth_bounds).
Source: class header for the numbers of functions and operations, OpenGL for their meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pocketgpu.lanes import F32, I32, Lang, Value
from pocketgpu.lanes.comparisons import compare, update_stencil
from pocketgpu.maxwell.formats.components import ABSENT, FLOAT32, UNORM, Channel, Quotient, Rounding, decode, encode
from pocketgpu.maxwell.formats.words import Number, Words
from pocketgpu.maxwell.graphics.output.keys import BOUNDS_FIRST, COMPARISONS, NO_BOUNDS, NO_TEST, KeyFields, indexed
from pocketgpu.maxwell.graphics.records import FRAGMENTS
from pocketgpu.maxwell.sass.thread_memory.work import LANES, VECTOR

_STENCIL_WORDS = 3  # of a face in OUTPUT.STENCIL
_DEPTHS = (ABSENT, UNORM, FLOAT32)


class DepthStencil:
    """Tests and updates of one block. `fragments`: offset of its record."""

    def __init__(self, k: Lang, settings: KeyFields, fragments: Value) -> None:
        self.k, self.settings, self.fragments = k, settings, fragments
        self.depth = Channel(settings("Z_TYPE"), 0, settings("Z_LOW"), settings("Z_WIDTH"))
        self.stencil_word, self.stencil_low = settings("S_WORD"), settings("S_LOW")
        self.function = settings("DEPTH_FUNCTION")
        self.testing, self.writing = self.function != NO_TEST, settings("DEPTH_WRITE") != 0
        self.bounds, self.stencil = settings("BOUNDS"), settings("STENCIL_TEST") != 0
        self.front = k.load(I32, fragments + FRAGMENTS.FRONT) != 0
        self.range = k.load(F32, fragments + FRAGMENTS.MIN_Z), k.load(F32, fragments + FRAGMENTS.MAX_Z)

    @property
    def needed(self) -> bool | Value:
        """Whether there is anything to do."""
        return self.testing | (self.bounds != NO_BOUNDS) | self.stencil

    @property
    def stores(self) -> bool | Value:
        """Whether any stored value can change."""
        return self.writing | self.stencil

    def incoming(self, sample: Number) -> Value:
        """Depth of a sample as it would be stored (i32 lanes)."""
        k = self.k
        depth = k.load(F32, indexed(k, self.fragments + FRAGMENTS.DEPTH, sample, VECTOR), LANES)
        depth = k.clamp(depth, *self.range)
        return encode(k, self.depth, depth, None, Rounding.EXACT, _DEPTHS)

    def _face(self, name: str) -> Number:
        """A number that each face has separately."""
        front, back = self.settings(f"FRONT_{name}"), self.settings(f"BACK_{name}")
        if isinstance(front, int) and isinstance(back, int):
            return front if front == back else self.k.select(self.front, self.k.i32(front), self.k.i32(back))
        return self.k.select(self.front, front, back)

    def _compared(self, incoming: Value, stored: Value) -> Value:
        k = self.k
        floats = lambda: compare(k, COMPARISONS, self.function, k.bits_f32(incoming), k.bits_f32(stored))
        steps = lambda: compare(k, COMPARISONS, self.function, incoming, stored)
        result: Value = k.branch(self.depth.type == FLOAT32, floats, steps)
        return result

    def _within(self, word: Value) -> Value:
        """Whether the stored depth in a word is between the bounds."""
        k = self.k
        depth = decode(k, self.depth, word, None, Quotient.NEAREST, types=_DEPTHS)
        low, high = (k.bits_f32(self.settings.word(f"BOUNDS_{end}")) for end in ("LOW", "HIGH"))
        return (depth >= low) & (depth <= high)

    def run(self, words: Words, cover: Value, sample: Number) -> tuple[Words, Value, Value]:
        """Test the samples of a ballot against stored words.

        :returns: the new words; ballots of the remaining samples, and of those whose words may have changed.
        """
        k = self.k
        everywhere = k.mask_of(cover)
        stored = self.depth.code(k, words[0])
        every = k.mask_of(k.i32(-1))
        within: Value = k.branch(self.bounds != NO_BOUNDS, lambda: self._within(words[0]), lambda: every)
        mask: Value = k.branch(self.bounds == BOUNDS_FIRST, lambda: everywhere & within, lambda: everywhere)
        incoming = self.incoming(sample)
        # A target without depth passes the test.
        test: Callable[[], Value] = lambda: self._compared(incoming, stored)
        near: Value = within & k.branch(self.testing & (self.depth.type != ABSENT), test, lambda: every)

        def with_stencil() -> tuple[Value, ...]:
            return self._stencil(words, mask, near)

        for name, value in (("cover", cover), ("within", within), ("incoming", incoming), ("stored", stored),
                            ("near", near)):  # fmt: skip
            k.probe(f"depth.{name}", value)
        left, *after = k.branch(self.stencil, with_stencil, lambda: (mask & near, *words))

        def write_depth() -> Value:
            kept = after[0] & ~(self.depth.mask(k) << self.depth.low)
            return k.select(left, kept | (incoming << self.depth.low), after[0])

        after[0] = k.branch(self.writing, write_depth, lambda: after[0])
        remains = k.ballot(left)
        k.probe("depth.left", remains)
        changed: Value = k.branch(self.stencil, lambda: k.ballot(mask), lambda: remains)
        return tuple(after), remains, changed

    def _stencil(self, words: Words, mask: Value, near: Value) -> tuple[Value, ...]:
        """(the remaining samples, the words with new stencil)."""
        k = self.k
        at = self.settings.record + self.settings.offsets["STENCIL"]
        at = at + k.to_i64(k.select(self.front, k.i32(0), k.i32(4 * _STENCIL_WORDS)))
        reference, compared, written = (k.load(I32, at + 4 * i) for i in range(_STENCIL_WORDS))
        number, low = self.stencil_word, self.stencil_low
        word = words[number] if isinstance(number, int) else k.select(number == 0, words[0], words[1])
        stored = word.lsr(low) & 0xFF
        passes = mask & compare(
            k, COMPARISONS, self._face("FUNCTION"), k.splat(reference & compared), stored & compared
        )
        both = passes & near
        update = partial(lambda name: update_stencil(k, self._face(name), stored, k.splat(reference)))
        fresh = k.select(both, update("PASS"), k.select(passes, update("DEPTH_FAIL"), update("FAIL")))
        fresh = (fresh & written) | (stored & ~written)
        fresh = k.select(mask, fresh, stored)
        for name, value in (("stored", stored), ("reference", reference), ("compared", compared), ("fresh", fresh),
                            ("passes", passes)):  # fmt: skip
            k.probe(f"stencil.{name}", value)
        changed = (word & ~(k.i32(0xFF) << low)) | (fresh << low)
        out = list(words)
        for i in range(len(out)) if isinstance(number, Value) else [number]:
            out[i] = k.select(number == i, changed, out[i]) if isinstance(number, Value) else changed
        return (both, *out)
