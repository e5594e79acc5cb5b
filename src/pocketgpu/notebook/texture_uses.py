"""The textures that the draws of a frame use, each once, and a sheet of their pictures.

A texture is told from others by its place in memory, its format and its size. Its picture is that of its first use: a
texture that is drawn to in between may look different later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import Displayed, picture_html, plain, title_html
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.resources import Texture, TextureFacts
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pictures import png_bytes, thinned, to_image, to_png
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from PIL.Image import Image

    from pocketgpu.inspect.model.inspection import Inspection

MOST_DRAWS: Final = 1000
"""Draws of a frame that are looked at."""
MOST_USES: Final = 1000
"""Textures that are told apart."""
MOST_TILES: Final = 100
"""Textures on a sheet."""
TILE: Final = 128
"""Longest side of a picture on a sheet, in pixels."""
MOST_TEXELS: Final = 1 << 22
"""Most texels of the level that becomes a picture: 2048 x 2048."""
_SQUARE: Final = 8
"""Side of the squares that show through a picture with alpha."""
_LIGHT, _DARK = 0.6, 0.4
"""Their brightness."""
_CAPTION: Final = 30
"""Height of two lines of text on the image of a sheet."""
_GAP: Final = 8
_ACROSS: Final = 6
"""Tiles in a row of that image."""
_INK, _PAPER = (32, 32, 32), (255, 255, 255)
Pixels = NDArray[np.uint8]


@dataclass(eq=False, repr=False)
class Use(Displayed):
    """A texture and its use. size: bytes of memory; None if it cannot be read. draws: how many use it; first: the first
    of them. picture: RGB (height, width, 3), at most `TILE` wide and high, alpha over squares; None without one."""

    facts: TextureFacts
    size: int | None
    first: Address
    draws: int = 0
    picture: Pixels | None = None

    @property
    def captions(self) -> tuple[str, str]:
        """Two short lines: size and format; memory and use."""
        facts = self.facts
        sides = [facts.width, facts.height, *([facts.depth] if facts.depth > 1 else [])]
        more = f", {facts.layers} layers" if facts.layers > 1 else ""
        memory = "no memory" if self.size is None else f"{self.size / 1024:.4g} KiB"
        if facts.fault:
            return facts.bound, facts.fault
        return f"{'x'.join(map(str, sides))} {facts.format}{more}", f"{memory}, {counted(self.draws, 'draw')}"

    def __str__(self) -> str:
        return f"{self.facts}; {counted(self.draws, 'draw')}, first {self.first}"


@dataclass(eq=False, repr=False)
class Sheet(Displayed):
    """Textures of a frame with their pictures, those of most memory first. left: what was left out, as a sentence."""

    frame: int
    uses: list[Use]
    left: str = ""

    @property
    def shown(self) -> list[Use]:
        """Those that have room on the sheet."""
        return sorted(self.uses, key=lambda use: -(use.size or 0))[:MOST_TILES]

    @property
    def image(self) -> Image:
        """The sheet as one picture with captions, a Pillow image."""
        from PIL import Image, ImageDraw

        shown = self.shown
        across = max(min(len(shown), _ACROSS), 1)
        wide, high = TILE + _GAP, TILE + _CAPTION + _GAP
        sheet = Image.new("RGB", (across * wide + _GAP, -(-max(len(shown), 1) // across) * high + _GAP), _PAPER)
        draw = ImageDraw.Draw(sheet)
        for number, use in enumerate(shown):
            x, y = _GAP + number % across * wide, _GAP + number // across * high
            if use.picture is not None:
                sheet.paste(to_image(use.picture), (x, y))
            for line, text in enumerate(use.captions):
                draw.text((x, y + TILE + line * _CAPTION // 2), _ascii(text), fill=_INK)
        return sheet

    def _repr_png_(self) -> bytes:
        return png_bytes(self.image)

    def _repr_html_(self) -> str:
        tiles = (
            f'<div style="display:inline-block;vertical-align:bottom;margin:4px;min-width:{TILE}px">'
            + picture_html(None if use.picture is None else to_png(use.picture))
            + f'<p style="margin:0">{"<br>".join(map(_escaped, (*use.captions, str(use.first))))}</p></div>'
            for use in self.shown
        )
        more = len(self.uses) - MOST_TILES
        notes = [f"{more} of {len(self.uses)} textures are left out here"] if more > 0 else []
        notes += [self.left] if self.left else []
        return title_html(str(self)) + "".join(tiles) + "".join(map(title_html, notes))

    def __str__(self) -> str:
        total = sum(use.size or 0 for use in self.uses)
        return f"frame {self.frame}: {counted(len(self.uses), 'texture')}, {total:,} bytes"


def uses_of(run: Inspection, frame: int, pictures: bool = False) -> Sheet:
    """The textures that the draws of a frame use, in the order of their first use. pictures: make these, too.

    :raises UsageError: there is no such frame.
    """
    draws = run.draws(frame)
    uses: dict[tuple[object, ...], Use] = {}
    refused = more = 0
    for event in draws[:MOST_DRAWS]:
        try:
            bound = list(run.seek(event.address).textures.values())
        except UsageError:
            refused += 1
            continue
        seen = set()
        for texture in bound:
            facts = texture.facts
            if not facts.enabled:
                continue
            key = (
                facts.kind, facts.format, facts.width, facts.height, facts.depth, facts.layers, facts.levels,
                facts.address, facts.fault,
            )  # fmt: skip
            if key not in uses and len(uses) == MOST_USES:
                more += 1
                continue
            if key not in uses:
                uses[key] = Use(facts, _size(texture), event.address)
                uses[key].picture = _picture(texture) if pictures else None
            uses[key].draws += key not in seen
            seen.add(key)
    return Sheet(frame, [*uses.values()], "; ".join(_left(len(draws), refused, more)))


def _left(draws: int, refused: int, more: int) -> Iterator[str]:
    if draws > MOST_DRAWS:
        yield f"only the first {MOST_DRAWS} of {draws} draws"
    if refused:
        yield f"textures of {counted(refused, 'draw')} cannot be read"
    if more:
        yield f"only the first {MOST_USES} textures; {counted(more, 'use')} of others"


def _size(texture: Texture) -> int | None:
    try:
        return texture.memory_size
    except UsageError:
        return None


def _picture(texture: Texture) -> Pixels | None:
    """Its first level that is not too large, as a tile; None if it cannot be read."""
    try:
        fitting = (one for one in texture.parts if one.width * one.height <= MOST_TEXELS)
        part = next(fitting, None)
        return None if part is None else tile(texture.pixels(part))
    except UsageError:
        return None


def tile(pixels: Pixels) -> Pixels:
    """RGBA as a picture with no side longer than `TILE`: some of the texels of a large one, all texels of a small one,
    as large as fits; alpha over squares."""
    longest = max(pixels.shape[:2])
    some, times = thinned(pixels, -(-longest // TILE)), max(TILE // longest, 1)
    some = some.repeat(times, axis=0).repeat(times, axis=1)
    rows, columns = np.indices(some.shape[:2]) // _SQUARE
    squares = np.where((rows + columns) % 2, _DARK, _LIGHT)[..., None]
    alpha = some[..., 3:] / 255
    return np.asarray((some[..., :3] / 255 * alpha + squares * (1 - alpha)) * 255 + 0.5, np.uint8)


def _escaped(text: str) -> str:
    from html import escape

    return escape(plain(text))


def _ascii(text: str) -> str:
    """Letters that Pillow's own font has."""
    return plain(text).encode("ascii", "replace").decode()


__all__ = ["MOST_TILES", "TILE", "Sheet", "Use", "tile", "uses_of"]
