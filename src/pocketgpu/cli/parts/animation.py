"""Pictures of whole frames: screens side by side, and animations as GIF or animated PNG.

An animated PNG has the exact pixels and times of frames. A GIF has 256 colours a frame and times in hundredths of a
second, but opens everywhere. Frames are compressed one by one, so that a long recording does not fill the memory.
"""

from __future__ import annotations

import io
import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import NoPictureError, UsageError
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from PIL.Image import Image

    from pocketgpu.cli.parts.replay import Shown

Pixels = NDArray[np.uint8]

SCREEN_RATE: Final = 60
"""Frames a second of both screens, rounded; a frame of a recording is one of them."""

_GIF_SHORTEST: Final = 2
"""Shortest delay in hundredths of a second; viewers slow down shorter ones."""


def compose(screens: Mapping[str, Shown], layout: str) -> Pixels | None:
    """One upright RGB picture of a frame's screens, or None if the layout shows none of them.

    layout: "top", "bottom", "stereo" (left eye beside right eye) or "both" (top above bottom, centred, as on the
    console). A right eye without its own picture gets the left one's. For a console with one screen, the result is that
    screen.
    """
    if "screen" in screens:
        return np.ascontiguousarray(screens["screen"].array)
    top, bottom = screens.get("top"), screens.get("bottom")
    if layout == "stereo":
        right = screens.get("top-right") or top
        return None if top is None or right is None else np.hstack([top.array, right.array])
    if layout == "both":
        shown = [screen.array for screen in (top, bottom) if screen is not None]
        return stack(shown) if shown else None
    screen = screens.get(layout)
    return None if screen is None else np.ascontiguousarray(screen.array)


@dataclass(frozen=True)
class Composed:
    """A composed picture that can be written like a screen."""

    name: str
    array: Pixels

    @property
    def image(self) -> Image:
        from pocketgpu.pictures import to_image

        return to_image(self.array)


def stack(arrays: list[Pixels]) -> Pixels:
    """Pictures one above the other, centred on black."""
    width = max(array.shape[1] for array in arrays)
    return np.vstack([fit(array, array.shape[0], width) for array in arrays])


def fit(array: Pixels, height: int, width: int) -> Pixels:
    """The picture centred on black of the given size; a larger picture is cropped."""
    if array.shape[:2] == (height, width):
        return np.ascontiguousarray(array)
    canvas = np.zeros((height, width, 3), np.uint8)
    rows, columns = min(height, array.shape[0]), min(width, array.shape[1])
    y, x = (height - rows) // 2, (width - columns) // 2
    from_y, from_x = (array.shape[0] - rows) // 2, (array.shape[1] - columns) // 2
    canvas[y : y + rows, x : x + columns] = array[from_y : from_y + rows, from_x : from_x + columns]
    return canvas


class Animation(ABC):
    """Collects frames; all get the size of the first. `fps` frames a second."""

    def __init__(self, fps: int) -> None:
        self.fps = fps
        self.count = 0
        self.size = (0, 0)

    def add(self, pixels: Pixels) -> None:
        """Append a frame, RGB of shape (height, width, 3)."""
        if not self.count:
            self.size = (pixels.shape[1], pixels.shape[0])
        self._add(fit(pixels, self.size[1], self.size[0]))
        self.count += 1

    def finish(self) -> bytes:
        """The file. Raises NoPictureError if no frame was added."""
        if not self.count:
            raise NoPictureError("no frame shows anything to animate", hint="Choose another --layout or --frames.")
        return self._finish()

    @abstractmethod
    def _add(self, pixels: Pixels) -> None: ...

    @abstractmethod
    def _finish(self) -> bytes: ...


