"""Texture headers (TIC): their fields, the layout of levels and layers, and texels as arrays and pictures.

A header is 32 bytes in one of five forms: buffer, pitch or block-linear, the latter two with or without a colour key.
This is the Maxwell form; the older one (SET_SELECT_MAXWELL_TEXTURE_HEADERS = 0) is not decoded here.

Sources: NVIDIA's public headers for class B197 (fields); drivers and simulators for their combined meaning: swizzle
after conversion, the blocks of small levels, the distance of layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pocketgpu.arena import Bytes
from pocketgpu.errors import UsageError
from pocketgpu.facts.choices import DEFAULTS
from pocketgpu.facts.maxwell.formats import TEXTURE, PixelLayout
from pocketgpu.facts.maxwell.headers import TIC, Data, as_number, tic_of
from pocketgpu.lanes import Engine
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.formats import arrays
from pocketgpu.maxwell.formats.channels import texture_types
from pocketgpu.maxwell.formats.samples import sample_grids
from pocketgpu.maxwell.memory.blocklinear import Layout, Level, MipLayout, mip_layout
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.memory.page_table import ADDRESS_SPACE
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide, to_array

HEADER_SIZE = 32
#: Levels with more bytes are not read: the largest level that programs have is a quarter of it.
MAX_LEVEL_BYTES = 1 << 29

#: Codes of X_SOURCE.
SOURCES = TIC["BL"]["X_SOURCE"].values
_IN_ORDER = (SOURCES.IN_R, SOURCES.IN_G, SOURCES.IN_B, SOURCES.IN_A)
_FLAT = ("ONE_D", "ONE_D_ARRAY", "ONE_D_BUFFER")
_ARRAYS = ("ONE_D_ARRAY", "TWO_D_ARRAY", "CUBEMAP_ARRAY")
_FACES = 6


def sources_of(texel: Sequence[Any], one: Any) -> dict[int, Any]:
    """The values of the codes of X_SOURCE for a texel's red, green, blue and alpha."""
    return {SOURCES.IN_ZERO: 0, **dict(zip(_IN_ORDER, texel, strict=True)),
            SOURCES.IN_ONE_INT: one, SOURCES.IN_ONE_FLOAT: one}  # fmt: skip


