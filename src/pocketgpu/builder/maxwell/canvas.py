"""A canvas of the Switch: a picture to draw into, memory for what draws read, and programs.

    canvas = MaxwellCanvas()
    canvas.fill((24, 34, 124, 112), BLUE)             # a clear
    canvas.square((172, 34, 124, 112), ORANGE)        # a draw
    canvas.image().save("squares.png")

Places are pixels of the picture, 320 wide and 180 high unless told, counted from its upper left corner. A rectangle is
a tuple of x, y, width and height, or a `pocketgpu.builder.Box`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pocketgpu.builder.canvas import Box
from pocketgpu.builder.matrices import Matrix
from pocketgpu.builder.maxwell.capture import MaxwellCaptureBuilder
from pocketgpu.builder.maxwell.programs import COLORED, LIT, MESH, TEXTURED, VALUES, VERTEX
from pocketgpu.builder.maxwell.pushbuffer import PushBuffer
from pocketgpu.builder.maxwell.shaders import shader
from pocketgpu.builder.maxwell.surface import Surface, size_of
from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.headers import HANDLE
from pocketgpu.facts.maxwell.samples import PLACES_IN_REGISTERS, SAMPLE_MODES, SAMPLE_PLACES
from pocketgpu.maxwell.compute.texture_objects import Texture
from pocketgpu.maxwell.formats.samples import sample_grids
from pocketgpu.maxwell.memory.blocklinear import mip_layout
from pocketgpu.maxwell.sampling.store import HEADER_BYTES, SAMPLER_BYTES
from pocketgpu.maxwell.sass.stages.stage import TESS_U, TESS_V
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH: Final = 320
HEIGHT: Final = 180
Rectangle: TypeAlias = tuple[int, int, int, int]
"""x, y, width, height in pixels."""
Area: TypeAlias = Rectangle | Box
Color: TypeAlias = tuple[int, int, int]
DARK: Final[Color] = (24, 32, 48)
BLUE: Final[Color] = (0, 114, 178)
ORANGE: Final[Color] = (230, 159, 0)
LIGHT: Final[Color] = (236, 236, 224)
"""Colours that everybody tells apart."""
WHITE: Final[Color] = (255, 255, 255)
LEFT: Final[Rectangle] = (24, 34, 124, 112)
RIGHT: Final[Rectangle] = (172, 34, 124, 112)

IMAGE: Final = "generic_16bx2"
"""The kind of pages that block-linear surfaces need."""
_ROOM = 1 << 16
_STEP = 1 << 16
"""Of addresses: a console maps pages of 64 KiB."""
_ALIGNMENT = 256
_ROW = 64
"""Rows of pitch surfaces are multiples of it."""
_BLOCK_HEIGHT = 4
"""Log2 of the GOBs in the blocks of large surfaces."""
_POOL_ENTRIES = 64
_ROW_OF_VERTEX = 8
"""Numbers of a vertex."""
_VIEW_ANGLE, _VIEW_RANGE = math.radians(45), (0.1, 100.0)
_READ: Final[dict[str, dict[str, Any]]] = {
    "A8B8G8R8": {"format": "A8B8G8R8", "numbers": "unorm"},
    "A8BL8GL8RL8": {"format": "A8B8G8R8", "numbers": "unorm", "srgb": True},
    "RF16_GF16_BF16_AF16": {"format": "R16_G16_B16_A16", "numbers": "float"},
    "RF32_GF32_BF32_AF32": {"format": "R32_G32_B32_A32", "numbers": "float"},
}
"""How programs read a surface of a format."""
_ALL: Final[dict[str, Any]] = {f"{name}_ENABLE": True for name in "RGBA"}
"""All components, for a clear."""
_HEADER: Final[dict[str, Any]] = {"SASS_VERSION": 3, "STORE_REQ_START": 255}
"""Fields that headers of this console's compiler have; no output is asked for again."""
_STAGES: Final[dict[str, dict[str, Any]]] = {
    "evaluation": {
        "OMAP_TESSELLATION_EVALUATION_POINT_U": 1, "OMAP_TESSELLATION_EVALUATION_POINT_V": 1,
        "STORE_REQ_START": TESS_U // 4, "STORE_REQ_END": TESS_V // 4,
    },
}  # fmt: skip
"""More of them, by stage: evaluation programs get the place in the patch."""
CLASSES: Final = ("3D", "compute", "inline-to-memory", "2D", "DMA copy")


