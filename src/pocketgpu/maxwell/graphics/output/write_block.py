"""The end of the pixel pipeline for one block of 8 x 4 pixels: the tests, and the writes into colour targets.

Both kernels (`OutputState.codes`) are called by handle, with the arena offsets (i32) of the draw's OUTPUT record
(output/records.py) and of the thread's FRAGMENTS record (graphics/records.py).

The caller follows the order of `OutputState.early`:

* late: pixel program, test, write.
* early: test, pixel program, write. Samples that the program kills are then left out of the write.

Blocks begin at multiples of 8 x 4 pixels. Of FRAGMENTS, `test` reads X, Y, LAYER, FRONT, COVER, DEPTH, MIN_Z and MAX_Z,
and updates COVERED, COVER and PASSED; a block whose COVERED becomes 0 is done. `write` may remove samples from COVER
and COVERED as well. KILLED, SAMPLE_MASK and OUTPUTS are only read after the program. KILLED pixels are never written,
even if the program's header says that it kills nothing: programs that hang have no colour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pocketgpu.lanes import F32, I32, Lang, Value, kernel
from pocketgpu.maxwell.formats.channels import Channels, ChannelsAtRunTime, Colour
from pocketgpu.maxwell.formats.components import SINT, Channel, Quotient
from pocketgpu.maxwell.formats.words import Number, Words
from pocketgpu.maxwell.graphics.output.blend import Blender, combine
from pocketgpu.maxwell.graphics.output.depth_stencil import DepthStencil
from pocketgpu.maxwell.graphics.output.discard import discard, register
from pocketgpu.maxwell.graphics.output.keys import (
    BLEND,
    LOGIC,
    PLAIN,
    ColorKey,
    KeyFields,
    TestKey,
    WriteKey,
    each,
    indexed,
)
from pocketgpu.maxwell.graphics.output.pixel_access import TableBlock, WideBlock
from pocketgpu.maxwell.graphics.output.records import COLOR, OUTPUT
from pocketgpu.maxwell.graphics.records import FRAGMENTS
from pocketgpu.maxwell.sass.thread_memory.work import LANES

_ALL = -1
"""The ballot of a whole block."""


@kernel(LANES, output=I32, fragments=I32)
def test(k: Lang, output: Value, fragments: Value, *, key: TestKey | None) -> None:
    """Depth bounds, stencil and depth tests of a block: removes samples that fail, and updates depth and stencil.

    If the tests come after the program, also removes what it killed, and applies its sample mask, the alpha test and
    alpha to coverage.

    :param key: the static values of the draw, None for general code.
    """
    output, fragments = k.to_i64(output), k.to_i64(fragments)
    settings = KeyFields(k, output, OUTPUT.offsets, key)
    samples = settings("SAMPLES")
    for _ in k.when(settings("DISCARD_IN_TEST") != 0):
        discard(k, settings, fragments)
    tests = DepthStencil(k, settings, fragments)
    for _ in k.when(tests.needed):
        grid = settings("GRID_X"), settings("GRID_Y")
        if key is not None and key.wide:
            _test_wide(k, WideBlock(k, output + OUTPUT.ZETA, fragments, key.bytes, (key.grid_x, key.grid_y)), tests)
        else:
            bytes = key.bytes if key is not None else settings.word("ZETA_BYTES")
            linear = None if key is None else False
            _test_each(k, TableBlock(k, output + OUTPUT.ZETA, fragments, bytes, grid, linear), tests, samples)
    covered, count = k.var(0), k.var(0)
    for sample in each(k, samples):
        cover = _cover(k, fragments, sample)
        covered.value = covered.value | cover
        count.value = count.value + k.popcount(cover)
    k.store(I32, fragments + FRAGMENTS.COVERED, covered.value)
    low, high = (fragments + FRAGMENTS.PASSED + at for at in (0, 4))
    passed = k.load(I32, low) + count.value
    k.store(I32, low, passed)
    k.store(I32, high, k.load(I32, high) + k.select(passed.below(count.value), 1, 0))


def _cover(k: Lang, fragments: Value, sample: Number) -> Value:
    return k.load(I32, indexed(k, fragments + FRAGMENTS.COVER, sample, 4))


def _test_wide(k: Lang, block: WideBlock, tests: DepthStencil) -> None:
    """Test all samples of a block at once."""
    fragments, count = tests.fragments, 1 << sum(block.grid)
    block.expect_next()
    pixels = block.pixels()
    covers = [_cover(k, fragments, sample) & pixels for sample in range(count)]
    some = covers[0]
    for cover in covers[1:]:
        some = some | cover

    def run() -> tuple[Value, ...]:
        places = block.places()
        results = [
            tests.run(words, cover, sample)
            for sample, (words, cover) in enumerate(zip(block.load(places), covers, strict=True))
        ]
        changed = results[0][2]
        for result in results[1:]:
            changed = changed | result[2]
        for _ in k.when(tests.stores):
            for _ in k.when(changed != 0):
                block.store(places, [words for words, _, _ in results])
        return tuple(left for _, left, _ in results)

    for sample, left in enumerate(k.branch(some != 0, run, lambda: tuple(covers))):
        k.store(I32, fragments + FRAGMENTS.COVER + 4 * sample, left)


def _test_each(k: Lang, block: TableBlock, tests: DepthStencil, samples: Number) -> None:
    """Test the samples of a block one after the other."""
    fragments, pixels, lanes = tests.fragments, block.pixels(), block.lanes()
    for sample in k.range(0, samples):
        at = indexed(k, fragments + FRAGMENTS.COVER, sample, 4)
        cover = k.load(I32, at) & pixels
        k.store(I32, at, cover)
        for _ in k.when(cover != 0):
            words = block.load(lanes, sample, k.mask_of(cover))
            after, left, changed = tests.run(words, cover, sample)
            for _ in k.when(tests.stores):
                for _ in k.when(changed != 0):
                    block.store(lanes, sample, after, k.mask_of(changed))
            k.store(I32, at, left)


@kernel(LANES, output=I32, fragments=I32)
def write(k: Lang, output: Value, fragments: Value, *, key: WriteKey | None) -> None:
    """Blend the colours of a block into their targets, where FRAGMENTS.COVER has samples left.

    :param key: the static values of the draw, None for general code.
    """
    output, fragments = k.to_i64(output), k.to_i64(fragments)
    settings = KeyFields(k, output, OUTPUT.offsets, key)
    if key is None:
        k.hurry()  # two thirds of the time to make it, and as fast
    for _ in k.when(settings("DISCARD_IN_WRITE") != 0):
        discard(k, settings, fragments)
    for _ in k.when(k.load(I32, fragments + FRAGMENTS.COVERED) != 0):
        if key is not None:
            for n, color in enumerate(key.colors):
                record = output + (OUTPUT.COLOR + n * COLOR.size)
                _TargetColour(k, settings, fragments, KeyFields(k, record, COLOR.offsets, color), color).write()
        else:
            for i in k.range(0, settings.word("COLORS")):
                record = output + k.to_i64(i * COLOR.size + OUTPUT.COLOR)
                _TargetColour(k, settings, fragments, KeyFields(k, record, COLOR.offsets, None), None).write()


class _TargetColour:
    """One colour of the program, written into its target."""

    def __init__(self, k: Lang, draw: KeyFields, fragments: Value, own: KeyFields, key: ColorKey | None) -> None:
        self.k, self.draw, self.fragments, self.own, self.key = k, draw, fragments, own, key
        self.srgb = k.to_i64(draw.word("SRGB"))
        self.alive = ~k.load(I32, fragments + FRAGMENTS.KILLED)
        self.mode = own("MODE")
        self.bits: Sequence[Number]
        self.channels: Channels | ChannelsAtRunTime
        if key is not None:
            self.channels, self.bits = key.channels, key.bits
        else:
            self.channels = ChannelsAtRunTime(own.word("BYTES"), self._channel, own.word("FIXED"), own.word("NUMBERS"))
            self.bits = tuple(k.load(I32, own.record + (COLOR.offsets["BITS"] + 4 * i)) for i in range(4))

    def _channel(self, i: Value) -> Channel:
        """A channel of the target, read at run time."""
        at = self.own.record + self.k.to_i64(i << 2)
        return Channel(*(self.k.load(I32, at + COLOR.offsets[name]) for name in ("TYPES", "WORDS", "LOWS", "WIDTHS")))

    def write(self) -> None:
        """Store the colour in the samples of FRAGMENTS.COVER."""
        k, key = self.k, self.key
        grid = self.draw("GRID_X"), self.draw("GRID_Y")
        if key is not None and key.wide:
            assert isinstance(key.channels.bytes, int) and isinstance(grid[0], int) and isinstance(grid[1], int)
            self._write_wide(WideBlock(k, self.own.record, self.fragments, key.channels.bytes, (grid[0], grid[1])))
        else:
            linear = None if key is None else key.linear
            self._write_each(TableBlock(k, self.own.record, self.fragments, self.channels.bytes, grid, linear))

    def source(self) -> Colour:
        """The program's output, saturated; or with coverage in place of red."""
        k = self.k
        colour = self._registers(self.own("SOURCE"), self.own("WRITTEN"))
        unit: Callable[[], tuple[Value, ...]] = lambda: tuple(k.clamp(v, 0.0, 1.0) for v in colour)
        signed: Callable[[], tuple[Value, ...]] = lambda: tuple(k.clamp(v, -1.0, 1.0) for v in colour)
        out = list(k.switch(self.own("SATURATE"), [lambda: tuple(colour), unit, signed]))
        one: Value = k.branch(self.draw("TO_ONE") != 0, lambda: k.splat(k.f32(1.0)), lambda: out[3])
        red: Value = k.branch(self.own("COVERAGE") != 0, self._coverage, lambda: out[0])
        for name, value in zip("rgba", (red, *out[1:3], one), strict=True):
            k.probe(f"write.{name}", value)
        return [red, *out[1:3], one]

    def _coverage(self) -> Value:
        """The remaining samples of each pixel as a mask, with as many bits as the first channel has (an integer's bits
        as f32)."""
        k, mask = self.k, self.k.var(self.k.splat(0))
        for sample in each(k, self.draw("SAMPLES")):
            bit = k.i32(1) << sample
            mask.value = mask.value | k.select(k.mask_of(self._cover(sample)), bit, 0)
        channel = self.key.channels.channels[0] if self.key is not None else self._channel(k.i32(0))
        free = 32 - channel.width
        moved = mask.value << free
        found: Value = k.branch(channel.type == SINT, lambda: moved >> free, lambda: moved.lsr(free))
        return k.bits_f32(found)

    def _registers(self, first: Number, written: Number) -> Colour:
        k, zero = self.k, self.k.splat(self.k.f32(0.0))
        return [
            k.branch(
                (written >> i & 1) != 0, partial(register, k, self.fragments, first + i), lambda: zero
            )
            for i in range(4)
        ]  # fmt: skip

    def _words(self, source: Colour, plain: Words, old: Words) -> Words:
        """The words to store in the samples of one number, combined with the old ones. plain: of the colour as it is;
        general code makes them here."""
        k, draw = self.k, self.draw

        def blend() -> Colour:
            constant = [k.load(F32, draw.record + (OUTPUT.CONSTANT + 4 * i)) for i in range(4)]
            blender = Blender(k, self.own, self.channels.clamp(k, constant), draw("ZERO_WINS"))
            second = self._registers(draw("SECOND_SOURCE"), draw("SECOND_WRITTEN"))
            first, second = self.channels.clamp(k, source), self.channels.clamp(k, second)
            target = self.channels.unpack(k, old, self.srgb, Quotient.RECIPROCAL)
            result = blender.blend(first, second, target)
            for name, colour in (("first", first), ("second", second), ("target", target), ("result", result)):
                for channel, value in zip("rgba", colour, strict=True):
                    k.probe(f"blend.{name}.{channel}", value)
            return result

        fresh: Words
        if self.key is None:  # packing is long code, so that there is one for both ways
            colour: Colour = list(k.branch(self.mode == BLEND, lambda: tuple(blend()), lambda: tuple(source)))
            packed = self.channels.pack(k, colour, self.srgb)
            fresh = k.branch(self.mode == LOGIC, lambda: combine(k, draw("LOGIC"), packed, old), lambda: packed)
        else:
            blended = lambda: self.channels.pack(k, blend(), self.srgb)
            combined = lambda: combine(k, draw("LOGIC"), plain, old)
            fresh = k.switch(self.mode, [lambda: plain, blended, combined])
        return tuple((new & bits) | (before & ~bits) for new, before, bits in zip(fresh, old, self.bits, strict=False))

    @property
    def _blind(self) -> bool:
        """Whether the old contents of the target have no effect, as far as is known while tracing."""
        if self.key is None or self.key.mode != PLAIN:
            return False
        bits = sum(word << 32 * i for i, word in enumerate(self.key.bits))
        assert isinstance(self.channels.bytes, int)
        return bits == (1 << 8 * self.channels.bytes) - 1

    def _cover(self, sample: Number) -> Value:
        """Ballot of the pixels whose sample is written."""
        k, left_out = self.k, self.draw("LEFT_OUT")
        cover = _cover(k, self.fragments, sample) & self.alive
        k.probe("write.cover", cover)
        if isinstance(left_out, int) and not left_out:
            return cover
        out = (left_out if isinstance(left_out, Value) else k.i32(left_out)).lsr(sample) & 1
        return k.select(out == 0, cover, 0)

    def _write_wide(self, block: WideBlock) -> None:
        """Write all samples of a block at once."""
        k, count = self.k, 1 << sum(block.grid)
        block.expect_next()
        pixels = block.pixels()
        covers = [self._cover(sample) & pixels for sample in range(count)]
        some = every = covers[0]
        for cover in covers[1:]:
            some, every = some | cover, every & cover
        for _ in k.when(some != 0):
            source = self.source()
            plain = self.channels.pack(k, source, self.srgb) if self.mode != BLEND else ()
            places = block.places()

            def merged() -> tuple[Value, ...]:
                out: list[Value] = []
                for cover, old in zip(covers, block.load(places), strict=True):
                    mask = k.mask_of(cover)
                    new = plain if self._blind else self._words(source, plain, old)
                    out += [k.select(mask, a, b) for a, b in zip(new, old, strict=True)]
                return tuple(out)

            # A whole block is not loaded if nothing depends on its contents.
            whole: bool | Value = every == _ALL if self._blind else False
            words = k.branch(whole, lambda: tuple(plain) * count, merged)
            size = self.channels.words
            block.store(places, [words[i * size : i * size + size] for i in range(count)])

    def _write_each(self, block: TableBlock) -> None:
        """Write the samples of a block one after the other."""
        k = self.k
        pixels, lanes = block.pixels(), block.lanes()
        source = self.source()
        plain = () if self.key is None else self.channels.pack(k, source, self.srgb)
        for sample in k.range(0, self.draw("SAMPLES")):
            cover = self._cover(sample) & pixels
            for _ in k.when(cover != 0):
                mask = k.mask_of(cover)
                if self._blind:
                    block.store(lanes, sample, plain, mask)
                else:
                    old = block.load(lanes, sample, mask)
                    block.store(lanes, sample, self._words(source, plain, old), mask)
