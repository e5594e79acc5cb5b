"""The end of the fragment pipeline: alpha, stencil and depth tests, blending, logic operations, write masks.

Source: 3dbrew GPU/Internal Registers ("Framebuffer registers"); truncation of /255 as the software models have it.
"""

from __future__ import annotations

from collections.abc import Callable

from ..facts.formats import DEPTH_FORMATS, FRAMEBUFFER_COLOR_FORMATS, PixelFormat
from ..lanes import Lang, Value
from .combiners import Color, constant_color, div255
from .pixels import load_pixels, pack_channels, split, store_pixels, unpack
from .registers import LiveRegisters, StaticRegisters

STENCIL_KEEP = 0


def compare(k: Lang, function: int, incoming: Value, stored: Value) -> Value | None:
    """A test with the incoming value on the left; None if it always passes."""
    table: list[Callable[[], Value]] = [
        lambda: incoming != incoming,
        lambda: incoming == incoming,
        lambda: incoming == stored,
        lambda: incoming != stored,
        lambda: incoming < stored,
        lambda: incoming <= stored,
        lambda: incoming > stored,
        lambda: incoming >= stored,
    ]
    return None if function == 1 else table[function]()


def stencil_update(k: Lang, op: int, stored: Value, reference: Value) -> Value:
    """A stencil operation on 8-bit values."""
    table: list[Callable[[], Value]] = [
        lambda: stored,
        lambda: stored * 0,
        lambda: stored * 0 + reference,
        lambda: k.min(stored + 1, 255),
        lambda: k.max(stored - 1, 0),
        lambda: stored ^ 0xFF,
        lambda: (stored + 1) & 0xFF,
        lambda: (stored - 1) & 0xFF,
    ]
    return table[op]()


class DepthStencil:
    """The depth buffer of one draw."""

    def __init__(self, k: Lang, state: StaticRegisters, live: LiveRegisters) -> None:
        self.k, self.state = k, state
        self.format: PixelFormat | None = DEPTH_FORMATS.get(state("DEPTHBUFFER_FORMAT.format"))
        self.bits = 0
        if self.format is not None:
            channel = self.format.channel("d")
            assert channel is not None
            self.bits = channel[1]
        self.stencil = bool(state("STENCIL_TEST.enable")) and self.format is DEPTH_FORMATS[3]
        self.testing = bool(state("DEPTH_COLOR_MASK.depth_test"))
        self.writing = bool(state("DEPTH_COLOR_MASK.depth_write")) and bool(state("DEPTHBUFFER_WRITE.depth"))
        self.reads = bool(state("DEPTHBUFFER_READ.depth"))
        self.function = state("DEPTH_COLOR_MASK.depth_function")
        self.needed = self.format is not None and (
            self.stencil or self.writing or (self.testing and self.function != 1)
        )
        self.reference = live("STENCIL_TEST.reference")
        self.input_mask, self.write_mask = live("STENCIL_TEST.input_mask"), live("STENCIL_TEST.write_mask")

    def to_integer(self, depth: Value) -> Value:
        """Depth 0..1 as the buffer stores it."""
        top = float((1 << self.bits) - 1)
        return self.k.to_i32(depth * top, 0.0, top)

    def test_depth(self, incoming: Value, word: Value) -> Value | None:
        """Where the depth test passes; None everywhere."""
        if not self.testing or self.format is None:
            return None
        stored = word.bits(0, self.bits) if self.reads else word * 0
        return compare(self.k, self.function, incoming, stored)

    def late(self, mask: Value, incoming: Value, word: Value) -> tuple[Value, Value]:
        """Stencil then depth, for draws with stencil: (mask of survivors, new buffer word for all of `mask`)."""
        k, state = self.k, self.state
        stored = word.lsr(24)
        reference, tested = self.reference & self.input_mask, stored & self.input_mask
        passes = compare(k, state("STENCIL_TEST.function"), k.splat(reference), tested)
        passes = mask if passes is None else mask & passes
        deep = self.test_depth(incoming, word)
        both = passes if deep is None else passes & deep
        update = lambda field: stencil_update(k, state(f"STENCIL_OP.{field}"), stored, self.reference)
        fresh = k.select(both, update("z_pass"), k.select(passes, update("z_fail"), update("fail")))
        if state("DEPTHBUFFER_WRITE.stencil"):
            stored = (fresh & self.write_mask) | (stored & ~self.write_mask)
        low = word & 0xFFFFFF
        if self.writing:
            low = k.select(both, incoming, low)
        return both, low | (stored << 24)

    def merged(self, incoming: Value, word: Value) -> Value:
        """A buffer word with new depth and old stencil."""
        return incoming | (word & ~0xFFFFFF) if self.format is DEPTH_FORMATS[3] else incoming


