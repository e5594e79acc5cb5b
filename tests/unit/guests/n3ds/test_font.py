"""The system font: what is read back is what was rendered, and it lies in memory as programs expect it."""

from __future__ import annotations

import contextlib
import lzma
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import features

from pocketgpu.errors import CaptureError
from pocketgpu.facts.formats import TEXTURE_FORMATS
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.font import HEADER, Font, system_font
from pocketgpu.inspect.pictures.images import to_picture

ROOT = Path(__file__).resolve().parents[4]
SOURCE = Path("/usr/share/fonts/truetype/liberation2/LiberationSans-Regular.ttf")
FREETYPE = "2.14.3"
"""The version that rendered the file of the package."""
needs_source = pytest.mark.skipif(not SOURCE.exists(), reason="needs Debian's fonts-liberation2")


def maker() -> Any:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import make_system_font
    finally:
        del sys.path[0]
    return make_system_font


@pytest.fixture(scope="module")
def font() -> Font:
    return Font.read(system_font())


def test_it_has_the_console_s_sheets(font: Font) -> None:
    assert (font.width, font.height, font.columns, font.lines) == (128, 32, 5, 1)
    assert (font.cell_width, font.cell_height) == (24, 30)
    assert font.sheet_size == 128 * 32 // 2 and font.sheets_at % 0x80 == 0
    assert len(font.shared_memory()) < 0x332000


def test_the_usual_characters_are_there(font: Font) -> None:
    for text in ("Hello, World! 0123456789", "äöüßéñç€", "Πού είναι", "Я очень рад", "→♥♪", "\ue000\ue006"):
        assert [one for one in text if ord(one) not in font.codes] == []
    assert "日" not in map(chr, font.codes)
    assert (font.glyph("日").pixels == font.glyph("\ufffd").pixels).all()
    assert not font.glyph(" ").pixels.any() and font.glyph(" ").advance > 3
    assert font.glyph("i").advance < font.glyph("M").advance


@needs_source
def test_every_glyph_that_is_read_is_the_one_that_was_rendered() -> None:
    make = maker()
    font = Font.read(make.font_file(SOURCE))
    codes = make.characters(SOURCE)
    assert len(codes) > 600
    for code in codes:
        wanted, found = make.rendered(SOURCE, code), font.glyph(chr(code))
        assert (found.left, found.advance) == (wanted.left, wanted.advance), hex(code)
        assert found.pixels.shape == wanted.pixels.shape and (found.pixels == wanted.pixels).all(), hex(code)


@needs_source
@pytest.mark.skipif(features.version("freetype2") != FREETYPE, reason="another version of FreeType renders otherwise")
def test_the_file_of_the_package_is_made_by_the_tool() -> None:
    assert maker().font_file(SOURCE) == system_font()


def test_in_memory_pointers_are_addresses(font: Font) -> None:
    block = font.shared_memory()
    assert block[:4] == b"\2\0\0\0" and block[HEADER : HEADER + 4] == b"CFNU"
    start = layout.FONT + HEADER

    def word(address: int) -> int:
        return struct.unpack_from("<I", block, address - layout.FONT)[0]

    sheets, widths, maps = word(start + 0x24), word(start + 0x28), word(start + 0x2C)
    assert block[sheets - 8 - layout.FONT :][:4] == b"TGLP"
    assert block[widths - 8 - layout.FONT :][:4] == b"CWDH"
    count = 0
    while maps:
        assert block[maps - 8 - layout.FONT :][:4] == b"CMAP"
        maps, count = word(maps + 8), count + 1
    assert count > 10
    assert word(sheets + 0x14) % 0x80 == 0


def test_a_dump_of_shared_memory_is_read_too(font: Font) -> None:
    for dump in (font.shared_memory(), font.shared_memory()[HEADER:]):
        again = Font.read(dump)
        assert again.codes == font.codes and again.data == font.data
        assert np.array_equal(again.glyph("Q").pixels, font.glyph("Q").pixels)


@pytest.mark.parametrize("data", [b"", b"CFNT", b"\x11abc", b"CFNT" + bytes(0x100), bytes(0x200)])
def test_what_is_no_font_is_refused(data: bytes) -> None:
    with pytest.raises(CaptureError, match="not a font"):
        Font.read(data)


def test_each_changed_word_of_the_records_is_refused_or_read() -> None:
    """Never another error, an endless chain or a read outside of the file."""
    whole = system_font()
    font = Font.read(whole)
    records = [*range(0, 0x60, 4), *range(font.sheets_at + font.sheet_size * font.sheet_count, len(whole) - 4, 4)]
    for at in records[:: max(1, len(records) // 150)]:
        for value in (0, 0xFFFFFFFF, 0x7FFFFFFF, 0x3C, at):
            data = bytearray(whole)
            struct.pack_into("<I", data, at, value)
            with contextlib.suppress(CaptureError):
                Font.read(bytes(data)).glyph("A")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="cannot be read"):
        system_font(tmp_path / "none.bcfnt")
    path = tmp_path / "font.bcfnt"
    path.write_bytes(system_font())
    assert system_font(path) == lzma.decompress((ROOT / "src/pocketgpu/data/system_font.bcfnt.xz").read_bytes())


def test_the_gpu_reads_the_same_texels(font: Font) -> None:
    """Our decoder of A4 textures gives the coverage that the reader gives."""
    fmt = TEXTURE_FORMATS[font.format]
    assert fmt.name == "A4"
    for number in (0, 7, font.sheet_count - 1):
        at = font.sheets_at + font.sheet_size * number
        picture = to_picture(font.data[at : at + font.sheet_size], fmt, font.width, font.height, "tiled")
        alpha = np.asarray(picture.convert("RGBA"))[..., 3]
        assert (alpha == 17 * font.sheet(number)).all() and alpha.any(), number
