"""Scenes of the transfer engine: which pixels go where, and which transfers never end.

After a transfer that may never end nothing else is transferred, so it writes into the framebuffer itself.
"""

from __future__ import annotations

import numpy as np

from pocketgpu.facts.formats import BY_NAME
from pocketgpu.pica.memory import surface
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.bands import COLUMNS, Bands, plain
from pocketgpu.probe.scenes.n3ds.canvas import BLUE, DARK, HEIGHT, LEFT, LIGHT, ORANGE, RIGHT, Box, Color, SceneCanvas

_SIDE = 64
"""Of a texture that a transfer makes."""


def _bytes(width: int, height: int, format: str) -> int:
    return width * height * BY_NAME[format].bits // 8


def _cells(width: int, height: int, **colors: Color) -> np.ndarray:
    """A picture of four quarters, named upper_left and so on; blue where nothing is given."""
    pixels = np.full((height, width, 4), BLUE, np.uint8)
    for name, color in colors.items():
        row, column = name.split("_")
        rows = slice(None, height // 2) if row == "upper" else slice(height // 2, None)
        columns = slice(None, width // 2) if column == "left" else slice(width // 2, None)
        pixels[rows, columns] = color
    return pixels


def _result(canvas: SceneCanvas, format: str, size: int = _SIDE, background: Color = DARK) -> int:
    """Space for the texture that a transfer makes, in a colour that shows that nothing was written."""
    return plain(canvas.capture, size, size, background, format)


def _draw(canvas: SceneCanvas, box: Box, address: int, format: str, size: int = _SIDE) -> None:
    canvas.list.texture(0, address, size, size, format, filter="nearest")
    canvas.show("texture 0")
    canvas.quad(box)


# -- places ------------------------------------------------------------------------------------------------------------
@scene("transfer.uncropped_stride")
def _() -> Made:
    """Input lines have 80 pixels more than output lines, light ones, and the crop flag is off. The right band is orange
    (input), or light parts run through it (output)."""
    bands, wide, height = Bands(), HEIGHT + 80, COLUMNS
    source = bands.capture.allocate(_bytes(wide, height, "RGBA8"))
    pixels = np.full((height, wide, 4), ORANGE, np.uint8)
    pixels[:, HEIGHT:] = LIGHT
    bands.capture.load(source, surface.encode(pixels, BY_NAME["RGBA8"], "tiled"))
    bands.capture.transfer(source, bands.right, wide, height, output_width=HEIGHT)
    return bands.made()


@scene("transfer.no_tiling")
def _() -> Made:
    """A texture with an orange quarter, shown left, is turned upside down with the flag for no tiling. Right, the
    result: turned upside down (tiled); or its tiles in reverse order, so that left and right change too (raw)."""
    canvas = SceneCanvas()
    source = canvas.capture.put_texture(_cells(_SIDE, _SIDE, upper_left=ORANGE))
    target = _result(canvas, "RGBA8")
    canvas.capture.transfer(source, target, _SIDE, _SIDE, output_format="RGBA8", no_tiling=True, flip=True)
    _draw(canvas, LEFT, source, "RGBA8")
    _draw(canvas, RIGHT, target, "RGBA8")
    return canvas.made((target, _bytes(_SIDE, _SIDE, "RGBA8")))


@scene("transfer.both_tiling_flags")
def _() -> Made:
    """A transfer from linear to tiled has the flag for no tiling too. The right band is orange (linear), or dark, as
    the transfer never ends (hang)."""
    bands = Bands()
    source = plain(bands.capture, HEIGHT, COLUMNS, ORANGE)
    bands.capture.transfer(source, bands.right, HEIGHT, COLUMNS, linear_to_tiled=True, no_tiling=True)
    return bands.made(interrupts=True)


@scene("transfer.flip_crop")
def _() -> Made:
    """A picture is cropped and turned upside down. The orange band is beside the blue one (plain), or as far right as
    what was cropped is long (skew)."""
    bands, height, columns = Bands(), HEIGHT, COLUMNS // 2
    source = plain(bands.capture, 2 * height, columns, ORANGE)
    bands.capture.transfer(
        source, bands.at(LEFT.right), 2 * height, columns, output_width=height, crop=True, flip=True
    )
    return bands.made()


@scene("transfer.zero_size")
def _() -> Made:
    """A transfer has no height. The unit reports its end (finish), or nothing (ignore). There is nothing to be
    seen."""
    bands = Bands()
    source = plain(bands.capture, HEIGHT, COLUMNS, ORANGE)
    bands.capture.transfer(source, bands.right, HEIGHT, 0)
    return bands.made(interrupts=True, pictures=False)


@scene("transfer.block32")
def _() -> Made:
    """A linear picture, left half orange, is put into blocks of 32 x 32 pixels, and the result is used as a texture.
    It looks the same, as on the left (tiles), or has orange above and blue below (morton)."""
    canvas, side, format = SceneCanvas(), 32, "RGBA8"
    pixels = _cells(side, side, upper_left=ORANGE, lower_left=ORANGE)
    source = canvas.capture.put(surface.encode(pixels, BY_NAME[format], "linear"))
    target = _result(canvas, format, side)
    canvas.capture.transfer(
        source, target, side, side, output_format=format, linear_to_tiled=True, block32=True
    )
    _draw(canvas, LEFT, canvas.capture.put_texture(pixels, format), format, side)
    _draw(canvas, RIGHT, target, format, side)
    return canvas.made((target, _bytes(side, side, format)))


# -- formats -----------------------------------------------------------------------------------------------------------
@scene("transfer.odd_formats")
def _() -> Made:
    """A picture of three bytes a pixel is transferred to four. The right band is orange (convert), or dark, as the
    transfer never ends (hang)."""
    bands = Bands("RGBA8")
    source = plain(bands.capture, HEIGHT, COLUMNS, ORANGE, "RGB8")
    bands.capture.transfer(
        source, bands.right, HEIGHT, COLUMNS, input_format="RGB8", output_format="RGBA8"
    )
    return bands.made(interrupts=True)


@scene("transfer.small")
def _() -> Made:
    """Pictures of 32 x 32 pixels, one after the other, are transferred from RGB5A1 to RGBA4. The right band is orange
    (convert), or dark, as the first transfer never ends (hang)."""
    bands, side, format = Bands("RGBA4"), 32, "RGB5A1"
    source = plain(bands.capture, side, side, ORANGE, format)
    size = _bytes(side, side, "RGBA4")
    # A whole number of pictures fills a whole number of columns.
    for at in range(0, _whole(COLUMNS * bands.line, size, bands.line), size):
        bands.capture.transfer(
            source, bands.right + at, side, side, input_format=format, output_format="RGBA4"
        )
    return bands.made(interrupts=True)


def _whole(most: int, *units: int) -> int:
    """The largest number up to `most` that is a multiple of all units."""
    unit = int(np.lcm.reduce(units))
    return most // unit * unit


@scene("transfer.contract")
def _() -> Made:
    """A texture with alpha 1 of 255 is transferred to RGB5A1, whose alpha has one bit. Drawn as grey: left an alpha
    of 255; right that of 1, which has become 0, black (shift), or 1, white (scale)."""
    canvas, format = SceneCanvas(), "RGB5A1"
    targets = [_result(canvas, format) for _ in range(2)]
    for target, alpha in zip(targets, (255, 1), strict=True):
        pixels = np.full((_SIDE, _SIDE, 4), alpha, np.uint8)
        # The other channels have all values too, which only the memory shows.
        pixels[..., :3] = np.arange(0, 256, 4)[:, None, None] + np.arange(3)
        source = canvas.capture.put(surface.encode(pixels, BY_NAME["RGBA8"], "linear"))
        canvas.capture.transfer(source, target, _SIDE, _SIDE, output_format=format, linear_to_tiled=True)
    for box, target in zip((LEFT, RIGHT), targets, strict=True):
        _draw_alpha(canvas, box, target, format)
    return canvas.made((targets[1], _bytes(_SIDE, _SIDE, format)))


def _draw_alpha(canvas: SceneCanvas, box: Box, address: int, format: str) -> None:
    """Draw the alpha of a texture as grey."""
    canvas.list.texture(0, address, _SIDE, _SIDE, format, filter="nearest")
    canvas.list.combiner(0, ("replace", ("texture 0", "alpha")), ("replace", "constant"), color=(0, 0, 0, 255))
    canvas.quad(box)


@scene("transfer.average_bits")
def _() -> Made:
    """Three of four pixels have an alpha of 1, of one bit, and a transfer makes one of four. Drawn as grey: left the
    alpha of four of four; right that of three: the mean of eight bits is 1, white (8), that of one bit 0, black
    (native)."""
    canvas, format, full = SceneCanvas(), "RGB5A1", 2 * _SIDE
    targets = [_result(canvas, format) for _ in range(2)]
    for target, last in zip(targets, (255, 0), strict=True):
        pixels = np.full((full, full, 4), 255, np.uint8)
        pixels[1::2, 1::2, 3] = last
        source = canvas.capture.put(surface.encode(pixels, BY_NAME[format], "tiled"))
        canvas.capture.transfer(
            source, target, full, full, input_format=format, output_format=format, scale="2x2"
        )
    for box, target in zip((LEFT, RIGHT), targets, strict=True):
        _draw_alpha(canvas, box, target, format)
    return canvas.made((targets[1], _bytes(_SIDE, _SIDE, format)))


@scene("transfer.linear_scale")
def _() -> Made:
    """A linear picture has a light line after each black one, and is scaled down to half its width and height. Left,
    the mean of both, grey. Right, the result: grey too (neighbours); black, as only one line is read (as-tiled); or
    blue, as nothing was written (refuse)."""
    canvas, format, full = SceneCanvas(), "RGBA8", 2 * _SIDE
    light = tuple(2 * channel for channel in DARK[:3])
    pixels = np.zeros((full, full, 4), np.uint8)
    pixels[..., 3] = 255
    pixels[1::2, :, :3] = light
    source = canvas.capture.put(surface.encode(pixels, BY_NAME[format], "linear"))
    target = _result(canvas, format, background=BLUE)
    canvas.capture.transfer(source, target, full, full, output_format=format, linear_to_tiled=True, scale="2x2")
    canvas.fill(LEFT, DARK)
    _draw(canvas, RIGHT, target, format)
    return canvas.made((target, _bytes(_SIDE, _SIDE, format)))


# -- texture copies ----------------------------------------------------------------------------------------------------
@scene("texture_copy.units")
def _() -> Made:
    """Lines as long as 20 columns are copied, with gaps as long. The right band has broad orange stripes (16-byte), or
    fine ones, as lines and gaps are 16 times shorter (byte)."""
    bands, columns = Bands("RGBA8"), 20
    source = plain(bands.capture, HEIGHT, COLUMNS // 2, ORANGE)
    step = columns * bands.line
    bands.capture.copy(source, bands.right, COLUMNS // 2 * bands.line, output_line=(step, step))
    return bands.made()


@scene("texture_copy.zero_width")
def _() -> Made:
    """A copy has gaps, but lines of width 0. The right band is orange (no-gap), or dark, as the copy never ends
    (hang)."""
    bands = Bands()
    source = plain(bands.capture, HEIGHT, COLUMNS, ORANGE, "RGB8")
    bands.capture.copy(source, bands.right, COLUMNS * bands.line, output_line=(0, bands.line))
    return bands.made(interrupts=True)
