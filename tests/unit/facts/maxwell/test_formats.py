"""Pixel and vertex formats of the Tegra X1's GPU."""

from __future__ import annotations

import pytest

from pocketgpu.facts.maxwell import B197, TWOD
from pocketgpu.facts.maxwell import TIC as HEADERS
from pocketgpu.facts.maxwell.formats import COLOR_TARGET, DEPTH, TEXTURE, VERTEX, FormatTable
from pocketgpu.facts.maxwell.formats import TWOD as BLIT

TYPES = {"", "unorm", "snorm", "uint", "sint", "float", "srgb", "mantissa", "exponent", "ignored", "zero", "one"}


@pytest.mark.parametrize("formats", [COLOR_TARGET, DEPTH, TEXTURE, VERTEX, BLIT], ids=lambda one: one.use)
def test_components_fill_a_pixel_without_gap_or_overlap(formats: FormatTable) -> None:
    for code, layout in formats.items():
        assert layout.code == code and formats.named(layout.name) is layout
        covered = 0
        for part in layout.components:
            mask = ((1 << part.width) - 1) << part.lo
            assert not covered & mask, layout.name
            covered |= mask
            assert part.type in TYPES, layout.name
            if part.type == "float":
                assert part.width in (10, 11, 16, 32), layout.name
        assert not layout.components or covered == (1 << 8 * layout.bytes) - 1, layout.name


def test_codes_are_those_of_the_registers() -> None:
    assert set(DEPTH) == set(B197["SET_ZT_FORMAT"]["V"].enum or ())
    sizes = B197["SET_VERTEX_ATTRIBUTE_A"]["COMPONENT_BIT_WIDTHS"].enum or {}
    assert {code: layout.name for code, layout in VERTEX.items()} == sizes
    blit = TWOD["SET_SRC_FORMAT"]["V"].enum or {}
    assert {code: layout.name for code, layout in BLIT.items()} == dict(blit)
    textures = {code: name.removeprefix("SIZES_") for code, name in (HEADERS["BL"]["COMPONENTS"].enum or {}).items()}
    assert textures.pop(0x7F) == "CS_BITFIELD_SIZE"  # the header's word for the size of the field
    assert {code: layout.name for code, layout in TEXTURE.items()} == textures


def test_some_layouts() -> None:
    rgba = COLOR_TARGET.named("A8B8G8R8")
    assert (rgba.code, rgba.bytes, rgba.component("R")) == (0xD5, 4, ("R", "unorm", 0, 8, ""))
    assert COLOR_TARGET[0xD0].component("B") == ("B", "srgb", 0, 8, "")
    assert COLOR_TARGET[0].bytes == 0 and not COLOR_TARGET[0].compressed
    assert TEXTURE[0x29].component("G") == ("G", "unorm", 8, 24, "Z")
    assert TEXTURE.named("DXT1").compressed and TEXTURE.named("DXT1").block == (4, 4)
    assert TEXTURE.named("ASTC_2D_10X6").block == (10, 6) and TEXTURE.named("DXT45").bytes == 16
    assert DEPTH.named("ZF32_X24S8").component("S") == ("S", "uint", 32, 8, "")
    with pytest.raises(KeyError):
        TEXTURE.named("NOTHING")
    assert 0x3F not in TEXTURE
