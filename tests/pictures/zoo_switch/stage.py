"""What a scene of the Switch's zoo is made of: a small target in cells, and a recording that draws them.

A scene is a function that gets a fresh `Scene` and draws every variant of one feature, one variant a cell. State that a
cell sets is plain again in the next one. All is written with the package's own builder; nothing here knows what a right
picture looks like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from zoo.stage import UNIT, WHITE, Cell

from pocketgpu import Texture
from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Shader, shader
from pocketgpu.builder.maxwell import Surface as Target
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import COLOR_TARGET, DEPTH, PixelLayout
from pocketgpu.maxwell.compute.texture_objects import Image
from pocketgpu.maxwell.engines.threed.power_on import power_on
from pocketgpu.maxwell.memory.blocklinear import Layout

Array = NDArray[Any]
COLOR_NAMES = frozenset(layout.name for layout in COLOR_TARGET.values())
BACKGROUND = (24 / 255, 26 / 255, 40 / 255, 1.0)
GAP = 1
BLOCK_HEIGHT = 1
"""Log2 of the GOBs in a block of every target: small ones waste little memory then."""
POOL, PROGRAMS, TABLES = 1 << 18, 1 << 17, 1 << 16
STRIDE = 48
"""Bytes of a vertex: position, colour, texture coordinates, four floats each."""
HANDLES = 15
"""Constant buffer with the handles of textures."""
TABLE_ALIGNMENT = 256
_TEXTURES = 128
_NOT_STATE = ("SET_REPORT_SEMAPHORE", "SET_RENDER_ENABLE", "SET_CONSTANT_BUFFER_SELECTOR")

GRIDS = {
    "MODE_1X1": (1, 1), "MODE_2X1": (2, 1), "MODE_2X2": (2, 2), "MODE_4X2": (4, 2), "MODE_4X2_D3D": (4, 2),
    "MODE_2X1_D3D": (2, 1), "MODE_4X4": (4, 4),
}  # fmt: skip
"""Samples of a pixel beside and below each other, by the names of SET_ANTI_ALIAS."""
POSITIONS = {
    1: ((8, 8),), 2: ((12, 12), (4, 4)), 4: ((6, 2), (14, 6), (2, 10), (10, 14)),
    8: ((9, 5), (7, 11), (13, 9), (5, 3), (3, 13), (1, 7), (11, 15), (15, 1)),
    16: tuple((x * 4 + 2, y * 4 + 2) for y in range(4) for x in range(4)),
}  # fmt: skip
"""Of samples in 1/16 pixel, as a driver of the Switch has them (16 in rows)."""

VERTEX = """
    ALD.128 R0, a[0x80]
    ALD.128 R4, a[0x90]
    ALD.128 R8, a[0xa0]
    AST.128 a[0x70], R0
    AST.128 a[0x80], R4
    AST.128 a[0x90], R8
    EXIT