@dataclass(frozen=True)
class TextureHeader:
    """A decoded texture header; make it with `TextureHeader.parse`.

    kind: TEXTURE_TYPE as the class header names it. layout: "block-linear", "pitch" or "buffer". types, swizzle: of
    red, green, blue, alpha; swizzle as codes of X_SOURCE (`SOURCES`). width, height, depth: in texels; layers: array
    elements, six for each cube. levels: all that are in memory; the view has `first_level` to `last_level` of them.
    samples: of a pixel in x and y.
    """

    address: int
    format: PixelLayout
    types: tuple[str, str, str, str]
    swizzle: tuple[int, int, int, int]
    srgb: bool
    kind: str
    layout: str
    width: int
    height: int = 1
    depth: int = 1
    layers: int = 1
    levels: int = 1
    first_level: int = 0
    last_level: int = 0
    pitch: int = 0
    block_height_log2: int = 0
    block_depth_log2: int = 0
    tile_width_log2: int = 0
    samples: tuple[int, int] = (1, 1)
    normalized: bool = True

    @staticmethod
    def parse(data: Data) -> TextureHeader:
        """Decode a Maxwell texture header, of 32 bytes or eight words.

        :raises UsageError: unknown version, format, component type or texture type.
        """
        number = as_number(data)
        form = tic_of(number)
        if form is None:
            raise UsageError(f"no texture header has version {TIC['BL']['HEADER_VERSION'].raw(number)}")
        get = lambda name: form[name].raw(number) if name in form else 0
        bytes_of = lambda name: form[name].bytes(number)
        format = TEXTURE.get(get("COMPONENTS"))
        if format is None:
            raise UsageError(f"no texture format has the code {get('COMPONENTS'):#x}")
        codes = [get(f"{c}_DATA_TYPE") for c in "RGBA"]
        names = texture_types()
        if not all(code in names for code in codes):
            raise UsageError(f"texture components of types {codes}")
        red, green, blue, alpha = (names[code] for code in codes)
        x, y, z, w = (get(f"{c}_SOURCE") for c in "XYZW")
        common: dict[str, Any] = {
            "format": format, "types": (red, green, blue, alpha), "swizzle": (x, y, z, w),
            "srgb": bool(get("S_R_G_B_CONVERSION")),
        }  # fmt: skip
        if form.name == "1D":
            address = get("ADDRESS_BITS31TO0") | get("ADDRESS_BITS47TO32") << 32
            width = (get("WIDTH_MINUS_ONE_BITS31TO16") << 16 | get("WIDTH_MINUS_ONE_BITS15TO0")) + 1
            return TextureHeader(address % ADDRESS_SPACE, kind="ONE_D_BUFFER", layout="buffer", width=width, **common)
        kind = form["TEXTURE_TYPE"].values.get(get("TEXTURE_TYPE"), "")
        if not kind or kind == "TT_BIT_FIELD_SIZE":
            raise UsageError(f"no texture has the type {get('TEXTURE_TYPE')}")
        size: dict[str, Any] = {
            "kind": kind, "width": get("WIDTH_MINUS_ONE") + 1, "normalized": bool(get("NORMALIZED_COORDS")),
            "height": 1 if kind in _FLAT else get("HEIGHT_MINUS_ONE") + 1,
        }  # fmt: skip
        high = get("ADDRESS_BITS47TO32") << 32
        if form.name.startswith("PITCH"):
            address, pitch = high | bytes_of("ADDRESS_BITS31TO5"), bytes_of("PITCH_BITS20TO5")
            return TextureHeader(address % ADDRESS_SPACE, layout="pitch", pitch=pitch, **size, **common)
        if kind == "THREE_D":
            size["depth"] = get("DEPTH_MINUS_ONE") + 1
        layers = get("DEPTH_MINUS_ONE") + 1 if kind in _ARRAYS else 1
        if kind.startswith("CUBEMAP"):
            layers *= _FACES
        levels = 1 if kind in ("TWO_D_NO_MIPMAP", "ONE_D_BUFFER") else get("MAX_MIP_LEVEL") + 1
        samples = sample_grids().get(get("MULTI_SAMPLE_COUNT"))
        if samples is None:
            raise UsageError(f"no texture has the multisample mode {get('MULTI_SAMPLE_COUNT')}")
        last = min(get("RES_VIEW_MAX_MIP_LEVEL"), levels - 1)
        return TextureHeader(
            (high | bytes_of("ADDRESS_BITS31TO9")) % ADDRESS_SPACE,
            layout="block-linear",
            layers=layers,
            levels=levels,
            first_level=min(get("RES_VIEW_MIN_MIP_LEVEL"), last),
            last_level=last,
            block_height_log2=get("GOBS_PER_BLOCK_HEIGHT"),
            block_depth_log2=get("GOBS_PER_BLOCK_DEPTH"),
            tile_width_log2=get("TILE_WIDTH_IN_GOBS"),
            samples=samples,
            **size,
            **common,
        )

    @cached_property
    def mips(self) -> MipLayout:
        """The layout of levels and layers of a block-linear texture, with the default of the choice
        memory.block_depth_base.

        :raises UsageError: the texture is not block-linear, its format has no description, or blocks are too large.
        """
        return self.mips_with(DEFAULTS)

    def mips_with(self, choices: Mapping[str, str]) -> MipLayout:
        """`mips` with the given choices."""
        if self.layout != "block-linear":
            raise UsageError(f"a {self.layout} texture has no blocks")
        if not self.format.bytes:
            raise UsageError(f"the texture format {self.format.name} has no description")
        return mip_layout(
            self.width * self.samples[0],
            self.height * self.samples[1],
            self.depth,
            element_bytes=self.format.bytes,
            element=self.format.block,
            levels=self.levels,
            layers=self.layers,
            block_height_log2=self.block_height_log2,
            block_depth_log2=self.block_depth_log2,
            tile_width_log2=self.tile_width_log2,
            reduce_base_depth=choices["memory.block_depth_base"] == "reduce",
        )

    def surface(self, level: int = 0, layer: int = 0, choices: Mapping[str, str] = DEFAULTS) -> tuple[Level, int]:
        """One level of one layer, and its GPU address. Levels count from the first of the view.

        :raises UsageError: there is no such level or layer, or as `mips`.
        """
        number = level + self.first_level
        if level < 0 or number > self.last_level or not 0 <= layer < self.layers:
            raise UsageError(f"the texture has no level {level} of layer {layer}")
        if self.layout == "block-linear":
            mips = self.mips_with(choices)
            return mips.levels[number], self.address + mips.offset_of(number, layer)
        if not self.format.bytes:
            raise UsageError(f"the texture format {self.format.name} has no description")
        across, down = self.format.block
        row = -(-self.width // across) * self.format.bytes
        return Level(self.width, self.height, 1, Layout(row, -(-self.height // down)), 0), self.address

    def read(
        self,
        memory: GpuMemory,
        engine: Engine,
        level: int = 0,
        layer: int = 0,
        z: int = 0,
        choices: Mapping[str, str] = DEFAULTS,
    ) -> tuple[Bytes, int]:
        """Rows of elements of one slice, uint8 (rows, bytes), and the number of unmapped bytes.

        :raises UsageError: there is no such slice, it has more than 512 MiB, or as `mips`.
        """
        found, address = self.surface(level, layer, choices)
        if not 0 <= z < found.depth:
            raise UsageError(f"the texture has no slice {z}")
        rows, row = found.layout.height, found.layout.width_bytes
        if rows * row > MAX_LEVEL_BYTES:
            raise UsageError(f"a texture level of {rows * row} bytes is too large to be read")
        if self.layout == "block-linear":
            side = SurfaceSide(address, z=z, layout=found.layout)
        else:
            side = SurfaceSide(address, pitch=self.pitch)
        return to_array(memory, engine, side, row, rows)

    def decode(
        self,
        memory: GpuMemory,
        engine: Engine,
        level: int = 0,
        layer: int = 0,
        z: int = 0,
        choices: Mapping[str, str] = DEFAULTS,
    ) -> arrays.Numbers:
        """Texels of one slice as a shader reads them, (height, width, 4): converted, linear, swizzled. Unmapped bytes
        are 0.

        Multisampled textures have all samples, side by side.

        :raises UsageError: as `read`, or there is no decoder for the format.
        """
        rows, _ = self.read(memory, engine, level, layer, z, choices)
        values = arrays.decode(rows, self.format, self.types, self.srgb)
        return self._swizzled(self._cropped(values, level, choices), 1)

    def picture(
        self,
        memory: GpuMemory,
        engine: Engine,
        level: int = 0,
        layer: int = 0,
        z: int = 0,
        choices: Mapping[str, str] = DEFAULTS,
    ) -> Bytes:
        """Texels of one slice as RGBA of 8 bits, (height, width, 4), swizzled. sRGB is not converted, for screens.

        :raises UsageError: as `decode`.
        """
        rows, _ = self.read(memory, engine, level, layer, z, choices)
        values = arrays.picture(rows, self.format, self.types, self.srgb)
        return self._swizzled(self._cropped(values, level, choices), 255)

    def _cropped(self, values: Any, level: int, choices: Mapping[str, str]) -> Any:
        """Remove the texels that pad a compressed texture's last blocks."""
        found, _ = self.surface(level, 0, choices)
        return values[: found.height, : found.width]

    def _swizzled(self, values: Any, one: int) -> Any:
        if self.swizzle == _IN_ORDER:
            return values
        sources = sources_of([values[..., channel] for channel in range(4)], one)
        swizzled = np.zeros_like(values)
        for channel, source in enumerate(self.swizzle):
            swizzled[..., channel] = sources.get(source, 0)
        return swizzled
