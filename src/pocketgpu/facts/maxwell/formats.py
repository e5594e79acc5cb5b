"""Pixel and vertex formats of the Tegra X1's GPU: code to name, size and the bits of each component.

Five sets of codes: colour targets, depth targets, textures (COMPONENTS of a texture header), vertex attributes
(COMPONENT_BIT_WIDTHS) and the 2D engine. Bits count from the lowest bit of the first byte. Some formats have no types:
texture components get theirs from the header, vertex components from NUMERICAL_TYPE.

Source: names and codes from NVIDIA's public headers for class B197, A140 and 902D. How to read the names: parts joined
by an underscore are consecutive in memory, letters without underscores are written from the highest bit down.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from pocketgpu.facts.dialect.tables import parse_bits
from pocketgpu.facts.maxwell.classes import TABLES
from pocketgpu.late_dataclass import dataclass


class Component(NamedTuple):
    """Bits lo .. lo+width-1 of a pixel.

    name: "R" "G" "B" "A", "Z" depth, "S" stencil, "Y" luminance, "E" exponent, "X" and "V" unused; "G0" and "G1" where
    two pixels share the rest. type: "unorm" "snorm" "uint" "sint" "float" (of 10, 11, 16 or 32 bits) "srgb" (unorm
    that holds sRGB) "mantissa" "exponent" "ignored" "zero" and "one" (written as such), or "" if the type is defined
    elsewhere. meaning: "Z", "S" or "X" if a texture shows depth or stencil as the colour `name`.
    """

    name: str
    type: str
    lo: int
    width: int
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class PixelLayout:
    """One format. `bytes` is per block of `block` (width, height) pixels; compressed formats have no components.

    bytes is 0 for a format that does not consist of bytes, or is not described (depth with virtual coverage).
    """

    code: int
    name: str
    bytes: int
    block: tuple[int, int] = (1, 1)
    components: tuple[Component, ...] = ()
    doc: str = ""

    @property
    def compressed(self) -> bool:
        """Whether blocks of pixels must be decoded together."""
        return self.bytes > 0 and not self.components

    def component(self, name: str) -> Component | None:
        """The component of that name, or None."""
        return next((one for one in self.components if one.name == name), None)


class FormatTable(Mapping[int, PixelLayout]):
    """The formats of one set of codes; read at the first use. `named` finds a format by name."""

    def __init__(self, use: str) -> None:
        self.use = use

    @cached_property
    def _by_code(self) -> dict[int, PixelLayout]:
        return {layout.code: layout for layout in _read(self.use)}

    def __getitem__(self, code: int) -> PixelLayout:
        return self._by_code[code]

    def __iter__(self) -> Iterator[int]:
        return iter(self._by_code)

    def __len__(self) -> int:
        return len(self._by_code)

    def named(self, name: str) -> PixelLayout:
        """The format of that name. Raises KeyError."""
        for layout in self.values():
            if layout.name == name:
                return layout
        raise KeyError(f"there is no {self.use} format {name!r}")


def _read(use: str) -> Iterator[PixelLayout]:
    for row in TABLES.read("formats"):
        if row["use"] != use:
            continue
        width, _, height = (row["block"] or "1x1").partition("x")
        parts = tuple(_component(text) for text in row["components"].split())
        yield PixelLayout(
            int(row["code"], 16), row["name"], int(row["bytes"]), (int(width), int(height)), parts, row["note"]
        )


def _component(text: str) -> Component:
    """ "R:unorm@7:0" or "G=Z:unorm@31:8"."""
    head, _, bits = text.partition("@")
    name, _, type_ = head.partition(":")
    name, _, meaning = name.partition("=")
    lo, width, _ = parse_bits(bits)
    return Component(name, type_, lo, width, meaning)


COLOR_TARGET: Final = FormatTable("color")
"""SET_COLOR_TARGET_FORMAT; code 0 disables the slot."""
DEPTH: Final = FormatTable("depth")
"""SET_ZT_FORMAT."""
VERTEX: Final = FormatTable("vertex")
"""SET_VERTEX_ATTRIBUTE_*.COMPONENT_BIT_WIDTHS."""
TEXTURE: Final = FormatTable("texture")
"""COMPONENTS of a texture header."""
TWOD: Final = FormatTable("twod")
"""SET_DST_FORMAT and SET_SRC_FORMAT of class 902D."""

SHOWN: Final[Mapping[str, str]] = {
    "RGBA8_UNORM": "A8B8G8R8",
    "RGBX8_UNORM": "X8B8G8R8",
    "BGRA8_UNORM": "A8R8G8B8",
    "BGRX8_UNORM": "X8R8G8B8",
    "RGB565_UNORM": "R5G6B5",
    "RGBA8_SRGB": "A8BL8GL8RL8",
    "RGBX8_SRGB": "X8BL8GL8RL8",
    "BGRA8_SRGB": "A8RL8GL8BL8",
    "BGRX8_SRGB": "X8RL8GL8BL8",
}
"""Formats of surfaces that the system's windows show, by their names in recordings: the colour target with these
pixels. Components are in memory order, those of the 16-bit format from the top bit on. Source: libnx."""


def shown_layout(name: str) -> PixelLayout:
    """The layout of a window format, by its name with or without "_UNORM" or "_SRGB": sRGB is shown unchanged. Raises
    KeyError."""
    return COLOR_TARGET.named(SHOWN[f"{name.partition('_')[0]}_UNORM"])