class ColorOutput:
    """Blending or logic operation and masks of one draw."""

    def __init__(self, k: Lang, state: StaticRegisters, live: LiveRegisters) -> None:
        self.k, self.state = k, state
        self.format = FRAMEBUFFER_COLOR_FORMATS[state("COLORBUFFER_FORMAT.format")]
        self.blending = bool(state("COLOR_OPERATION.blend_enable"))
        self.constant = constant_color(k, live, "BLEND_COLOR")
        enabled = bool(state("COLORBUFFER_WRITE.mask"))
        names = {"r": "red", "g": "green", "b": "blue", "a": "alpha"}
        self.written = {ch: enabled and bool(state(f"DEPTH_COLOR_MASK.{name}")) for ch, name in names.items()}

    @property
    def writes(self) -> bool:
        return any(self.written.values())

    def _factor(self, code: int, channel: str, s: Color, d: Color) -> Value | int:
        k, c = self.k, self.constant
        alpha = channel == "a"
        table: list[Callable[[], Value | int]] = [
            lambda: 0,
            lambda: 255,
            lambda: s[channel],
            lambda: 255 - s[channel],
            lambda: d[channel],
            lambda: 255 - d[channel],
            lambda: s["a"],
            lambda: 255 - s["a"],
            lambda: d["a"],
            lambda: 255 - d["a"],
            lambda: c[channel],
            lambda: 255 - c[channel],
            lambda: c["a"],
            lambda: 255 - c["a"],
            lambda: 255 if alpha else k.min(s["a"], 255 - d["a"]),
            lambda: 255,
        ]
        return table[code]()

    def _equation(self, code: int, a: Value, b: Value) -> Value:
        """Of the two products with their factors, not yet divided by 255."""
        k = self.k
        table: dict[int, Callable[[], Value]] = {
            1: lambda: div255(k.max(a - b, 0)),
            2: lambda: div255(k.max(b - a, 0)),
            3: lambda: div255(k.min(a, b)),
            4: lambda: div255(k.max(a, b)),
        }
        return table[code]() if code in table else k.min(div255(a + b), 255)

    def _blend(self, s: Color, d: Color) -> Color:
        out: Color = {}
        for ch in "rgba":
            part = "alpha" if ch == "a" else "rgb"
            source = s[ch] * self._factor(self.state(f"BLEND_FUNC.src_{part}"), ch, s, d)
            target = d[ch] * self._factor(self.state(f"BLEND_FUNC.dst_{part}"), ch, s, d)
            out[ch] = self._equation(self.state(f"BLEND_FUNC.equation_{part}"), source, target)
        return out

    def _logic(self, s: Color, d: Color) -> Color:
        ones = 0xFF
        table: list[Callable[[Value, Value], Value]] = [
            lambda s, d: s * 0,
            lambda s, d: s & d,
            lambda s, d: s & (d ^ ones),
            lambda s, d: s,
            lambda s, d: s * 0 + ones,
            lambda s, d: s ^ ones,
            lambda s, d: d,
            lambda s, d: d ^ ones,
            lambda s, d: (s & d) ^ ones,
            lambda s, d: s | d,
            lambda s, d: (s | d) ^ ones,
            lambda s, d: s ^ d,
            lambda s, d: s ^ d ^ ones,
            lambda s, d: (s ^ ones) & d,
            lambda s, d: s | (d ^ ones),
            lambda s, d: (s ^ ones) | d,
        ]
        op = table[self.state("LOGIC_OP.op")]
        return {ch: op(s[ch], d[ch]) for ch in "rgba"}

    def store(self, mask: Value, color: Color, offset: Value) -> None:
        """Blend into the colour buffer at an i64 byte offset of consecutive pixels."""
        if not self.writes:
            return
        k = self.k
        old = load_pixels(k, self.format, offset)
        d = split(unpack(k, old, self.format))
        result = self._blend(color, d) if self.blending else self._logic(color, d)
        for ch in "rgba":
            k.probe(f"color.{ch}", result[ch])
        final = {ch: result[ch] if self.written[ch] else d[ch] for ch in "rgba"}
        store_pixels(k, self.format, offset, pack_channels(final, self.format), mask)
