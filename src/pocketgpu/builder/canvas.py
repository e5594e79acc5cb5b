"""A canvas of the 3DS: the top screen's render target, and a command list that draws on it.

Places are pixels of the upright screen, 400 wide and 240 high, counted from its upper left corner. Colours are bytes.
`fill` draws where a colour is all that counts; everything else is said with the command list.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pocketgpu.builder.capture import SCREENS, CaptureBuilder
from pocketgpu.builder.command_list import Buffer, CommandList
from pocketgpu.displayed import line_of
from pocketgpu.facts.formats import BY_NAME
from pocketgpu.pica.shader.assembler import Assembly, assemble
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from PIL.Image import Image

Color: TypeAlias = tuple[int, int, int, int]

WIDTH: Final = SCREENS["top"][1]
HEIGHT: Final = 240
BACKGROUND: Final[Color] = (24, 28, 40, 255)
ORANGE: Final[Color] = (250, 150, 32, 255)
BLUE: Final[Color] = (32, 112, 216, 255)
LIGHT: Final[Color] = (232, 232, 232, 255)
DARK: Final[Color] = (80, 84, 96, 255)
BLACK: Final[Color] = (0, 0, 0, 255)

_PALETTE_TEXELS = 64
_HALF_DEPTH = 0.5


class Box(NamedTuple):
    """A rectangle of the upright screen; right and bottom are the first column and row outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def middle(self) -> tuple[int, int]:
        """The row and column of the pixel in the middle."""
        return (self.top + self.bottom) // 2, (self.left + self.right) // 2

    def part(self, column: int, columns: int, row: int = 0, rows: int = 1) -> Box:
        """A cell of the box, which is parted evenly."""
        x, y = (self.right - self.left) // columns, (self.bottom - self.top) // rows
        left, top = self.left + column * x, self.top + row * y
        return Box(left, top, left + x, top + y)

    @property
    def turned(self) -> Box:
        """The same box seen from the back: its corners are in clockwise order."""
        return Box(self.right, self.top, self.left, self.bottom)

    def inner(self, edge: int) -> Box:
        """The box without an edge."""
        return Box(self.left + edge, self.top + edge, self.right - edge, self.bottom - edge)


SCREEN: Final = Box(0, 0, WIDTH, HEIGHT)
LEFT: Final = Box(24, 40, 184, 200)
"""A square for what never changes."""
RIGHT: Final = Box(216, 40, 376, 200)
"""A square for what a value changes."""


def row(count: int) -> list[Box]:
    """So many equal squares beside each other in the middle of the screen, with gaps."""
    return [_square(SCREEN.part(i, count)) for i in range(count)]


def grid(columns: int, rows: int) -> list[list[Box]]:
    """Rows of equal squares, with gaps."""
    return [[_square(SCREEN.part(x, columns, y, rows)) for x in range(columns)] for y in range(rows)]


def _square(cell: Box) -> Box:
    side = min(cell.right - cell.left, cell.bottom - cell.top) * 13 // 16
    left, top = (cell.left + cell.right - side) // 2, (cell.top + cell.bottom - side) // 2
    return Box(left, top, left + side, top + side)


def clip(x: float, y: float) -> tuple[float, float]:
    """Where a point of the upright screen is in clip space: screens are turned by 90 degrees."""
    return 1 - 2 * y / HEIGHT, 1 - 2 * x / WIDTH


PLAIN: Final = """
    .out o0 position
    .out o1 color
    .out o2.xyz texcoord0w
"""
"""The outputs of the canvas's own program, for others that have the same."""
PROGRAM: Final = assemble(PLAIN + "mov o0, v0\nmov o1, v1\nmov o2.xyz, v2\nend\n")


