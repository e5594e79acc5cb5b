"""Pictures of a moment, the same for both consoles: screens and render targets, with the address of each pixel.

    for name, picture in run.seek("f1/d17").pictures.items():
        print(name, picture.title, picture.at(8, 9))
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import Displayed, picture_html, title_html
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pictures import to_png

KINDS = ("screen", "colour", "depth", "stencil")
Bytes = NDArray[np.uint8]
OPAQUE: Final = 255
"""The greatest alpha."""
_CHANNELS = ("red", "green", "blue", "alpha")


Matrix = tuple[tuple[int, int], tuple[int, int]]
_UPRIGHT: Final[Matrix] = ((1, 0), (0, 1))


@dataclass(frozen=True, repr=False)
class PixelAddresses(Displayed):
    """Which pixels of a picture which addresses name.

    places: an address of a pixel is one of them, with the pixel; the first is what `at` gives. first: as what addresses
    count the upper left pixel. turn: what is added to `first` for x and y, a matrix of quarter turns and mirrors.
    """

    places: tuple[Address, ...]
    first: tuple[int, int] = (0, 0)
    turn: Matrix = _UPRIGHT

    def at(self, x: int, y: int) -> Address:
        """The address of a pixel of the picture."""
        column, row = (start + a * x + b * y for start, (a, b) in zip(self.first, self.turn, strict=True))
        return self.places[0].at(pixel=(column, row))

    def find(self, address: Address) -> tuple[int, int] | None:
        """The inverse of `at`, for all places; None if the address names no pixel, or one of something else. The pixel
        may be outside the picture."""
        if address.pixel is None or address.place.at(screen=address.screen) not in self.places:
            return None
        across, down = (one - start for one, start in zip(address.pixel, self.first, strict=True))
        (a, b), (c, d) = self.turn  # the transpose of a turn is its inverse
        return a * across + c * down, b * across + d * down

    def to_json(self) -> dict[str, Any]:
        return {"places": [str(one) for one in self.places], "first": self.first, "turn": self.turn}

    def __str__(self) -> str:
        return f"{self.at(0, 0)} is the upper left pixel, {self.at(1, 0)} the one right of it"


class MomentPicture(Displayed, ABC):
    """A picture of a moment, upright, with x and y from its upper left pixel.

    name: "top", "target", "depth" and so on. kind: one of KINDS. title: size, format and place, for people.
    """

    name: str
    kind: str
    title: str
    width: int
    height: int

    @property
    @abstractmethod
    def pixels(self) -> Bytes:
        """RGBA to look at, (height, width, 4). Depth is grey, its least value black and its greatest white; stencil is
        grey as it is."""

    @abstractmethod
    def values(self, x: int, y: int) -> dict[str, str]:
        """What a pixel holds, by name: "red" to "alpha", "depth", "stencil".

        :raises UsageError: there is no such pixel.
        """

    @property
    def addresses(self) -> PixelAddresses | None:
        """The addresses of the pixels, as `why` takes them; None if nothing explains them."""
        return None

    def at(self, x: int, y: int) -> Address | None:
        """The address of a pixel, as `why` takes it; None if nothing explains it.

        :raises UsageError: there is no such pixel.
        """
        self.check(x, y)
        return None if self.addresses is None else self.addresses.at(x, y)

    def find(self, address: Address) -> tuple[int, int] | None:
        """x and y of the pixel that an address names, the inverse of `at`; None if it names none of this picture."""
        found = None if self.addresses is None else self.addresses.find(address)
        return found if found is not None and self.has(*found) else None

    def has(self, x: int, y: int) -> bool:
        """Whether there is such a pixel."""
        return 0 <= x < self.width and 0 <= y < self.height

    def check(self, x: int, y: int) -> None:
        """Refuse a pixel that does not exist."""
        if not self.has(x, y):
            raise UsageError(
                f"{self.name} has no pixel at {x},{y}",
                hint=f"It is {self.width} pixels wide and {self.height} high.",
            )  # fmt: skip

    def __str__(self) -> str:
        return f"{self.name}: {self.title}"

    def _repr_png_(self) -> bytes:
        return to_png(self.pixels)

    def _repr_html_(self) -> str:
        return title_html(str(self)) + picture_html(self._repr_png_())


class TargetPart(MomentPicture):
    """The colours, the depth or the stencil of a render target.

    draw: the address of the draw that has just happened; None if `why` explains no pixel of the part. Where addresses
    count pixels in another way than the picture, a console's class has its own `place`; the rest follows from it.
    """

    def __init__(self, name: str, kind: str, size: tuple[int, int], title: str, draw: Address | None) -> None:
        self.name, self.kind, self.title, self._draw = name, kind, title, draw
        self.width, self.height = size

    @property
    @abstractmethod
    def numbers(self) -> NDArray[Any]:
        """What it holds, upright: (height, width, 4) for colours, else (height, width)."""

    def place(self, x: int, y: int) -> tuple[int, int]:
        """x and y of a pixel as addresses count them, which is as the viewport does. Against the picture they are
        turned by quarters or mirrored, or neither."""
        return x, y

    @cached_property
    def _placing(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`place` as numbers: where it puts the first pixel (2,), and a matrix (2, 2) for x and y in the picture."""
        first = np.array(self.place(0, 0))
        return first, np.stack([self.place(1, 0) - first, self.place(0, 1) - first], axis=1)

    @property
    def from_viewport(self) -> NDArray[np.float64]:
        """The inverse of `place` as a matrix (2, 3) for points, which count from a corner of the first pixel instead of
        its centre."""
        first, turn = self._placing
        centre = np.full(2, 0.5)
        return np.concatenate([turn.T, (centre - turn.T @ (first + centre))[:, None]], axis=1)

    def values(self, x: int, y: int) -> dict[str, str]:
        self.check(x, y)
        found = self.numbers[y, x].tolist()
        if self.kind == "colour":
            return dict(zip(_CHANNELS, map(_text, found), strict=True))
        return {self.kind: _text(found)}

    @property
    def addresses(self) -> PixelAddresses | None:
        if self._draw is None:
            return None
        (x, y), ((a, b), (c, d)) = (part.tolist() for part in self._placing)
        return PixelAddresses((self._draw,), (x, y), ((a, b), (c, d)))


