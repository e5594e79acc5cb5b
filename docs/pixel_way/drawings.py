"""Drawings inside of a page, most as SVG. Their colours are those of the page, so they fit a dark and a light one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from reference_pages.bits import Part, drawing

from pixel_way.writing import short
from pocketgpu.facts.dialect.registers import Field

Length = float | str
"""Pixels of the page, or a text such as "12.50%" of a drawing's width."""


def _length(value: Length) -> str:
    return value if isinstance(value, str) else f"{value:g}"


class Drawing:
    """A drawing. label: what it shows, for those who do not see it. kind, here and below: a class of drawings.css.

    A width in pixels is kept. One in percent is that of the page, and then places to the right are in percent, too.
    """

    def __init__(self, width: Length, height: float, label: str, kind: str = "") -> None:
        self._width, self._height, self._label, self._kind = width, height, label, kind
        self._parts: list[str] = []

    def rect(self, x: Length, y: float, width: Length, height: float, kind: str = "", fill: str = "") -> None:
        """A rectangle. fill: a colour of its own."""
        of_its_own = f' style="fill:{fill}"' if fill else ""
        named = f' class="{kind}"' if kind else ""
        self._parts.append(
            f'<rect x="{_length(x)}" y="{y:g}" width="{_length(width)}" height="{height:g}"{named}{of_its_own}/>'
        )  # fmt: skip

    def line(self, x1: Length, y1: float, x2: Length, y2: float, kind: str = "") -> None:
        """A line."""
        named = f' class="{kind}"' if kind else ""
        self._parts.append(f'<line x1="{_length(x1)}" y1="{y1:g}" x2="{_length(x2)}" y2="{y2:g}"{named}/>')

    def circle(self, x: float, y: float, radius: float, kind: str = "") -> None:
        """A circle."""
        named = f' class="{kind}"' if kind else ""
        self._parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}"{named}/>')

    def text(
        self, x: Length, y: float, text: str, kind: str = "", anchor: str = "middle", right: float = 0
    ) -> None:  # fmt: skip
        """Text. anchor: start, middle or end. right: pixels to the right of x."""
        named = f' class="{kind}"' if kind else ""
        moved = f' dx="{right:g}"' if right else ""
        self._parts.append(
            f'<text x="{_length(x)}" y="{y:g}"{moved} text-anchor="{anchor}"{named}>{escape(text)}</text>'
        )  # fmt: skip

    @property
    def svg(self) -> str:
        """The drawing on one line."""
        width, height = self._width, self._height
        view = "" if isinstance(width, str) else f'viewBox="0 0 {width:g} {height:g}" '
        named = f'class="{self._kind}" ' if self._kind else ""
        return (
            f'<svg {named}{view}width="{_length(width)}" height="{height:g}" role="img" '
            f'aria-label="{escape(self._label)}">{"".join(self._parts)}</svg>'
        )


def bits(fields: Iterable[Field], value: int, label: str) -> str:
    """A word of 32 bits with the values of its fields, as the pages of registers draw it."""
    parts = [Part(one.lo, one.width, f"{one.name} = {short(one.raw(value))}") for one in fields]
    return drawing(parts, title=label)


def texel_square(
    texels: Sequence[tuple[str, Sequence[int], float]], part: tuple[float, float], label: str
) -> str:  # fmt: skip
    """Four texels around a point: (name, colour, weight) from top left, and how far the point is to the right and
    down."""
    side, left, top = 104, 8, 8
    drawing = Drawing(2 * side + 16, 2 * side + 16, label)
    for place, (name, rgb, weight) in enumerate(texels):
        x, y = left + place % 2 * side, top + place // 2 * side
        dark = sum(rgb[:3]) < 384
        drawing.rect(x, y, side, side, "cell", "#" + "".join(f"{int(one):02x}" for one in rgb[:3]))
        kind = "on-dark" if dark else "on-light"
        drawing.text(x + side / 2, y + 20, name, kind)
        drawing.text(x + side / 2, y + side - 12, f"{100 * weight:.1f} %", kind)
    # Texels have their values at their centres, and the point lies between the four centres.
    x, y = left + side * (0.5 + part[0]), top + side * (0.5 + part[1])
    drawing.circle(x, y, 7, "halo")
    drawing.circle(x, y, 5, "mark")
    return drawing.svg


def cells(
    names: Sequence[Sequence[str]], marked: tuple[int, int], label: str, size: tuple[int, int] = (40, 28)
) -> str:  # fmt: skip
    """A grid of cells with a text each; one of them, (column, row), is marked."""
    width, height = size
    drawing = Drawing(width * len(names[0]) + 2, height * len(names) + 2, label)
    for row, line in enumerate(names):
        for column, name in enumerate(line):
            kind = "cell marked" if (column, row) == marked else "cell"
            drawing.rect(1 + column * width, 1 + row * height, width, height, kind)
            drawing.text(1 + (column + 0.5) * width, row * height + height / 2 + 5, name, "small")
    return drawing.svg


def scan(
    spans: Sequence[tuple[str, int, int]], lines: Sequence[tuple[str, int, int]], totals: tuple[int, int],
    at: tuple[int, int], label: str,
) -> str:  # fmt: skip
    """What a display controller sends in the course of a frame: clocks go right, lines down. spans, lines: (name,
    start, length) of a line and of a frame. at: clock and line of the pixel."""
    across, down, left, top = 420.0, 330.0, 6, 24
    x_of, y_of = across / totals[0], down / totals[1]
    drawing = Drawing(across + 12, down + 60, label)
    for line_name, line_start, line_length in lines:
        for name, start, length in spans:
            shown = name == line_name == "picture"
            for first, count in ((start, min(length, totals[0] - start)), (0, length - (totals[0] - start))):
                if count > 0:
                    drawing.rect(
                        left + first * x_of, top + line_start * y_of, count * x_of, line_length * y_of,
                        "cell light" if shown else "cell dim",
                    )  # fmt: skip
    clock, line = at
    drawing.line(left, top + line * y_of, left + clock * x_of, top + line * y_of, "thin")
    drawing.circle(left + clock * x_of, top + line * y_of, 6, "halo")
    drawing.circle(left + clock * x_of, top + line * y_of, 4, "mark")
    drawing.text(left, 16, f"clock 0, line 0: {totals[0]} clocks a line", "", "start")
    drawing.text(left, top + down + 20, f"{totals[1]} lines a frame; the light part is the picture", "", "start")
    drawing.text(left, top + down + 34, f"the pixel: clock {clock}, line {line}", "small", "start")
    return drawing.svg


def inside_block(
    block: tuple[int, int], gobs: int, gob: int, label: str, size: tuple[int, int] = (64, 8)
) -> str:  # fmt: skip
    """A block of GOBs below each other, one of them marked. block: its column and row; size: bytes and rows of a
    GOB."""
    width, height = 260, 22
    drawing = Drawing(width + 150, gobs * height + 50, label)
    drawing.text(2, 16, f"block {block[0]} of row {block[1]}: {gobs} GOBs", "", "start")
    for number in range(gobs):
        kind = "cell marked" if number == gob else "cell"
        drawing.rect(2, 24 + number * height, width, height, kind)
        drawing.text(2 + width / 2, 24 + number * height + 16, f"GOB {number}", "small")
    drawing.text(width + 10, 40, f"{size[0]} bytes wide", "small", "start")
    drawing.text(width + 10, 56, f"{size[1]} rows high", "small", "start")
    return drawing.svg
