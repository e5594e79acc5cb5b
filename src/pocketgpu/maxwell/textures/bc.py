"""BC1 to BC5 (DXT1, DXT23, DXT45, DXN1, DXN2): 4x4 texels, two endpoints and an index for each texel.

BC1 has two colours of 16 bits and an index of 2 bits that selects one of them or an interpolation; BC2 has 4 bits of
alpha a texel before that. BC3 has two alphas of 8 bits and an index of 3 bits instead; BC4 is such a block alone, BC5
two of them.

Interpolations are exact fractions, rounded to float32 once. How many bits the chip keeps is not published. Endpoints of
a signed block are compared as they are stored; the specification does not define -127 and -128, which have the same
value.

Source: Khronos Data Format Specification, S3TC and RGTC; EXT_texture_compression_s3tc; Direct3D 11 functional
specification, section 19.5.
"""

from __future__ import annotations

from pocketgpu.lanes import Lang, Value
from pocketgpu.maxwell.textures.block_bits import Words, field
from pocketgpu.maxwell.textures.sink import Row, TexelSink


def decode_bc1(k: Lang, words: Words, sink: TexelSink) -> None:
    """Colours; index 3 is transparent black unless the first colour is the larger one."""
    _emit(sink, _colours(k, words, may_be_clear=True))


def decode_bc2(k: Lang, words: Words, sink: TexelSink) -> None:
    """Colours after 4 bits of alpha for each texel."""
    alphas = [k.to_f32(field(words, 4 * i, 4)) / 15.0 for i in range(16)]
    _emit(sink, [(r, g, b, a) for (r, g, b, _), a in zip(_colours(k, words[2:], False), alphas, strict=True)])


def decode_bc3(k: Lang, words: Words, sink: TexelSink) -> None:
    """Colours after a ramp of alphas."""
    alphas = _ramp(k, words, signed=False)
    _emit(sink, [(r, g, b, a) for (r, g, b, _), a in zip(_colours(k, words[2:], False), alphas, strict=True)])


def decode_bc4(k: Lang, words: Words, sink: TexelSink, signed: bool) -> None:
    """A ramp of reds."""
    _emit(sink, [(red, 0.0, 0.0, 1.0) for red in _ramp(k, words, signed)])


def decode_bc5(k: Lang, words: Words, sink: TexelSink, signed: tuple[bool, bool]) -> None:
    """Ramps of reds and of greens."""
    reds, greens = _ramp(k, words, signed[0]), _ramp(k, words[2:], signed[1])
    _emit(sink, [(red, green, 0.0, 1.0) for red, green in zip(reds, greens, strict=True)])


def _emit(sink: TexelSink, texels: list[Row]) -> None:
    for i, texel in enumerate(texels):
        sink.floats(i & 3, i >> 2, texel)


def _choose(k: Lang, index: Value, values: list[Value]) -> Value:
    """values[index] of two, four or eight."""
    bit = 0
    while len(values) > 1:
        chosen = (index & (1 << bit)) != 0
        values = [k.select(chosen, b, a) for a, b in zip(values[::2], values[1::2], strict=True)]
        bit += 1
    return values[0]


def _colours(k: Lang, words: Words, may_be_clear: bool) -> list[Row]:
    ends = words[0] & 0xFFFF, words[0].lsr(16)
    three = ends[0] <= ends[1]
    channels: list[list[Value]] = []
    for lo, width in ((11, 5), (5, 6), (0, 5)):
        top = (1 << width) - 1
        a, b = ((end >> lo) & top for end in ends)
        part = lambda numbers, of: k.to_f32(numbers) / float(of)  # one rounding: all numbers are exact
        palette = [part(a, top), part(b, top), part(2 * a + b, 3 * top), part(a + 2 * b, 3 * top)]
        if may_be_clear:
            palette[2] = k.select(three, part(a + b, 2 * top), palette[2])
            palette[3] = k.select(three, 0.0, palette[3])
        channels.append(palette)
    texels: list[Row] = []
    for i in range(16):
        index = words[1].bits(2 * i, 2)
        alpha = k.select(three & (index == 3), k.splat(0.0, type=channels[0][0].type), 1.0) if may_be_clear else 1.0
        red, green, blue = (_choose(k, index, palette) for palette in channels)
        texels.append((red, green, blue, alpha))
    return texels


def _ramp(k: Lang, words: Words, signed: bool) -> list[Value]:
    """The 16 values of a block with two endpoints of 8 bits and indices of 3."""
    a, b = words[0].bits(0, 8, signed), words[0].bits(8, 8, signed)
    wide = a > b
    top = 127 if signed else 255
    if signed:
        a, b = k.max(a, -127), k.max(b, -127)
    part = lambda numbers, of: k.to_f32(numbers) / float(of * top)
    ramp = [part(a, 1), part(b, 1)]
    for step in range(1, 7):
        seventh = part((7 - step) * a + step * b, 7)
        if step < 5:
            ramp.append(k.select(wide, seventh, part((5 - step) * a + step * b, 5)))
        else:
            ramp.append(k.select(wide, seventh, 1.0 if step == 6 else -1.0 if signed else 0.0))
    return [_choose(k, field(words, 16 + 3 * i, 3), ramp) for i in range(16)]