class Canvas:
    """The top screen's render target, with depth, and a command list that draws on it.

        canvas = Canvas()
        canvas.fill(Box(40, 40, 200, 200), ORANGE)
        canvas.list.blend("source alpha", "one")         # any state, by the command list
        canvas.fill(Box(120, 80, 360, 180), BLUE)
        canvas.image().save("squares.png")

    list: the list so far. capture: what comes before it. target, depth: addresses of the buffers in VRAM.
    """

    def __init__(self, background: Color = BACKGROUND) -> None:
        self.capture = CaptureBuilder()
        self.target = self.capture.allocate(WIDTH * HEIGHT * BY_NAME["RGBA8"].bits // 8, region="VRAM")
        self.depth = self.capture.allocate(WIDTH * HEIGHT * BY_NAME["D24S8"].bits // 8, region="VRAM")
        self.capture.clear(self.target, HEIGHT, WIDTH, _word(background))
        self.capture.clear(self.depth, HEIGHT, WIDTH, 0, format="D24S8")
        self._frames = 0
        self.list = self.new_list()
        self._drawn_from = 0  # words of the list that a frame begins with

    def __repr__(self) -> str:
        return line_of(self, f"{WIDTH}x{HEIGHT}, {counted(self._frames, 'frame')}")

    # -- lists --------------------------------------------------------------------------------------------------------
    def new_list(self) -> CommandList:
        """A list that has written all state; it becomes the canvas's list."""
        self.list = CommandList().plain_state()
        self.list.write("FLAT_SHADING").write("PIXEL_SKIP").write("TEXUNIT0_SHADOW")
        self.list.bool_uniforms({})
        self.draw_to(self.target, HEIGHT, WIDTH, depth=self.depth)
        return self.list.shader(PROGRAM)

    def draw_to(self, address: int, width: int, height: int, *, depth: int | None = None) -> None:
        """Draw to another target from here on, of a size in memory."""
        self.list.render_target(address, width, height, depth=depth)

    def submit(self) -> CommandList:
        """Run the list so far; what follows is drawn by a new one."""
        self.capture.submit(self.list.end_drawing())
        return self.new_list()

    def end_frame(self) -> CommandList:
        """Draw what the list has, show the target on the top screen, and end the frame; the next list goes on."""
        self.capture.submit(self.list.end_drawing()).present("top", self.target).end_frame()
        self._frames += 1
        self._drawn_from = len(self.new_list())
        return self.list

    # -- pictures and files -------------------------------------------------------------------------------------------
    def tobytes(self) -> bytes:
        """The recording, as the bytes of a CiTrace file. What is not shown yet becomes its last frame."""
        if len(self.list) > self._drawn_from:
            self.end_frame()
        return self.capture.tobytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recording, as `CaptureBuilder.save` does."""
        self.tobytes()
        self.capture.save(path)

    def images(self, **options: Any) -> list[Image]:
        """Replay the recording; a picture of the top screen for each frame. options: as for `Capture.render`."""
        from pocketgpu.capture import of_bytes  # replay is not needed to write recordings

        return [frame.top.image for frame in of_bytes(self.tobytes()).render(**options)]

    def image(self, **options: Any) -> Image:
        """The last of `images`."""
        return self.images(**options)[-1]

    # -- colours ------------------------------------------------------------------------------------------------------
    def paint(self, color: Color) -> CommandList:
        """Draw in this colour from here on, whatever vertices have."""
        return self.list.combiner(0, ("replace", "constant"), ("replace", "constant"), color=color)

    def show(self, source: str) -> CommandList:
        """Draw in the colours of a combiner source from here on."""
        return self.list.combiner(0, ("replace", source), ("replace", source))

    def palette(self, *colors: Color) -> CommandList:
        """Draw in the colour of these that texture coordinate 0 u selects: each has an equal part of 0 to 1, the first
        and the last also what is beyond."""
        texels = np.array(colors, np.uint8)[np.arange(_PALETTE_TEXELS) * len(colors) // _PALETTE_TEXELS]
        address = self.capture.put_texture(np.tile(texels, (8, 1, 1)))
        self.list.texture(0, address, _PALETTE_TEXELS, 8, filter="nearest", wrap="clamp to edge")
        return self.show("texture 0")

    def texture(self, pixels: NDArray[np.uint8], format: str = "RGBA8", **options: Any) -> int:
        """Draw with a picture as texture 0: RGBA of shape (height, width, 4), top row first. Its address."""
        address = self.capture.put_texture(pixels, format)
        self.list.texture(0, address, pixels.shape[1], pixels.shape[0], format, **options)
        self.show("texture 0")
        return address

    # -- squares ------------------------------------------------------------------------------------------------------
    def fill(self, box: Box, color: Color, depth: float = _HALF_DEPTH) -> None:
        """A box of one colour."""
        self.paint(color)
        self.quad(box, depth)

    def quad(self, box: Box, depth: float = _HALF_DEPTH, **vertices: Any) -> None:
        """A box as the state has it; vertices: what `vertices` takes."""
        self.vertices(box, depth, **vertices)
        self.list.draw_arrays(len(ORDER))

    def vertices(
        self, box: Box, depth: float = _HALF_DEPTH, *, color: ArrayLike = (1.0, 1.0, 1.0, 1.0),
        texture: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """The vertices of a box, without a draw. depth: 0 to 1. color: vertex colour, or those of the corners. texture:
        u, v, w of the corners, or of all (None: 0 to 1 from the lower left)."""
        uvw = ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)) if texture is None else texture
        self.inputs(box, np.broadcast_to(color, (4, 4)), np.broadcast_to(uvw, (4, 3)), depth=depth)

    def inputs(self, box: Box, *more: ArrayLike, depth: float = _HALF_DEPTH) -> Buffer:
        """The same for other programs: positions are v0; then any attributes, of each corner or of all."""
        spread = [np.broadcast_to(np.array(one, np.float32), (4, np.shape(one)[-1])) for one in more]
        rows = np.concatenate([self.corners(box, depth), *spread], axis=1)
        buffer = Buffer(self.put(rows[ORDER]), [("f32", 4), *(("f32", part.shape[1]) for part in spread)])
        self.list.attributes(buffer)
        return buffer

    def draw(self, box: Box, *more: ArrayLike) -> None:
        """A box with these inputs."""
        self.inputs(box, *more)
        self.list.draw_arrays(len(ORDER))

    def corners(self, box: Box, depth: float = _HALF_DEPTH) -> NDArray[np.float32]:
        """Clip coordinates of the corners of a box, counter-clockwise from the lower left one."""
        points = ((box.left, box.bottom), (box.right, box.bottom), (box.right, box.top), (box.left, box.top))
        return np.array([(*clip(x, y), -depth, 1.0) for x, y in points], np.float32)

    def put(self, data: ArrayLike) -> int:
        """Store floats in main memory; their address."""
        return self.capture.put(np.ascontiguousarray(data, np.float32))

    def shader(self, text: str) -> Assembly:
        """Draw with another vertex program from here on, given as its text: see `assemble`."""
        program = assemble(text)
        self.list.shader(program)
        return program


ORDER: Final = [0, 1, 2, 0, 2, 3]
"""Corners of a box as two triangles."""


def _word(color: Color) -> int:
    return int.from_bytes(bytes(color), "big")


__all__ = [
    "BACKGROUND",
    "BLACK",
    "BLUE",
    "DARK",
    "HEIGHT",
    "LEFT",
    "LIGHT",
    "ORANGE",
    "ORDER",
    "PLAIN",
    "RIGHT",
    "SCREEN",
    "WIDTH",
    "Box",
    "Canvas",
    "Color",
    "clip",
    "grid",
    "row",
]


def __dir__() -> list[str]:
    return [*__all__]
