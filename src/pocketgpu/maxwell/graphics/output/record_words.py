"""The words of an OUTPUT record: keys and targets as general code reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pocketgpu.maxwell.formats.words import Number
from pocketgpu.maxwell.graphics.output.keys import ColorKey, TestKey, WriteKey
from pocketgpu.maxwell.graphics.output.pixel_access import place_tables
from pocketgpu.maxwell.graphics.output.records import COLOR, OUTPUT, SURFACE
from pocketgpu.maxwell.graphics.output.targets import Target
from pocketgpu.maxwell.memory.blocklinear import GOB_WIDTH, Layout
from pocketgpu.struct_words import Struct

Words = NDArray[np.int32]
_KEPT = 1024


def output_words(
    test_key: TestKey, write_key: WriteKey, zeta: Target | None, targets: Sequence[Target], grid: tuple[int, int]
) -> Words:
    """An OUTPUT record, except for places and for words that are copies of methods.

    :param targets: of the colours of `write_key`.
    :param grid: log2 of a pixel's samples across and down.
    """
    words = np.zeros(OUTPUT.size // 4, np.int32)
    # Only one of the two kernels removes samples; its values are written last.
    for key in (test_key, write_key) if write_key.discard_in_write else (write_key, test_key):
        places, values = _key_words(key)
        words[places] = values
    words[OUTPUT.COLORS // 4] = len(targets)
    if zeta is not None:
        _put(words, OUTPUT.ZETA, _surface_words(zeta, grid))
    for i, (target, color) in enumerate(zip(targets, write_key.colors, strict=True)):
        at = OUTPUT.COLOR + i * COLOR.size
        _put(words, at, _color_words(color))
        _put(words, at, _surface_words(target, grid))
    return words


def _put(words: Words, offset: int, values: Words) -> None:
    words[offset // 4 : offset // 4 + len(values)] = values


@lru_cache(_KEPT)
def _key_words(key: TestKey | WriteKey) -> tuple[NDArray[np.intp], Words]:
    """Indices in OUTPUT and values of the numbers in a key."""
    found = _numbers(key, OUTPUT)
    return np.array([OUTPUT.offsets[name] // 4 for name in found], np.intp), _packed(list(found.values()))


@lru_cache(_KEPT)
def _color_words(color: ColorKey) -> Words:
    """A COLOR record without its surface."""
    words = np.zeros(COLOR.size // 4, np.int32)
    channels = color.channels
    found: dict[str, Sequence[Number]] = {name: [value] for name, value in _numbers(color, COLOR).items()}
    found |= {"FIXED": [channels.fixed], "NUMBERS": [channels.numbers], "BITS": color.bits}
    for name, part in (("TYPES", "type"), ("WORDS", "word"), ("LOWS", "low"), ("WIDTHS", "width")):
        found[name] = [getattr(channel, part) for channel in channels.channels]
    for name, values in found.items():
        _put(words, COLOR.offsets[name], _packed(values))
    return words


@lru_cache(_KEPT)
def _surface_words(target: Target, grid: tuple[int, int]) -> Words:
    """A SURFACE record except for BASE."""
    found, bytes = dict(target.words), target.format.bytes
    layout, slices = None, 0
    if not found["PITCH"]:
        high, deep = found["BLOCK_HEIGHT"], found["BLOCK_DEPTH"]
        layout = Layout(found["GOBS"] * GOB_WIDTH, max(target.height, 1), 1, high, deep)
        slices = layout.slice_size if target.layers > 1 and not found["LAYER_STRIDE"] else 0
    lanes, samples = place_tables(bytes, grid, found["PITCH"], layout)
    words = np.zeros(SURFACE.size // 4, np.int32)
    _put(words, 0, _packed(target.record(0)))
    _put(words, SURFACE.SLICE_STRIDE, _packed([slices]))
    _put(words, SURFACE.COLUMNS, _packed([target.width >> grid[0], target.height >> grid[1]]))
    _put(words, SURFACE.LANE_OFFSETS, _packed(lanes))
    _put(words, SURFACE.SAMPLE_OFFSETS, _packed(samples))
    _put(words, SURFACE.BYTES, _packed([bytes]))
    return words


def _numbers(key: object, record: Struct) -> Mapping[str, int]:
    """The numbers of a key that have a word of their name."""
    values = ((field.name.upper(), getattr(key, field.name)) for field in fields(key))  # type: ignore[arg-type]
    return {name: int(value) for name, value in values if isinstance(value, int) and name in record.offsets}


def _packed(values: Sequence[Number]) -> Words:
    """Numbers as words, truncated to 32 bits."""
    return np.array([value for value in values if isinstance(value, int)], np.int64).astype(np.uint32).view(np.int32)
