"""A texture header and a sampler as the words of a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

from pocketgpu.facts.maxwell.headers import TIC, TSC, as_number, tic_of
from pocketgpu.maxwell.formats.channels import CHANNELS, channel_of
from pocketgpu.maxwell.formats.components import ABSENT, Channel
from pocketgpu.maxwell.formats.small_floats import MANTISSA
from pocketgpu.maxwell.formats.srgb import linear_words
from pocketgpu.maxwell.formats.texture_header import TextureHeader, sources_of
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.texture_copies import is_integer, kind_of

_TARGETS: Mapping[str, int] = TIC["BL"]["TEXTURE_TYPE"].values.symbols
_TYPES = ("unorm", "snorm", "uint", "sint", "float")
"""Types of components that surfaces convert."""
_FLAT = ("TWO_D", "TWO_D_ARRAY", "TWO_D_NO_MIPMAP")
_ONE = 0x3F800000
_MIN_FILTERS, _CUBES = TSC["MIN_FILTER"].values, TSC["CUBEMAP_INTERFACE_FILTERING"].values
_REDUCTIONS, _COORDINATES = TSC["REDUCTION_FILTER"].values, TSC["FLOAT_COORD_NORMALIZATION"].values

NOTHING: Mapping[str, Any] = {
    "KIND": r.INTEGER, "TARGET": _TARGETS["TWO_D"], "WIDTH": 0, "HEIGHT": 0, "DEPTH": 0, "LAYERS": 1, "LEVELS": 1,
    "FLAGS": 0, "WRAP": [r.CLAMP_TO_EDGE] * 3, "MAG": r.POINT, "MIN": r.POINT, "MIP": r.MIP_NONE, "MAX_LOD": 0.0,
    "ANISOTROPY": 1, "ELEMENT": 1,
}  # fmt: skip
"""The record of invalid handles: zeros."""


def _log2(n: int) -> int:
    return n.bit_length() - 1


def _mask(side: int, mode: int, flags: int) -> int:
    """The bits of a texel number that count; of a mirrored texture those of two sizes."""
    if flags & r.POWERS and mode in (r.WRAP, r.MIRROR):
        return side - 1 if mode == r.WRAP else 2 * side - 1
    return -1


def _pair(value: int) -> list[int]:
    return [value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF]


def describe(texture: TextureHeader, header: bytes, sampler: bytes, choices: Mapping[str, str]) -> dict[str, Any]:
    """The words of a record by name, without LEVEL; f32 as floats.

    :raises UsageError: as `TextureHeader.surface`.
    """
    kind, integer = kind_of(texture), is_integer(texture)
    first = texture.first_level
    size = [max(1, side >> first) for side in (texture.width, texture.height, texture.depth)]
    levels = texture.last_level - first + 1
    values = _sampling(texture, header, sampler, choices, integer)
    flags = r.GOOD
    if all(side & (side - 1) == 0 for side in size):
        flags |= r.POWERS
    if values.pop("normalized"):
        flags |= r.NORMALIZED
    else:
        values["MIP"] = r.MIP_NONE
    cube = texture.kind.startswith("CUBEMAP")
    if cube and values.pop("cube") in (_CUBES.AUTO_SPAN_SEAM, _CUBES.AUTO_CROSS_SEAM):
        flags |= r.SEAMLESS
    values.pop("cube", None)
    if (levels > 1 and values["MIP"] != r.MIP_NONE) or values["MAG"] != values["MIN"] or values["ANISOTROPY"] > 1:
        flags |= r.NEEDS_LEVEL
    inside = all(mode in (r.WRAP, r.MIRROR, r.CLAMP_TO_EDGE, r.ONCE_EDGE) for mode in values["WRAP"])
    plain = values["ANISOTROPY"] == 1 and not values["REDUCTION"] and texture.samples == (1, 1)
    if texture.kind in _FLAT and kind != r.INTEGER and inside and plain and flags & r.NORMALIZED:
        flags |= r.FAST
        if not flags & r.NEEDS_LEVEL:
            values["PLAIN"] = r.SMOOTH if values["MAG"] == r.LINEAR else r.NEAR
        elif values["MAG"] == values["MIN"] == r.LINEAR:
            values["PLAIN"] = r.MIPMAPPED
    if texture.layout != "block-linear":
        flags |= r.PITCH_LINEAR
    return values | _surface(texture, choices) | {
        "KIND": kind, "TARGET": _TARGETS[texture.kind], "WIDTH": size[0], "HEIGHT": size[1], "DEPTH": size[2],
        "LAYERS": texture.layers, "LEVELS": levels, "FLAGS": flags,
        "MASK": [_mask(side, mode, flags) for side, mode in zip(size[:2], values["WRAP"], strict=False)],
        "SIDE": [float(side) for side in size[:2]], "LAST": [side - 1 for side in size[:2]],
        "SAMPLES": [_log2(n) for n in texture.samples],
    }  # fmt: skip


def _sampling(
    texture: TextureHeader, header: bytes, sampler: bytes, choices: Mapping[str, str], integer: bool
) -> dict[str, Any]:  # fmt: skip
    """All words from the sampler."""
    form, words, number = tic_of(header), as_number(header), as_number(sampler)
    assert form is not None
    of_header = lambda name: form[name].decode(words) if name in form else 0
    get = lambda name: TSC[name].raw(number)
    lod = lambda name: TSC[name].decode(number)
    mag, least, mip = get("MAG_FILTER"), get("MIN_FILTER"), get("MIP_FILTER")
    most = 1
    if least == _MIN_FILTERS.MIN_ANISO:
        codes = [get("MAX_ANISOTROPY")]
        if choices["texture.anisotropy"] == "least":
            codes.append(form["MAX_ANISOTROPY"].raw(words) if "MAX_ANISOTROPY" in form else 0)
        most = r.ANISOTROPIES[min(codes)]
    lowest = max(lod("MIN_LOD_CLAMP"), of_header("MIN_LOD_CLAMP"))
    modes = [get(f"ADDRESS_{axis}") for axis in "UVP"]
    cube = get("CUBEMAP_INTERFACE_FILTERING")
    if texture.kind.startswith("CUBEMAP") and cube == _CUBES.OVERRIDE_WRAP:
        modes = [r.CLAMP_TO_EDGE] * 3
    return {
        "WRAP": modes,
        "MAG": r.POINT if integer or mag <= r.POINT else r.LINEAR,
        "MIN": r.POINT if integer or least <= r.POINT else r.LINEAR,
        "MIP": r.MIP_POINT if integer and mip == r.MIP_LINEAR else max(mip, r.MIP_NONE),
        "LOD_BIAS": lod("MIP_LOD_BIAS") + of_header("MIP_LOD_BIAS"),
        "MIN_LOD": lowest,
        "MAX_LOD": max(lod("MAX_LOD_CLAMP"), lowest),
        "BORDER": _border(texture, get, integer),
        "COMPARE": get("DEPTH_COMPARE_FUNC"),
        "ANISOTROPY": 1 if integer else most,
        "REDUCTION": min(get("REDUCTION_FILTER"), _REDUCTIONS.RED_MAXIMUM),
        "RAW_LOD": [get("MIP_LOD_BIAS"), get("MIN_LOD_CLAMP"), get("MAX_LOD_CLAMP")],
        "normalized": texture.normalized and get("FLOAT_COORD_NORMALIZATION") == _COORDINATES.USE_HEADER_SETTING,
        "cube": cube,
    }


def _border(texture: TextureHeader, get: Any, integer: bool) -> list[int]:
    """Words of the border as a swizzled texel."""
    words = [get(f"BORDER_COLOR_{c}") for c in "RGBA"]
    if texture.srgb:
        words[:3] = linear_words()[[get(f"S_R_G_B_BORDER_COLOR_{c}") for c in "RGB"]].tolist()
    one = 1 if integer else _ONE
    sources = sources_of(words, one)
    return [sources.get(code, 0) for code in texture.swizzle]


def _surface(texture: TextureHeader, choices: Mapping[str, str]) -> dict[str, Any]:
    """The memory layout of texels, and the positions of their bits."""
    level, address = texture.surface(0, 0, choices)
    layout = level.layout
    stride = texture.mips_with(choices).layer_stride if texture.layout == "block-linear" else 0
    return {
        "ADDRESS": _pair(address), "STRIDE": _pair(stride), "BLOCK_HEIGHT": layout.block_height_log2,
        "BLOCK_DEPTH": layout.block_depth_log2, "BLOCK_SIZE": layout.block_size, "ROW_SIZE": layout.row_size,
        "SLICE_SIZE": _pair(layout.slice_size), "PITCH": texture.pitch, "ELEMENT": texture.format.bytes,
        "CHANNEL": [number for channel in _channels(texture) for number in astuple(channel)],
    }  # fmt: skip


def _channels(texture: TextureHeader) -> list[Channel]:
    """How surfaces convert red to alpha. Channels that surfaces do not have (luminance, shared exponents) have no
    bits."""
    found = []
    for name, of_header in zip(CHANNELS, texture.types, strict=True):
        part, channel = texture.format.component(name), Channel(ABSENT, 0, 0, 1)
        if part is not None:
            type = (part.type or of_header).removesuffix("16")
            exists = type != "float" or part.width in (32, *MANTISSA)
            channel = channel_of(part, type) if type in _TYPES and exists else channel
        found.append(channel)
    return found
