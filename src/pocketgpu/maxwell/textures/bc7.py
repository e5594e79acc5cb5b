"""BC7: 4x4 texels of RGBA with 8 bits, in eight modes.

All modes have the same fields in the same order, with different widths; so blocks of all modes are decoded together,
each lane with its own positions. A block whose first byte is 0 gives transparent black.

Source: Khronos Data Format Specification, BPTC Compressed Texture Image Formats; Direct3D 11, BC7 format modes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from pocketgpu.lanes import Lang, Value
from pocketgpu.maxwell.textures.block_bits import Words, lookup, low_bits, read
from pocketgpu.maxwell.textures.bptc import IndexWeights, Indices, halves, thirds
from pocketgpu.maxwell.textures.sink import TexelSink


class Mode(NamedTuple):
    """The number of a mode's subsets, and the widths of its fields."""

    parts: int
    partition: int
    rotation: int
    selection: int
    colour: int
    alpha: int
    end_bits: int
    shared_bits: int
    index_bits: int
    second_bits: int


MODES: Final = (
    Mode(3, 4, 0, 0, 4, 0, 1, 0, 3, 0),
    Mode(2, 6, 0, 0, 6, 0, 0, 1, 3, 0),
    Mode(3, 6, 0, 0, 5, 0, 0, 0, 2, 0),
    Mode(2, 6, 0, 0, 7, 0, 1, 0, 2, 0),
    Mode(1, 0, 2, 1, 5, 6, 0, 0, 2, 3),
    Mode(1, 0, 2, 0, 7, 8, 0, 0, 2, 2),
    Mode(1, 0, 0, 0, 7, 7, 1, 0, 4, 0),
    Mode(2, 6, 0, 0, 5, 5, 1, 0, 2, 0),
)
_EVEN = 0x00FF00FF  # two 8-bit channels in a word


def _starts(mode: int) -> dict[str, int]:
    """Positions of the fields of a mode."""
    m, at = MODES[mode], {}
    at["partition"] = mode + 1
    at["rotation"] = at["partition"] + m.partition
    at["selection"] = at["rotation"] + m.rotation
    at["colour"] = at["selection"] + m.selection
    at["alpha"] = at["colour"] + 6 * m.parts * m.colour
    at["bits"] = at["alpha"] + 2 * m.parts * m.alpha
    at["index"] = at["bits"] + m.parts * (2 * m.end_bits + m.shared_bits)
    at["second"] = at["index"] + 16 * m.index_bits - m.parts
    return at


_AT = {name: [_starts(mode)[name] for mode in range(8)] for name in _starts(0)}


def decode(k: Lang, words: Words, sink: TexelSink) -> None:
    """Texels as unorm8 words."""
    mode = k.trailing_zeros(words[0] | 0x100)
    reserved = mode == 8
    of = lambda name: lookup(k, mode, [getattr(m, name) for m in MODES], 4)
    at = lambda name: lookup(k, mode, _AT[name], 8)

    number = read(k, words, at("partition")) & low_bits(k, of("partition"))
    parts = of("parts")
    shape2, short2 = halves(k, number)
    shape3, short3 = thirds(k, number)
    shape = k.select(parts == 1, 0, k.select(parts == 2, shape2, shape3))
    short = k.select(parts == 1, 1, k.select(parts == 2, short2, short3))

    colours, alphas = _ends(k, words, mode, of, at)
    rotation = read(k, words, at("rotation")) & low_bits(k, of("rotation"))
    swapped = (read(k, words, at("selection")) & of("selection")) == 1
    separate = of("second_bits") != 0
    rotated, place = rotation != 0, (rotation - 1) << 3

    first = Indices(k, words, at("index"), of("index_bits"), short)
    second = Indices(k, words, at("second"), of("second_bits"), k.splat(1))
    weigh, weigh_second = IndexWeights(k, of("index_bits")), IndexWeights(k, of("second_bits"))
    for y in range(4):
        row = []
        for x in range(4):
            part = shape.lsr(8 * y + 2 * x) & 3
            one, two = part == 1, part == 2
            pick = lambda values: k.select(two, values[2], k.select(one, values[1], values[0]))
            weight, other = weigh.of(first.take()), weigh_second.of(second.take())
            of_colour = k.select(swapped, other, weight)
            of_alpha = k.select(separate, k.select(swapped, weight, other), weight)
            red_blue, green = (
                (pick([start[c] for start, _ in colours]) + pick([by[c] for _, by in colours]) * of_colour).lsr(6)
                for c in range(2)
            )
            alpha = (pick([start for start, _ in alphas]) + pick([by for _, by in alphas]) * of_alpha).lsr(6)
            word = (red_blue & _EVEN) | (green << 8) | (alpha << 24)
            exchanged = k.select(rotated, (word.lsr(place) ^ alpha) & 255, 0)
            word = word ^ (exchanged << place) ^ (exchanged << 24)
            row.append(k.select(reserved, 0, word))
        sink.words(y, row)


def _ends(k: Lang, words: Words, mode: Value, of, at):  # type: ignore[no-untyped-def]
    """For each subset, colours and alphas as (start, by): start + by * weight is the value times 64, rounded.

    A colour is two words: red and blue in halves of one, and green. A difference may borrow from the upper half; the
    sum is right again.
    """
    width, has_bit = of("colour"), of("end_bits") | of("shared_bits")
    stride = 2 * of("parts") * width
    channels = [read(k, words, at("colour") + c * stride) for c in range(3)]
    alpha_width = of("alpha")
    alpha_field = read(k, words, at("alpha"))
    bits = read(k, words, at("bits"))
    bits = k.select(mode == 1, (bits & 1) * 3 | (bits & 2) * 6, bits)
    mask, full = low_bits(k, width), width + has_bit
    alpha_mask, alpha_full = low_bits(k, alpha_width), alpha_width + has_bit
    opaque = alpha_width == 0

    def end(number: int) -> tuple[Value, Value, Value]:
        from_bit, p = number * width, (bits >> number) & has_bit
        red, green, blue = (channel.lsr(from_bit) & mask for channel in channels)
        widen = lambda v, p, has, full: ((v << has) | p) << (8 - full)
        red_blue = widen(red | (blue << 16), p * 0x10001, has_bit, full)
        red_blue = red_blue | (red_blue.lsr(full) & _EVEN)
        green = widen(green, p, has_bit, full)
        green = green | green.lsr(full)
        alpha = widen(alpha_field.lsr(number * alpha_width) & alpha_mask, p, has_bit, alpha_full)
        return red_blue, green, k.select(opaque, 255, alpha | alpha.lsr(alpha_full))

    colours, alphas = [], []
    for part in range(3):
        a, b = end(2 * part), end(2 * part + 1)
        colours.append((((a[0] << 6) + 0x200020, (a[1] << 6) + 32), (b[0] - a[0], b[1] - a[1])))
        alphas.append(((a[2] << 6) + 32, b[2] - a[2]))
    return colours, alphas
