"""The channels of a format in the words of its pixels, for formats known while tracing and for those read at run time.

A colour is four vectors of f32, red to alpha; for integer formats these are the integers' bits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from pocketgpu.errors import UsageError
from pocketgpu.facts.dialect.values import Values
from pocketgpu.facts.maxwell import B197, TIC
from pocketgpu.facts.maxwell.formats import Component, PixelLayout
from pocketgpu.lanes import F32, Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.formats.components import (
    ABSENT,
    INTEGERS,
    OF_TARGETS,
    SINT,
    SNORM,
    SNORM32,
    SRGB,
    SSCALED,
    UINT,
    UNORM,
    UNORM32,
    USCALED,
    USCALED32,
    Channel,
    Quotient,
    Rounding,
    decode,
    divided,
    encode,
    type_of,
)
from pocketgpu.maxwell.formats.words import Number, Words, words_of

NUMBER_UNORM, NUMBER_SNORM, NUMBER_FLOAT, NUMBER_INTEGER = range(4)
"""Number type of a format's colours: clamped to 0..1, to -1..1, not at all; integers, which are never blended."""
UNORM_TYPES = ("unorm", "unorm", "unorm", "unorm")
"""Types of the four channels for formats that do not define them."""
CHANNELS = "RGBA"
LUMINANCE = "Y"
"""The component that is copied to red, green and blue."""
_ALPHA = 3
HALF = "16"
"""The suffix of types that pass through half floats."""
_NONE = Channel(ABSENT, 0, 0, 1)
_SCALED = {UINT: USCALED, SINT: SSCALED}
_EXPONENT_BIAS = 15 + 9  # of a shared exponent, for mantissas that are integers of 9 bits
_F32_BIAS, _F32_MANTISSA = 127, 23

Colour = list[Value]


@cache
def texture_types() -> Mapping[int, str]:
    """Names of types by the numbers in texture headers; "unorm16" and "snorm16" pass through half floats."""
    return _type_names(TIC["BL"]["R_DATA_TYPE"].values)


@cache
def vertex_types() -> Mapping[int, str]:
    """Names of types by NUMERICAL_TYPE of vertex attributes."""
    return _type_names(B197["SET_VERTEX_ATTRIBUTE_A"]["NUMERICAL_TYPE"].values)


def _type_names(values: Values) -> Mapping[int, str]:
    names = {number: symbol.removeprefix("NUM_") for symbol, number in values.symbols.items()}
    return {number: name.replace("_FORCE_FP16", HALF).lower() for number, name in names.items()}


def channel_of(component: Component, type: str) -> Channel:
    """A component of a format as a channel. type: its name, see `components.type_of`."""
    return Channel(type_of(type, component.width), component.lo >> 5, component.lo & 31, component.width)


def _component(layout: PixelLayout, name: str, pixel: int) -> Component | None:
    """The component of a pixel's channel. pixel: of those that share an element."""
    for wanted in (name, f"{name}{pixel}", LUMINANCE if name != "A" else name):
        found = layout.component(wanted)
        if found is not None:
            return None if found.type == "ignored" else found
    return None


def _scaled(channel: Channel) -> Channel:
    """A channel of integers as one of floats: if the other channels are floats, integers are converted."""
    assert isinstance(channel.type, int) and isinstance(channel.width, int)
    if channel.type not in INTEGERS:
        return channel
    wide = channel.type == UINT and channel.width == 32
    return replace(channel, type=USCALED32 if wide else _SCALED[channel.type])


def _numbers(types: Collection[int]) -> int:
    """The NUMBER_* of the types of all existing channels."""
    if types and INTEGERS.issuperset(types):
        return NUMBER_INTEGER
    if {UNORM, UNORM32, SRGB}.issuperset(types):
        return NUMBER_UNORM
    return NUMBER_SNORM if {SNORM, SNORM32}.issuperset(types) else NUMBER_FLOAT


