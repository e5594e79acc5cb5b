"""What a zoo scene is made of: a small render target divided into cells, and a capture that draws them.

A scene is a function that gets a fresh `Scene` and draws every variant of one feature, one variant a cell. Cells follow
each other from the top left, row by row, and each has a label, so that whoever looks at a picture can name what is
wrong. Everything is written with the package's own builder; nothing here knows what a right picture looks like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble
from pocketgpu.builder.capture import SCREENS
from pocketgpu.facts.formats import BY_NAME
from pocketgpu.pica.memory import surface

Array = NDArray[Any]
Color = Sequence[float]
GAP = 1
"""Pixels of background on the right of and below each cell's content."""
BACKGROUND = (24, 26, 40, 255)

PROGRAM = assemble("""
    ; What most scenes need: everything as the vertices have it.
    .out o0 position
    .out o1 color
    .out o2.xyz texcoord0w
    .out o3.xy texcoord1
    .out o3.zw texcoord2
    main:
        mov o0, v0
        mov o1, v1
        mov o2.xyz, v2
        mov o3, v3
        end
""")
VERTEX = [("f32", 4), ("f32", 4), ("f32", 3), ("f32", 4)]
"""Position, colour, texture coordinates 0 (u, v, w), and 1 and 2 (u, v, u, v)."""
VERTEX_SIZE = 60
ROOM = 4096
"""Vertices that a scene can have."""

CORNERS = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
"""Of a quad, counter-clockwise from the lower left one; lists of four colours and so on have this order."""
UNIT = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
WHITE, BLACK = (1.0, 1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 1.0)
RED, GREEN, BLUE, YELLOW = (1.0, 0, 0, 1), (0, 0.8, 0, 1), (0.1, 0.2, 1.0, 1), (1.0, 0.9, 0, 1)
TO_RIGHT = (BLACK, WHITE, WHITE, BLACK)
UPWARD = (BLACK, BLACK, WHITE, WHITE)


@dataclass(frozen=True)
class Cell:
    """One variant: where it is (pixels from the top left of surface `surface`) and what it shows."""

    label: str
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Surface:
    """What a scene leaves, which tests compare: memory at `address`, or a screen after a frame.

    layout: "tiled" or "linear". blocks32: tiles lie in blocks of 32x32. shadow: a shadow map, shown as intensity (red)
    and depth (green). cell: the cell that it belongs to, if it is not all of the target; frame: the number of the frame
    after which the top (or bottom) screen is taken. shrink: pixels to a side that a gallery shows as one.
    """

    name: str
    address: int
    width: int
    height: int
    format: str
    layout: str = "tiled"
    blocks32: bool = False
    shadow: bool = False
    cell: int | None = None
    frame: int | None = None
    shrink: int = 1

    @property
    def size(self) -> int:
        """Bytes."""
        return self.width * self.height * BY_NAME[self.format].bits // 8


class List(CommandList):
    """A command list that knows where its vertices come from, so that draws of one buffer need not say it again."""

    vertices: int | None = None

    def attributes(self, *buffers: Buffer, **more: Any) -> Self:
        self.vertices = buffers[0].address if buffers else None
        return super().attributes(*buffers, **more)

    def draw_immediate(self, vertices: ArrayLike, primitive: str = "triangles") -> Self:
        self.vertices = None
        return super().draw_immediate(vertices, primitive)


