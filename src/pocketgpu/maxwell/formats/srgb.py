"""The sRGB curve: for arrays, and as tables in memory by which lanes convert between 8-bit codes and linear values.

Both evaluators read the same tables, so they give the same bits, and a code is unchanged after conversion to linear and
back.
Source: IEC 61966-2-1.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.lanes import F32, I64, U8, Lang, Value

CODES: Final = 256
"""Number of 8-bit codes, and of the linear values (f32) at the start of `srgb_tables`."""
_BINS = 4096  # so narrow that a bin never contains more than one threshold
_THRESHOLDS = 4 * CODES
_GUESSES = _THRESHOLDS + 4 * (CODES + 1)


def srgb_to_linear(v: Any) -> Any:
    """The decoding curve, in f64; values below 0 continue its straight part."""
    v = np.asarray(v, np.float64)
    return np.where(v <= 0.04045, v / 12.92, ((np.maximum(v, 0.0) + 0.055) / 1.055) ** 2.4)


def linear_to_srgb(v: Any) -> Any:
    """The encoding curve, in f64."""
    v = np.asarray(v, np.float64)
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * np.maximum(v, 0.0) ** (1 / 2.4) - 0.055)


@cache
def srgb_tables() -> bytes:
    """Tables for `decode_srgb` and `encode_srgb`: 256 linear values, 257 thresholds (f32), a guess for each bin (u8).

    Threshold c is the least f32 that is nearer to code c than to c - 1 after encoding. The guess of a bin is the code
    of its lower end.
    """
    linear = srgb_to_linear(np.arange(CODES) / 255).astype(np.float32)
    edges = srgb_to_linear((np.arange(CODES + 1) - 0.5) / 255)
    thresholds = edges.astype(np.float32)
    low = thresholds.astype(np.float64) < edges
    thresholds[low] = np.nextafter(thresholds[low], np.float32(np.inf))
    thresholds[0], thresholds[CODES] = -np.inf, np.inf
    bins = (np.arange(_BINS + 1) / _BINS).astype(np.float32)
    guesses = (np.searchsorted(thresholds[:CODES], bins, side="right") - 1).astype(np.uint8)
    return linear.tobytes() + thresholds.tobytes() + guesses.tobytes()


def linear_words() -> NDArray[np.int32]:
    """The bits (i32) of the linear value of each code, the start of `srgb_tables`."""
    return np.frombuffer(srgb_tables(), np.int32, CODES)


def _offsets(k: Lang, tables: Value, index: Value) -> Value:
    """Offsets of 4-byte elements of a table, in the width of the offset `tables`."""
    at = index << 2
    return (k.to_i64(at) if tables.type is I64 else at) + tables


def decode_srgb(k: Lang, tables: Value, code: Value) -> Value:
    """Linear values (f32 lanes) of 8-bit codes. tables: offset of `srgb_tables`, or of its first 256 words."""
    return k.gather(F32, _offsets(k, tables, code))


def encode_srgb(k: Lang, tables: Value, v: Value) -> Value:
    """The nearest 8-bit codes of linear values, which are clamped to 0..1; NaN gives 0. tables: as i64."""
    x = k.clamp(v, 0.0, 1.0)
    code = k.gather(U8, k.to_i64(k.to_i32(x * float(_BINS), 0, _BINS)) + (tables + _GUESSES))
    # The bin begins at or below the value and contains at most one threshold.
    above = k.gather(F32, _offsets(k, tables + _THRESHOLDS, code + 1))
    return k.select(x >= above, code + 1, code)