@dataclass(frozen=True)
class Channels:
    """The channels of a format: red, green, blue and alpha; or depth and stencil.

    bytes: of an element. fixed: bits of the first word that are always written as ones. numbers: NUMBER_*. exponent:
    the channel with the shared exponent of red, green and blue, which are mantissas then; such a format can only be
    read. halves: which channels pass through half floats when textures are read ("unorm16", "snorm16"); the caller does
    that conversion.
    """

    bytes: Number
    channels: tuple[Channel, ...]
    fixed: Number
    numbers: Number
    exponent: Channel | None = None
    halves: tuple[bool, ...] = (False, False, False, False)

    @classmethod
    @cache
    def of(
        cls, layout: PixelLayout, types: tuple[str, ...] = UNORM_TYPES, srgb: bool = True, pixel: int = 0
    ) -> Channels:  # fmt: skip
        """The channels of a format.

        :param types: names of the types of red, green, blue and alpha if the format does not define them.
        :param srgb: whether sRGB components are converted; otherwise they are unorm (SET_SRGB_WRITE).
        :param pixel: which of the pixels that share an element.
        :raises UsageError: there is no such type; or the format is compressed or has no description.
        """
        if not layout.components:
            raise UsageError(f"{layout.name} has no channels of its own")
        made: dict[Component, Channel] = {}  # of luminance the same channel three times
        for name, open_type in zip(CHANNELS, types, strict=True):
            component = _component(layout, name, pixel)
            if component is not None and component not in made:
                type = component.type or open_type.removesuffix(HALF)
                made[component] = channel_of(component, "unorm" if type == "srgb" and not srgb else type)
        kinds = {one.type for one in made.values() if isinstance(one.type, int)}
        if len(kinds) > 1:
            made = {component: _scaled(one) for component, one in made.items()}
            kinds = {one.type for one in made.values() if isinstance(one.type, int)}
        found = [_component(layout, name, pixel) for name in CHANNELS]
        channels = tuple(_NONE if component is None else made[component] for component in found)
        fixed = sum(((1 << c.width) - 1) << c.lo for c in layout.components if c.type == "one")
        exponent = layout.component("E")
        scale = None if exponent is None else channel_of(exponent, "uint")
        halves = tuple(
            component is not None and not component.type and open_type.endswith(HALF)
            for component, open_type in zip(found, types, strict=True)
        )
        return cls(layout.bytes, channels, fixed, _numbers(kinds), scale, halves)

    @classmethod
    @cache
    def of_depth(cls, layout: PixelLayout) -> Channels:
        """Depth and stencil of a format, of depth targets or of textures with depth and stencil.

        :raises UsageError: the format has neither.
        """
        named = {part.meaning or part.name: part for part in layout.components}
        parts = [named.get(name) for name in "ZS"]
        if not any(parts):
            raise UsageError(f"{layout.name} has neither depth nor stencil")
        channels = tuple(_NONE if part is None else channel_of(part, part.type) for part in parts)
        return cls(layout.bytes, channels, 0, NUMBER_FLOAT)

    @property
    def words(self) -> int:
        """Words of an element; the maximum if the format is read at run time."""
        return words_of(self.bytes) if isinstance(self.bytes, int) else 4

    @property
    def bytes_of_channels(self) -> tuple[int | None, ...] | None:
        """The byte of an element for each channel (None: absent), if all are whole bytes of unorm or sRGB."""
        if any(self.halves):
            return None
        found: list[int | None] = []
        for c in self.channels:
            assert isinstance(c.word, int) and isinstance(c.low, int)
            if c.type != ABSENT and (c.type not in (UNORM, SRGB) or c.width != 8 or c.low % 8):
                return None
            found.append(None if c.type == ABSENT else 4 * c.word + c.low // 8)
        return tuple(found)

    def clamp(self, k: Lang, colour: Colour) -> Colour:
        """A colour clamped for blending."""
        unorm: Callable[[], tuple[Value, ...]] = lambda: tuple(k.clamp(v, 0.0, 1.0) for v in colour)
        snorm: Callable[[], tuple[Value, ...]] = lambda: tuple(k.clamp(v, -1.0, 1.0) for v in colour)
        return list(k.switch(self.numbers, [unorm, snorm, lambda: tuple(colour)]))

    def unpack(
        self, k: Lang, words: Words, tables: Value | None, quotient: Quotient, *, one: Value | float = 1.0,
        types: Collection[int] = OF_TARGETS,
    ) -> Colour:  # fmt: skip
        """The colour of an element. Missing channels are 0, missing alpha is `one`.

        :param tables, types: as for `components.decode`.
        """
        done: list[tuple[Channel, Value]] = []
        for i, channel in enumerate(self.channels):
            before = next((value for known, value in done if known is channel and channel is not _NONE), None)
            if before is None:
                missing = partial(_constant, k, one if i == _ALPHA else 0.0, words[0].lanes)
                before = decode(k, channel, _select_word(k, words, channel.word), tables, quotient, missing, types)
                if self.exponent is not None and i != _ALPHA:
                    before = before * self.scale(k, words)
            done.append((channel, before))
        return [value for _, value in done]

    def scale(self, k: Lang, words: Words) -> Value:
        """The factor of the mantissas of red, green and blue (f32), in formats with a shared exponent."""
        assert self.exponent is not None
        code = self.exponent.code(k, _select_word(k, words, self.exponent.word))
        return k.bits_f32((code + (_F32_BIAS - _EXPONENT_BIAS)) << _F32_MANTISSA)

    def from_steps(self, k: Lang, steps: Colour) -> Colour:
        """The colour from results of `unpack` with Quotient.STEPS, which may have been filtered since."""
        return [
            divided(k, value, channel, Quotient.NEAREST) if channel.type in (UNORM, UNORM32) else value
            for value, channel in zip(steps, self.channels, strict=True)
        ]

    def pack(
        self, k: Lang, colour: Sequence[Value], tables: Value | None, rounding: Rounding = Rounding.SINGLE, *,
        types: Collection[int] = OF_TARGETS,
    ) -> Words:  # fmt: skip
        """The words of an element with that colour. Luminance takes red; bits that the format ignores are 0."""
        codes = (
            encode(k, channel, value, tables, rounding, types) if stored else None
            for value, channel, stored in zip(colour, self.channels, self.stored, strict=True)
        )
        return self.assembled(k, codes, colour[0].lanes)

    @property
    def stored(self) -> tuple[bool, ...]:
        """Which channels have their own bits: not absent ones, and of luminance only red."""
        return tuple(
            not (isinstance(channel.type, int) and channel.type == ABSENT)
            and not any(channel is before for before in self.channels[:i])
            for i, channel in enumerate(self.channels)
        )

    def assembled(self, k: Lang, codes: Iterable[Value | None], lanes: int) -> Words:
        """The words of an element whose channels have these codes; None for those that are not `stored`.

        Each code is put into its word before the next one is computed, because vectors of 32 lanes need many registers.
        """
        words: list[Value | None] = [None] * self.words
        for code, channel in zip(codes, self.channels, strict=True):
            if code is None:
                continue
            part = code if isinstance(channel.low, int) and not channel.low else code << channel.low
            for i in range(len(words)) if isinstance(channel.word, Value) else [channel.word]:
                here = k.select(channel.word == i, part, 0) if isinstance(channel.word, Value) else part
                before = words[i]
                words[i] = here if before is None else before | here
        out = [k.splat(0, lanes) if word is None else word for word in words]
        if isinstance(self.fixed, Value) or self.fixed:
            out[0] = out[0] | self.fixed
        return tuple(out)


class ChannelsAtRunTime:
    """The same for a format that is read at run time: one piece of code, in a loop, for all four channels. Without the
    loop it would be long, and take most of the time to compile the kernels that use it.

    :param channel: reads a channel, given its number.
    """

    words = 4

    def __init__(self, bytes: Value, channel: Callable[[Value], Channel], fixed: Value, numbers: Value) -> None:
        self.bytes, self.channel, self.fixed, self.numbers = bytes, channel, fixed, numbers

    def clamp(self, k: Lang, colour: Colour) -> Colour:
        """A colour clamped for blending."""
        lowest = k.select(self.numbers == NUMBER_SNORM, k.f32(-1.0), 0.0)
        clamped = lambda: tuple(k.clamp(v, lowest, 1.0) for v in colour)
        return list(k.branch(self.numbers <= NUMBER_SNORM, clamped, lambda: tuple(colour)))

    def unpack(self, k: Lang, words: Words, tables: Value | None, quotient: Quotient) -> Colour:
        """The colour of an element. Missing channels are 0, missing alpha is 1."""
        colour = k.array(4, F32)
        for i in k.range(0, 4):
            channel = self.channel(i)
            absent = k.splat(k.select(i == _ALPHA, k.f32(1.0), 0.0))
            word = _select_word(k, words, channel.word)
            colour[i] = decode(k, channel, word, tables, quotient, lambda absent=absent: absent)  # type: ignore[misc]
        return [colour[i] for i in range(4)]

    def pack(self, k: Lang, colour: Sequence[Value], tables: Value | None) -> Words:
        """The words of an element with that colour; bits that the format ignores are 0."""
        values = k.array(4, F32)
        for n, value in enumerate(colour):
            values[n] = value
        words = [k.var(k.splat(0)) for _ in range(self.words)]
        for i in k.range(0, 4):
            channel = self.channel(i)
            part = encode(k, channel, values[i], tables, Rounding.SINGLE) << channel.low
            for n, word in enumerate(words):
                word.value = word.value | k.select(channel.word == n, part, 0)
        first, *others = (word.value for word in words)
        return (first | self.fixed, *others)


def written_bits(layout: PixelLayout, names: Collection[str]) -> int:
    """The bits of an element that change when these channels ("R" to "A") are written.

    Bits that belong to no channel are written only if all of the format's channels are.
    """
    if all(c.name in names or c.name not in CHANNELS for c in layout.components):
        return (1 << 8 * layout.bytes) - 1
    return sum(((1 << c.width) - 1) << c.lo for c in layout.components if c.name in names)


def _constant(k: Lang, value: Value | float, lanes: int) -> Value:
    return k.splat(value if isinstance(value, Value) else k.f32(value), lanes)


def _select_word(k: Lang, words: Words, number: Number) -> Value:
    if isinstance(number, int):
        return words[number]
    word = words[0]
    for i in range(1, len(words)):
        word = k.select(number == i, words[i], word)
    return word