class Scene:
    """A scene under construction: `columns` x `rows` cells of `cell` pixels (one side, or width and height).

    cl: the command list being written. capture: what came before it. choices: choices of the machine that shows it.
    """

    def __init__(
        self, columns: int, rows: int, cell: int | tuple[int, int], *, gap: int = GAP, color_format: str = "RGBA8",
        depth_format: str = "D24S8",
    ) -> None:  # fmt: skip
        self.cell_size = (cell, cell) if isinstance(cell, int) else cell
        self.columns, self.rows, self.gap = columns, rows, gap
        self.width, self.height = columns * self.cell_size[0], rows * self.cell_size[1]
        self.color_format, self.depth_format = color_format, depth_format
        self.capture = CaptureBuilder()
        self.cells: list[Cell] = []
        self.choices: dict[str, str] = {}
        self._stored: dict[bytes, int] = {}
        self._pool = self.capture.allocate(ROOM * VERTEX_SIZE)
        self._meshes: dict[bytes, int] = {}
        self._vertices = 0
        self._at = 0
        bits = BY_NAME[color_format].bits, BY_NAME[depth_format].bits
        self.color, self.depth = (self.capture.allocate(self.texels * b // 8, region="VRAM") for b in bits)
        self.surfaces = [self.surface("color", self.color, color_format)]
        self.fill_color(np.array(BACKGROUND, np.uint8))
        self.cl = self.new_list()

    @property
    def texels(self) -> int:
        return self.width * self.height

    def surface(self, name: str, address: int, format: str, **more: Any) -> Surface:
        """Memory of the size of the target."""
        return Surface(name, address, more.pop("width", self.width), more.pop("height", self.height), format, **more)

    def new_list(self) -> List:
        """A list with plain state that draws to the scene's target."""
        cl = List().plain_state()
        cl.render_target(
            self.color, self.width, self.height, depth=self.depth, color_format=self.color_format,
            depth_format=self.depth_format,
        )  # fmt: skip
        cl.shader(PROGRAM)
        return cl

    def submit(self) -> Self:
        """Run the list so far; go on with a new one."""
        self.capture.submit(self.cl)
        self.cl = self.new_list()
        return self

    # -- memory -----------------------------------------------------------------------------------------------------
    def put(self, data: bytes | Array, align: int = 128) -> int:
        """Store data in main memory, the same data only once."""
        raw = data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()
        if raw not in self._stored:
            self._stored[raw] = self.capture.put(raw, align=align)
        return self._stored[raw]

    def fill_color(self, pixels: Array) -> None:
        """Colours of the target before anything is drawn: RGBA of shape (height, width, 4) or one colour."""
        full = np.broadcast_to(pixels, (self.height, self.width, 4)).astype(np.uint8)
        self.capture.load(self.color, surface.encode(full, BY_NAME[self.color_format], "tiled"))

    def fill_depth(self, depth: ArrayLike, stencil: ArrayLike = 0) -> None:
        """Depth (0..1) and stencil (0..255) before anything is drawn, and show the buffer from now on."""
        texels = np.zeros((self.height, self.width), surface.DEPTH_DTYPE)
        limit = (1 << BY_NAME[self.depth_format].channels[0][2]) - 1
        texels["depth"] = np.floor(np.asarray(depth, np.float64) * limit)
        texels["stencil"] = stencil
        self.capture.load(self.depth, surface.encode_depth(texels, BY_NAME[self.depth_format]))
        self.show_depth()

    def show_depth(self) -> None:
        """Let tests compare the depth buffer, and galleries show it."""
        if not any(s.name == "depth" for s in self.surfaces):
            self.surfaces.append(self.surface("depth", self.depth, self.depth_format))

    def pattern(self, content: ArrayLike, outside: ArrayLike = 0) -> Array:
        """An array over the whole target from one for the content of a cell (top row first)."""
        (w, h), inside = self.cell_size, np.asarray(content)
        tile = np.empty((h, w, *inside.shape[2:]), inside.dtype)
        tile[:] = outside
        tile[: h - self.gap, : w - self.gap] = inside
        return np.tile(tile, (self.rows, self.columns, *(1,) * (tile.ndim - 2)))

    @property
    def content(self) -> tuple[Array, Array]:
        """x and y in 0..1 (y up) at the pixel centres of a cell's content, as (h, 1) and (1, w) broadcast."""
        w, h = (side - self.gap for side in self.cell_size)
        y, x = np.mgrid[0:h, 0:w]
        return (x + 0.5) / w, 1 - (y + 0.5) / h

    # -- cells ------------------------------------------------------------------------------------------------------
    def cell(self, label: str) -> List:
        """Go to the next cell: its content becomes the viewport."""
        self._next_cell(label)
        return self.view()

    def _next_cell(self, label: str) -> None:
        assert self._at < self.columns * self.rows, f"no room for {label}"
        assert label not in [cell.label for cell in self.cells], f"{label} twice"
        row, column = divmod(self._at, self.columns)
        self._at += 1
        w, h = self.cell_size
        self.cells.append(Cell(label, column * w, row * h, w, h))

    def next_row(self) -> None:
        """Go on at the start of a row."""
        self._at = -(-self._at // self.columns) * self.columns

    def tile(self, label: str, address: int, width: int, height: int, format: str, layout: str = "linear") -> None:
        """The next cell shows memory of its own, from its upper left corner on, instead of a part of the target."""
        self._next_cell(label)
        self.surfaces.append(Surface(label, address, width, height, format, layout, cell=len(self.cells) - 1))

    def shot(self, label: str, screen: str = "top", shrink: int = 4) -> None:
        """End the frame; the next cell shows what a screen shows then."""
        self._next_cell(label)
        width = SCREENS[screen][1]
        frame, cell = len(self.capture.frames), len(self.cells) - 1
        self.surfaces.append(Surface(label, 0, width, 240, "RGB8", "linear", cell=cell, frame=frame, shrink=shrink))
        self.capture.end_frame()

    def view(self) -> List:
        """The viewport of the present cell, for a new list."""
        self.cl.viewport(*self.box)
        return self.cl

    @property
    def box(self) -> tuple[int, int, int, int]:
        """The content of the present cell: left, bottom (of the target, upward), width, height."""
        cell = self.cells[-1]
        return cell.x, self.height - cell.y - cell.height + self.gap, cell.width - self.gap, cell.height - self.gap

    # -- shapes -----------------------------------------------------------------------------------------------------
    def mesh(
        self, position: ArrayLike, color: ArrayLike = WHITE, uv0: ArrayLike = (0.0, 0.0, 1.0),
        uv1: ArrayLike | None = None, uv2: ArrayLike | None = None,
    ) -> tuple[int, int]:  # fmt: skip
        """Vertices in memory: the first one's number in the pool, and how many. Positions (n, 2 to 4), z -0.5 and w 1
        if missing; texture coordinates 0 have w 1 if missing; 1 and 2 are those of 0 unless given."""
        at = np.asarray(position, np.float64)
        out = np.zeros((len(at), 15), np.float32)
        out[:, :4] = -0.5, 0, -0.5, 1
        out[:, : at.shape[1]] = at
        out[:, 4:8] = color
        first = np.broadcast_to(np.asarray(uv0, np.float64), (len(at), np.shape(uv0)[-1]))
        out[:, 10] = 1
        out[:, 8 : 8 + first.shape[1]] = first
        out[:, 11:13] = first[:, :2] if uv1 is None else uv1
        out[:, 13:15] = first[:, :2] if uv2 is None else uv2
        raw = out.tobytes()
        if raw not in self._meshes:
            assert self._vertices + len(at) <= ROOM
            self.capture.load(self._pool + self._vertices * VERTEX_SIZE, raw)
            self._meshes[raw] = self._vertices
            self._vertices += len(at)
        return self._meshes[raw], len(at)

    def use_meshes(self) -> List:
        """Let draws take the vertices that `mesh` numbers."""
        if self.cl.vertices != self._pool:
            self.cl.attributes(Buffer(self._pool, VERTEX))
        return self.cl

    def draw(self, position: ArrayLike, color: ArrayLike = WHITE, *, primitive: str = "triangles", **more: Any) -> None:
        """Draw vertices; see `mesh`."""
        first, count = self.mesh(position, color, **more)
        self.use_meshes().draw_arrays(count, first, primitive)

    def quad(
        self, color: ArrayLike = WHITE, *, box: Sequence[float] = (-1, -1, 1, 1), z: ArrayLike = -0.5,
        w: ArrayLike = 1.0, uv0: ArrayLike = UNIT, **more: Any,
    ) -> None:  # fmt: skip
        """A rectangle (left, bottom, right, top) in coordinates of the cell; colours, z, w and texture coordinates
        may differ at the four corners. Positions are multiplied with w, so that the outline stays."""
        x0, y0, x1, y1 = box
        at = np.zeros((4, 4))
        at[:, 0], at[:, 1], at[:, 2], at[:, 3] = (x0, x1, x1, x0), (y0, y0, y1, y1), z, 1
        at *= np.broadcast_to(np.asarray(w, np.float64), 4)[:, None]
        self.draw(at, color, primitive="triangle fan", uv0=uv0, **more)

    def floor(self, far: float, across: float, along: float) -> None:
        """A plane that goes into the distance, `far` times as far away at the top as at the bottom. Texture coordinates
        go from -across to across at the bottom, and by `along` in depth."""
        edge = across * far
        self.quad(w=(1, 1, far, far), uv0=((-across, 0), (across, 0), (edge, along), (-edge, along)))

    def bands(self, colors: ArrayLike, *, box: Sequence[float] = (-1, -1, 1, 1), z: float = -0.5) -> None:
        """Upright bands from left to right, each of one colour, in one draw."""
        shades = np.asarray(colors, np.float64)
        edges = np.linspace(box[0], box[2], len(shades) + 1)
        corners = [
            (x, y, z)
            for x0, x1 in pairwise(edges)
            for x, y in ((x0, box[1]), (x1, box[1]), (x1, box[3]), (x0, box[1]), (x1, box[3]), (x0, box[3]))
        ]
        self.draw(corners, np.repeat(shades, 6, axis=0))

    def triangle(self, color: ArrayLike = WHITE, *, size: float = 0.9, z: float = -0.5) -> None:
        """A triangle that points up, counter-clockwise."""
        self.draw([(-size, -size, z), (size, -size, z), (0, size, z)], color)


# -- pictures for textures ------------------------------------------------------------------------------------------
def grid(size: int) -> tuple[Array, Array]:
    """x and y in 0..1, y upward, at the centres of size x size texels."""
    y, x = np.mgrid[0:size, 0:size]
    return (x + 0.5) / size, 1 - (y + 0.5) / size


def rgba(red: ArrayLike, green: ArrayLike, blue: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """A picture from channels in 0..1."""
    parts = np.broadcast_arrays(red, green, blue, alpha)
    return np.clip(np.round(np.stack(parts, axis=-1) * 255), 0, 255).astype(np.uint8)


LETTER_F = np.array([[int(c) for c in row] for row in ("000000", "011110", "010000", "011100", "010000", "010000")])


def letter(size: int, ink: Color, paper: Color) -> Array:
    """An F that fills a square of texels: shows every mirroring and turning."""
    rows = np.arange(size) * len(LETTER_F) // size
    on = LETTER_F[np.ix_(rows, rows)][..., None]
    return np.round(np.where(on, np.array(ink), np.array(paper)) * 255).astype(np.uint8)


def checker(size: int, squares: int, one: Color = WHITE, two: Color = (0.2, 0.2, 0.25, 1)) -> Array:
    x, y = grid(size)
    on = ((x * squares).astype(int) + (y * squares).astype(int)) & 1
    return np.round(np.where(on[..., None], np.array(one), np.array(two)) * 255).astype(np.uint8)


# -- the register of scenes -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Entry:
    """A scene by name; `make` draws it. doc: what to look for."""

    name: str
    doc: str
    make: Callable[[], Scene]
    group: str
    events: tuple[str, ...] = ()
    """Ids of the events that it must cause."""
    choices: Mapping[str, str] = field(default_factory=dict)
    alike: bool = False
    """Whether all cells must look the same."""


SCENES: dict[str, Entry] = {}


def scene(
    columns: int, rows: int, cell: int | tuple[int, int], *, events: Sequence[str] = (),
    choices: Mapping[str, str] | None = None, alike: bool = False, **options: Any,
) -> Callable[[Callable[[Scene], object]], Callable[[Scene], object]]:  # fmt: skip
    """Register a function as a scene of so many cells; its docstring says what to look for."""

    def register(function: Callable[[Scene], object]) -> Callable[[Scene], object]:
        def make() -> Scene:
            made = Scene(columns, rows, cell, **options)
            function(made)
            if len(made.cl):
                made.capture.submit(made.cl)
            made.capture.end_frame()
            return made

        doc = " ".join((function.__doc__ or "").split())
        assert doc and function.__name__ not in SCENES
        group = function.__module__.rpartition(".")[2]
        SCENES[function.__name__] = Entry(
            function.__name__, doc, make, group, tuple(events), dict(choices or {}), alike
        )
        return function

    return register


def each(names: Mapping[int, str] | Sequence[str]) -> Iterator[str]:
    """Names of an enumeration in the order of their codes."""
    yield from (names[key] for key in sorted(names)) if isinstance(names, Mapping) else names