def floats(color: Color, alpha: float = 1.0) -> tuple[float, float, float, float]:
    """A colour as the numbers that a target of 8 bits makes it of.

    :raises UsageError: a colour that is not three numbers.
    """
    if len(color) != len("rgb"):
        raise UsageError(f"a colour of this canvas is red, green and blue, 0 to 255, not {color}")
    red, green, blue = (value / 255 for value in color)
    return red, green, blue, alpha


def pixels(*rows: Sequence[Color], alpha: int = 255) -> NDArray[np.uint8]:
    """Rows of colours as RGBA pixels."""
    return np.array([[(*color, alpha) for color in row] for row in rows], np.uint8)


class MaxwellCanvas:
    """A recording under construction. pb: the words of the next submission; target: the surface that is shown.

    width, height: of the picture in pixels. color: what it is cleared to. pitch: whether the rows of the target lie
    one after the other in memory. bound: whether the classes are bound to their subchannels, and the state that draws
    need is written. source: what the recording says it is of. view: the matrix that takes meshes from eye space to clip
    space; at first that of a camera at the origin that looks along -z.

    :raises UsageError: a picture without a pixel.
    """

    def __init__(
        self, width: int = WIDTH, height: int = HEIGHT, color: Color = DARK, *, pitch: bool = False, bound: bool = True,
        source: str = "",
    ) -> None:  # fmt: skip
        if width < 1 or height < 1:
            raise UsageError(f"no picture has {width}x{height} pixels")
        self.capture = MaxwellCaptureBuilder(source, step=_STEP)
        self.width, self.height, self.color = width, height, color
        self.view = perspective(_VIEW_ANGLE, width / height, *_VIEW_RANGE)
        self._room, self._left = 0, 0
        if pitch:
            row = -(-width * 4 // _ROW) * _ROW
            self.target = Surface(self.capture.allocate(row * height), width, height, pitch=row)
        else:
            self.target = self.surface(width, height)
        self._grid = (1, 1)
        self._programs: dict[tuple[str, str, tuple[tuple[str, Any], ...]], int] = {}
        self._pools: tuple[int, int] | None = None
        self._textures = 0
        self._frames = 0
        self.pb = PushBuffer()
        if bound:
            self.begin()

    def __repr__(self) -> str:
        return line_of(self, f"{self.width}x{self.height}, {counted(self._frames, 'frame')}")

    # -- memory -------------------------------------------------------------------------------------------------------
    def allocate(self, size: int, alignment: int = _ALIGNMENT) -> int:
        """Plain memory, zero at first."""
        skipped = -self._room % alignment
        if size + skipped > self._left:
            self._left = max(_ROOM, size)
            self._room, skipped = self.capture.allocate(self._left), 0
        at = self._room + skipped
        self._room, self._left = at + size, self._left - skipped - size
        return at

    def put(self, data: bytes | NDArray[Any]) -> int:
        """Plain memory with these bytes."""
        raw = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        address = self.allocate(len(raw))
        self.capture.load(address, raw)
        return address

    def surface(self, width: int, height: int, format: str = "A8B8G8R8") -> Surface:
        """A block-linear surface, width x height pixels. Its blocks are as high as those of a texture of its size.

        :raises UsageError: there is no such format of colour targets, or no pixel.
        """
        texture = mip_layout(width, height, element_bytes=1, block_height_log2=_BLOCK_HEIGHT)
        log2 = texture.levels[0].layout.block_height_log2
        size = size_of(width, height, format, block_height_log2=log2)
        return Surface(self.capture.allocate(size, kind=IMAGE), width, height, format, None, log2)

    def rows(self, texels: NDArray[Any], format: str = "A8B8G8R8") -> Surface:
        """A pitch surface with these pixels, (height, width, channels).

        :raises UsageError: there is no pixel.
        """
        if not texels.size:
            raise UsageError(f"no surface has pixels of shape {texels.shape}")
        height, width = texels.shape[:2]
        data = np.ascontiguousarray(texels).reshape(height, -1).view(np.uint8)
        pitch = -(-data.shape[1] // _ROW) * _ROW
        padded = np.zeros((height, pitch), np.uint8)
        padded[:, : data.shape[1]] = data
        return Surface(self.put(padded), width, height, format, pitch)

    # -- state --------------------------------------------------------------------------------------------------------
    def begin(self, *, clear: bool = True) -> Self:
        """Bind the classes, write all state, and clear the target."""
        for name in CLASSES:
            self.pb.bind(name)
        self.set_state()
        return self.clear() if clear else self

    def set_state(self, classes: Sequence[str] = CLASSES) -> Self:
        """Write the state of some classes that draws need."""
        if "3D" in classes:
            self.pb.on("3D").plain_state()
        return self.draw_to(self.target)

    def clear(self, color: Color | None = None) -> Self:
        """Clear all of the target; without a colour to that of the canvas."""
        self.pb.on("3D").clear(floats(self.color if color is None else color))
        return self

    def draw_to(self, target: Surface, slot: int = 0) -> Self:
        """Make a surface the colour target of a slot; positions of draws are pixels of it."""
        self.pb.on("3D").render_target(slot, target).viewport(0, 0, target.width, target.height)
        return self

    def draw_to_all(self, *targets: Surface) -> Self:
        """Draw to several surfaces of one size: the first is target 0, and so on."""
        for slot, target in enumerate(targets):
            self.draw_to(target, slot)
        order: dict[str, Any] = {f"TARGET{slot}": slot for slot in range(len(targets))}
        self.pb.method("SET_CT_SELECT", TARGET_COUNT=len(targets), **order)
        return self

    def wait(self) -> Self:
        """Have earlier work of one engine done before another engine reads what it wrote."""
        self.pb.on("3D").method("WAIT_FOR_IDLE")
        self.pb.method("WFI")
        return self

    def depth(self, format: str = "Z24S8") -> Self:
        """Give the target a depth buffer, with the largest depth and a stencil of 0.

        :raises UsageError: there is no such format of depth targets.
        """
        width, height = self.width * self._grid[0], self.height * self._grid[1]
        depth = self.capture.allocate(size_of(width, height), kind=IMAGE)
        self.pb.on("3D").depth_target(depth, width, height, format)
        self.pb.clear_depth(1.0, 0 if "S8" in format else None)
        return self

    def test_depth(self, function: str = "LESS") -> Self:
        """Give the target a depth buffer, and draw what passes a comparison with it: a name of SET_DEPTH_FUNC's after
        ``OGL_``.

        :raises UsageError: there is no such comparison.
        """
        self.depth().pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1)
        self.pb.method("SET_DEPTH_FUNC", V=f"OGL_{function}")
        return self

    def blend(
        self, source: str = "SRC_ALPHA", target: str = "ONE_MINUS_SRC_ALPHA", equation: str = "FUNC_ADD"
    ) -> Self:  # fmt: skip
        """Blend from here on, colour and alpha alike: names of SET_BLEND_COLOR_SOURCE_COEFF's and of
        SET_BLEND_COLOR_OP's after ``OGL_``.

        :raises UsageError: there is no such name.
        """
        pb = self.pb.on("3D").method("SET_BLEND", 0, 1)
        for part in ("COLOR", "ALPHA"):
            pb.method(f"SET_BLEND_{part}_OP", V=f"OGL_{equation}")
            pb.method(f"SET_BLEND_{part}_SOURCE_COEFF", V=f"OGL_{source}")
            pb.method(f"SET_BLEND_{part}_DEST_COEFF", V=f"OGL_{target}")
        return self

    # -- samples ------------------------------------------------------------------------------------------------------
    def samples(self, count: int) -> Surface:
        """Draw with 1, 2, 4 or 8 samples a pixel from here on, to a new surface that is as many times as large; see
        `resolve`.

        :raises UsageError: another number of samples.
        """
        if count not in SAMPLE_MODES:
            raise UsageError(f"no mode has {counted(count, 'sample')} a pixel", hint="There are 1, 2, 4 and 8.")
        mode = SAMPLE_MODES[count]
        self._grid = across, down = sample_grids()[B197["SET_ANTI_ALIAS"]["SAMPLES"].values.symbols[mode]]
        many = self.surface(self.width * across, self.height * down)
        pb = self.pb.on("3D").method("SET_ANTI_ALIAS", SAMPLES=mode).method("SET_ANTI_ALIAS_ENABLE", int(count > 1))
        for first in range(0, PLACES_IN_REGISTERS, 4):
            places: dict[str, Any] = {}
            for n in range(4):
                places[f"X{n}"], places[f"Y{n}"] = SAMPLE_PLACES[count][(first + n) % count]
            pb.method("SET_ANTI_ALIAS_SAMPLE_POSITIONS", first // 4, **places)
        pb.render_target(0, many).viewport(0, 0, self.width, self.height)
        pb.method("SET_SURFACE_CLIP_HORIZONTAL", X=0, WIDTH=self.width)
        pb.method("SET_SURFACE_CLIP_VERTICAL", Y=0, HEIGHT=self.height)
        self.clear()
        return many

    def resolve(self, many: Surface) -> Self:
        """Mix the samples of a surface of `samples` into the target, by blits that halve, and draw to that again."""
        while many.width > self.width or many.height > self.height:
            width, height = max(many.width // 2, self.width), max(many.height // 2, self.height)
            last = (width, height) == (self.width, self.height)
            less = self.target if last else self.surface(width, height)
            self.wait().pb.on("2D").blit(many, less, filter="BILINEAR")
            many = less
        if many is not self.target:
            self.show(many, (0, 0, self.width, self.height))
        self._grid = 1, 1
        self.wait().pb.method("SET_ANTI_ALIAS", SAMPLES="MODE_1X1").method("SET_ANTI_ALIAS_ENABLE", 0)
        self.pb.depth_target(None)
        return self.draw_to(self.target)

    # -- pictures -----------------------------------------------------------------------------------------------------
    def fill(self, rectangle: Area, color: Color | None, alpha: float = 1.0) -> Self:
        """Clear a rectangle of the target; without a colour with the one that is set.

        :raises UsageError: a rectangle that begins outside or is turned, or a colour that is not three numbers.
        """
        x, y, width, height = of_area(rectangle)
        if width < 0 or height < 0:
            raise UsageError(f"a clear of {width}x{height} pixels", hint="Only draws take turned boxes.")
        pb = self.pb.on("3D").scissor((x, y, width, height))
        if color is None:
            pb.method("CLEAR_SURFACE", **_ALL)
        else:
            pb.clear(floats(color, alpha))
        pb.scissor(None)
        return self

    def programs(self, pixel: str | int = COLORED, vertex: str | int = VERTEX, **others: int) -> Self:
        """Use a pixel and a vertex program, and programs of other stages: their texts, or their addresses (see
        `program`).

        :raises UsageError: there is no such stage, or a text is not a program.
        """
        stages = {"vertex": vertex, **others, "pixel": pixel}
        found = {name: self.program(name, one) if isinstance(one, str) else one for name, one in stages.items()}
        self.pb.on("3D").shaders(found)
        return self

    def program(self, stage: str, text: str, **options: Any) -> int:
        """Put a program into memory, the same only once; returns the address of its image. options: as for `shader`.

        :raises UsageError: as for `shader`.
        """
        key = stage, text, tuple(sorted(options.items()))
        found = self._programs.get(key)
        if found is None:
            fields = {**_HEADER, **_STAGES.get(stage, {}), **options}
            found = self._programs[key] = self.put(shader(stage, text, barriers=True, **fields).image)
        return found

    def constants(self, values: ArrayLike, stage: str = "pixel", slot: int = 1) -> Self:
        """Numbers as a constant buffer of a stage: arrays of integers as words, all others as floats. Slot 0 of pixel
        programs has the handles of textures.

        :raises UsageError: there is no such stage or slot.
        """
        words = isinstance(values, np.ndarray) and values.dtype.kind in "iu"
        data = np.asarray(values, "<u4" if words else "<f4").tobytes()
        size = -(-len(data) // _ALIGNMENT) * _ALIGNMENT
        self.pb.on("3D").constants(stage, slot, self.put(data.ljust(size, bytes(1))), size)
        return self

    def square(self, rectangle: Area, color: Color, *, z: float = 0.5) -> Self:
        """Draw a rectangle at a depth, 0 to 1.

        :raises UsageError: a colour that is not three numbers.
        """
        return self.shaded(rectangle, [floats(color)] * 4, COLORED, z=z)

    def shaded(
        self, rectangle: Area, values: Sequence[Sequence[float]], pixel: str | int, *, z: float = 0.5
    ) -> Self:  # fmt: skip
        """Draw a rectangle with a pixel program (its text, or its address). values: four numbers for each corner:
        upper left, upper right, lower left, lower right.

        :raises UsageError: other values than four numbers for each corner, or the text is not a program.
        """
        if [len(value) for value in values] != [4] * 4:
            raise UsageError("a rectangle takes four values for each of its four corners")
        self.programs(pixel)
        rows = [(*at, *value) for at, value in zip(self.corners(rectangle, z), values, strict=True)]
        return self.draw("TRIANGLE_STRIP", rows)

    def textured(
        self, rectangle: Area | None = None, part: tuple[float, float, float, float] = (0, 0, 1, 1),
        pixel: str | int = TEXTURED,
    ) -> Self:  # fmt: skip
        """Draw texture 0 into a rectangle, or all of the target. part: left, top, right and bottom of what is shown,
        in coordinates of the texture."""
        left, top, right, bottom = part
        values = [(u, v, 0.0, 1.0) for v in (top, bottom) for u in (left, right)]
        return self.shaded(rectangle or (0, 0, self.width, self.height), values, pixel)

    def vertices(self, rows: ArrayLike) -> Self:
        """Vertices of eight numbers: position, and the four values that pixel programs get.

        :raises UsageError: rows of another length.
        """
        data = np.array(rows, "<f4")
        if data.ndim != 2 or data.shape[1] != _ROW_OF_VERTEX:
            raise UsageError(f"vertices have shape (n, {_ROW_OF_VERTEX}), not {data.shape}")
        pb = self.pb.on("3D").stream(0, self.put(data), data.shape[1] * 4, size=data.nbytes)
        pb.attribute(0, 0, 0, "R32_G32_B32_A32").attribute(1, 0, 16, "R32_G32_B32_A32")
        return self

    def draw(self, topology: str, rows: ArrayLike, indices: ArrayLike | None = None) -> Self:
        """Draw vertices with the programs in use: all of them in order, or those with these indices.

        :raises UsageError: rows of another length than `vertices` takes, or there is no such topology.
        """
        self.vertices(rows)
        return self.draw_these(topology, len(np.asarray(rows)), indices)

    def draw_these(self, topology: str, count: int, indices: ArrayLike | None = None) -> Self:
        """Draw the vertices that are there: so many from the first one on, or those with these indices.

        :raises UsageError: there is no such topology.
        """
        if indices is None:
            self.pb.on("3D").draw(topology, count)
        else:
            numbers = np.asarray(indices, "<u2").reshape(-1)
            self.pb.on("3D").draw_indexed(topology, self.put(numbers), numbers.size)
        return self

    def mesh(
        self, shape: tuple[ArrayLike, ArrayLike], move: Matrix | None = None, *, color: Color = WHITE,
        pixel: str | int = LIT, topology: str = "TRIANGLES", **others: int,
    ) -> Self:  # fmt: skip
        """Draw a shape of `pocketgpu.builder.shapes`, or other vertices (n, 8) and indices: position, normal, texture
        coordinates.

        move: the matrix to eye space (None: the shape is where it is); the eye is at the origin and looks along -z.
        pixel: the pixel program. others: programs of other stages.

        :raises UsageError: rows of another length, a colour that is not three numbers, a text that is not a program, or
            no such topology or stage.
        """
        vertices, indices = np.asarray(shape[0], "<f4"), shape[1]
        if vertices.ndim != 2 or vertices.shape[1] != _ROW_OF_VERTEX:
            raise UsageError(f"vertices of shapes have shape (n, {_ROW_OF_VERTEX}), not {vertices.shape}")
        model = np.eye(4) if move is None else move
        self.programs(pixel, MESH, **others)
        self.constants(np.concatenate([self.view @ model, model]), "vertex").constants(floats(color))
        pb = self.pb.stream(0, self.put(vertices), vertices.shape[1] * 4, size=vertices.nbytes)
        for number, (offset, size) in enumerate(((0, "R32_G32_B32"), (12, "R32_G32_B32"), (24, "R32_G32"))):
            pb.attribute(number, 0, offset, size)
        return self.draw_these(topology, len(vertices), indices)

    def texture(self, *textures: Texture | Surface, at: int | None = None) -> Self:
        """Use textures as numbers 0, 1, ... of pixel programs; a surface that was drawn to is one, too. at: the address
        of the texels, if they are in memory already.

        :raises UsageError: the canvas has more textures than its tables hold, or a surface cannot be read.
        """
        if self._textures + len(textures) > _POOL_ENTRIES:
            raise UsageError(f"a canvas has at most {_POOL_ENTRIES} textures")
        if self._pools is None:
            self._pools = self.allocate(_POOL_ENTRIES * HEADER_BYTES), self.allocate(_POOL_ENTRIES * SAMPLER_BYTES)
        headers, samplers = self._pools
        handles = []
        for one in textures:
            number, self._textures = self._textures, self._textures + 1
            if isinstance(one, Surface):
                self.wait()
                texture, address = read_as_texture(one), one.address
            else:
                texture, address = one, self.capture.put(one.tobytes(), kind=IMAGE) if at is None else at
            handles.append(HANDLE["SAMPLER"].encode(number, HANDLE["HEADER"].encode(number)))
            self.capture.load(headers + number * HEADER_BYTES, np.array(texture.header(address), "<u4"))
            self.capture.load(samplers + number * SAMPLER_BYTES, np.array(texture.sampler(), "<u4"))
        self.pb.on("3D").texture_pools(headers, samplers, _POOL_ENTRIES - 1)
        return self.constants(np.array(handles, "<u4"), slot=0)

    def show(
        self, source: Surface, rectangle: Area, part: tuple[float, float, float, float] | None = None,
        filter: str = "POINT",
    ) -> Self:  # fmt: skip
        """Copy a surface, or a part of it, into a rectangle of the target. filter: "POINT" for its pixels as they are,
        or "BILINEAR".

        :raises UsageError: there is no such filter.
        """
        self.wait().pb.on("2D").blit(source, self.target, part, of_area(rectangle), filter=filter)
        return self.wait()

    def corners(self, rectangle: Area, z: float = 0.5) -> list[tuple[float, ...]]:
        """Clip coordinates of a rectangle's corners in the order of a strip; z: the depth."""
        return corners(rectangle, z, self.width, self.height)

    # -- the end ------------------------------------------------------------------------------------------------------
    def submit(self, channel: int = 0) -> Self:
        """Submit what was written so far, as one GPFIFO entry."""
        self.capture.submit(self.pb, channel=channel)
        self.pb = PushBuffer()
        return self

    def end_frame(self) -> Self:
        """Submit the rest and show the target: a frame ends."""
        if len(self.pb):
            self.wait().submit()
        self.capture.present(self.target)
        self._frames += 1
        return self

    # -- pictures and files -------------------------------------------------------------------------------------------
    def tobytes(self) -> bytes:
        """The recording, as the bytes of a channel log. What is not shown yet becomes its last frame."""
        if len(self.pb) or not self._frames:
            self.end_frame()
        return self.capture.tobytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recording, as `MaxwellCaptureBuilder.save` does."""
        self.tobytes()
        self.capture.save(path)

    def images(self, **options: Any) -> list[Image]:
        """Replay the recording; the picture of each frame. options: as for `Capture.render`."""
        from pocketgpu.capture import of_bytes  # replay is not needed to write recordings

        return [frame.screens["screen"].image for frame in of_bytes(self.tobytes()).render(**options)]

    def image(self, **options: Any) -> Image:
        """The last of `images`."""
        return self.images(**options)[-1]

    def memory(self, address: int, size: int) -> NDArray[np.uint8]:
        """Replay the recording; bytes of GPU memory after its last frame. What is put after that frame is not there."""
        from pocketgpu.capture import of_bytes  # replay is not needed to write recordings

        data = b""
        for frame in of_bytes(self.tobytes()).render():
            data = frame.machine.memory.read(address, size)
        return np.frombuffer(data, np.uint8)


def read_as_texture(surface: Surface, **options: Any) -> Texture:
    """The texture that a block-linear surface of `MaxwellCanvas.surface` is: coordinates from 0 to 1, filtered.

    options: others of `pocketgpu.Texture`.

    :raises UsageError: a format that has no texture format of the same bits here.
    """
    if surface.format not in _READ:
        raise UsageError(f"{surface.format} is not read as a texture", hint=f"These are: {', '.join(_READ)}.")
    texels = np.zeros((surface.height, surface.width, surface.pixel), np.uint8)
    return Texture(texels, **{"normalized": True, "filter": "linear", **_READ[surface.format], **options})


def perspective(fov_y: float, aspect: float, near: float, far: float) -> Matrix:
    """The view of a camera at the origin that looks along -z, in the clip space of this GPU: depth 0 at `near`, 1 at
    `far`. fov_y: angle from the lowest to the highest line of the picture in radians. aspect: its width / height."""
    scale, depth = 1 / math.tan(fov_y / 2), far / (near - far)
    return np.array([[scale / aspect, 0, 0, 0], [0, scale, 0, 0], [0, 0, depth, near * depth], [0, 0, -1, 0]])


def of_area(area: Area) -> Rectangle:
    """x, y, width and height of a rectangle or a box."""
    if isinstance(area, Box):
        return area.left, area.top, area.right - area.left, area.bottom - area.top
    return area


def corners(rectangle: Area, z: float = 0.5, width: int = WIDTH, height: int = HEIGHT) -> list[tuple[float, ...]]:
    """Clip coordinates of a rectangle's corners in the order of a strip; z: the depth."""
    x, y, across, down = of_area(rectangle)
    left, right = 2 * x / width - 1, 2 * (x + across) / width - 1
    top, bottom = 1 - 2 * y / height, 1 - 2 * (y + down) / height
    return [(left, top, z, 1.0), (right, top, z, 1.0), (left, bottom, z, 1.0), (right, bottom, z, 1.0)]


__all__ = [
    "BLUE", "CLASSES", "COLORED", "DARK", "HEIGHT", "IMAGE", "LEFT", "LIGHT", "LIT", "MESH", "ORANGE", "RIGHT",
    "TEXTURED", "VALUES", "VERTEX", "WHITE", "WIDTH", "Area", "Color", "MaxwellCanvas", "Rectangle", "corners",
    "floats", "of_area", "perspective", "pixels", "read_as_texture",
]  # fmt: skip


def __dir__() -> list[str]:
    return [*__all__]
