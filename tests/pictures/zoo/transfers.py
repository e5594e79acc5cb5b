"""Memory fills, display transfers, copies, and what screens make of framebuffers."""

from __future__ import annotations

import numpy as np

from pocketgpu.facts.formats import BY_NAME, EXTERNAL_FORMATS
from pocketgpu.pica.memory import surface

from .stage import LETTER_F, Array, List, Scene, rgba, scene

SIDE = 64
FORMATS = [format.name for _, format in sorted(EXTERNAL_FORMATS.items())]
WAYS = [("RGBA8", out) for out in FORMATS] + [("RGB8", "RGB8")]
WAYS += [(a, b) for a in FORMATS[2:] for b in FORMATS[2:]]


def card(width: int, height: int) -> Array:
    """Red to the right, green upward, blue to the left, under a dark F in the middle; alpha in eight steps upward."""
    y, x = np.mgrid[0:height, 0:width]
    u, v = (x + 0.5) / width, 1 - (y + 0.5) / height
    f = LETTER_F[(y * 6 // height), (x * 6 // width)]
    return rgba(u * (1 - 0.8 * f), v * (1 - 0.8 * f), (1 - u) * (1 - 0.8 * f), np.floor(v * 8) / 7)


def store(s: Scene, format: str, layout: str = "tiled", width: int = SIDE, height: int = SIDE) -> int:
    return s.put(surface.encode(card(width, height), BY_NAME[format], layout))  # type: ignore[arg-type]


def only_tiles(s: Scene) -> None:
    """The target plays no part: cells have memory of their own, and nothing is drawn."""
    s.surfaces.clear()
    s.cl = List()


@scene(5, 3, SIDE)
def transfer_formats(s: Scene) -> None:
    """Display transfers from tiles to lines, input format to output format: RGBA8 to all, RGB8 to itself, those of 16
    bits to each other."""
    only_tiles(s)
    for source, output in WAYS:
        target = s.capture.allocate(4 * SIDE * SIDE, region="VRAM")
        s.capture.transfer(store(s, source), target, SIDE, SIDE, input_format=source, output_format=output)
        s.tile(f"{source} to {output}", target, SIDE, SIDE, output)


@scene(4, 3, SIDE)
def transfer_flags(s: Scene) -> None:
    """Display transfers of a card of 64x64: plain; upside down; half as wide; half as wide and high; cropped to 32
    columns; cropped to 32 rows; cropped to 48 columns and upside down (moved down, as on a console); lines to tiles;
    tiles to tiles; tiles to tiles at half the size. Copies of raw tiles: the left half of each row of tiles; every
    second row of tiles."""
    only_tiles(s)
    tiled, lines = store(s, "RGBA8"), store(s, "RGBA8", "linear")

    def transfer(label: str, source: int, width: int, height: int, layout: str = "linear", **flags: object) -> None:
        target = s.capture.allocate(8 * SIDE * SIDE, region="VRAM")
        s.capture.transfer(source, target, SIDE, SIDE, output_format="RGBA8", **flags)  # type: ignore[arg-type]
        s.tile(label, target, width, height, "RGBA8", layout)

    half = SIDE // 2
    transfer("plain", tiled, SIDE, SIDE)
    transfer("upside down", tiled, SIDE, SIDE, flip=True)
    transfer("scale 2x1", tiled, half, SIDE, scale=1)
    transfer("scale 2x2", tiled, half, half, scale=2)
    transfer("32 columns", tiled, half, SIDE, output_width=half, crop=True)
    transfer("32 rows", tiled, SIDE, half, output_height=half)
    transfer("48 columns, upside down", tiled, 48, SIDE, output_width=48, crop=True, flip=True)
    transfer("lines to tiles", lines, SIDE, SIDE, "tiled", linear_to_tiled=True)
    transfer("tiles to tiles", tiled, SIDE, SIDE, "tiled", no_tiling=True)
    transfer("tiles to tiles, 2x2", tiled, half, half, "tiled", no_tiling=True, scale=2)
    row = 4 * 8 * SIDE  # bytes of a row of tiles
    for label, size, line, width, height in (
        ("copy of the left half", 4 * SIDE * half, (row // 2, row // 2), half, SIDE),
        ("copy of every second row of tiles", 4 * SIDE * half, (row, row), SIDE, half),
    ):
        target = s.capture.allocate(4 * SIDE * SIDE, region="VRAM")
        s.capture.copy(tiled, target, size, input_line=line)
        s.tile(label, target, width, height, "RGBA8", "tiled")


@scene(4, 1, 16)
def fills(s: Scene) -> None:
    """Memory fills of 16, 24 and 32 bits, each over two thirds of a square of lines that held grey, and one by the
    second unit over all but its first and last lines."""
    only_tiles(s)
    for label, format, value, unit in (
        ("16 bits, RGB565", "RGB565", 0xFA80, 0), ("24 bits, RGB8", "RGB8", 0x20C040, 0),
        ("32 bits, RGBA8", "RGBA8", 0x4060FFC0, 0), ("32 bits, unit 1", "RGBA8", 0xE020C0FF, 1),
    ):  # fmt: skip
        size = 16 * 16 * BY_NAME[format].bits // 8
        address = s.capture.put(b"\x77" * size, region="VRAM")
        part = (size // 8, size - size // 8) if unit else (0, size * 2 // 3 & ~15)
        s.capture.fill(address + part[0], address + part[1], value, width=BY_NAME[format].bits, unit=unit)
        s.tile(label, address, 16, 16, format)


@scene(4, 2, (100, 60))
def screens(s: Scene) -> None:
    """What screens show (one pixel of sixteen here): a card in the five formats of framebuffers; the second buffer of
    the pair (darker); lines with a gap between them, through a colour table that inverts; the lower screen."""
    only_tiles(s)

    def buffer(format: str, width: int = 400, gap: int = 0, shade: float = 1.0) -> int:
        """A framebuffer: the picture's columns from left to right, lowest pixel first."""
        picture = (card(width, 240) * shade).astype(np.uint8)[::-1].transpose(1, 0, 2)
        data = surface.encode(np.ascontiguousarray(picture), BY_NAME[format], "linear")
        rows = np.frombuffer(data, np.uint8).reshape(width, -1)
        return s.put(np.pad(rows, ((0, 0), (0, gap))))

    for format in FORMATS:
        s.capture.show("top", buffer(format), format=format)
        s.shot(format)
    s.capture.show("top", buffer("RGB565"), format="RGB565")
    s.capture.write("PDC0_ADDRESS_A1", address=buffer("RGB565", shade=0.5)).write("PDC0_SELECT", next=True)
    s.shot("second buffer")
    s.capture.show("top", buffer("RGB8", gap=48), stride=768)
    s.capture.write("PDC0_LUT_INDEX")
    for n in range(256):
        s.capture.write("PDC0_LUT_DATA", 0x010101 * (255 - n))
    s.shot("gap and colour table")
    s.capture.show("bottom", buffer("RGB565", 320), format="RGB565")
    s.shot("lower screen", "bottom")