def _text(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.9g}"


class ScreenPicture(MomentPicture):
    """What a screen shows. frame: the moment's address if it is that of a frame, of whose pixels `why` has answers.
    main: whether addresses without a screen mean this one."""

    kind = "screen"

    def __init__(self, name: str, screen: Any, frame: Address | None, main: bool) -> None:
        self.name, self._screen, self._frame, self._main = name, screen, frame, main
        self.width, self.height, self.title = screen.width, screen.height, f"{screen.width}x{screen.height}"

    @property
    def pixels(self) -> Bytes:
        rgb: Bytes = self._screen.array
        return with_alpha(rgb)

    def values(self, x: int, y: int) -> dict[str, str]:
        self.check(x, y)
        return dict(zip(_CHANNELS[:3], map(str, self._screen.array[y, x].tolist()), strict=True))

    @property
    def addresses(self) -> PixelAddresses | None:
        if self._frame is None:
            return None
        named = self._frame.at(screen=self.name)
        return PixelAddresses((named, self._frame) if self._main else (named,))


def with_alpha(rgb: Bytes) -> Bytes:
    """Opaque RGBA (height, width, 4) of RGB."""
    found = np.full((*rgb.shape[:2], 4), OPAQUE, np.uint8)
    found[..., :3] = rgb
    return found


def grey(values: NDArray[Any], whole: bool = False) -> Bytes:
    """Numbers (height, width) as opaque grey RGBA: from black, the least, to white, the greatest. whole: bytes as they
    are."""
    if whole:
        levels = values.astype(np.uint8)
    else:
        numbers = values.astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
        scaled = np.nan_to_num((numbers - low) / (high - low or 1.0), nan=0.0, posinf=1.0, neginf=0.0)
        levels = (scaled * 255).astype(np.uint8)
    return with_alpha(np.repeat(levels[..., None], 3, axis=2))


__all__ = ["KINDS", "OPAQUE", "MomentPicture", "PixelAddresses", "ScreenPicture", "TargetPart", "grey", "with_alpha"]