"""
"""What most scenes need: everything as the vertices have it."""
INTERPOLATE = "IPA.PASS R12, a[0x7c], RZ\nMUFU.RCP R12, R12\n"
PIXEL = INTERPOLATE + "".join(f"IPA R{n}, a[{0x80 + 4 * n:#x}], R12\n" for n in range(4)) + "EXIT"


def sampled(how: str, *, coordinates: int = 2) -> str:
    """A pixel program that shows what a texture instruction gives. how: its text; coordinates are in R4 and so on."""
    reads = "".join(f"IPA R{4 + n}, a[{0x90 + 4 * n:#x}], R12\n" for n in range(coordinates))
    return f"{INTERPOLATE}{reads}{how}\nEXIT"


TEXTURED = sampled("TEX R0, R4, RZ, 0x0, 2D, 0xf")


@dataclass(frozen=True)
class Surface:
    """What a scene leaves: a target, of width x height pixels, in one or several layers.

    grid: samples of a pixel beside and below each other. cell: the only cell that it belongs to, if it is not of the
    size of all of them.
    """

    name: str
    address: int
    width: int
    height: int
    layout: PixelLayout
    depth: bool = False
    grid: tuple[int, int] = (1, 1)
    layers: int = 1
    cell: int | None = None

    @property
    def block_linear(self) -> Layout:
        """How a layer lies in memory."""
        across, down = self.grid
        return Layout(self.width * across * self.layout.bytes, self.height * down, 1, BLOCK_HEIGHT, 0)

    @property
    def layer_size(self) -> int:
        """Bytes from one layer to the next."""
        return self.block_linear.size


@dataclass(frozen=True)
class Bytes:
    """Memory of a cell that is no picture: what queries and transform feedback leave."""

    cell: int
    address: int
    size: int


@cache
def program(stage: str, source: str, options: tuple[tuple[str, Any], ...] = ()) -> Shader:
    """A program, assembled once."""
    return shader(stage, source, **{key: dict(v) if key == "inputs" else v for key, v in options})


@cache
def _power_on() -> tuple[int, ...]:
    registers = np.zeros(0x1000, np.uint32)
    power_on(registers)
    return tuple(registers.tolist())


class Words(PushBuffer):
    """A pushbuffer that knows which state was touched, to make it plain again."""

    def __init__(self, plain: dict[int, int] | None = None) -> None:
        super().__init__()
        self.plain = dict(enumerate(_power_on())) if plain is None else plain
        self.touched: dict[int, None] = {}

    def packet(self, form: Any, word: int, values: Sequence[int], *, more: int = 0) -> Words:
        self.touched |= dict.fromkeys(range(word, word + (len(values) if form in ("auto", "inc") else 1)))
        super().packet(form, word, values, more=more)
        return self

    def settle(self) -> None:
        """What was written so far is what is plain from now on."""
        self.plain |= {word: value for _, word, value in self._writes}
        self.touched.clear()

    def restore(self) -> None:
        """Write plain values to all state that was touched."""
        touched = [word for word in self.touched if _is_state(word)]
        for word in touched:
            self.write(word, self.plain[word])
        self.touched.clear()


@cache
def _state_words() -> frozenset[int]:
    named = [m for m in B197 if m.name.startswith(("SET_", "OGL_SET_")) and not m.name.startswith(_NOT_STATE)]
    return frozenset(word for method in named for word in method.words())


def _is_state(word: int) -> bool:
    return word in _state_words()


class Scene:
    """A scene under construction: `columns` x `rows` cells of `cell` pixels (one side, or width and height).

    pb: the pushbuffer being written. samples: a name of SET_ANTI_ALIAS. depth_format: None for no depth target.
    """

    def __init__(
        self, columns: int, rows: int, cell: int | tuple[int, int], *, format: str = "A8B8G8R8",
        depth_format: str | None = "Z24S8", samples: str = "MODE_1X1", layers: int = 1,
        clear: Sequence[float] = BACKGROUND,
    ) -> None:  # fmt: skip
        self.cell_size = (cell, cell) if isinstance(cell, int) else cell
        self.columns, self.rows = columns, rows
        self.width, self.height = columns * self.cell_size[0], rows * self.cell_size[1]
        self.capture = MaxwellCaptureBuilder("the zoo of pocketgpu")
        self.cells: list[Cell] = []
        self.surfaces: list[Surface] = []
        self.bytes: list[Bytes] = []
        self.addresses: dict[int, int] = {}
        """Where the texels of textures lie, by handle."""
        self._at = self._vertices = self._programs = self._tables = self._textures = 0
        self._meshes: dict[bytes, int] = {}
        self._images: dict[bytes, int] = {}
        self._pool = self.capture.allocate(POOL)
        self._program_pool = self.capture.allocate(PROGRAMS)
        self._table_pool = self.capture.allocate(TABLES)
        self._headers, self._samplers = (self.capture.allocate(32 * _TEXTURES) for _ in range(2))
        self.grid, self.layers = GRIDS[samples], layers
        self.pb = Words()
        self.pb.bind("3D").method("SET_ANTI_ALIAS", SAMPLES=samples)
        self.color = self.target(0, format, clear)
        self.depth: Surface | None = None
        if depth_format is not None:
            self.depth = self.depth_target(depth_format)
        self.show(self.color)
        self._plain_state()
        self.segments = [self.pb]

    # -- targets ----------------------------------------------------------------------------------------------------
    def surface(self, name: str, layout: PixelLayout, *, depth: bool = False, **more: Any) -> Surface:
        """Memory for a target; of the scene's size unless told."""
        options = {"grid": self.grid, "layers": self.layers, "width": self.width, "height": self.height} | more
        made = Surface(name, 0, layout=layout, depth=depth, **options)
        address = self.capture.allocate(made.layer_size * made.layers, kind="generic_16bx2")
        return Surface(name, address, layout=layout, depth=depth, **options)

    def show(self, surface: Surface) -> None:
        """Let tests compare a surface, and galleries show it."""
        self.surfaces.append(surface)

    def show_depth(self) -> None:
        """The same for the depth target."""
        assert self.depth is not None
        self.show(self.depth)

    def bind_color(self, slot: int, surface: Surface) -> None:
        """Make a surface colour target `slot`."""
        across, down = surface.grid
        pb, layout = self.pb, surface.layout
        pb.render_target(
            slot,
            Target(
                surface.address, surface.width * across, surface.height * down, layout.name,
                block_height_log2=BLOCK_HEIGHT,
            ),
        )  # fmt: skip
        pb.method("SET_COLOR_TARGET_THIRD_DIMENSION", slot, surface.layers, surface.layer_size // 4, 0)
        pb.method("SET_SURFACE_CLIP_HORIZONTAL", X=0, WIDTH=surface.width)
        pb.method("SET_SURFACE_CLIP_VERTICAL", Y=0, HEIGHT=surface.height)

    def target(self, slot: int, format: str, clear: Sequence[float] = BACKGROUND, **more: Any) -> Surface:
        """A colour target of the scene's size at a slot, all of one colour."""
        surface = self.surface("color" if slot == 0 else f"color {slot}", COLOR_TARGET.named(format), **more)
        self.bind_color(slot, surface)
        for layer in range(surface.layers):
            self.pb.clear(clear, slot=slot, layer=layer, within_scissor=False)
        return surface

    def depth_target(self, format: str, depth: float = 1.0, stencil: int = 0, **more: Any) -> Surface:
        """A depth target of the scene's size, cleared."""
        surface = self.surface("depth", DEPTH.named(format), depth=True, **more)
        self.bind_depth(surface)
        for layer in range(surface.layers):
            self.pb.clear_depth(depth, stencil, layer=layer)
        return surface

    def bind_depth(self, surface: Surface) -> None:
        across, down = surface.grid
        self.pb.depth_target(
            surface.address, surface.width * across, surface.height * down, surface.layout.name,
            block_height_log2=BLOCK_HEIGHT, layers=surface.layers, layer_size=surface.layer_size,
        )  # fmt: skip

    def _plain_state(self) -> None:
        pb = self.pb
        pb.plain_state()
        count = self.grid[0] * self.grid[1]
        pb.method("SET_ANTI_ALIAS_ENABLE", int(count > 1))
        places = [POSITIONS[count][n % count] for n in range(16)]
        for n in range(4):
            four = enumerate(places[4 * n : 4 * n + 4])
            pb.method(
                "SET_ANTI_ALIAS_SAMPLE_POSITIONS", n, **{f"{c}{i}": p[a] for i, p in four for a, c in enumerate("XY")}
            )
        pb.method("SET_SNAP_GRID_LINE", 0x008).method("SET_SNAP_GRID_NON_LINE", 0x008)
        pb.stream(0, self._pool, STRIDE, size=POOL)
        for n in range(3):
            pb.attribute(n, 0, 16 * n, "R32_G32_B32_A32")
        pb.texture_pools(self._headers, self._samplers, _TEXTURES - 1, slot=HANDLES)
        self.programs()

    # -- memory -----------------------------------------------------------------------------------------------------
    def put(self, data: bytes | Array) -> int:
        """Store data, the same only once; a GPU address."""
        raw = data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()
        if raw not in self._images:
            self._images[raw] = self.capture.put(raw)
        return self._images[raw]

    def table(self, data: Any) -> int:
        """A small table of words or floats, at a multiple of 256 bytes."""
        raw = np.asarray(data)
        raw = raw.astype("<f4" if raw.dtype.kind == "f" else "<u4")
        image = b"table" + raw.tobytes()
        if image not in self._images:
            self._images[image] = self._table_pool + self._tables
            self.capture.load(self._images[image], raw)
            self._tables += -(-raw.nbytes // TABLE_ALIGNMENT) * TABLE_ALIGNMENT
            assert self._tables <= TABLES
        return self._images[image]

    def result(self, size: int) -> int:
        """Memory that belongs to the present cell and is compared with it."""
        address = self.capture.allocate(size)
        self.bytes.append(Bytes(len(self.cells) - 1, address, size))
        return address

    # -- programs, constants, textures ------------------------------------------------------------------------------
    def programs(
        self, pixel: str | None = PIXEL, vertex: str = VERTEX, options: Mapping[str, Any] | None = None, **more: Any
    ) -> None:
        """Use these programs: texts by stage. options: of the pixel program (see `shader`); for others a tuple of text
        and options."""
        texts = {"vertex": vertex, **more} | ({} if pixel is None else {"pixel": (pixel, options or {})})
        self.pb.shaders({stage: self._program(stage, text) for stage, text in texts.items()})

    def _program(self, stage: str, text: Any) -> int:
        source, options = text if isinstance(text, tuple) else (text, {})
        frozen = tuple((k, tuple(v.items()) if isinstance(v, Mapping) else v) for k, v in options.items())
        image = program("vertex" if stage == "vertex_a" else stage, source, frozen).image
        if image not in self._images:
            self._images[image] = self._program_pool + self._programs
            self.capture.load(self._images[image], image)
            self._programs += -(-len(image) // 128) * 128
            assert self._programs <= PROGRAMS
        return self._images[image]

    def constants(self, data: Any, stage: str = "pixel", slot: int = 0) -> None:
        """Floats or words as constant buffer `slot` of a stage."""
        self.pb.constants(stage, slot, self.table(data), TABLE_ALIGNMENT)

    def texture(self, image: Image) -> int:
        """A texture or surface in memory; its handle."""
        address = self.capture.allocate(image.nbytes, kind="generic_16bx2")
        self.capture.load(address, image.tobytes())
        handle = self.describe(image.header(address), image.sampler())
        self.addresses[handle] = address
        return handle

    def describe(self, header: Sequence[int], sampler: Sequence[int]) -> int:
        """Write header and sampler of the next number; returns the handle."""
        self._textures += 1
        assert self._textures < _TEXTURES
        self.capture.load(self._headers + 32 * self._textures, np.array(header, "<u4"))
        self.capture.load(self._samplers + 32 * self._textures, np.array(sampler, "<u4"))
        return self._textures | self._textures << 20

    def use(self, *handles: int | Texture, stage: str = "pixel") -> None:
        """Handles that programs name by number, from 0 on."""
        found = [self.texture(one) if isinstance(one, Image) else one for one in handles]
        self.constants(np.array(found, np.uint32), stage, HANDLES)

    # -- cells ------------------------------------------------------------------------------------------------------
    def cell(self, label: str) -> Words:
        """Go to the next cell: plain state, and its content as viewport and scissor."""
        assert self._at < self.columns * self.rows, f"no room for {label}"
        assert label not in [cell.label for cell in self.cells], f"{label} twice"
        row, column = divmod(self._at, self.columns)
        self._at += 1
        w, h = self.cell_size
        self.cells.append(Cell(label, column * w, row * h, w, h))
        self._restore()
        x, y, w, h = self.box
        self.pb.viewport(x, y, w, h).scissor((x, y, w, h))
        return self.pb

    def _restore(self) -> None:
        """End the segment before a cell: what all share becomes plain, what a cell set is made plain again."""
        if len(self.segments) == 1:
            self.pb.settle()
        else:
            self.pb.restore()
        self.pb = Words(self.pb.plain)
        self.segments.append(self.pb)

    def submit(self, only: Iterable[int] | None = None) -> None:
        """Hand over the segments: all, or those of some cells."""
        chosen = range(len(self.cells)) if only is None else only
        self.capture.submit(self.segments[0], *(self.segments[1 + n] for n in chosen))

    def tile(self, label: str, format: str, clear: Sequence[float] = BACKGROUND, **more: Any) -> Words:
        """The next cell has a colour target of its own, cleared."""
        self.cell(label)
        w, h = self.box[2:]
        layout = (COLOR_TARGET if format in COLOR_NAMES else DEPTH).named(format)
        options = {"width": w, "height": h, "cell": len(self.cells) - 1} | more
        own = self.surface(label, layout, depth=format not in COLOR_NAMES, **options)
        self.show(own)
        self.own = own
        if own.depth:
            self.bind_depth(own)
            self.pb.clear_depth(1.0, 0)
            return self.pb
        self.bind_color(0, own)
        for layer in range(own.layers):
            self.pb.clear(clear, layer=layer, within_scissor=False)
        self.pb.viewport(0, 0, w, h).scissor((0, 0, w, h))
        return self.pb

    def skip(self) -> None:
        """Leave a cell's place empty."""
        self._at += 1

    @property
    def box(self) -> tuple[int, int, int, int]:
        """The content of the present cell: left, top, width, height in pixels."""
        cell = self.cells[-1]
        return cell.x, cell.y, cell.width - GAP, cell.height - GAP

    # -- shapes -----------------------------------------------------------------------------------------------------
    def mesh(self, position: ArrayLike, color: ArrayLike = WHITE, uv: ArrayLike = (0.0, 0.0)) -> tuple[int, int]:
        """Vertices in memory: the first one's number in the pool, and how many. Positions (n, 2 to 4), z 0.5 and w 1 if
        missing; texture coordinates (n, up to 4), 0 if missing."""
        at = np.asarray(position, np.float64)
        out = np.zeros((len(at), 12), np.float32)
        out[:, 2:4] = 0.5, 1
        out[:, : at.shape[1]] = at
        out[:, 4:8] = color
        coordinates = np.broadcast_to(np.asarray(uv, np.float64), (len(at), np.shape(uv)[-1]))
        out[:, 8 : 8 + coordinates.shape[1]] = coordinates
        raw = out.tobytes()
        if raw not in self._meshes:
            assert (self._vertices + len(at)) * STRIDE <= POOL
            self.capture.load(self._pool + self._vertices * STRIDE, raw)
            self._meshes[raw] = self._vertices
            self._vertices += len(at)
        return self._meshes[raw], len(at)

    def draw(self, position: ArrayLike, color: ArrayLike = WHITE, *, topology: str = "TRIANGLES", **more: Any) -> None:
        """Draw vertices; see `mesh`."""
        first, count = self.mesh(position, color, **more)
        self.pb.draw(topology, count, first)

    def quad(
        self, color: ArrayLike = WHITE, *, box: Sequence[float] = (-1, -1, 1, 1), z: ArrayLike = 0.5,
        w: ArrayLike = 1.0, uv: ArrayLike = UNIT, **more: Any,
    ) -> None:  # fmt: skip
        """A rectangle (left, bottom, right, top) in coordinates of the cell; colours, z, w and texture coordinates may
        differ at the four corners. Positions are multiplied with w, so that the outline stays."""
        x0, y0, x1, y1 = box
        at = np.zeros((4, 4))
        at[:, 0], at[:, 1], at[:, 2], at[:, 3] = (x0, x1, x1, x0), (y0, y0, y1, y1), z, 1
        at *= np.broadcast_to(np.asarray(w, np.float64), 4)[:, None]
        self.draw(at, color, topology="TRIANGLE_FAN", uv=uv, **more)

    def bands(self, colors: ArrayLike, *, z: float = 0.5) -> None:
        """Upright bands from left to right, each of one colour."""
        shades = np.asarray(colors, np.float64)
        edges = np.linspace(-1, 1, len(shades) + 1)
        corners = [
            (x, y, z)
            for x0, x1 in pairwise(edges)
            for x, y in ((x0, -1), (x1, -1), (x1, 1), (x0, -1), (x1, 1), (x0, 1))
        ]
        self.draw(corners, np.repeat(shades, 6, axis=0))


def corners(count: int, radius: float = 0.9, turn: float = 0.0) -> Array:
    """Places around the middle, counter-clockwise from the top."""
    angle = 2 * np.pi * np.arange(count) / count + np.pi / 2 + turn
    return np.round(np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1), 6)


# -- the register of scenes -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Entry:
    """A scene by name; `make` draws it. doc: what to look for."""

    name: str
    doc: str
    make: Callable[..., Scene]
    group: str
    events: tuple[str, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict)
    alike: bool = False


SCENES: dict[str, Entry] = {}


def scene(
    columns: int, rows: int, cell: int | tuple[int, int], *, events: Iterable[str] = (),
    choices: Mapping[str, str] | None = None, alike: bool = False, **options: Any,
) -> Callable[[Callable[[Scene], object]], Callable[[Scene], object]]:  # fmt: skip
    """Register a function as a scene of so many cells; its docstring says what to look for."""

    def register(function: Callable[[Scene], object]) -> Callable[[Scene], object]:
        def make(only: Iterable[int] | None = None) -> Scene:
            made = Scene(columns, rows, cell, **options)
            function(made)
            made.submit(only)
            return made

        doc = " ".join((function.__doc__ or "").split())
        assert doc and function.__name__ not in SCENES
        group = function.__module__.rpartition(".")[2]
        SCENES[function.__name__] = Entry(
            function.__name__, doc, make, group, tuple(events), dict(choices or {}), alike
        )
        return function

    return register
