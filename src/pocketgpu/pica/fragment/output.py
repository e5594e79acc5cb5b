"""The end of the fragment pipeline: alpha, stencil and depth tests, blending, logic operations, write masks.

`state(...)` gives Python numbers in specialised code and run-time scalars in general code. All branches here use
`k.switch`, `k.branch` or `k.when`, which accept both. Flags are combined with & | ^ for the same reason.

Source: 3dbrew GPU/Internal Registers ("Framebuffer registers"); truncation of /255 as in the software models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from pocketgpu.facts.formats import DEPTH_FORMATS, FRAMEBUFFER_COLOR_FORMATS, PixelFormat
from pocketgpu.facts.pica_enums import (
    BLEND_EQUATION,
    BLEND_FACTOR,
    COLOR_FORMAT,
    COMPARE,
    DEPTH_FORMAT,
    LOGIC_OP,
    STENCIL_ACTION,
)
from pocketgpu.lanes import Lang, Value, comparisons
from pocketgpu.pica.core.colors import Color, constant_color, div255
from pocketgpu.pica.core.registers import Flag, LiveRegisters, Number, State
from pocketgpu.pica.memory.pixels import load_pixels, pack_channels, split, store_pixels, unpack

_D24S8 = DEPTH_FORMAT.D24S8
_DEPTH_MASK, _STENCIL_AT = 0xFFFFFF, 24  # in a word of D24S8
_COLOR_FORMATS = [FRAMEBUFFER_COLOR_FORMATS[code] for code in COLOR_FORMAT]


COMPARISONS = COMPARE.in_order(
    {
        "NEVER": "never", "ALWAYS": "always", "EQUAL": "equal", "NOT_EQUAL": "notequal", "LESS": "less",
        "LESS_OR_EQUAL": "lequal", "GREATER": "greater", "GREATER_OR_EQUAL": "gequal",
    }
)  # fmt: skip
LOGIC_OPERATIONS = LOGIC_OP.in_order(
    {
        "CLEAR": "clear", "AND": "and", "AND_REVERSE": "and reverse", "COPY": "copy", "SET": "set",
        "COPY_INVERTED": "copy inverted", "KEEP": "noop", "INVERT": "invert", "NAND": "nand", "OR": "or", "NOR": "nor",
        "XOR": "xor", "EQUIVALENT": "equiv", "AND_INVERTED": "and inverted", "OR_REVERSE": "or reverse",
        "OR_INVERTED": "or inverted",
    }
)  # fmt: skip
STENCIL_OPERATIONS = STENCIL_ACTION.in_order(
    {
        "KEEP": "keep", "ZERO": "zero", "REPLACE": "replace", "INCREMENT": "increment", "DECREMENT": "decrement",
        "INVERT": "invert", "INCREMENT_WRAP": "increment wrap", "DECREMENT_WRAP": "decrement wrap",
    }
)  # fmt: skip
assert tuple(STENCIL_OPERATIONS) == comparisons.STENCIL_OPERATIONS


def compare(k: Lang, function: Number, incoming: Value, stored: Value) -> Value:
    """A test with the incoming value on the left."""
    return comparisons.compare(k, COMPARISONS, function, incoming, stored)


class DepthStencilBuffer:
    """The depth and stencil buffer of one draw; `base` is its arena offset."""

    def __init__(self, k: Lang, state: State, live: LiveRegisters, base: Value, choices: Mapping[str, str]) -> None:
        self.k, self.state, self.base = k, state, base
        self.code = state("DEPTHBUFFER_FORMAT.format")
        exists = (self.code == DEPTH_FORMAT.D16) | (self.code == DEPTH_FORMAT.D24) | (self.code == _D24S8)
        self.stencil: Flag = (state("STENCIL_TEST.enable") != 0) & (self.code == _D24S8)
        self.testing: Flag = exists & (state("DEPTH_COLOR_MASK.depth_test") != 0)
        self.writing: Flag = (
            exists & (state("DEPTH_COLOR_MASK.depth_write") != 0) & (state("DEPTHBUFFER_WRITE.depth") != 0)
        )
        if choices.get("test.untested_depth_write") == "no":
            self.writing = self.writing & self.testing
        self.any_write = choices.get("test.stencil_write") != "stencil"
        self.stored_first = choices.get("test.stencil_operands") == "stored"
        self.short = choices.get("depth.bits") == "23"
        self.function = state("DEPTH_COLOR_MASK.depth_function")
        self.needed: Flag = self.stencil | self.writing | (self.testing & (self.function != COMPARE.ALWAYS))
        self.reads: Flag = state("DEPTHBUFFER_READ.depth") != 0
        self.reference = live("STENCIL_TEST.reference")
        self.input_mask, self.write_mask = live("STENCIL_TEST.input_mask"), live("STENCIL_TEST.write_mask")

    def _formats(self, what: Callable[[PixelFormat], Value | None], otherwise: Callable[[], Value | None]) -> Value:
        """Run `what` for the buffer's format, `otherwise` for an unknown format."""
        formats = [DEPTH_FORMATS.get(code) for code in range(4)]
        cases = [otherwise if format is None else partial(what, format) for format in formats]
        result: Value = self.k.switch(self.code, cases)
        return result

    def _place(self, format: PixelFormat, number: Value) -> Value:
        return self.k.to_i64(number * (format.bits // 8)) + self.base

    def load(self, number: Value) -> Value:
        """Words of consecutive texels from `number` on; zero if the draw needs no buffer."""
        k = self.k
        zero = lambda: k.splat(0)
        read: Callable[[], Value] = lambda: self._formats(
            lambda format: load_pixels(k, format, self._place(format, number)), zero
        )
        word: Value = k.branch(self.needed, read, zero)
        return word

    def store(self, number: Value, word: Value, mask: Value) -> None:
        """Store the texels of the mask."""
        k = self.k
        self._formats(lambda format: store_pixels(k, format, self._place(format, number), word, mask), lambda: None)

    def to_integer(self, depth: Value) -> Value:
        """Depth 0..1 in the buffer's integer format."""
        k = self.k
        top = self._formats(
            lambda format: k.f32((1 << (format.channel("d") or (0, 24))[1]) - 1), lambda: k.f32((1 << 24) - 1)
        )
        number = k.to_i32(k.clamp(depth, 0.0, 1.0) * top, 0.0, float((1 << 24) - 1))
        if not self.short:
            return number
        kept = lambda format: k.i32(-1 if format.bits == 16 else -2)
        return number & self._formats(kept, lambda: k.i32(-2))

    def _stored_depth(self, word: Value) -> Value:
        k = self.k
        low = k.branch(self.code == _D24S8, lambda: word & _DEPTH_MASK, lambda: word)
        stored: Value = k.branch(self.reads, lambda: low, lambda: word * 0)
        return stored

    def test_depth(self, mask: Value, incoming: Value, word: Value) -> Value:
        """The pixels of `mask` that pass the depth test."""
        k = self.k

        def test() -> Value:
            stored = self._stored_depth(word)
            passed: Value = mask & compare(k, self.function, incoming, stored)
            for _ in k.when(self.needed):  # otherwise both are zero, as nobody asks for them
                k.probe("depth.incoming", incoming)
                k.probe("depth.stored", stored)
            k.probe("depth.passed", passed)
            return passed

        passed: Value = k.branch(self.testing, test, lambda: mask)
        return passed

    def early(self, mask: Value, incoming: Value, word: Value) -> Value:
        """The depth test, if its result only affects the final writes (no stencil)."""
        passed: Value = self.k.branch(self.stencil, lambda: mask, lambda: self.test_depth(mask, incoming, word))
        return passed

    def finish(self, mask: Value, incoming: Value, word: Value, number: Value, opaque: Value | None = None) -> Value:
        """The stencil and depth tests that remain, then the writes; returns the surviving pixels.

        opaque: the pixels that pass an alpha test that comes after these two tests; None if it was done before.
        """
        k = self.k

        def plain() -> Value:
            for _ in k.when(self.writing):
                self.store(number, self._merged(incoming, word), left)
            return left

        left = mask if opaque is None else mask & opaque
        survivors: Value = k.branch(self.stencil, lambda: self._late(mask, incoming, word, number, opaque), plain)
        return survivors

    def _merged(self, incoming: Value, word: Value) -> Value:
        """A buffer word with new depth and old stencil."""
        merged: Value = self.k.branch(self.code == _D24S8, lambda: incoming | (word & ~_DEPTH_MASK), lambda: incoming)
        return merged

    def _late(self, mask: Value, incoming: Value, word: Value, number: Value, opaque: Value | None) -> Value:
        """Stencil then depth, for draws with stencil."""
        k, state = self.k, self.state
        stored = word.lsr(_STENCIL_AT)
        reference, tested = self.reference & self.input_mask, stored & self.input_mask
        sides = (tested, k.splat(reference)) if self.stored_first else (k.splat(reference), tested)
        passes = mask & compare(k, state("STENCIL_TEST.function"), *sides)
        for name, value in (("stored", stored), ("reference", reference), ("tested", tested), ("passed", passes)):
            k.probe(f"stencil.{name}", value)
        both = self.test_depth(passes, incoming, word)
        update = lambda field: comparisons.update_stencil(
            k, state(f"STENCIL_OP.{field}"), stored, k.splat(self.reference)
        )
        fresh = k.select(both, update("z_pass"), k.select(passes, update("z_fail"), update("fail")))
        fresh = (fresh & self.write_mask) | (stored & ~self.write_mask)
        written: Flag = state("DEPTHBUFFER_WRITE.stencil") != 0
        if self.any_write:
            written = written | (state("DEPTHBUFFER_WRITE.depth") != 0)
        stencil = k.select(written, fresh, stored)
        k.probe("stencil.after", stencil)
        old = word & _DEPTH_MASK
        depth = k.select(self.writing, k.select(both, incoming, old), old)
        if opaque is not None:  # pixels that fail stencil or depth update the buffer before the alpha test
            mask, both = mask & (opaque | ~both), both & opaque
        self.store(number, depth | (stencil << _STENCIL_AT), mask)
        return both


class ColorOutput:
    """Blending or logic operation and masks of one draw; `base` is the colour buffer's arena offset."""

    def __init__(self, k: Lang, state: State, live: LiveRegisters, base: Value, choices: Mapping[str, str]) -> None:
        self.k, self.state, self.base = k, state, base
        self.plain_extremes = choices.get("blend.min_max") == "plain"
        self.source_factor_15 = choices.get("blend.factor_15") == "source"
        self.code = state("COLORBUFFER_FORMAT.format")
        self.blending: Flag = state("COLOR_OPERATION.blend_enable") != 0
        self.constant = constant_color(k, live, "BLEND_COLOR")
        enabled = state("COLORBUFFER_WRITE.mask") != 0
        names = {"r": "red", "g": "green", "b": "blue", "a": "alpha"}
        self.written: dict[str, Flag] = {
            ch: enabled & (state(f"DEPTH_COLOR_MASK.{name}") != 0) for ch, name in names.items()
        }

    @property
    def writes(self) -> Flag:
        """Whether any channel is written."""
        w = self.written
        return w["r"] | w["g"] | w["b"] | w["a"]

    def _factor(self, code: Number, channels: str, s: Color, d: Color) -> tuple[Value, ...]:
        """The blend factor of each of the channels, 0-255."""
        k, c = self.k, self.constant
        each: Callable[[Callable[[str], Value]], Callable[[], tuple[Value, ...]]] = lambda f: (
            lambda: tuple(f(ch) for ch in channels)
        )
        full = k.splat(255)
        table = {
            "ZERO": each(lambda ch: k.splat(0)),
            "ONE": each(lambda ch: full),
            "SOURCE_COLOR": each(lambda ch: s[ch]),
            "ONE_MINUS_SOURCE_COLOR": each(lambda ch: 255 - s[ch]),
            "DESTINATION_COLOR": each(lambda ch: d[ch]),
            "ONE_MINUS_DESTINATION_COLOR": each(lambda ch: 255 - d[ch]),
            "SOURCE_ALPHA": each(lambda ch: s["a"]),
            "ONE_MINUS_SOURCE_ALPHA": each(lambda ch: 255 - s["a"]),
            "DESTINATION_ALPHA": each(lambda ch: d["a"]),
            "ONE_MINUS_DESTINATION_ALPHA": each(lambda ch: 255 - d["a"]),
            "CONSTANT_COLOR": each(lambda ch: c[ch]),
            "ONE_MINUS_CONSTANT_COLOR": each(lambda ch: 255 - c[ch]),
            "CONSTANT_ALPHA": each(lambda ch: c["a"]),
            "ONE_MINUS_CONSTANT_ALPHA": each(lambda ch: 255 - c["a"]),
            "SOURCE_ALPHA_SATURATED": each(lambda ch: full if ch == "a" else k.min(s["a"], 255 - d["a"])),
        }
        unknown = each(lambda ch: s[ch] if self.source_factor_15 else full)
        factors: tuple[Value, ...] = k.switch(code, [*BLEND_FACTOR.in_order(table), unknown])
        return factors

    def _equation(
        self, code: Number, pairs: list[tuple[Value, Value]], colors: list[tuple[Value, Value]]
    ) -> tuple[Value, ...]:
        """Combine products (source * factor, target * factor) of some channels, and divide by 255. colors: the source
        and target without factors."""
        k = self.k
        plain: Callable[[Callable[..., Value]], Callable[[], tuple[Value, ...]]] = lambda f: (
            lambda: tuple(f(s, d) for s, d in colors)
        )
        each: Callable[[Callable[[Value, Value], Value]], Callable[[], tuple[Value, ...]]] = lambda f: (
            lambda: tuple(f(a, b) for a, b in pairs)
        )
        add = each(lambda a, b: k.min(div255(a + b), 255))
        table = {
            "ADD": add,
            "SUBTRACT": each(lambda a, b: div255(k.max(a - b, 0))),
            "REVERSE_SUBTRACT": each(lambda a, b: div255(k.max(b - a, 0))),
            "MINIMUM": plain(k.min) if self.plain_extremes else each(lambda a, b: div255(k.min(a, b))),
            "MAXIMUM": plain(k.max) if self.plain_extremes else each(lambda a, b: div255(k.max(a, b))),
            "ADD_5": add,
            "ADD_6": add,
            "ADD_7": add,
        }
        # Codes after the last case use the last case.
        cases = BLEND_EQUATION.in_order(table)[: BLEND_EQUATION.ADD_5 + 1]
        result: tuple[Value, ...] = k.switch(code, cases)
        return result

    def _blend(self, s: Color, d: Color) -> tuple[Value, ...]:
        out: tuple[Value, ...] = ()
        for part, channels in (("rgb", "rgb"), ("alpha", "a")):
            source = self._factor(self.state(f"BLEND_FUNC.src_{part}"), channels, s, d)
            target = self._factor(self.state(f"BLEND_FUNC.dst_{part}"), channels, s, d)
            for ch, f, g in zip(channels, source, target, strict=True):
                self.k.probe(f"blend.source.{ch}", f)
                self.k.probe(f"blend.target.{ch}", g)
            pairs = [(s[ch] * f, d[ch] * g) for ch, f, g in zip(channels, source, target, strict=True)]
            colors = [(s[ch], d[ch]) for ch in channels]
            out += self._equation(self.state(f"BLEND_FUNC.equation_{part}"), pairs, colors)
        return out

    def _logic(self, s: Color, d: Color) -> tuple[Value, ...]:
        words = ([color[ch] for ch in "rgba"] for color in (s, d))
        combined = comparisons.logic(self.k, LOGIC_OPERATIONS, self.state("LOGIC_OP.op"), *words)
        return tuple(channel & 0xFF for channel in combined)

    def store(self, mask: Value, color: Color, number: Value) -> None:
        """Blend into consecutive texels of the colour buffer from `number` on."""
        k = self.k
        place = lambda format: k.to_i64(number * (format.bits // 8)) + self.base
        for _ in k.when(self.writes):
            read: Callable[[PixelFormat], Value] = lambda f: unpack(k, load_pixels(k, f, place(f)), f)
            d = split(k.switch(self.code, [partial(read, f) for f in _COLOR_FORMATS]))
            result = k.branch(self.blending, lambda: self._blend(color, d), lambda: self._logic(color, d))
            final = {}
            for ch, value in zip("rgba", result, strict=True):
                k.probe(f"target.{ch}", d[ch])
                k.probe(f"color.{ch}", value)
                final[ch] = k.select(self.written[ch], value, d[ch])
                k.probe(f"written.{ch}", final[ch])

            def write(format: PixelFormat) -> None:
                store_pixels(k, format, place(format), pack_channels(final, format), mask)

            k.switch(self.code, [partial(write, f) for f in _COLOR_FORMATS])


__all__ = ["ColorOutput", "DepthStencilBuffer", "compare"]