class AnimatedPng(Animation):
    """Lossless. Each frame stores only the rectangle that changed; equal frames lengthen the one before.

    Source: PNG specification, third edition (acTL, fcTL, fdAT).
    """

    def __init__(self, fps: int) -> None:
        super().__init__(fps)
        self._frames: list[tuple[tuple[int, int, int, int], list[bytes], int]] = []
        self._last: Pixels | None = None
        self._head = b""

    def _add(self, pixels: Pixels) -> None:
        box = (0, 0, *self.size)
        if self._last is not None:
            changed = (pixels != self._last).any(axis=2)
            if not changed.any():
                box_, data, repeats = self._frames[-1]
                self._frames[-1] = (box_, data, repeats + 1)
                return
            rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
            box = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
        self._last = pixels
        head, data = _png_parts(pixels[box[1] : box[3], box[0] : box[2]])
        self._head = self._head or head
        self._frames.append((box, data, 1))

    def _finish(self) -> bytes:
        from fractions import Fraction  # most pictures are of no animation

        out = [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", self._head),
            _chunk(b"acTL", struct.pack(">2I", len(self._frames), 0)),
        ]
        number = 0
        for index, (box, data, repeats) in enumerate(self._frames):
            delay = Fraction(repeats, self.fps).limit_denominator(0xFFFF)
            if delay.numerator > 0xFFFF:  # many minutes without a change: whole seconds are enough
                delay = Fraction(min(0xFFFF, round(delay)))
            width, height = box[2] - box[0], box[3] - box[1]
            control = (number, width, height, box[0], box[1], delay.numerator, delay.denominator, 0, 0)
            out.append(_chunk(b"fcTL", struct.pack(">5I2H2B", *control)))
            number += 1
            for part in data:
                if index:
                    out.append(_chunk(b"fdAT", struct.pack(">I", number) + part))
                    number += 1
                else:  # programs without animation show the first frame
                    out.append(_chunk(b"IDAT", part))
        out.append(_chunk(b"IEND", b""))
        return b"".join(out)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png_parts(pixels: Pixels) -> tuple[bytes, list[bytes]]:
    """Header and data chunks of a picture."""
    from pocketgpu.pictures import to_png

    blob = to_png(pixels)
    head, data, at = b"", [], 8
    while at < len(blob):
        size, kind = struct.unpack_from(">I4s", blob, at)
        body = blob[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            head = body
        elif kind == b"IDAT":
            data.append(body)
        at += 12 + size
    return head, data


class AnimatedGif(Animation):
    """256 colours a frame, exact if a frame has no more. Times are rounded so that their sum is right."""

    def __init__(self, fps: int) -> None:
        super().__init__(fps)
        self._frames: list[Image] = []

    def _add(self, pixels: Pixels) -> None:
        self._frames.append(_with_palette(pixels))

    def _finish(self) -> bytes:
        from fractions import Fraction

        ends = [max(_GIF_SHORTEST * n, round(Fraction(100 * n, self.fps))) for n in range(self.count + 1)]
        durations = [10 * (after - before) for before, after in pairwise(ends)]
        stream = io.BytesIO()
        first, *rest = self._frames
        options: dict[str, Any] = {"duration": durations} if rest else {}
        first.save(stream, format="GIF", save_all=True, append_images=rest, loop=0, **options)
        return stream.getvalue()


def _with_palette(pixels: Pixels) -> Image:
    from PIL import Image

    from pocketgpu.pictures import to_image

    words = pixels.astype(np.uint32)
    packed = words[..., 0] << 16 | words[..., 1] << 8 | words[..., 2]
    colors, index = np.unique(packed, return_inverse=True)
    if len(colors) > 256:
        return to_image(pixels).quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    picture = Image.fromarray(index.reshape(packed.shape).astype(np.uint8))
    palette = np.stack([colors >> 16, colors >> 8 & 255, colors & 255], axis=1).astype(np.uint8)
    picture.putpalette(palette.tobytes())
    return picture


def animation_for(path: str, fps: int) -> Animation:
    """The animation for a file name: .gif, or .png and .apng. Raises UsageError for other names."""
    name = path.lower()
    if name.endswith(".gif"):
        return AnimatedGif(fps)
    if name.endswith((".png", ".apng")):
        return AnimatedPng(fps)
    raise UsageError(
        "an animation is a .gif or an animated .png", location="--animate", hint="Give it one of these endings."
    )
