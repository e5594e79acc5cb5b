"""A canvas of the Switch: a picture to draw into, memory for what draws read, and programs.

    canvas = MaxwellCanvas()
    canvas.fill((24, 34, 124, 112), BLUE)             # a clear
    canvas.square((172, 34, 124, 112), ORANGE)        # a draw
    canvas.image().save("squares.png")

Places are pixels of the picture, 320 wide and 180 high, counted from its upper left corner.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.builder.maxwell.capture import MaxwellCaptureBuilder
from pocketgpu.builder.maxwell.pushbuffer import PushBuffer
from pocketgpu.builder.maxwell.shaders import shader
from pocketgpu.builder.maxwell.surface import Surface, size_of
from pocketgpu.displayed import line_of
from pocketgpu.facts.maxwell.headers import HANDLE
from pocketgpu.maxwell.compute.texture_objects import Texture
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH: Final = 320
HEIGHT: Final = 180
Rectangle: TypeAlias = tuple[int, int, int, int]
"""x, y, width, height in pixels."""
Color: TypeAlias = tuple[int, int, int]
DARK: Final[Color] = (24, 32, 48)
BLUE: Final[Color] = (0, 114, 178)
ORANGE: Final[Color] = (230, 159, 0)
LIGHT: Final[Color] = (236, 236, 224)
"""Colours that everybody tells apart."""
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
_POOL_ENTRIES = 4
_POOL_ENTRY = 32
_BOUND = 256
"""Bytes of a constant buffer."""
_ALL: Final[dict[str, Any]] = {f"{name}_ENABLE": True for name in "RGBA"}
"""All components, for a clear."""
_HEADER: Final[dict[str, Any]] = {"SASS_VERSION": 3, "STORE_REQ_START": 255}
"""Fields that headers of this console's compiler have; no output is asked for again."""
CLASSES: Final = ("3D", "compute", "inline-to-memory", "2D", "DMA copy")

VERTEX: Final = """
    ALD.128 R0, a[0x80]
    ALD.128 R4, a[0x90]
    AST.128 a[0x70], R0
    AST.128 a[0x80], R4
    EXIT
"""
"""Hands on position and four values, which are attributes 0 and 1."""
VALUES: Final = """
    IPA.PASS R4, a[0x7c], RZ
    MUFU.RCP R4, R4
    IPA R0, a[0x80], R4
    IPA R1, a[0x84], R4
    IPA R2, a[0x88], R4
    IPA R3, a[0x8c], R4
"""
"""The four values of a pixel in R0 to R3."""
COLORED: Final = VALUES + "EXIT"
TEXTURED: Final = VALUES + "TEX R0, R0, RZ, 0x0, 2D, 0xf\nEXIT"


def floats(color: Color, alpha: float = 1.0) -> tuple[float, float, float, float]:
    """A colour as the numbers that a target of 8 bits makes it of."""
    red, green, blue = (value / 255 for value in color)
    return red, green, blue, alpha


def pixels(*rows: Sequence[Color], alpha: int = 255) -> NDArray[np.uint8]:
    """Rows of colours as RGBA pixels."""
    return np.array([[(*color, alpha) for color in row] for row in rows], np.uint8)


