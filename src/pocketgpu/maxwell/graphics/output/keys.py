"""What distinguishes the code of tests and writes: static values of specialised code, words of OUTPUT for general code.

The record has a word for each field, with the same name in capitals: both kinds of code read a field by its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pocketgpu.lanes import I32, Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.formats.channels import Channels
from pocketgpu.maxwell.formats.words import Number

NO_TEST = 8
"""Besides the functions, which go from 0 (never) to 7 (always)."""
COMPARISONS = ("never", "less", "equal", "lequal", "greater", "notequal", "gequal", "always")
NO_BOUNDS, BOUNDS_FIRST, BOUNDS_WITH_DEPTH = range(3)
"""Depth bounds before stencil, or together with depth."""
NO_COVERAGE, COVERAGE, COVERAGE_DITHERED = range(3)
AS_IT_IS, TO_UNIT, TO_SIGNED = range(3)
"""Saturation of the program's outputs: none, to 0..1, to -1..1."""
PLAIN, BLEND, LOGIC = range(3)
"""How a colour is written: stored, blended, or combined bit by bit."""


@dataclass(frozen=True)
class DiscardKey:
    """How samples are removed after the program.

    samples: of a pixel. kills, masks: whether the program kills pixels, and writes a sample mask. alpha_register,
    alpha_function: of the alpha test. to_coverage: NO_COVERAGE, COVERAGE, COVERAGE_DITHERED.
    """

    samples: int = 1
    kills: int = 0
    masks: int = 0
    alpha_register: int = 0
    alpha_function: int = NO_TEST
    to_coverage: int = NO_COVERAGE


@dataclass(frozen=True)
class TestKey(DiscardKey):
    """What distinguishes the code of `output.test`.

    grid_x, grid_y: log2 of a pixel's samples across and down. bytes: of a sample of depth and stencil. wide: how they
    are accessed, see `pixel_access`. z_type: ABSENT, UNORM or FLOAT32 of `channels`, with its bits in the first word;
    s_word, s_low: position of stencil. bounds: NO_BOUNDS and so on. stencil operations: see `lanes.comparisons`.
    """

    __test__ = False  # not a test case for pytest

    grid_x: int = 0
    grid_y: int = 0
    discard_in_test: int = 0
    bytes: int = 4
    wide: bool = True
    z_type: int = 0
    z_low: int = 0
    z_width: int = 24
    s_word: int = 0
    s_low: int = 0
    depth_function: int = NO_TEST
    depth_write: int = 0
    bounds: int = 0
    stencil_test: int = 0
    front_function: int = NO_TEST - 1
    front_fail: int = 0
    front_depth_fail: int = 0
    front_pass: int = 0
    back_function: int = NO_TEST - 1
    back_fail: int = 0
    back_depth_fail: int = 0
    back_pass: int = 0


@dataclass(frozen=True)
class ColorKey:
    """What distinguishes the code of one colour.

    bits: of the words of a sample, that are written. source, written, coverage: see COLOR. linear: the target is in
    pitch layout. saturate: AS_IT_IS, TO_UNIT, TO_SIGNED.
    """

    channels: Channels
    bits: tuple[int, ...]
    wide: bool = True
    linear: bool = False
    source: int = 0
    written: int = 15
    saturate: int = AS_IT_IS
    coverage: int = 0
    mode: int = PLAIN
    color_operation: int = 0
    color_source: int = 1
    color_target: int = 0
    alpha_operation: int = 0
    alpha_source: int = 1
    alpha_target: int = 0

    @property
    def factors(self) -> tuple[int, ...]:
        """The blend factors in use."""
        every = (self.color_source, self.color_target, self.alpha_source, self.alpha_target)
        return every if self.mode == BLEND else ()


@dataclass(frozen=True)
class WriteKey(DiscardKey):
    """What distinguishes the code of `output.write`. left_out: mask of the samples that no colour is written to. logic:
    of colours whose mode is LOGIC. zero_wins: a product with 0 is 0. second_source, second_written: as source and
    written of ColorKey, for the second colour of a blend."""

    grid_x: int = 0
    grid_y: int = 0
    discard_in_write: int = 0
    left_out: int = 0
    to_one: int = 0
    logic: int = 0
    zero_wins: int = 0
    second_source: int = 0
    second_written: int = 0
    colors: tuple[ColorKey, ...] = ()


class KeyFields:
    """The fields of a key by their names in capitals: from the key, or from the record at `record` if there is none."""

    def __init__(self, k: Lang, record: Value, offsets: Mapping[str, int], key: object | None) -> None:
        self.k, self.record, self.offsets, self.key = k, record, offsets, key

    def __call__(self, name: str) -> Number:
        if self.key is not None:
            value = getattr(self.key, name.lower())
            assert isinstance(value, int)
            return value
        return self.word(name)

    def word(self, name: str) -> Value:
        """A word of the record."""
        return self.k.load(I32, self.record + self.offsets[name])


def each(k: Lang, count: Number) -> Iterator[Number]:
    """0, 1, ... count-1; unrolled if count is known while tracing."""
    yield from range(count) if isinstance(count, int) else k.range(0, count)


def indexed(k: Lang, base: Value, index: Number, size: int) -> Value:
    """base + size * index, an offset (i64)."""
    return base + (size * index if isinstance(index, int) else k.to_i64(index * size))
