"""A canvas of the 3DS: the top screen's render target, and a command list that draws on it.

Places are pixels of the upright screen, 400 wide and 240 high, counted from its upper left corner. Colours are bytes.
`fill` draws where a colour is all that counts; everything else is said with the command list.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pocketgpu.builder import meshes
from pocketgpu.builder.capture import SCREENS, CaptureBuilder
from pocketgpu.builder.command_list import Buffer, CommandList
from pocketgpu.builder.matrices import UPRIGHT, Matrix, look_at, perspective
from pocketgpu.builder.shapes import Shape
from pocketgpu.builder.values import FieldValue
from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.formats import BY_NAME
from pocketgpu.facts.pica import PICA
from pocketgpu.facts.pica_enums import COLOR_FORMAT
from pocketgpu.pica.memory import surface
from pocketgpu.pica.shader.assembler import Assembly, assemble
from pocketgpu.pictures import to_image
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from PIL.Image import Image

    from pocketgpu.capture import Frame

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
_TABLES = ("d0", "d1", "fr", "rr", "rg", "rb")
"""Tables of all lights."""
_LIGHTS = sum(field.name.startswith("light") for field in PICA["LIGHTING_LIGHT_PERMUTATION"].fields)


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
    format: of the target's pixels.

    :raises UsageError: no target has that format, or the background is not four bytes.
    """

    def __init__(self, background: Color = BACKGROUND, *, format: str = "RGBA8") -> None:
        if format not in COLOR_FORMAT.values():
            raise UsageError(f"no target has format {format!r}", hint=f"Known are {', '.join(COLOR_FORMAT.values())}.")
        self.capture = CaptureBuilder()
        self.background, self.format = _four(background), format
        self.target = self.capture.allocate(WIDTH * HEIGHT * BY_NAME[format].bits // 8, region="VRAM")
        self.depth = self.capture.allocate(WIDTH * HEIGHT * BY_NAME["D24S8"].bits // 8, region="VRAM")
        self._fill_buffers()
        self._program = PROGRAM
        self._shapes: dict[bytes, tuple[int, int]] = {}
        self._view, self._projection = np.eye(4), np.eye(4)
        self.camera()
        self.list = self.new_list()
        self._begun = len(self.list)  # words of the list before anything is drawn
        self._needed = 1  # frames that show all that was submitted

    def __repr__(self) -> str:
        return line_of(self, f"{WIDTH}x{HEIGHT}, {counted(len(self.capture.frames), 'frame')}")

    def _fill_buffers(self) -> None:
        word = _word(self.background, self.format)
        self.capture.clear(self.target, HEIGHT, WIDTH, word, format=self.format)
        self.capture.clear(self.depth, HEIGHT, WIDTH, 0, format="D24S8")

    # -- lists --------------------------------------------------------------------------------------------------------
    def new_list(self) -> CommandList:
        """A list that has written all state; it becomes the canvas's list."""
        self.list = CommandList().plain_state()
        self.list.write("FLAT_SHADING").write("PIXEL_SKIP").write("TEXUNIT0_SHADOW")
        self.list.bool_uniforms({})
        self.list.render_target(self.target, HEIGHT, WIDTH, depth=self.depth, color_format=self.format)
        self._program = PROGRAM
        return self.list.shader(PROGRAM)

    def draw_to(self, address: int, width: int, height: int, *, depth: int | None = None) -> None:
        """Draw to another target from here on, of a size in memory, in pixels.

        :raises UsageError: an address that is no multiple of 8, or a size that no target has.
        """
        self.list.render_target(address, width, height, depth=depth)

    def submit(self) -> CommandList:
        """Run the list so far; what follows is drawn by a new one."""
        self.capture.submit(self.list.end_drawing())
        self._needed = len(self.capture.frames) + 1
        self._begun = len(self.new_list())
        return self.list

    def end_frame(self) -> CommandList:
        """Draw what the list has, show the target on the top screen, and end the frame; the next list goes on."""
        shown = "RGB8" if self.format == "RGBA8" else self.format  # transfers convert few formats
        self.capture.submit(self.list.end_drawing())
        self.capture.present("top", self.target, source_format=self.format, format=shown).end_frame()
        self._begun = len(self.new_list())
        return self.list

    # -- pictures and files -------------------------------------------------------------------------------------------
    def tobytes(self) -> bytes:
        """The recording, as the bytes of a CiTrace file. What is not shown yet becomes its last frame."""
        if len(self.list) > self._begun or len(self.capture.frames) < self._needed:
            self.end_frame()
        return self.capture.tobytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recording, as `CaptureBuilder.save` does."""
        self.tobytes()
        self.capture.save(path)

    def images(self, **options: Any) -> list[Image]:
        """Replay the recording; a picture of the top screen for each frame. options: as for `Capture.render`."""
        return [frame.top.image for frame in self.frames(**options)]

    def image(self, **options: Any) -> Image:
        """The last of `images`."""
        return self.images(**options)[-1]

    # -- colours ------------------------------------------------------------------------------------------------------
    def paint(self, color: Color) -> CommandList:
        """Draw in this colour from here on, whatever vertices have.

        :raises UsageError: a colour that is not four bytes.
        """
        return self.list.combiner(0, ("replace", "constant"), ("replace", "constant"), color=_four(color))

    def show(self, source: str) -> CommandList:
        """Draw in the colours of a combiner source from here on.

        :raises UsageError: there is no such source.
        """
        return self.list.combiner(0, ("replace", source), ("replace", source))

    def palette(self, *colors: Color) -> CommandList:
        """Draw in the colour of these that texture coordinate 0 u selects: each has an equal part of 0 to 1, the first
        and the last also what is beyond.

        :raises UsageError: there is no colour, or one is not four bytes.
        """
        if not colors:
            raise UsageError("a palette has at least one colour")
        colors = tuple(map(_four, colors))
        texels = np.array(colors, np.uint8)[np.arange(_PALETTE_TEXELS) * len(colors) // _PALETTE_TEXELS]
        address = self.capture.put_texture(np.tile(texels, (8, 1, 1)))
        self.list.texture(0, address, _PALETTE_TEXELS, 8, filter="nearest", wrap="clamp to edge")
        return self.show("texture 0")

    def texture(self, pixels: NDArray[np.uint8], format: str = "RGBA8", **options: Any) -> int:
        """Draw with a picture as texture 0: RGBA of shape (height, width, 4), top row first. Its address.

        :raises UsageError: another shape, a side that is no multiple of 8, or no texture has that format.
        """
        address = self.capture.put_texture(pixels, format)
        self.list.texture(0, address, pixels.shape[1], pixels.shape[0], format, **options)
        self.show("texture 0")
        return address

    # -- squares ------------------------------------------------------------------------------------------------------
    def fill(self, box: Box, color: Color, depth: float = _HALF_DEPTH) -> None:
        """A box of one colour.

        :raises UsageError: a colour that is not four bytes.
        """
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
        buffer = Buffer(self.put_floats(rows[ORDER]), [("f32", 4), *(("f32", part.shape[1]) for part in spread)])
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

    def put_floats(self, data: ArrayLike) -> int:
        """Store numbers in main memory as floats of 4 bytes; their address. `capture.put` stores bytes as they are."""
        return self.capture.put(np.ascontiguousarray(data, np.float32))

    def shader(self, text: str) -> Assembly:
        """Draw with another vertex program from here on, given as its text: see `assemble`.

        :raises ShaderError: the text is no program.
        """
        self._program = assemble(text)
        self.list.shader(self._program)
        return self._program

    # -- shapes -------------------------------------------------------------------------------------------------------
    def clear(self) -> CommandList:
        """Run the list so far, then fill target and depth as at the start: what follows is drawn by a new list."""
        if len(self.list) > self._begun:
            self.submit()
        self._fill_buffers()
        return self.list

    def camera(
        self, eye: tuple[float, float, float] = (0, 0, 5), target: tuple[float, float, float] = (0, 0, 0), *,
        angle: float = 0.7, near: float = 1.0, far: float = 30.0,
    ) -> None:  # fmt: skip
        """Where shapes are seen from, from here on.

        eye, target: places in the world, in units of its shapes. angle: from the lowest to the highest line, in
        radians. near, far: distances whose depth is 1 and 0, in the same units.

        :raises UsageError: the target is at the eye, above it or below it, or the angle or the distances span nothing.
        """
        if not 0 < angle < np.pi or near == far:
            raise UsageError(f"a camera with an angle of {angle} and distances from {near} to {far} sees nothing")
        self._view = look_at(eye, target)
        self._projection = UPRIGHT @ perspective(angle, WIDTH / HEIGHT, near, far)

    def mesh(
        self, shape: Shape, move: Matrix | None = None, *, color: Color = (255, 255, 255, 255),
        program: Assembly | None = None,
    ) -> None:  # fmt: skip
        """Draw vertices and indices, such as those of `builder.shapes`, as the camera sees them, with the list's state.

        move: the matrix to the world (None: the shape is where it is), a rotation with scales that are alike. color:
        the vertex colour. All texture coordinates are the shape's. program: another vertex program, which gets v0 place
        (x y z 1), v1 quaternion, v2 u v, v3 colour, and the matrices c0 to c3 (to the eye), c4 to c7 (projection) and
        c8 to c11 (for quaternions); `builder.meshes` has its parts.

        :raises UsageError: a colour that is not four bytes.
        """
        color = _four(color)
        vertices, indices = shape
        key = vertices.tobytes() + indices.tobytes()
        if key not in self._shapes:
            self._shapes[key] = self.put_floats(meshes.with_quaternions(vertices, indices)), self.capture.put(indices)
        address, order = self._shapes[key]
        moved = self._view @ (np.eye(4) if move is None else move)
        self.list.shader(program or meshes.PROGRAM)
        self.list.uniforms(0, np.concatenate([moved, self._projection, meshes.turning(moved)]))
        self.list.attributes(Buffer(address, meshes.LAYOUT), fixed=[[channel / 255 for channel in color]])
        self.list.draw_elements(len(indices), order)
        self.list.shader(self._program)

    # -- lights -------------------------------------------------------------------------------------------------------
    def lighting(
        self, tables: Mapping[str, ArrayLike] | None = None, *, inputs: Mapping[str, str] | None = None,
        ambient: Sequence[int] = (24, 24, 32), layer: str = "all", **config: FieldValue,
    ) -> CommandList:  # fmt: skip
        """Light fragments from here on: the first combiner stage gives the sum of both results, and the alpha of the
        primary one.

        tables: 257 values of each table that counts, by its name ("D0", "D1", "FR", "RR", "RG", "RB", "SP0" to "SP7",
        "DA0" to "DA7"); all others are off. inputs: what tables are looked up with, as LIGHTING_LUTINPUT_SELECT names
        it ({"d0": "N.H"}). ambient: red, green and blue, 0 to 255. config: fields of LIGHTING_CONFIG0.

        :raises UsageError: a table, an input or a field that does not exist, or a table of another length.
        """
        tables = tables or {}
        for name, values in tables.items():
            self.list.lighting_table(name, values)
        off: dict[str, FieldValue] = {f"{name}_off": name.upper() not in tables for name in _TABLES}
        for name, field in (("SP", "spot_off"), ("DA", "distance_off")):
            off[field] = sum(1 << light for light in range(_LIGHTS) if f"{name}{light}" not in tables)
        self.list.write("LIGHTING_ENABLE0", enable=True).write("LIGHTING_ENABLE1")
        self.list.write_fields("LIGHTING_AMBIENT", dict(zip("rgb", ambient, strict=True)))
        self.list.write_fields("LIGHTING_LIGHT_PERMUTATION", {f"light{n}": n for n in range(_LIGHTS)})
        self.list.write("LIGHTING_LUTINPUT_ABS").write("LIGHTING_LUTINPUT_SCALE")
        self.list.write_fields("LIGHTING_LUTINPUT_SELECT", inputs or {})
        plain: dict[str, FieldValue] = {"constant_four": 4, "constant_one": True, "layer": layer}
        self.list.write_fields("LIGHTING_CONFIG0", plain | config)
        off |= {"constant_one": True, "shadow_off": (1 << _LIGHTS) - 1}
        self.list.write_fields("LIGHTING_CONFIG1", off)
        both = ("add", "fragment primary color", "fragment secondary color")
        return self.list.combiner(0, both, ("replace", "fragment primary color"))

    def light(
        self, number: int, at: tuple[float, float, float], *, diffuse: Sequence[int] = (255, 255, 255),
        specular: Sequence[int] = (0, 0, 0), specular1: Sequence[int] = (0, 0, 0),
        aim: tuple[float, float, float] | None = None, **config: FieldValue,
    ) -> None:  # fmt: skip
        """Put a light into the world. The lights that shine are 0 to the last `number` given.

        at: its place, or with directional=True the direction to it. diffuse, specular (of D0), specular1 (of D1): red,
        green and blue. aim: the place that a spot light shines at. config: fields of LIGHT0_CONFIG.

        :raises UsageError: there is no such light or field, a value does not fit, or the light is aimed at its place.
        """
        if aim is not None and np.array_equal(at, aim):
            raise UsageError("a light is aimed at another place than its own")
        turn = self._view[:3, :3]
        place = turn @ at + (0 if config.get("directional") else self._view[:3, 3])
        parts = {"DIFFUSE": diffuse, "SPECULAR0": specular, "SPECULAR1": specular1, "AMBIENT": (0, 0, 0)}
        for part, color in parts.items():
            self.list.write_fields(f"LIGHT{number}_{part}", dict(zip("rgb", map(int, color), strict=True)))
        self.list.write(f"LIGHT{number}_XY", x=place[0], y=place[1]).write(f"LIGHT{number}_Z", z=place[2])
        self.list.write_fields(f"LIGHT{number}_CONFIG", config)
        if aim is not None:
            x, y, z = turn @ np.subtract(at, aim) / np.linalg.norm(np.subtract(at, aim))
            self.list.write(f"LIGHT{number}_SPOTDIR_XY", x=x, y=y).write(f"LIGHT{number}_SPOTDIR_Z", z=z)
        self.list.write("LIGHTING_NUM_LIGHTS", count=number + 1)

    # -- other shapes, and what is in memory --------------------------------------------------------------------------
    def draw_vertices(
        self, *attributes: ArrayLike, indices: ArrayLike | None = None, primitive: str = "triangles"
    ) -> None:  # fmt: skip
        """Draw vertices as the state has it.

        attributes: v0, v1, ... of the vertex program, each of shape (n, 1 to 4); one of shape (1 to 4,) is the same for
        all vertices. indices: the vertices of primitives, in order (None: all).

        :raises UsageError: no attribute says how many vertices there are, two say different numbers, an attribute has
            another shape, an index names no vertex, or there is no such primitive.
        """
        arrays = [np.asarray(one, np.float32) for one in attributes]
        counts = {len(one) for one in arrays if one.ndim > 1}
        if len(counts) != 1 or any(one.ndim not in (1, 2) for one in arrays):
            shapes = ", ".join(str(one.shape) for one in arrays) or "nothing"
            raise UsageError(
                f"attributes of vertices have shape (n, 1 to 4), at least one of them, and one n, not {shapes}"
            )
        (count,) = counts
        rows = [np.broadcast_to(one, (count, one.shape[-1])) for one in arrays]
        buffer = Buffer(self.put_floats(np.concatenate(rows, axis=1)), [("f32", one.shape[1]) for one in rows])
        self.list.attributes(buffer)
        if indices is None:
            self.list.draw_arrays(count, primitive=primitive)
        else:
            numbers = np.asarray(indices).ravel()
            if numbers.size and not 0 <= numbers.min() <= numbers.max() < count:
                named = f"indices from {numbers.min()} to {numbers.max()}"
                raise UsageError(f"{named}, of {counted(count, 'vertex', 'vertices')}")
            numbers = numbers.astype(np.uint16)
            self.list.draw_elements(len(numbers), self.capture.put(numbers), primitive=primitive)

    def frames(self, **options: Any) -> list[Frame]:
        """Replay the recording; its frames, for other screens and for counts. options: as for `Capture.render`."""
        from pocketgpu.capture import of_bytes  # replay is not needed to write recordings

        return list(of_bytes(self.tobytes()).render(**options))

    def decoded(
        self, address: int, width: int, height: int, format: str = "RGBA8", layout: surface.Layout = "tiled",
        **options: Any,
    ) -> Image:  # fmt: skip
        """Replay the recording; what is in memory then, as an RGBA picture whose upper row is the first. options: as
        for `Capture.render`.

        :raises UsageError: there is no such format or layout, or a picture of no size.
        :raises GuestMemoryError: there is no memory.
        """
        if format not in BY_NAME:
            raise UsageError(f"no picture has format {format!r}", hint=f"Known are {', '.join(BY_NAME)}.")
        last = self.frames(**options)[-1]
        pixels = BY_NAME[format]
        data = last.machine.memory.read(address, surface.byte_size(pixels, width, height, layout))
        return to_image(surface.decode(data, pixels, width, height, layout))


ORDER: Final = [0, 1, 2, 0, 2, 3]
"""Corners of a box as two triangles."""


def _four(color: Color) -> Color:
    """The colour, which has an alpha value."""
    if len(color) != len("rgba"):
        raise UsageError(f"a colour of this canvas is red, green, blue and alpha, 0 to 255, not {color}")
    return color


def _word(color: Color, format: str) -> int:
    """A colour as the word of a pixel."""
    pixel = surface.encode(np.full((1, 1, 4), color, np.uint8), BY_NAME[format], "linear")
    return int.from_bytes(pixel, "little")


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
