"""The encoder of ETC1 and ETC1A4 blocks: turns an edited picture back into a texture.

The search is greedy and processes all blocks together. Each half of a block starts from its mean colour. For each of
the eight tables, it alternately finds the best modifiers and the best colour for them; last it tries the colours next
to the best results. Both ways to split a block and both ways to store its two colours are tried; the smallest sum of
squared differences over red, green and blue wins. Textures that were compressed before mostly keep their pixels. All
arithmetic is in integers, so the bytes are the same everywhere.

Source: OES_compressed_ETC1_RGB8_texture; 3dbrew GPU/Internal Registers for byte order and alpha.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.late_dataclass import dataclass

Ints: TypeAlias = NDArray[np.int32]

# Columns: the four modifiers in the order of their two-bit codes (bit 0: large, bit 1: negative).
_MODIFIERS: Final = np.array(
    [
        [small, large, -small, -large]
        for small, large in ((2, 8), (5, 17), (9, 29), (13, 42), (18, 60), (24, 80), (33, 106), (47, 183))
    ],
    np.int32,
)
_CHUNK: Final = 256  # blocks per step: the errors of their candidates for a modifier take 64 KiB
_ROUNDS: Final = 4
_FINALISTS: Final = 3
_STEPS: Final = np.array(
    [*np.eye(3, dtype=np.int32).tolist(), *(-np.eye(3, dtype=np.int32)).tolist(), [1, 1, 1], [-1, -1, -1]], np.int32
)

# For each (row, column): the texel number in memory (Morton order in the block), and the number in ETC's order.
_ROW, _COLUMN = np.divmod(np.arange(16), 4)
_MORTON: Final = (_COLUMN & 1) | (_ROW & 1) << 1 | (_COLUMN & 2) << 1 | (_ROW & 2) << 2
_ETC_NUMBER: Final = 4 * _COLUMN + _ROW

# Pixels (row-major numbers) of the two halves: left and right, or with the flip bit upper and lower.
_HALVES: Final = [[np.flatnonzero((_ROW if flip else _COLUMN) // 2 == half) for half in range(2)] for flip in range(2)]


def _expand(codes: Ints, bits: int) -> Ints:
    wide: Ints = codes * 17 if bits == 4 else codes << 3 | codes >> 2
    return wide


def _nearest_code(bits: int) -> Ints:
    """For each 8-bit value the code whose expansion is nearest."""
    levels = _expand(np.arange(1 << bits, dtype=np.int32), bits)
    distance: Ints = np.abs(np.arange(256, dtype=np.int32)[:, None] - levels)
    nearest: Ints = distance.argmin(axis=1).astype(np.int32)
    return nearest


_NEAREST: Final = {bits: _nearest_code(bits) for bits in (4, 5)}


@dataclass
class _Half:
    """A candidate for one half of n blocks: colour codes (n, 3), table (n), modifier codes (n, 8), error (n)."""

    code: Ints
    table: Ints
    pick: Ints
    error: Ints


@dataclass
class _Tries:
    """Candidates in parallel: t tables for each of n half blocks. Shapes as in `_Half` with (n, t) in front."""

    code: Ints
    table: Ints
    pick: Ints
    error: Ints

    def take_better(self, other: _Tries, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Take over the candidates that are better in `other`, which is about some half blocks; of which there were
        any."""
        better = other.error < self.error[rows]
        of_row, tables = np.nonzero(better)
        place = rows[of_row], tables
        self.code[place], self.pick[place], self.error[place] = (
            other.code[better],
            other.pick[better],
            other.error[better],
        )
        found: NDArray[np.bool_] = np.any(better, axis=1)
        return found

    def best(self, count: int) -> _Tries:
        """The `count` tables with the smallest errors, best first; the first of equal ones."""
        order = self.error.argsort(axis=1, kind="stable")[:, :count]
        rows = np.arange(len(order))[:, None]
        return _Tries(self.code[rows, order], self.table[rows, order], self.pick[rows, order], self.error[rows, order])

    def winner(self) -> _Half:
        first = self.best(1)
        return _Half(first.code[:, 0], first.table[:, 0], first.pick[:, 0], first.error[:, 0])


def _rate(pixels: Ints, code: Ints, table: Ints, bits: int) -> _Tries:
    """The best modifiers for fixed colours (n, t, 3) and tables (n, t) on pixels (n, 8, 3)."""
    colors = np.clip(_expand(code, bits)[:, :, None, :] + _MODIFIERS[table][..., None], 0, 255)
    # (blocks, tables, pixels) of a modifier, one channel at a time: all together would not fit the caches.
    channels = [np.ascontiguousarray(pixels[:, None, :, channel]) for channel in range(3)]
    errors = []
    for modifier in range(4):
        error: Any = 0
        for channel, values in enumerate(channels):
            difference = colors[:, :, modifier, channel, None] - values
            difference *= difference
            error = error + difference
        errors.append(error)
    # The first of equal ones is picked.
    second, fourth = errors[1] < errors[0], errors[3] < errors[2]
    low, high = np.minimum(errors[0], errors[1]), np.minimum(errors[2], errors[3])
    pick = np.where(high < low, fourth.astype(np.int32) + 2, second.astype(np.int32))
    total = np.minimum(low, high).sum(axis=2)
    return _Tries(code, table, pick, total.astype(np.int32))


def _mean_code(values: Ints, bits: int) -> Ints:
    """The code nearest to the mean over the 8 pixels of (..., 8, 3) values, rounded in integers."""
    mean: Ints = (values.sum(axis=-2) + 4) >> 3
    code: Ints = _NEAREST[bits][np.clip(mean, 0, 255)]
    return code


