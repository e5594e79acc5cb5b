"""How the texels of a header become those of its copy: where each output's bits are, after the swizzle.

An *output* is red, green, blue or alpha of the copy. It is a channel of the texture's elements or a constant, so the
swizzle needs no code of its own. Formats whose elements are the copy's texels already are only put in rows (`as_is`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.formats import PixelLayout
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.formats import arrays
from pocketgpu.maxwell.formats.channels import NUMBER_INTEGER, Channels
from pocketgpu.maxwell.formats.components import (
    ABSENT,
    FLOAT10,
    FLOAT11,
    FLOAT16,
    FLOAT32,
    SINT,
    SNORM,
    SRGB,
    UINT,
    UNORM,
    ZERO,
    Channel,
)
from pocketgpu.maxwell.formats.srgb import linear_words, srgb_to_linear
from pocketgpu.maxwell.formats.texture_header import TextureHeader, sources_of
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.textures.blocks import Codec
from pocketgpu.maxwell.textures.sizes import TEXEL_BYTES

TABLE, SHARED, STEPS = range(ZERO + 1, ZERO + 4)
"""Further types of outputs: looked up by code in a table of f32; a mantissa with the shared exponent of its element; an
f32 that is a whole number of steps (`constant` of them are 1), looked up by that number."""
WIDEST_TABLE: Final = 16
"""Bits of the widest channel that has a table."""
HALF_ONE, ONE = 0x3C00, 0x3F800000
_HALF_SHIFTS = {FLOAT16: 0, FLOAT11: 4, FLOAT10: 5}
"""How far small floats move up to be half floats: they have the same exponents, and shorter mantissas."""
_PLAIN_WORDS = (UINT, SINT, FLOAT32)
_BYTES = 255
_BC = (6 * 31, 6 * 63, 6 * 31)
_STEPS = {"DXT1": _BC, "DXT23": _BC, "DXT45": _BC}
"""Steps of red, green and blue in formats whose sRGB colours have more than 8 bits: ends have 5 or 6 bits, and what is
between them is halves or thirds."""


@dataclass(frozen=True)
class Output:
    """One of four outputs. type: of `formats.components`, TABLE or SHARED; ABSENT for `constant`, which has the copy's
    form. table: number of its table."""

    type: int
    word: int = 0
    low: int = 0
    width: int = 1
    constant: int = 0
    table: int = 0


@dataclass(frozen=True)
class Outputs:
    """The outputs of each pixel of an element. bytes: of an element. tables: values of codes, f32. as_is: elements are
    texels of the copy."""

    kind: int
    bytes: int
    pixels: tuple[tuple[Output, ...], ...]
    tables: tuple[NDArray[np.float32], ...] = ()
    as_is: bool = False


@cache
@np.errstate(invalid="ignore", over="ignore")  # codes of floats may be any NaN
def value_table(channel: Channel, srgb: bool, half: bool) -> NDArray[np.float32]:
    """The values of all codes of a channel: converted to linear light, passed through half floats."""
    values = arrays.values_of_codes(channel)
    if half:
        values = values.astype(np.float16).astype(np.float64)
    return (srgb_to_linear(values) if srgb else values).astype(np.float32)


def outputs_of(texture: TextureHeader, kind: int) -> Outputs | None:
    """The outputs of a texture whose format is not compressed; None if only arrays can decode it.

    Those are formats with more than 16 bits in a channel of sRGB or in one that passes through half floats, and sRGB
    with a shared exponent.

    :raises UsageError: a type does not exist for a component's bits.
    """
    return _outputs(texture.format, texture.types, texture.swizzle, texture.srgb, kind)


@cache
def outputs_of_blocks(used: Codec, swizzle: tuple[int, int, int, int], srgb: bool, kind: int) -> Outputs:
    """The outputs of texels that a codec has decoded. srgb: of the header; BC4 to BC6H and EAC ignore it."""
    tables: list[NDArray[np.float32]] = []
    found = []
    for n in range(4):
        linear = srgb and n < 3 and kind == r.FLOAT
        if used.form == "unorm8":
            found.append(Output(SRGB if linear else UNORM, 0, 8 * n, 8))
        elif linear and (used.srgb or used.name in _STEPS):
            steps = _BYTES if used.srgb else _STEPS[used.name][n]
            tables.append(_linear_steps(steps))
            found.append(Output(STEPS, n, 0, 32, steps, len(tables) - 1))
        else:
            found.append(Output(FLOAT32, n, 0, 32))
    pixel = _swizzled(found, swizzle, kind)
    same = kind != r.SRGB8 if used.form == "float" else kind != r.FLOAT
    size = TEXEL_BYTES[used.form]
    return Outputs(kind, size, (pixel,), tuple(tables), same and _is_as_it_is(kind, size, pixel))


@cache
def _linear_steps(steps: int) -> NDArray[np.float32]:
    """Linear values of sRGB values that are whole numbers of steps, each rounded to f32 before."""
    if steps == _BYTES:
        return linear_words().view(np.float32)
    return srgb_to_linear((np.arange(steps + 1) / steps).astype(np.float32)).astype(np.float32)


@cache
def _outputs(
    layout: PixelLayout, types: tuple[str, ...], swizzle: tuple[int, ...], srgb: bool, kind: int
) -> Outputs | None:
    tables: list[NDArray[np.float32]] = []
    pixels = []
    for number in range(layout.block[0]):
        channels = Channels.of(layout, types, pixel=number)
        found = []
        for i, channel in enumerate(channels.channels):
            output = _output(channels, i, channel, srgb, kind, tables)
            if output is None:
                return None
            found.append(output)
        pixels.append(_swizzled(found, swizzle, kind))
    return Outputs(kind, layout.bytes, tuple(pixels), tuple(tables), _is_as_it_is(kind, layout.bytes, pixels[0]))


def _one(kind: int) -> int:
    """The constant 1 in the form of a copy."""
    return {r.UNORM8: 255, r.SRGB8: 255, r.INTEGER: 1, r.HALF: HALF_ONE}.get(kind, ONE)


def _output(
    channels: Channels, i: int, channel: Channel, srgb: bool, kind: int, tables: list[NDArray[np.float32]]
) -> Output | None:
    """A channel as an output; None if there is none for it."""
    type, width = channel.type, channel.width
    assert isinstance(type, int) and isinstance(width, int)
    assert isinstance(channel.word, int) and isinstance(channel.low, int)
    if type == ABSENT:
        # Integers have 1 for missing alpha.
        return Output(ABSENT, constant=_one(kind) if i == 3 else 0)
    place = (channel.word, channel.low, width)
    linear = bool(srgb and i < 3 and type != SRGB and channels.numbers != NUMBER_INTEGER and kind == r.FLOAT)
    shared = channels.exponent is not None and i < 3
    if shared:
        return None if linear or channels.halves[i] else Output(SHARED, *place)
    if linear and type == UNORM and width == 8 and channels.bytes_of_channels is not None:
        return Output(SRGB, *place)
    tiny = type == SNORM and width == 1  # of which kernels do not know the step
    if not linear and not channels.halves[i] and not tiny:
        return Output(type, *place)
    if width > WIDEST_TABLE:
        return None
    values = value_table(replace(channel, word=0, low=0), linear, channels.halves[i])
    number = next((n for n, one in enumerate(tables) if one is values), len(tables))
    if number == len(tables):
        tables.append(values)
    return Output(TABLE, *place, table=number)


def _swizzled(found: Sequence[Output], swizzle: Sequence[int], kind: int) -> tuple[Output, ...]:
    """The outputs in the order of a swizzle."""
    sources = sources_of(found, Output(ABSENT, constant=_one(kind)))
    zero = Output(ABSENT)
    return tuple(sources.get(code) or zero for code in swizzle)


def _is_as_it_is(kind: int, size: int, pixel: Sequence[Output]) -> bool:
    if kind in (r.UNORM8, r.SRGB8):
        return size == 4 and all(one.type != ABSENT and one.low == 8 * n for n, one in enumerate(pixel))
    if kind == r.HALF:
        places = [(one.type, 32 * one.word + one.low) for one in pixel]
        return size == 8 and places == [(FLOAT16, 16 * n) for n in range(4)]
    return size == 16 and all(one.type in _PLAIN_WORDS and one.word == n for n, one in enumerate(pixel))


def is_half(layout: PixelLayout, types: tuple[str, ...]) -> bool:
    """Whether a format has only floats of at most 16 bits."""
    if layout.compressed or layout.block != (1, 1):
        return False
    try:
        channels = Channels.of(layout, types)
    except UsageError:
        return False
    used = [one.type for one in channels.channels if one.type != ABSENT]
    return channels.exponent is None and not any(channels.halves) and all(type in _HALF_SHIFTS for type in used)


def half_shift(type: int) -> int:
    """How far a small float of a type moves up to be a half float; 0 for constants."""
    return _HALF_SHIFTS.get(type, 0)


__all__ = ["SHARED", "STEPS", "TABLE", "Output", "Outputs", "half_shift", "is_half", "outputs_of", "outputs_of_blocks"]
