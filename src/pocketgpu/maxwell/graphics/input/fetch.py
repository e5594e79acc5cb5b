"""Vertex fetch: attributes of 32 vertices from vertex streams into a page of a program's inputs.

Each format and type has a small kernel, which many draws share. A general kernel takes them as data, and is used until
the special one is compiled. Both are fast where all elements are known to be in one mapped piece; other elements are
read byte by byte. Elements that reach past the limit are zero (`engines.threed.vertices` does the same with arrays).
Source: class header B197; formats from `facts.maxwell.formats`.
"""

from __future__ import annotations

from pocketgpu.facts.maxwell.formats import VERTEX
from pocketgpu.lanes import I32, I64, U8, U16, Lang, Value, kernel
from pocketgpu.maxwell.engines.threed.vertices import types_of
from pocketgpu.maxwell.formats.channels import Channels, vertex_types
from pocketgpu.maxwell.formats.components import ABSENT, OF_VERTICES, Channel, Quotient, decode
from pocketgpu.maxwell.graphics.input.vertex_records import (
    ATTRIBUTE,
    BASE_INSTANCE,
    CHANNEL_WORDS,
    ELEMENTS,
    INPUT_PAGE,
    INSTANCE_NUMBERS,
    RAW,
    WANTED,
)
from pocketgpu.maxwell.memory import page_table
from pocketgpu.maxwell.sass.thread_memory.work import LANES, VECTOR

RAW_WORDS = 4


def channels_of(format: int, type: int) -> Channels:
    """The channels of an attribute, by its codes of COMPONENT_BIT_WIDTHS and NUMERICAL_TYPE."""
    layout = VERTEX[format]
    return Channels.of(layout, types_of(layout, vertex_types().get(type, "")))


def _word(k: Lang, entry: Value, name: str, n: int = 0) -> Value:
    return k.load(I32, entry + (ATTRIBUTE.offsets[name] + 4 * n))


def element_numbers(k: Lang, entry: Value, room: Value) -> Value:
    """The stream element of each lane's vertex (32 bits)."""
    frequency = _word(k, entry, "FREQUENCY")

    def by_instance() -> Value:
        instance = k.load(I32, room + INSTANCE_NUMBERS, LANES)
        step = k.branch(frequency == 1, lambda: instance, lambda: k.udiv(instance, k.splat(frequency)))
        return step + k.load(I32, room + BASE_INSTANCE)

    found: Value = k.branch(_word(k, entry, "INSTANCED") != 0, by_instance, lambda: k.load(I32, room + ELEMENTS, LANES))
    return found


def value_of(k: Lang, channel: Channel, word: Value) -> Value:
    """A component of a word as the 32 bits that a program reads."""
    return k.bits_i32(decode(k, channel, word, None, Quotient.NEAREST, types=OF_VERTICES))


def _store(k: Lang, entry: Value, room: Value, n: int, v: Value) -> None:
    k.store(I32, room + INPUT_PAGE + _word(k, entry, "TO", n), v)


def _quick(k: Lang, entry: Value, element: Value) -> Value:
    """Whether all lanes' elements are in the piece that needs no address lookup."""
    good = element.below(_word(k, entry, "GOOD"))
    return k.ballot(good) == -1


@kernel(lanes=32, entry=I32, room=I32, careful=I64)
def fetch(k: Lang, entry: Value, room: Value, careful: Value, *, format: int, type: int, align: int) -> None:
    """Fetch one attribute for 32 vertices.

    :param entry: offset of its ATTRIBUTE record. room: of the thread's room for inputs. careful: handle of
        `fetch_careful`, for elements that must be looked up one by one.
    :param format, type: codes of COMPONENT_BIT_WIDTHS and NUMERICAL_TYPE. align: 1, 2 or 4, which divides the offsets
        of all elements.
    """
    element = element_numbers(k, entry, room)

    def quick() -> None:
        at = element * _word(k, entry, "STRIDE") + _word(k, entry, "AT")
        bytes, words = VERTEX[format].bytes, dict[int, Value]()
        for n, channel in enumerate(channels_of(format, type).channels):
            if channel.type != ABSENT:
                word = channel.word
                assert isinstance(word, int)
                if word not in words:
                    words[word] = _raw(k, at + word * 4, min(4, bytes - word * 4), align)
                _store(k, entry, room, n, value_of(k, channel, words[word]))

    k.branch(_quick(k, entry, element), quick, lambda: k.invoke(careful, entry, room))