class MaxwellCanvas:
    """A recording under construction. pb: the words of the next submission; target: the surface that is shown.

    pitch: whether the rows of the target lie one after the other in memory. bound: whether the classes are bound to
    their subchannels, and the state that draws need is written. source: what the recording says it is of.
    """

    def __init__(self, *, pitch: bool = False, bound: bool = True, source: str = "") -> None:
        self.capture = MaxwellCaptureBuilder(source, step=_STEP)
        self.room, self._used = self.capture.allocate(_ROOM), 0
        if pitch:
            row = WIDTH * 4
            self.target = Surface(self.capture.allocate(row * HEIGHT), WIDTH, HEIGHT, pitch=row)
        else:
            self.target = self.surface(WIDTH, HEIGHT)
        self._programs: dict[str, int] = {}
        self._pools: tuple[int, int, int] | None = None
        self._textures = 0
        self._frames = 0
        self.pb = PushBuffer()
        if bound:
            self.begin()

    def __repr__(self) -> str:
        return line_of(self, f"{WIDTH}x{HEIGHT}, {counted(self._frames, 'frame')}")

    # -- memory -------------------------------------------------------------------------------------------------------
    def allocate(self, size: int, alignment: int = _ALIGNMENT) -> int:
        """Plain memory, zero at first."""
        at = -(-self._used // alignment) * alignment
        self._used = at + size
        assert self._used <= _ROOM
        return self.room + at

    def put(self, data: bytes | NDArray[Any]) -> int:
        """Plain memory with these bytes."""
        raw = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        address = self.allocate(len(raw))
        self.capture.load(address, raw)
        return address

    def surface(self, width: int, height: int, format: str = "A8B8G8R8") -> Surface:
        """A block-linear surface."""
        return Surface(self.capture.allocate(size_of(width, height, format), kind=IMAGE), width, height, format)

    def rows(self, texels: NDArray[Any], format: str = "A8B8G8R8") -> Surface:
        """A pitch surface with these pixels, (height, width, channels)."""
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

    def clear(self, color: Color = DARK) -> Self:
        """Clear all of the target."""
        self.pb.on("3D").clear(floats(color))
        return self

    def draw_to(self, target: Surface, slot: int = 0) -> Self:
        """Make a surface the colour target of a slot; positions of draws are pixels of it."""
        self.pb.on("3D").render_target(slot, target).viewport(0, 0, target.width, target.height)
        return self

    def wait(self) -> Self:
        """Have earlier work of one engine done before another engine reads what it wrote."""
        self.pb.on("3D").method("WAIT_FOR_IDLE")
        self.pb.method("WFI")
        return self

    def depth(self, format: str = "Z24S8") -> Self:
        """Give the target a depth buffer, with the largest depth and a stencil of 0."""
        depth = self.capture.allocate(size_of(WIDTH, HEIGHT), kind=IMAGE)
        self.pb.on("3D").depth_target(depth, WIDTH, HEIGHT, format)
        self.pb.clear_depth(1.0, 0 if "S8" in format else None)
        return self

    # -- pictures -----------------------------------------------------------------------------------------------------
    def fill(self, rectangle: Rectangle, color: Color | None, alpha: float = 1.0) -> Self:
        """Clear a rectangle of the target; without a colour with the one that is set."""
        pb = self.pb.on("3D").scissor(rectangle)
        if color is None:
            pb.method("CLEAR_SURFACE", **_ALL)
        else:
            pb.clear(floats(color, alpha))
        pb.scissor(None)
        return self

    def programs(self, pixel: str = COLORED, **others: int) -> Self:
        """Use a pixel program (its text), and programs of other stages (by address, see `program`)."""
        stages = {"vertex": self.program("vertex", VERTEX), **others, "pixel": self.program("pixel", pixel)}
        self.pb.on("3D").shaders(stages)
        return self

    def program(self, stage: str, text: str, **options: Any) -> int:
        """Put a program into memory; returns the address of its image."""
        found = self._programs.get(text)
        if found is None:
            found = self._programs[text] = self.put(shader(stage, text, barriers=True, **{**_HEADER, **options}).image)
        return found

    def square(self, rectangle: Rectangle, color: Color, *, z: float = 0.5) -> Self:
        """Draw a rectangle at a depth."""
        return self.shaded(rectangle, [floats(color)] * 4, COLORED, z=z)

    def shaded(
        self, rectangle: Rectangle, values: Sequence[Sequence[float]], pixel: str, *, z: float = 0.5
    ) -> Self:  # fmt: skip
        """Draw a rectangle with a pixel program (its text). values: four numbers for each corner: upper left, upper
        right, lower left, lower right."""
        self.programs(pixel)
        rows = [(*at, *value) for at, value in zip(corners(rectangle, z), values, strict=True)]
        return self.draw("TRIANGLE_STRIP", rows)

    def vertices(self, rows: Sequence[Sequence[float]]) -> Self:
        """Vertices of eight numbers: position, and the four values that pixel programs get."""
        data = np.array(rows, "<f4")
        pb = self.pb.on("3D").stream(0, self.put(data), data.shape[1] * 4, size=data.nbytes)
        pb.attribute(0, 0, 0, "R32_G32_B32_A32").attribute(1, 0, 16, "R32_G32_B32_A32")
        return self

    def draw(self, topology: str, rows: Sequence[Sequence[float]]) -> Self:
        """Draw vertices."""
        self.vertices(rows).pb.draw(topology, len(rows))
        return self

    def texture(self, texture: Texture, at: int | None = None) -> Self:
        """Use a texture as number 0 of pixel programs. at: the address of its texels, if they are in memory already."""
        if self._pools is None:
            self._pools = (
                self.allocate(_POOL_ENTRIES * _POOL_ENTRY), self.allocate(_POOL_ENTRIES * _POOL_ENTRY),
                self.allocate(_POOL_ENTRIES * _BOUND),
            )  # fmt: skip
        headers, samplers, handles = self._pools
        if at is None:
            at = self.capture.put(texture.tobytes(), kind=IMAGE)
        number, self._textures = self._textures, self._textures + 1
        handle = HANDLE["SAMPLER"].encode(number, HANDLE["HEADER"].encode(number))
        buffer = handles + number * _BOUND
        self.capture.load(headers + number * _POOL_ENTRY, np.array(texture.header(at), "<u4"))
        self.capture.load(samplers + number * _POOL_ENTRY, np.array(texture.sampler(), "<u4"))
        self.capture.load(buffer, np.array([handle], "<u4"))
        self.pb.on("3D").texture_pools(headers, samplers, _POOL_ENTRIES - 1).constants("pixel", 0, buffer, _BOUND)
        return self

    def show(
        self, source: Surface, rectangle: Rectangle, part: tuple[float, float, float, float] | None = None
    ) -> Self:
        """Copy a surface, or a part of it, into a rectangle of the target, with its pixels as they are."""
        self.wait().pb.on("2D").blit(source, self.target, part, rectangle)
        return self.wait()

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


def corners(rectangle: Rectangle, z: float = 0.5, width: int = WIDTH, height: int = HEIGHT) -> list[tuple[float, ...]]:
    """Clip coordinates of a rectangle's corners in the order of a strip; z: the depth."""
    x, y, across, down = rectangle
    left, right = 2 * x / width - 1, 2 * (x + across) / width - 1
    top, bottom = 1 - 2 * y / height, 1 - 2 * (y + down) / height
    return [(left, top, z, 1.0), (right, top, z, 1.0), (left, bottom, z, 1.0), (right, bottom, z, 1.0)]