def _all_tables(count: int) -> Ints:
    return np.tile(np.arange(len(_MODIFIERS), dtype=np.int32), (count, 1))


def _fit(pixels: Ints, bits: int) -> _Half:
    """Colour, table and modifiers for half blocks (n, 8, 3)."""
    table = _all_tables(len(pixels))
    start = np.repeat(_mean_code(pixels, bits)[:, None], len(_MODIFIERS), axis=1)
    tries = _rate(pixels, start, table, bits)
    rows = np.arange(len(pixels))  # those that a round has made better: for others, the next one finds the same
    for _ in range(_ROUNDS):
        wanted = pixels[rows, None] - _MODIFIERS[table[rows][..., None], tries.pick[rows]][..., None]
        rows = rows[tries.take_better(_rate(pixels[rows], _mean_code(wanted, bits), table[rows], bits), rows)]
        if not len(rows):
            break
    tries = tries.best(_FINALISTS)
    rows = np.arange(len(pixels))
    for _ in range(_ROUNDS):
        some, tables, better = pixels[rows], tries.table[rows], np.zeros(len(rows), np.bool_)
        for step in _STEPS:
            near = np.clip(tries.code[rows] + step, 0, (1 << bits) - 1)
            better |= tries.take_better(_rate(some, near, tables, bits), rows)
        rows = rows[better]
        if not len(rows):
            break
    return tries.winner()


def _fit_color(pixels: Ints, code: Ints, bits: int) -> _Half:
    """Table and modifiers for half blocks with a given colour."""
    codes = np.repeat(code[:, None], len(_MODIFIERS), axis=1)
    return _rate(pixels, codes, _all_tables(len(pixels)), bits).winner()


def _differential(pixels: list[Ints]) -> list[_Half]:
    """Both halves with five bits a channel, the second at most -4 to 3 from the first."""
    first, second = (_fit(half, 5) for half in pixels)
    moved_second = _fit_color(pixels[1], np.clip(second.code, first.code - 4, first.code + 3), 5)
    moved_first = _fit_color(pixels[0], np.clip(first.code, second.code - 3, second.code + 4), 5)
    keep_first = (first.error + moved_second.error <= moved_first.error + second.error)[:, None]
    pairs = ((first, moved_first), (moved_second, second))
    return [
        _Half(
            np.where(keep_first, a.code, b.code),
            np.where(keep_first[:, 0], a.table, b.table),
            np.where(keep_first, a.pick, b.pick),
            np.where(keep_first[:, 0], a.error, b.error),
        )
        for a, b in pairs
    ]


def _color_words(pixels: Ints) -> NDArray[np.uint64]:
    """The 64-bit colour words of blocks (n, 16, 3), pixels row by row."""
    best_error = np.full(len(pixels), np.iinfo(np.int32).max, np.int32)
    best = np.zeros(len(pixels), np.uint64)
    for flip, places in enumerate(_HALVES):
        halves = [pixels[:, place] for place in places]
        for differential in (1, 0):
            chosen = _differential(halves) if differential else [_fit(half, 4) for half in halves]
            error = chosen[0].error + chosen[1].error
            better = error < best_error
            best_error[better] = error[better]
            best[better] = _pack(chosen, places, flip, differential)[better]
    return best


def _pack(chosen: list[_Half], places: list[NDArray[Any]], flip: int, differential: int) -> NDArray[np.uint64]:
    first, second = chosen
    word = np.full(len(first.code), flip << 32 | differential << 33, np.uint64)

    def put(values: Any, lo: int) -> None:
        nonlocal word
        word = word | np.asarray(values).astype(np.uint64) << np.uint64(lo)

    put(first.table, 37)
    put(second.table, 34)
    for channel, lo in enumerate((56, 48, 40)):
        a, b = first.code[:, channel], second.code[:, channel]
        put(a << 3 | (b - a) & 7 if differential else a << 4 | b, lo)
    for half, place in zip(chosen, places, strict=True):
        for i, number in enumerate(_ETC_NUMBER[place].tolist()):
            put(half.pick[:, i] & 1, number)
            put(half.pick[:, i] >> 1, number + 16)
    return word


def encode_blocks(texels: NDArray[np.uint8], alpha: bool) -> bytes:
    """Compressed blocks of texels (n, 4), RGBA in memory order, 16 per block: 8 bytes each, 16 with alpha.

    Alpha is rounded to the nearest of its 16 steps; without `alpha` it is dropped.
    """
    blocks = texels.reshape(-1, 16, 4)
    words = np.empty((len(blocks), 2 if alpha else 1), "<u8")
    # Pictures have areas of one colour: like blocks are searched for once.
    colors = np.ascontiguousarray(blocks[:, _MORTON, :3]).reshape(-1, 48)
    _, firsts, places = np.unique(colors.view("V48").ravel(), return_index=True, return_inverse=True)
    different = colors[firsts].reshape(-1, 16, 3).astype(np.int32)
    found = [_color_words(different[start : start + _CHUNK]) for start in range(0, len(different), _CHUNK)]
    if found:
        words[:, -1] = np.concatenate(found)[places]
    if alpha:
        steps = (blocks[:, _MORTON, 3].astype(np.uint64) + np.uint64(8)) // np.uint64(17)
        words[:, 0] = np.bitwise_or.reduce(steps << (4 * _ETC_NUMBER).astype(np.uint64), axis=1)
    return words.tobytes()
