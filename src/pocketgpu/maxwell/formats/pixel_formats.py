"""Pixel formats of the chip to and from arrays of red, green, blue and alpha. NumPy; for people, tools and tests.

A surface's rows are uint8 of shape (height, bytes of a row), as `blocklinear.detile` and `surface_copy.to_array` give
them. Colours are arrays of shape (height, width, 4):

* float32 for everything that is not made of integers only (unorm in 0..1, snorm in -1..1; stencil counts as a number);
* uint32 or int32 where all components are integers of that kind.

Missing colours are 0 and missing alpha is 1. Rounding: unorm and snorm to the nearest step, halves away from zero;
small floats to the nearest even mantissa; NaN becomes 0 in normalised and integer formats.

Source: layouts and types from NVIDIA's class headers (`facts/maxwell/formats.py`); conversion rules as OpenGL and
Direct3D 11 have them. Nothing is known about how the chip rounds 10- and 11-bit floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import Bytes
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.formats import Component, PixelLayout
from pocketgpu.maxwell.textures import blocks

Numbers = NDArray[Any]
UNORM = ("unorm", "unorm", "unorm", "unorm")
"""Types of the four components, for formats that leave them to a header."""

_CHANNELS = {"R": (0,), "G": (1,), "B": (2,), "A": (3,), "Y": (0, 1, 2)}
_SMALL_FLOATS = {11: 6, 10: 5}  # bits of the mantissa; five bits of exponent, no sign
_SRGB_FLOATS = ("DXT1", "DXT23", "DXT45")  # compressed formats that mix sRGB colours to more than 8 bits
_EXPONENT_BIAS = 24  # of a shared exponent, 15 and the 9 bits of a mantissa

# Guests may store any NaN and any size.
_quiet = np.errstate(invalid="ignore", over="ignore")


def srgb_to_linear(v: Any) -> Any:
    """The sRGB curve, decoding (IEC 61966-2-1)."""
    v = np.asarray(v, np.float64)
    return np.where(v <= 0.04045, v / 12.92, ((np.maximum(v, 0.0) + 0.055) / 1.055) ** 2.4)


def linear_to_srgb(v: Any) -> Any:
    """The sRGB curve, encoding."""
    v = np.asarray(v, np.float64)
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * np.maximum(v, 0.0) ** (1 / 2.4) - 0.055)


# Decoding


@_quiet
def decode(rows: Bytes, layout: PixelLayout, types: Sequence[str] = UNORM, srgb: bool = False) -> Numbers:
    """Colours of a surface's rows, shape (height, width, 4); of a compressed format with whole blocks.

    :param types: of red, green, blue and alpha where the format leaves them open: "unorm", "snorm", "uint", "sint",
        "float", "unorm16" and "snorm16" (which pass through half floats).
    :param srgb: red, green and blue hold sRGB, whatever the format says; they come out linear. Compressed formats that
        have no sRGB version ignore it (BC4, BC5, BC6H, EAC).
    :raises UsageError: the format has no description, or rows are no whole elements.
    """
    elements = _elements(rows, layout)
    if layout.compressed:
        return _decode_blocks(elements, layout, types, srgb)
    if layout.block != (1, 1):
        return _decode_pairs(elements, layout, types, srgb)
    found: list[tuple[Component, str]] = []
    for component in layout.components:
        place = _CHANNELS.get(component.name)
        if place is not None and component.type != "ignored":
            found.append((component, component.type or types[place[0]]))
    kinds = {type for _, type in found}
    dtype: Any = {frozenset(["uint"]): np.uint32, frozenset(["sint"]): np.int32}.get(frozenset(kinds), np.float32)
    values = np.zeros((*elements.shape[:-1], 4), dtype)
    values[..., 3] = 1
    if kinds == {"mantissa"}:
        exponents = layout.component("E")
        assert exponents is not None
        scale = np.ldexp(1.0, _codes(elements, exponents).astype(np.int32) - _EXPONENT_BIAS)
    for component, type in found:
        codes = _codes(elements, component)
        value = codes * scale if type == "mantissa" else _value(codes, type, component.width)
        if srgb and component.name != "A" and type != "srgb":
            value = srgb_to_linear(value)
        for channel in _CHANNELS[component.name]:
            values[..., channel] = value
    return values


@_quiet
def decode_depth(rows: Bytes, layout: PixelLayout) -> tuple[NDArray[np.float64] | None, Bytes | None]:
    """Depth (float64, unorm in 0..1) and stencil (uint8) of a surface's rows; None for what the format lacks.

    Works for depth targets and for texture formats that show depth and stencil.

    :raises UsageError: the format holds neither, or rows are no whole elements.
    """
    depth, stencil = _depth_parts(layout)
    elements = _elements(rows, layout)
    return (
        None if depth is None else _value(_codes(elements, depth), depth.type, depth.width).astype(np.float64),
        None if stencil is None else _codes(elements, stencil).astype(np.uint8),
    )


@_quiet
def to_rgba8(values: Numbers) -> Bytes:
    """Colours in 8 bits each: floats from 0..1 (what is outside is clamped, NaN is 0), integers clamped to 0..255."""
    if values.dtype.kind != "f":
        return np.clip(values, 0, 255).astype(np.uint8)
    return (np.nan_to_num(np.clip(values, 0.0, 1.0), nan=0.0).astype(np.float64) * 255 + 0.5).astype(np.uint8)


def picture(rows: Bytes, layout: PixelLayout, types: Sequence[str] = UNORM, srgb: bool = False) -> Bytes:
    """Rows of a surface as a picture: RGBA of 8 bits, shape (height, width, 4). sRGB stays sRGB, as screens want it.

    :param srgb: as for `decode`; only ASTC makes other codes of the same blocks then.
    :raises UsageError: as `decode`.
    """
    parts = layout.components
    if layout.compressed:
        values = blocks.texels(_elements(rows, layout), layout, blocks.codec(layout, types, srgb))
        return values if values.dtype == np.uint8 else to_rgba8(values)
    if layout.block == (1, 1) and parts and all(p.width == 8 for p in parts):
        types_of = [p.type or types[_CHANNELS.get(p.name, (3,))[0]] for p in parts]
        if all(type in ("unorm", "srgb", "ignored", "zero", "one") for type in types_of):
            elements = _elements(rows, layout)
            found = np.zeros((*elements.shape[:-1], 4), np.uint8)
            found[..., 3] = 255
            for part in parts:
                for channel in _CHANNELS.get(part.name, ()):
                    found[..., channel] = elements[..., part.lo // 8]
            return found
    values = decode(rows, layout, types)
    stored = [c for p in parts if p.type == "srgb" for c in _CHANNELS[p.name]]
    if stored:
        values[..., stored] = linear_to_srgb(values[..., stored])
    return to_rgba8(values)


# Encoding


@_quiet
def encode(values: Numbers, layout: PixelLayout, types: Sequence[str] = UNORM) -> Bytes:
    """The rows of a surface that holds these colours, shape (height, width, 4): the reverse of `decode`.

    Values outside a format's range are clamped. Bits that a format ignores are 0.

    :raises UsageError: the array has another shape, or the format cannot be written (compressed, shared by pixels).
    """
    if values.ndim != 3 or values.shape[2] != 4:
        raise UsageError(f"colours have shape (height, width, 4), not {values.shape}")
    if not layout.components or layout.block != (1, 1) or layout.component("E"):
        raise UsageError(f"{layout.name} can only be read")
    elements = np.zeros((*values.shape[:2], layout.bytes), np.uint8)
    for component in layout.components:
        channels = _CHANNELS.get(component.name)
        if component.type == "one":
            _put(elements, component, np.full(values.shape[:2], (1 << component.width) - 1, np.uint64))
        elif channels is not None and component.type not in ("ignored", "zero"):
            type = component.type or types[channels[0]]
            _put(elements, component, _code(values[..., channels[0]], type, component.width))
    return elements.reshape(values.shape[0], -1)


@_quiet
def encode_depth(depth: Numbers | None, stencil: Numbers | None, layout: PixelLayout) -> Bytes:
    """The rows of a depth surface; a part that is None is stored as 0.

    :raises UsageError: the format holds neither depth nor stencil, or arrays have other shapes than (height, width).
    """
    given = [a for a in (depth, stencil) if a is not None]
    if not given or any(a.ndim != 2 or a.shape != given[0].shape for a in given):
        raise UsageError("depth and stencil have one shape (height, width)")
    elements = np.zeros((*given[0].shape, layout.bytes), np.uint8)
    for part, values in zip(_depth_parts(layout), (depth, stencil), strict=True):
        if part is not None and values is not None:
            _put(elements, part, _code(values, part.type, part.width))
    return elements.reshape(elements.shape[0], -1)


# Parts


def _elements(rows: Bytes, layout: PixelLayout) -> Bytes:
    """Rows as (height, elements, bytes of one)."""
    if not layout.bytes:
        raise UsageError(f"the format {layout.name} has no description")
    if rows.ndim != 2 or rows.dtype != np.uint8 or rows.shape[1] % layout.bytes:
        raise UsageError(f"rows of {layout.name} have uint8 elements of {layout.bytes} bytes, not {rows.shape}")
    return rows.reshape(rows.shape[0], rows.shape[1] // layout.bytes, layout.bytes)


def _depth_parts(layout: PixelLayout) -> tuple[Component | None, Component | None]:
    named = {part.meaning or part.name: part for part in layout.components}
    depth, stencil = named.get("Z"), named.get("S")
    if depth is None and stencil is None:
        raise UsageError(f"{layout.name} holds neither depth nor stencil")
    return depth, stencil


def _codes(elements: Bytes, component: Component) -> NDArray[np.uint64]:
    """The bits of a component, of every element."""
    first, last = component.lo // 8, (component.lo + component.width + 7) // 8
    codes = np.zeros(elements.shape[:-1], np.uint64)
    for at in range(first, last):
        codes |= elements[..., at].astype(np.uint64) << np.uint64(8 * (at - first))
    return codes >> np.uint64(component.lo % 8) & np.uint64((1 << component.width) - 1)


def _put(elements: Bytes, component: Component, codes: NDArray[np.uint64]) -> None:
    first, last = component.lo // 8, (component.lo + component.width + 7) // 8
    bits = codes << np.uint64(component.lo % 8)
    for at in range(first, last):
        elements[..., at] |= (bits >> np.uint64(8 * (at - first))).astype(np.uint8)


def _signed(codes: NDArray[np.uint64], width: int) -> NDArray[np.int64]:
    top = np.int64(1 << (width - 1))
    return (codes.astype(np.int64) ^ top) - top


def _value(codes: NDArray[np.uint64], type: str, width: int) -> Numbers:
    """What codes mean, in float64 (integers as they are)."""
    if type == "uint":
        return codes
    if type == "sint":
        return _signed(codes, width)
    if type == "float":
        return _float_value(codes, width)
    if type.endswith("16"):  # through half floats
        return _value(codes, type.removesuffix("16"), width).astype(np.float16).astype(np.float64)
    if type == "unorm":
        return codes / ((1 << width) - 1)
    if type == "snorm":
        return np.maximum(_signed(codes, width) / ((1 << (width - 1)) - 1), -1.0) if width > 1 else -1.0 * codes
    if type == "srgb":
        return np.asarray(srgb_to_linear(codes / ((1 << width) - 1)))
    raise UsageError(f"there is no component type {type!r}")


def _code(values: Numbers, type: str, width: int) -> NDArray[np.uint64]:
    """The bits that mean a value best."""
    if type == "float":
        return _float_code(values, width)
    type = type.removesuffix("16")
    if type == "srgb":
        values, type = linear_to_srgb(np.nan_to_num(np.clip(values, 0.0, 1.0), nan=0.0)), "unorm"
    low, high, scale = {
        "unorm": (0, 1, (1 << width) - 1),
        "snorm": (-1, 1, (1 << (width - 1)) - 1),
        "uint": (0, (1 << width) - 1, 1),
        "sint": (-(1 << (width - 1)), (1 << (width - 1)) - 1, 1),
    }[type]
    exact = values if values.dtype.kind != "f" else np.nan_to_num(values.astype(np.float64), nan=0.0)
    if exact.dtype.kind != "f":
        exact = exact.astype(np.int64)
    scaled = np.clip(exact, low, high) * scale
    if type.endswith("int"):
        whole = np.trunc(scaled).astype(np.int64)
    else:
        whole = np.trunc(scaled + np.where(scaled < 0, -0.5, 0.5)).astype(np.int64)
    return whole.astype(np.uint64) & np.uint64((1 << width) - 1)


def _float_value(codes: NDArray[np.uint64], width: int) -> Numbers:
    if width == 32:
        return codes.astype(np.uint32).view(np.float32)
    if width == 16:
        return codes.astype(np.uint16).view(np.float16).astype(np.float32)
    # A half float is the same with a sign above and more bits below.
    shift = 10 - _small_mantissa(width)
    return (codes << np.uint64(shift)).astype(np.uint16).view(np.float16).astype(np.float32)


def _float_code(values: Numbers, width: int) -> NDArray[np.uint64]:
    single = values.astype(np.float32)
    if width == 32:
        return single.view(np.uint32).astype(np.uint64)
    if width == 16:
        return single.astype(np.float16).view(np.uint16).astype(np.uint64)
    mantissa = _small_mantissa(width)
    exact = np.maximum(single.astype(np.float64), 0.0)
    finite = np.where(np.isfinite(exact), exact, 0.0)
    # The step between neighbours at this size; below 2^-14 it stays the same.
    step = np.exp2(np.maximum(np.floor(np.log2(np.maximum(finite, 2.0**-30))), -14) - mantissa)
    rounded = np.rint(finite / step) * step
    exponent = np.maximum(np.floor(np.log2(np.maximum(rounded, 2.0**-30))), -15)
    normal = (exponent + 15) * (1 << mantissa) + (rounded / np.exp2(exponent) - 1) * (1 << mantissa)
    codes = np.where(rounded < 2.0**-14, rounded * 2.0 ** (14 + mantissa), normal)
    codes = np.where(codes >= 31 << mantissa, 31 << mantissa, codes)  # too large: infinity
    codes = np.where(np.isposinf(single), 31 << mantissa, codes)
    codes = np.where(np.isnan(single), (31 << mantissa) | (1 << (mantissa - 1)), codes)
    return codes.astype(np.uint64)


def _small_mantissa(width: int) -> int:
    try:
        return _SMALL_FLOATS[width]
    except KeyError:
        raise UsageError(f"there are no floats of {width} bits") from None


def _decode_blocks(elements: Bytes, layout: PixelLayout, types: Sequence[str], srgb: bool) -> Numbers:
    codec = blocks.codec(layout, types, srgb)
    values = blocks.texels(elements, layout, codec)
    linear = srgb_to_linear(np.arange(256) / 255).astype(np.float32)
    if values.dtype == np.uint8:
        if not srgb:
            return values / np.float32(255)
        found = np.take(linear, values, mode="clip")  # quicker than the mode that raises
        found[..., 3] = values[..., 3] / np.float32(255)
        return found
    if codec.srgb:  # 8 bits, too
        values[..., :3] = linear[np.rint(values[..., :3] * 255).astype(np.uint8)]
    elif srgb and layout.name in _SRGB_FLOATS:
        _linear(values)
    for channel, type in enumerate(types):
        if type.endswith("16"):  # through half floats
            values[..., channel] = values[..., channel].astype(np.float16)
    return values


def _linear(values: Numbers) -> Numbers:
    values[..., :3] = srgb_to_linear(values[..., :3])
    return values


def _decode_pairs(elements: Bytes, layout: PixelLayout, types: Sequence[str], srgb: bool) -> Numbers:
    """Formats in which two pixels share red and blue and have a green each."""
    height, count = elements.shape[:2]
    values = np.ones((height, count, 2, 4), np.float32)
    for component in layout.components:
        channel = _CHANNELS[component.name[0]][0]
        value = _value(_codes(elements, component), component.type or types[channel], component.width)
        if component.name[1:]:
            values[:, :, int(component.name[1:]), channel] = value
        else:
            values[:, :, :, channel] = value[:, :, None]
    pixels = values.reshape(height, 2 * count, 4)
    return _linear(pixels) if srgb else pixels