def _raw(k: Lang, at: Value, bytes: int, align: int) -> Value:
    """Up to four bytes from offsets that are multiples of `align`."""
    unit = {1: U8, 2: U16, 4: I32}[align]
    if align >= bytes:
        unit = {1: U8, 2: U16}.get(bytes, unit)
        align = min(align, 4)
    found = k.gather(unit, at)
    for i in range(align, bytes, align):
        found = found | (k.gather(unit, at + i) << (8 * i))
    return found


@kernel(lanes=32, entry=I32, room=I32, careful=I64)
def fetch_general(k: Lang, entry: Value, room: Value, careful: Value) -> None:
    """`fetch` for any format, type and alignment, which it takes from the record."""
    element = element_numbers(k, entry, room)

    def quick() -> None:
        at = element * _word(k, entry, "STRIDE") + _word(k, entry, "AT")
        count = _word(k, entry, "BYTES")
        for i in k.range(0, (count + 3) & -4, 4):
            word = k.var(k.splat(0))
            for byte in k.range(0, k.min(count - i, 4)):
                word.value = word.value | (k.gather(U8, at + (i + byte)) << (byte << 3))
            k.store(I32, room + RAW + (i << 5), word.value)
        _decode(k, entry, room)

    k.branch(_quick(k, entry, element), quick, lambda: k.invoke(careful, entry, room))


def _decode(k: Lang, entry: Value, room: Value) -> None:
    """Decode the room's raw words into components in the page."""
    for n in k.range(0, RAW_WORDS):
        of = entry + (n << 2)
        type, word, low, width = (k.load(I32, of + ATTRIBUTE.offsets[name]) for name in CHANNEL_WORDS)
        for _ in k.when(type != ABSENT):
            raw = k.load(I32, room + RAW + word * VECTOR, LANES)
            at = room + INPUT_PAGE + k.load(I32, of + ATTRIBUTE.TO)
            k.store(I32, at, value_of(k, Channel(type, word, low, width), raw))


@kernel(lanes=32, entry=I32, room=I32)
def fetch_careful(k: Lang, entry: Value, room: Value) -> None:
    """`fetch` for elements that may be outside of the stream, in several pieces of memory, or unmapped."""
    element = element_numbers(k, entry, room)
    address, start, limit = (k.load(I64, entry + ATTRIBUTE.offsets[name]) for name in ("ADDRESS", "START", "LIMIT"))
    count = _word(k, entry, "BYTES")
    at = k.to_i64(element, False) * k.to_i64(_word(k, entry, "STRIDE")) + address
    inside = (at >= start) & (at + (k.to_i64(count) - 1) <= limit) & k.mask_of(k.load(I32, room + WANTED))
    missed = k.var(k.splat(0))
    for i in k.range(0, (count + 3) & -4, 4):
        word = k.var(k.splat(0))
        for byte in k.range(0, k.min(count - i, 4)):
            offset, mapped = page_table.translate(k, at + k.to_i64(i + byte))
            word.value = word.value | (k.gather(U8, offset, inside & mapped) << (byte << 3))
            missed.value = missed.value + k.select(inside & ~mapped, 1, 0)
        k.store(I32, room + RAW + (i << 5), word.value)
    total = k.reduce("add", missed.value)
    for _ in k.when(total != 0):
        k.atomic("add", I64, page_table.MISSED, k.to_i64(total))
    # An element outside is zero in all components, including w; missing components are not read here.
    _decode(k, entry, room)
